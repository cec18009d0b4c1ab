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
// True when both are the same folder, or none of them can be found and their names are equal.
bool sr_path_same_folder(const char* a, const char* b);

#endif
