// Files and paths: reading whole files, and the rule that a model reaches only into its own folder.
#ifndef SR_IO_FILE_H
#define SR_IO_FILE_H

#include <stdio.h>

#include "base/base.h"

// The whole file in the pool (whose on_fail must be set), one zero byte behind its end. NULL when it cannot be read or
// is larger than max_size; then *why is a sentence's end ("cannot be read: No such file or directory").
char* sr_file_read(srPool* pool, const char* path, size_t max_size, size_t* size, const char** why);

// Folder of a path: "a/b.xml" -> "a", "b.xml" -> ".", "/b.xml" -> "/".
const char* sr_path_folder(srPool* pool, const char* path);
// folder/name; just name when the folder is "." or NULL.
const char* sr_path_join(srPool* pool, const char* folder, const char* name);
// What is wrong with a path written in a model file (it is absolute, or climbs with ..), or NULL.
const char* sr_path_problem(const char* path);
// The real path (links resolved) of folder/name, which must lie inside folder. NULL: *why is a sentence's end.
const char* sr_path_inside(srPool* pool, const char* folder, const char* name, const char** why);
// The real path (links resolved), in the pool; NULL: there is nothing.
const char* sr_path_real(srPool* pool, const char* path);
// True for a file that can be read as a whole: no folder, no device, no pipe.
bool sr_path_is_file(const char* path);
// A path to be opened from the working folder, as it is seen from a folder: with ../ where both lie in one folder below
// the root, else absolute. What does not exist is told by its letters alone.
const char* sr_path_relative(srPool* pool, const char* folder, const char* path);
// folder/name as a file in the folder `viewer` would write it: "../meshes/a.stl". An absolute name stays what it is.
const char* sr_path_seen_from(srPool* pool, const char* viewer, const char* folder, const char* name);
// True when both are the same folder, or none of them can be found and their names are equal.
bool sr_path_same_folder(const char* a, const char* b);

#endif
