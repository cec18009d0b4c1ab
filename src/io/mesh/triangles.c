// Surfaces of triangles while they are read: see triangles.h.
#include "io/mesh/triangles.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "expr/expr.h"

// ---------------------------------------------------------------------------------------------------------- messages
void sr_triangles_error(srTriangleList* list, int line, int column, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  list->errors++;
  sr_messages_vadd(list->messages, SR_SEVERITY_ERROR, (srPlace){list->file, line, column}, format, arguments);
  va_end(arguments);
}

void sr_triangles_warning(srTriangleList* list, int line, int column, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  sr_messages_vadd(list->messages, SR_SEVERITY_WARNING, (srPlace){list->file, line, column}, format, arguments);
  va_end(arguments);
}

bool sr_triangles_is_over(const srTriangleList* list) { return list->errors >= SR_MESH_MAX_ERRORS; }

// ---------------------------------------------------------------------------------------------------------- vertices
// Mixes the bits of three numbers (multiplication and shifts, as hash functions of whole words do).
static uint32_t hash_of(const double p[3]) {
  uint64_t h = 0x9e3779b97f4a7c15u;
  for (int k = 0; k < 3; k++) {
    uint64_t bits;
    memcpy(&bits, &p[k], sizeof bits);
    h = (h ^ bits) * 0xff51afd7ed558ccdu;
    h ^= h >> 32;
  }
  return (uint32_t)h;
}

static int* slot_of(const srTriangleList* list, const double p[3]) {
  const uint32_t mask = (uint32_t)list->nslot - 1;
  for (uint32_t i = hash_of(p) & mask;; i = (i + 1) & mask) {
    int* slot = &list->slots[i];
    if (*slot == 0 || memcmp(list->got.vertex + 3 * (size_t)(*slot - 1), p, 3 * sizeof *p) == 0) return slot;
  }
}

static void grow_slots(srTriangleList* list) {
  list->nslot = list->nslot ? 2 * list->nslot : 1024;
  list->slots = sr_pool_alloc(list->pool, (size_t)list->nslot * sizeof *list->slots);
  for (int i = 0; i < list->got.nvertex; i++) *slot_of(list, list->got.vertex + 3 * (size_t)i) = i + 1;
}

static int vertex_of(srTriangleList* list, const double given[3]) {
  const double p[3] = {given[0] + 0.0, given[1] + 0.0, given[2] + 0.0};  // -0 becomes 0
  srTriangles* got = &list->got;
  if (2 * got->nvertex >= list->nslot) grow_slots(list);
  int* slot = slot_of(list, p);
  if (*slot) return *slot - 1;
  if (got->nvertex == list->vertex_capacity)
    got->vertex = sr_pool_grow(list->pool, got->vertex, 3 * sizeof *got->vertex, got->nvertex, &list->vertex_capacity);
  memcpy(got->vertex + 3 * (size_t)got->nvertex, p, sizeof p);
  *slot = ++got->nvertex;
  return got->nvertex - 1;
}

bool sr_triangles_add(srTriangleList* list, const double a[3], const double b[3], const double c[3]) {
  srTriangles* got = &list->got;
  if (got->ntriangle >= SR_MESH_MAX_TRIANGLES) {
    sr_triangles_error(list, 0, 0, "more than %d triangles", SR_MESH_MAX_TRIANGLES);
    return false;
  }
  const int corner[3] = {vertex_of(list, a), vertex_of(list, b), vertex_of(list, c)};
  if (got->ntriangle == list->triangle_capacity)
    got->triangle =
        sr_pool_grow(list->pool, got->triangle, 3 * sizeof *got->triangle, got->ntriangle, &list->triangle_capacity);
  memcpy(got->triangle + 3 * (size_t)got->ntriangle, corner, sizeof corner);
  got->ntriangle++;
  return true;
}

// ------------------------------------------------------------------------------------------------------------- words
srScanner sr_scan(const char* text, size_t size, int line, int column) {
  return (srScanner){text, text + size, text, line, column};
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

static void end_line(srScanner* s) {
  s->at++;
  s->line++;
  s->line_start = s->at;
  s->column = 1;
}

// A \ at the end of a line; *next: behind the line end.
static bool ties_lines(const srScanner* s) {
  const char* p = s->at;
  if (*p != '\\') return false;
  for (p++; p < s->end && *p == '\r';) p++;
  return p < s->end && *p == '\n';
}

static void take_word(srScanner* s, srWord* out) {
  const char* first = s->at;
  while (s->at < s->end && !is_blank(*s->at) && *s->at != '\n') s->at++;
  *out = (srWord){first, (int)(s->at - first), s->line, s->column + (int)(first - s->line_start)};
}

bool sr_scan_word(srScanner* s, srWord* out) {
  while (s->at < s->end && (is_blank(*s->at) || *s->at == '\n')) {
    if (*s->at == '\n')
      end_line(s);
    else
      s->at++;
  }
  if (s->at >= s->end) return false;
  take_word(s, out);
  return true;
}

bool sr_scan_word_in_line(srScanner* s, srWord* out) {
  while (s->at < s->end && (is_blank(*s->at) || ties_lines(s))) {
    if (*s->at == '\\') {
      while (*s->at != '\n') s->at++;
      end_line(s);
    } else {
      s->at++;
    }
  }
  if (s->at >= s->end || *s->at == '\n') return false;
  take_word(s, out);
  return true;
}

void sr_scan_skip_line(srScanner* s) {
  while (s->at < s->end && *s->at != '\n') {
    if (ties_lines(s)) {
      while (*s->at != '\n') s->at++;
      end_line(s);
    } else {
      s->at++;
    }
  }
  if (s->at < s->end) end_line(s);
}

static char small(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c; }

bool sr_word_is(const srWord* word, const char* text) {
  int i = 0;
  while (i < word->n && text[i] && small(word->text[i]) == text[i]) i++;
  return i == word->n && !text[i];
}

bool sr_word_number(const srWord* word, double* out) {
  return sr_number_read_signed(word->text, out) == word->text + word->n && isfinite(*out);
}

bool sr_word_whole(const srWord* word, int* out) {
  const bool minus = *word->text == '-';
  long long value = 0;
  int i = minus || *word->text == '+';
  if (i == word->n) return false;
  for (; i < word->n; i++) {
    if (word->text[i] < '0' || word->text[i] > '9') return false;
    value = 10 * value + (word->text[i] - '0');
    if (value > 2000000000) return false;
  }
  *out = (int)(minus ? -value : value);
  return true;
}
