// Files and paths: reading whole files, and the rule that a model reaches only into its own folder.
#ifndef SR_IO_FILE_H
#define SR_IO_FILE_H

#include <stdio.h>

#include "base/file.h"

// The whole file in the pool (whose on_fail must be set), one zero byte behind its end. NULL when it cannot be read or
// is larger than max_size; then *reason is a sentence's end ("cannot be read: No such file or directory").
char* sr_file_read(srPool* pool, const char* path, size_t max_size, size_t* size, const char** reason);

// The text as a file, which is replaced as a whole (srOutput); errors are in messages.
srStatus sr_file_write(const char* path, const char* text, size_t size, srMessages* messages);

// Folder of a path: "a/b.xml" -> "a", "b.xml" -> ".", "/b.xml" -> "/".
const char* sr_path_folder(srPool* pool, const char* path);
// folder/name; just name when the folder is "." or NULL.
const char* sr_path_join(srPool* pool, const char* folder, const char* name);
// Whether a path is "scheme://..." or begins at the root: not seen from a folder.
bool sr_path_is_fixed(const char* path);
// What is wrong with a path written in a model file (it is absolute, or climbs with ..), or NULL.
const char* sr_path_problem(const char* path);
// The real path (links resolved) of folder/name, which must be inside folder. NULL: *reason is the end of a message.
const char* sr_path_inside(srPool* pool, const char* folder, const char* name, const char** reason);
// The real path (links resolved), in the pool; NULL: there is nothing.
const char* sr_path_real(srPool* pool, const char* path);
// True for a file that can be read as a whole: no folder, no device, no pipe.
bool sr_path_is_file(const char* path);
bool sr_path_is_folder(const char* path);
// Names of the folders that a folder holds, sorted, in the pool; none when it cannot be read. Hidden ones (.name) are left
// out, and of a folder with more than SR_PATH_MAX_ENTRIES entries what comes behind them.
#define SR_PATH_MAX_ENTRIES 20000
const char** sr_path_folders(srPool* pool, const char* path, int* n);
// The path of a file, to be opened from the working folder, as a file in the folder `viewer` would write it: "../meshes/a.stl";
// absolute where both share no folder below the root. Of folders that do not exist the letters alone count.
const char* sr_path_relative(srPool* pool, const char* viewer, const char* path);
// The same of folder/name. An absolute name stays what it is, and a name seen from the same folder.
const char* sr_path_seen_from(srPool* pool, const char* viewer, const char* folder, const char* name);
// True when both are the same folder, or none of them can be found and their names are equal.
bool sr_path_same_folder(const char* a, const char* b);

#endif
