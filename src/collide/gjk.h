// Distance of convex cores by the algorithm of Gilbert, Johnson and Keerthi, and depth of overlapping ones by the expanding polytope.
#ifndef SR_COLLIDE_GJK_H
#define SR_COLLIDE_GJK_H

#include "collide/simplex.h"

typedef struct srCoreNear {
  bool apart;        // proven: low > 0
  double n[3];       // unit, from a to b
  double gap;        // -h(n): a lower bound of the gap, and the best one
  double low, high;  // gjk: low <= gap <= high. epa: -high <= depth <= -low
  bool unique;       // there is no other direction with the same gap
  srSimplex simplex;
  int iterations;
} srCoreNear;

// Distance to rtol of itself. n: a direction to start from. False: the cores overlap or touch within rounding, and the simplex has the origin.
bool sr_gjk(srConvexPair* pair, const double n[3], double rtol, srCoreNear* out);
// Depth of cores that overlap, to `tolerance` times the size, from the simplex of sr_gjk.
void sr_epa(srConvexPair* pair, double tolerance, srCoreNear* out);

#endif
