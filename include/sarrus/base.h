// Sarrus: what every other header builds on. Version, status codes, messages, allocator, log hook.
#ifndef SARRUS_BASE_H
#define SARRUS_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SR_VERSION_MAJOR 0
#define SR_VERSION_MINOR 2
#define SR_VERSION_PATCH 0
#define SR_VERSION_STRING "0.2.0"

#if defined(__GNUC__)
#define SR_API __attribute__((visibility("default")))
#define SR_PRINTF(format_index, first_index) __attribute__((format(printf, format_index, first_index)))
#else
#define SR_API
#define SR_PRINTF(format_index, first_index)
#endif

// tau of a force evaluation when the method has no stage length of its own: each element uses its own time constant.
#define SR_TAU_ELEMENT (-1.0)

// Version of the linked library, "0.2.0". Compare with SR_VERSION_STRING of the headers.
SR_API const char* sr_version(void);

// Every function that can fail returns one of these. The command line's exit status is the same number, capped at 2:
// 1 when the computation failed, 2 when the input is wrong.
#define SR_STATUS_LIST(X)                                                                                              \
  X(SR_OK, 0, "done")                                                                                                  \
  X(SR_FAILED, 1, "the computation failed")                                                                            \
  X(SR_INPUT, 2, "the input is wrong")                                                                                 \
  X(SR_MEMORY, 3, "out of memory")                                                                                     \
  X(SR_IO, 4, "a file could not be read or written")

typedef enum srStatus {
#define SR_STATUS_ENUM(name, value, text) name = value,
  SR_STATUS_LIST(SR_STATUS_ENUM)
#undef SR_STATUS_ENUM
} srStatus;

SR_API const char* sr_status_text(srStatus status);

// A location in a source file. file is NULL for what C code built. Lines and columns count from 1; 0 is unknown.
typedef struct srPlace {
  const char* file;
  int line, column;
} srPlace;

// An error ends the operation. A warning may affect the motion. A note does not: textures, lights, settings of
// another program's solver.
typedef enum srSeverity { SR_SEVERITY_ERROR, SR_SEVERITY_WARNING, SR_SEVERITY_NOTE } srSeverity;

typedef struct srMessage {
  srSeverity severity;
  srPlace place;
  const char* text;  // a sentence: the offending word, and what was expected
  int kind;          // messages of one kind differ in names and numbers alone; 0 .. sr_messages_kinds() - 1
} srMessage;

// A list of messages that the caller owns. Readers and the compiler report all errors they find, not only the first.
typedef struct srMessages srMessages;

SR_API srMessages* sr_messages_create(void);  // NULL when out of memory
SR_API void sr_messages_destroy(srMessages* messages);
SR_API int sr_messages_count(const srMessages* messages);
SR_API int sr_messages_errors(const srMessages* messages);  // how many of them are errors
SR_API int sr_messages_kinds(const srMessages* messages);
SR_API const srMessage* sr_messages_get(const srMessages* messages, int i);
// Adds one message; the text is copied. messages may be NULL (then it is dropped). The format is its kind; with the format
// "%s" its text is.
SR_API void sr_messages_add(srMessages* messages, srSeverity severity, srPlace place, const char* format, ...)
    SR_PRINTF(4, 5);
// "file:line:column: error: text" into buffer, cut to size, always terminated.
SR_API void sr_message_format(const srMessage* message, char* buffer, size_t size);

// Pattern of a sparse matrix in compressed rows: the columns of row i are column[row[i]] .. column[row[i+1]-1], ascending. The
// numbers of a matrix with this pattern are in an array in the same order.
typedef struct srSparsity {
  int nrow, ncol;
  const int* row;     // (nrow + 1)
  const int* column;  // (row[nrow])
} srSparsity;

// For "did you mean ...": the nearest of the words by edit distance, or NULL when none is near (more than 1/3 differs).
SR_API const char* sr_nearest_word(const char* word, const char* const* words, int nword);

// Does the text fit a pattern? * stands for any letters, ? for one.
SR_API bool sr_pattern_fits(const char* pattern, const char* text);

// The allocator: new_size 0 frees (returns NULL), pointer NULL allocates. Replaceable for tests and hosts.
// Set it before any other call; it is global and not guarded by a lock.
typedef void* (*srAllocator)(void* user, void* pointer, size_t old_size, size_t new_size);
SR_API void sr_set_allocator(srAllocator allocator, void* user);  // NULL: back to the C library

// A file that is replaced as a whole or not at all: output goes to PATH.part, which is renamed on closing
// once all of it is on the disk. While it is open nobody else can open it: a second sr_output_create is refused. Pipes,
// terminals and devices are written to directly. Missing folders of the path are made. The library writes all its results this way.
typedef struct srOutput srOutput;
SR_API srStatus sr_output_create(const char* path, srMessages* messages, srOutput** out);  // SR_IO: reported
SR_API FILE* sr_output_stream(const srOutput* output);
// SR_FAILED when a write failed (a full disk); the file then keeps its previous content, and a message reports the failure.
SR_API srStatus sr_output_close(srOutput* output, srMessages* messages);
SR_API void sr_output_discard(srOutput* output);  // the file keeps its previous content
// Whether the name of an output has a suffix that fits its content: a table is not written to a name of a model. False: reported.
// Names without a known suffix fit tables and models. The functions that write tables, figures and models ask for it.
typedef enum srContent {
  SR_CONTENT_TABLE,
  SR_CONTENT_FIGURE,
  SR_CONTENT_MODEL,
  SR_CONTENT_JSON,
  SR_CONTENT_PAGE,
  SR_CONTENT_SCENE,
  SR_CONTENT_VIDEO
} srContent;
SR_API bool sr_output_fits(const char* path, srContent content, srMessages* messages);

#ifdef __cplusplus
}
#endif
#endif
