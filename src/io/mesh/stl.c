// STL, the format of 3D Systems' stereolithography: text ("solid ... facet ... vertex x y z") or binary (80 bytes of
// header, the number of triangles, 50 bytes a triangle, all little-endian; two of them are attributes and are not
// used).
//
// Many binary files begin with the word solid: what the number of triangles promises decides, not the first word.
// Normals are not used: they follow from the corners.
#include <math.h>
#include <string.h>

#include "io/mesh/triangles.h"

#define HEADER 80
#define START 84
#define RECORD 50

// ------------------------------------------------------------------------------------------------------------ binary
static uint32_t whole_at(const char* p) {
  const unsigned char* b = (const unsigned char*)p;
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static double number_at(const char* p) {
  const uint32_t bits = whole_at(p);
  float x;
  memcpy(&x, &bits, sizeof x);
  return (double)x;
}

static bool read_binary(srTriangleList* list, const char* text, size_t size) {
  const size_t n = size < START ? 0 : whole_at(text + HEADER), room = size < START ? 0 : (size - START) / RECORD;
  if (size < START || n > room) {
    sr_triangles_error(list, 0, 0, "byte %d: this is no STL file: %lld bytes are too few for %lld triangles", HEADER,
                       (long long)size, (long long)n);
    return false;
  }
  if (size > START + RECORD * n)
    sr_triangles_warning(list, 0, 0, "byte %lld: what follows behind the last of %lld triangles is not read",
                         (long long)(START + RECORD * n), (long long)n);
  for (size_t i = 0; i < n && !sr_triangles_is_over(list); i++) {
    const size_t first = START + RECORD * i + 12;  // behind the normal
    double corner[3][3];
    bool good = true;
    for (int k = 0; k < 9; k++) {
      corner[k / 3][k % 3] = number_at(text + first + 4 * (size_t)k);
      if (good && !isfinite(corner[k / 3][k % 3])) {
        sr_triangles_error(list, 0, 0, "byte %lld: a corner of triangle %lld is not a finite number",
                           (long long)first + 4 * k, (long long)i);
        good = false;
      }
    }
    if (good && !sr_triangles_add(list, corner[0], corner[1], corner[2])) return false;
  }
  return list->errors == 0;
}

// -------------------------------------------------------------------------------------------------------------- text
static bool expected(srTriangleList* list, const srScanner* s, const srWord* got, const char* what) {
  if (got)
    sr_triangles_error(list, got->line, got->column, "expected %s, found '%.*s'", what, got->n < 40 ? got->n : 40,
                       got->text);
  else
    sr_triangles_error(list, s->line, s->column + (int)(s->at - s->line_start), "expected %s, but the file ends", what);
  return false;
}

static bool take(srTriangleList* list, srScanner* s, const char* word) {
  srWord w;
  if (!sr_scan_word(s, &w)) return expected(list, s, NULL, word);
  return sr_word_is(&w, word) || expected(list, s, &w, word);
}

static bool take_vertex(srTriangleList* list, srScanner* s, double out[3]) {
  srWord w;
  if (!take(list, s, "vertex")) return false;
  for (int k = 0; k < 3; k++) {
    if (!sr_scan_word(s, &w)) return expected(list, s, NULL, "a number");
    if (!sr_word_number(&w, &out[k])) return expected(list, s, &w, "a finite number");
  }
  return true;
}

// Behind the word facet.
static bool take_facet(srTriangleList* list, srScanner* s) {
  double corner[3][3];
  srWord w;
  if (!take(list, s, "normal")) return false;
  for (int k = 0; k < 3; k++)  // whatever they are: some programs write nan
    if (!sr_scan_word(s, &w)) return expected(list, s, NULL, "a number");
  if (!take(list, s, "outer") || !take(list, s, "loop")) return false;
  for (int k = 0; k < 3; k++)
    if (!take_vertex(list, s, corner[k])) return false;
  return take(list, s, "endloop") && take(list, s, "endfacet") &&
         sr_triangles_add(list, corner[0], corner[1], corner[2]);
}

// To the next facet after an error in one; false: there is none.
static bool recover(srScanner* s) {
  srWord w;
  while (sr_scan_word(s, &w))
    if (sr_word_is(&w, "endfacet")) return true;
  return false;
}

static bool read_text(srTriangleList* list, const char* text, size_t size) {
  srScanner s = sr_scan(text, size, 1, 1);
  srWord w;
  bool open = false;
  while (!sr_triangles_is_over(list) && sr_scan_word(&s, &w)) {
    if (sr_word_is(&w, open ? "endsolid" : "solid")) {
      open = !open;
      sr_scan_skip_line(&s);  // the name
    } else if (!open || !sr_word_is(&w, "facet")) {
      return expected(list, &s, &w, open ? "facet or endsolid" : "solid");
    } else if (!take_facet(list, &s) && (list->got.ntriangle >= SR_MESH_MAX_TRIANGLES || !recover(&s))) {
      return false;
    }
  }
  if (open && list->errors == 0) return expected(list, &s, NULL, "endsolid");
  return list->errors == 0;
}

// ------------------------------------------------------------------------------------------------------------- entry
// Text has the word facet or endsolid soon behind the first line; a binary header may contain solid, but its triangles do
// not.
static bool is_text(const char* text, size_t size) {
  srScanner s = sr_scan(text, size < 4096 ? size : 4096, 1, 1);
  srWord w;
  if (size >= START && START + (uint64_t)RECORD * whole_at(text + HEADER) == size) return false;
  if (!sr_scan_word(&s, &w) || !sr_word_is(&w, "solid")) return false;
  sr_scan_skip_line(&s);
  return size < START || !sr_scan_word(&s, &w) || sr_word_is(&w, "facet") || sr_word_is(&w, "endsolid") ||
         whole_at(text + HEADER) > size / RECORD;
}

bool sr_stl_read(srTriangleList* list, const char* text, size_t size) {
  return is_text(text, size) ? read_text(list, text, size) : read_binary(list, text, size);
}
