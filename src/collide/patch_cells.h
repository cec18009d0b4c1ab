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
  // Triangles. Instead of points: the sum of their area vectors; or points along the lines from each of them against `up`, for the energy.
  enum { SR_PATCH_POINTS, SR_PATCH_AREAS, SR_PATCH_COLUMNS } task;
  double up[3];
} srPatchCells;

// Distance of x, in the axes of the soft solid, to its plane f.
double sr_patch_depth(const srPatchCells* c, int f, const double x[3]);
// One point in the cell of plane f: x and the outward normal n of the rigid solid in the axes of the soft one.
void sr_patch_put(srPatchCells* c, int f, const double x[3], const double n[3], double area, double store);

// The same with depth and gradient, whatever the soft solid is.
void sr_patch_put_at(srPatchCells* c, const double x[3], const double n[3], double depth, const double gradient[3],
                     double area, double store);
// Energy below a point of the surface.
void sr_patch_put_column(srPatchCells* c, const double x[3], double area);
// A polygon of the rigid solid in the axes of the soft polytope, n corners, counterclockwise about its normal.
void sr_patch_put_face(srPatchCells* c, const double (*corner)[3], int n, const double normal[3]);

void sr_patch_put_frustum(srPatchCells* c, const srPatchBody* rigid);
// All triangles of the rigid surface; energy: also their energy, instead of the points.
void sr_patch_put_surface(srPatchCells* c, const srPatchBody* rigid);

#endif
