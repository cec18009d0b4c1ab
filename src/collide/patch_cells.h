// What the files of a patch share: patch.c and patch_frustum.c.
#ifndef SR_COLLIDE_PATCH_CELLS_H
#define SR_COLLIDE_PATCH_CELLS_H

#include "collide/patch.h"

#define SR_PI 3.14159265358979323846

typedef struct srPatchCells {
  const srPatch* patch;
  const srPatchVisitor* visitor;
  const srPolytope* soft;
  double rigid_in_soft[16], soft_in_a[16];
  double centre[3], reach;  // a ball about the rigid solid, in the axes of the soft one
  int count;                // of points so far
} srPatchCells;

// Distance of x, in the axes of the soft solid, to its plane f.
double sr_patch_depth(const srPatchCells* c, int f, const double x[3]);
// One point in the cell of plane f: x and the outward normal n of the rigid solid in the axes of the soft one.
void sr_patch_put(srPatchCells* c, int f, const double x[3], const double n[3], double area, double store);

void sr_patch_put_frustum(srPatchCells* c, const srPatchBody* rigid);

#endif
