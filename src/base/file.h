// Files: all reading passes through here, and paths with their links resolved. Writing goes through output.c.
#ifndef SR_BASE_FILE_H
#define SR_BASE_FILE_H

#include <stdio.h>

#include "base/base.h"

#define SR_PATH_SIZE 4097  // room for the longest path

// What is wrong with a file: the end of a sentence that begins with its name.
typedef struct srReason {
  char text[160];
} srReason;

// Opens a regular file for reading, and nothing else: a pipe would hold the reader up, a device may never end. NULL: *reason.
FILE* sr_file_open(const char* path, srReason* reason);
// The path with all links resolved; "" is the working folder. False: not found, errno gives the reason.
bool sr_file_real(const char* path, char real[SR_PATH_SIZE]);
// Is a real path inside a real folder, at any depth?
bool sr_file_is_inside(const char* folder, const char* path);

// After a failed write of `output` its temporary file stays, and sr_output_close names it: for results that were expensive.
void sr_output_rescue(srOutput* output);
// For a library that opens files by their names: the temporary file, and that it could not write there.
const char* sr_output_file(const srOutput* output);
void sr_output_fail(srOutput* output);

#endif
