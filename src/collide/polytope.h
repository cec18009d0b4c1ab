// Convex polytopes: faces as polygons, and as half spaces. On math alone.
#ifndef SR_COLLIDE_POLYTOPE_H
#define SR_COLLIDE_POLYTOPE_H

#include "base/base.h"

typedef struct srPolytope {
  int nplane;
  const double* plane;  // nplane x 4: unit normal m pointing outward and offset c; m.x <= c inside. No two are alike
  int nvertex;
  const double* vertex;  // nvertex x 3
  int nface;             // polygons that cover the surface, at most four corners each; several may be in one plane
  const int* first;      // nface + 1: their first corner
  const int* corner;     // indices of vertices, counterclockwise seen from outside
  const int* on;         // nface: the plane of each
  double largest;        // area in the plane that has most of it, m^2
} srPolytope;

extern const srPolytope sr_half_space;  // below z = 0: one plane, without vertices

// Memory is of the pool.
const srPolytope* sr_polytope_of_box(srPool* pool, const double half[3]);
const srPolytope* sr_polytope_of_hull(srPool* pool, const double* point, int n);  // NULL: the points are in a plane

#endif
