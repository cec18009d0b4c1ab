// Distance of two convex sets: the point v of C = {a - b} nearest to the origin (Gilbert, Johnson, Keerthi, IEEE J. Robotics and Automation
// 4, 1988; van den Bergen, J. Graphics Tools 4, 1999).
//
// v is the nearest point of a simplex of corners of C; the support corner w in the direction n = -v/|v| gives a lower bound of the distance,
// -n.w, and joins the simplex. It ends where |v| and the largest lower bound so far agree within rtol |v|, where w is a corner of the
// simplex already, or where |v| does not decrease any longer: rounding, the simplex before is the answer.
//
// A positive lower bound proves that the sets are apart: slivers of a simplex may seem to contain the origin and are not believed then.
#include "collide/gjk.h"

#include <math.h>

#include "math/vector3.h"

#define ITERATIONS_MOST 200
#define ROUNDING 1e-15  // of the size

static void take_bound(srCoreNear* out, const double n[3], double bound) {
  if (!(bound > out->gap)) return;
  out->gap = bound;
  srm_set3(out->n, n);
}

bool sr_gjk(srConvexPair* pair, const double start[3], double rtol, srCoreNear* out) {
  const double origin[3] = {0}, touching = ROUNDING * pair->size;
  double v[3], n[3];
  srSimplex* s = &out->simplex;
  srm_set3(n, start);
  s->n = 1;
  s->weight[0] = 1;
  out->gap = -INFINITY;
  take_bound(out, n, -sr_pair_support(pair, n, &s->corner[0]));
  srm_set3(v, s->corner[0].w);
  double square = srm_dot3(v, v);
  for (out->iterations = 1; out->iterations < ITERATIONS_MOST; out->iterations++) {
    const double length = sqrt(square);
    if (length <= touching || s->n == 4) break;
    srCorner w;
    srm_scale3(-1 / length, v, n);
    take_bound(out, n, -sr_pair_support(pair, n, &w));
    if (length - out->gap <= rtol * length || sr_simplex_has(s, &w)) break;
    srSimplex next = *s;
    next.corner[next.n++] = w;
    double nearer[3];
    const double less = sr_simplex_reduce(&next, origin, nearer);
    if (next.n == 4 && out->gap > touching) break;  // a sliver
    if (!(less < square)) break;
    *s = next;
    square = less;
    srm_set3(v, nearer);
  }
  out->low = out->gap;
  out->high = sqrt(square);
  out->apart = out->gap > touching;
  out->unique = out->apart;
  return out->apart;
}
