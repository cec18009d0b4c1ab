// The pairs by the kinds of their shapes.
#include "collide/pair.h"

#include <stddef.h>

const srPairKind sr_pair_on_plane = {.name = "plane-convex", .a = SR_KIND_PLANE, .b = SR_KINDS, .nt = 2};
const srPairKind sr_pair_convex = {.name = "convex", .a = SR_KINDS, .b = SR_KINDS, .nt = 3};

const srPairKind sr_pair_on_triangles = {.name = "triangles-convex", .a = SR_KIND_MESH, .b = SR_KINDS, .nt = 3};
const srPairKind sr_pair_on_smooth = {.name = "smooth", .a = SR_KIND_SMOOTH, .b = SR_KINDS, .nt = 3};

static bool is_surface(srShapeKind kind) { return kind > SR_KINDS; }
static bool is_convex(srShapeKind kind) {
  return kind != SR_KIND_NONE && kind != SR_KIND_HOLLOW && kind != SR_KIND_BORE && !is_surface(kind);
}

// At least one of the two is a surface, which is a; but a mesh lies on a plane.
static const srPairKind* find_surface(srShapeKind one, srShapeKind two, bool* swap) {
  *swap = !is_surface(one);
  const srShapeKind a = *swap ? two : one, b = *swap ? one : two;
  if (a == SR_KIND_SMOOTH && b == SR_KIND_SMOOTH) return &sr_pair_on_smooth;
  if (!is_convex(b)) return NULL;
  if (b != SR_KIND_PLANE) return a == SR_KIND_SMOOTH ? &sr_pair_on_smooth : &sr_pair_on_triangles;
  if (a == SR_KIND_SMOOTH) return &sr_pair_on_smooth;
  *swap = !*swap;
  return a == SR_KIND_MESH ? &sr_pair_on_plane : NULL;
}

const srPairKind* sr_pair_find(srShapeKind one, srShapeKind two, bool* swap) {
  static const srPairKind* const pairs[] = {
#define PAIR_ROW(name) &sr_pair_##name,
      SR_PAIR_LIST(PAIR_ROW)
#undef PAIR_ROW
  };
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    const srPairKind* pair = pairs[i];
    *swap = pair->a != one;
    if ((pair->a == one && pair->b == two) || (pair->a == two && pair->b == one)) return pair;
  }
  if (is_surface(one) || is_surface(two)) return find_surface(one, two, swap);
  *swap = two == SR_KIND_PLANE;
  if (!is_convex(one) || !is_convex(two) || (one == SR_KIND_PLANE && two == SR_KIND_PLANE)) return NULL;
  return one == SR_KIND_PLANE || two == SR_KIND_PLANE ? &sr_pair_on_plane : &sr_pair_convex;
}
