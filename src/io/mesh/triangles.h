// Surfaces of triangles while they are read, and what the readers of mesh files (stl.c, obj.c, dae.c) share.
#ifndef SR_IO_MESH_TRIANGLES_H
#define SR_IO_MESH_TRIANGLES_H

#include <sarrus/io.h>

#include "base/base.h"

#define SR_MESH_MAX_SIZE ((size_t)64 << 20)
#define SR_MESH_MAX_ERRORS 20
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define SR_MESH_MAX_TRIANGLES 20000
#else
#define SR_MESH_MAX_TRIANGLES 5000000
#endif

// Triangles that come one by one; corners with the same three numbers become one vertex.
typedef struct srTriangleList {
  srPool* pool;  // on_fail is set
  const char* file;
  srMessages* messages;
  int errors;
  srTriangles got;
  int vertex_capacity, triangle_capacity;  // in vertices and triangles
  int* slots;                              // hash table of vertices: index + 1, 0: empty
  int nslot;                               // a power of two
} srTriangleList;

// False: there are too many, which has been reported.
bool sr_triangles_add(srTriangleList* list, const double a[3], const double b[3], const double c[3]);
void sr_triangles_error(srTriangleList* list, int line, int column, const char* format, ...) SR_PRINTF(4, 5);
void sr_triangles_warning(srTriangleList* list, int line, int column, const char* format, ...) SR_PRINTF(4, 5);
bool sr_triangles_is_over(const srTriangleList* list);  // enough errors

// Each reads a whole file, one zero byte behind its end; false after errors.
bool sr_stl_read(srTriangleList* list, const char* text, size_t size);
bool sr_obj_read(srTriangleList* list, const char* text, size_t size);
bool sr_dae_read(srTriangleList* list, const char* text, size_t size);
// The reader by the ending of the file's name.
bool sr_triangles_read(srTriangleList* list, const char* text, size_t size);

// Words of a text with their places. The text ends with a zero byte.
typedef struct srScanner {
  const char *at, *end;
  const char* line_start;  // columns count from here
  int line, column;        // of line_start
} srScanner;
typedef struct srWord {
  const char* text;
  int n;
  int line, column;
} srWord;
srScanner sr_scan(const char* text, size_t size, int line, int column);
bool sr_scan_word(srScanner* s, srWord* out);          // the next one, behind blanks and line ends; false: the end
bool sr_scan_word_in_line(srScanner* s, srWord* out);  // false: the line ends; a \ at its end ties it to the next
void sr_scan_skip_line(srScanner* s);
bool sr_word_is(const srWord* word, const char* text);  // capitals count as small letters
bool sr_word_number(const srWord* word, double* out);   // all of it is a finite number
bool sr_word_whole(const srWord* word, int* out);       // all of it is a whole number

#endif
