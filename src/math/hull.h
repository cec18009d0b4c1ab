// Convex hull of points in space.
#ifndef SR_HULL_H
#define SR_HULL_H

#include "base/base.h"

// Triangles of the hull, seen counterclockwise from outside, corners as indices of points; returns their number. 0: the points are in a
// plane. Points less than about 1e-12 of the extent outside count as inside. Memory, the result too, is of the pool.
int srm_hull(srPool* pool, const double* point, int n, int** triangle);

#endif
