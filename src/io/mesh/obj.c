// OBJ, the text format of Wavefront: `v x y z` and `f` with v, v/vt, v//vn or v/vt/vn; indices count from 1, negative
// ones from the last vertex back. A face of four corners is cut along its shorter diagonal, as MuJoCo has it
// (tinyobjloader); one of more is a fan about its first. Everything else (normals,
// textures, groups, materials, curves) is not used.
#include <string.h>

#include "io/mesh/triangles.h"

typedef struct Obj {
  srTriangleList* list;
  double* vertex;
  int nvertex, capacity;  // capacity in vertices
} Obj;

static bool read_vertex(Obj* o, srScanner* s, const srWord* first) {
  double p[3];
  srWord w;
  for (int k = 0; k < 3; k++) {
    if (!sr_scan_word_in_line(s, &w)) {
      sr_triangles_error(o->list, first->line, first->column, "'v' takes three numbers, got %d", k);
      return false;
    }
    if (sr_word_number(&w, &p[k])) continue;
    sr_triangles_error(o->list, w.line, w.column, "'%.*s' is not a finite number", w.n < 40 ? w.n : 40, w.text);
    return false;
  }
  if (o->nvertex == o->capacity)
    o->vertex = sr_pool_grow(o->list->pool, o->vertex, 3 * sizeof *o->vertex, o->nvertex, &o->capacity);
  memcpy(o->vertex + 3 * (size_t)o->nvertex++, p, sizeof p);
  return true;
}

static bool read_vertices(Obj* o, const char* text, size_t size) {
  srScanner s = sr_scan(text, size, 1, 1);
  srWord w;
  while (s.at < s.end && !sr_triangles_is_over(o->list)) {
    if (sr_scan_word_in_line(&s, &w) && w.n == 1 && w.text[0] == 'v') (void)read_vertex(o, &s, &w);
    sr_scan_skip_line(&s);
  }
  return o->list->errors == 0;
}

// The vertex of a corner "7/1/2"; before: vertices before the face. NULL after an error.
static const double* corner_of(Obj* o, const srWord* w, int before) {
  srWord number = *w;
  int index = 0;
  number.n = 0;
  while (number.n < w->n && w->text[number.n] != '/') number.n++;
  bool good = number.n > 0 && sr_word_whole(&number, &index);
  for (int i = number.n; i < w->n; i++)
    good = good && (w->text[i] == '/' || w->text[i] == '-' || (w->text[i] >= '0' && w->text[i] <= '9'));
  if (!good) {
    sr_triangles_error(o->list, w->line, w->column, "expected the index of a vertex, found '%.*s'",
                       w->n < 40 ? w->n : 40, w->text);
    return NULL;
  }
  const int at = index < 0 ? before + index : index - 1;
  if (index != 0 && at >= 0 && at < o->nvertex) return o->vertex + 3 * (size_t)at;
  sr_triangles_error(o->list, w->line, w->column, "there is no vertex %d; the file has %d, counted from 1", index,
                     o->nvertex);
  return NULL;
}

static double distance(const double a[3], const double b[3]) {
  return (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]);
}

// Four corners that are not in a plane enclose more or less by either diagonal: the shorter one is taken, of equal ones that
// which does not go through the first corner.
static bool add_four(srTriangleList* list, const double* p[4]) {
  const int from = distance(p[0], p[2]) < distance(p[1], p[3]) ? 0 : 1;
  return sr_triangles_add(list, p[0], p[1], p[from == 0 ? 2 : 3]) && sr_triangles_add(list, p[from], p[2], p[3]);
}

static bool read_face(Obj* o, srScanner* s, const srWord* word, int before) {
  const double* p[5];  // the first four and the last one
  srWord w;
  int n = 0;
  while (sr_scan_word_in_line(s, &w) && w.text[0] != '#') {
    const double* corner = corner_of(o, &w, before);
    if (!corner) return true;  // reported
    if (n == 4 && !(sr_triangles_add(o->list, p[0], p[1], p[2]) && sr_triangles_add(o->list, p[0], p[2], p[3])))
      return false;
    if (n >= 4 && !sr_triangles_add(o->list, p[0], p[n == 4 ? 3 : 4], corner)) return false;
    p[n < 4 ? n : 4] = corner;
    n++;
  }
  if (n < 3) sr_triangles_error(o->list, word->line, word->column, "a face has three corners or more, got %d", n);
  if (n == 3) return sr_triangles_add(o->list, p[0], p[1], p[2]);
  return n != 4 || add_four(o->list, p);
}

bool sr_obj_read(srTriangleList* list, const char* text, size_t size) {
  Obj o = {.list = list};
  srScanner s = sr_scan(text, size, 1, 1);
  srWord w;
  int before = 0;
  if (!read_vertices(&o, text, size)) return false;
  while (s.at < s.end && !sr_triangles_is_over(list)) {
    const bool any = sr_scan_word_in_line(&s, &w) && w.n == 1;
    if (any && w.text[0] == 'v') before++;
    if (any && w.text[0] == 'f' && !read_face(&o, &s, &w, before)) return false;
    sr_scan_skip_line(&s);
  }
  return list->errors == 0;
}
