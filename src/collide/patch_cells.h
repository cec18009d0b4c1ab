// What the files of a patch share: patch.c, patch_frustum.c, patch_field.c, patch_round.c and patch_surface.c.
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

// The field of the soft solid at a point, in its axes: d2d/dx2 = -bend bend^T.
typedef struct srPatchField {
  double depth, gradient[3], bend[3];
} srPatchField;
// The same, whatever the soft solid is.
void sr_patch_put_at(srPatchCells* c, const double x[3], const double n[3], const srPatchField* field, double area,
                     double store);

// A soft cylinder or cone, about z of its axes; slope: of its radius along z, cosine: of its angle.
typedef struct srPatchFrustum {
  double z[2], radius[2], slope, cosine;
} srPatchFrustum;
srPatchFrustum sr_patch_frustum_of(const srPatchBody* b);
double sr_patch_frustum_radius(const srPatchFrustum* f, double z);          // of its side
double sr_patch_frustum_depth(const srPatchFrustum* f, const double x[3]);  // < 0: outside
void sr_patch_put_in_frustum(srPatchCells* c, const srPatchFrustum* f, const double x[3], const double n[3],
                             double area);
// Energy below a point of the surface.
void sr_patch_put_column(srPatchCells* c, const double x[3], double area);
// A polygon of the rigid solid in the axes of the soft polytope, n corners, counterclockwise about its normal.
void sr_patch_put_face(srPatchCells* c, const double (*corner)[3], int n, const double normal[3]);

void sr_patch_put_frustum(srPatchCells* c, const srPatchBody* rigid);
// The surface of a frustum in another one.
void sr_patch_put_round(srPatchCells* c, const srPatchBody* rigid);
// All triangles of the rigid surface; energy: also their energy, instead of the points.
void sr_patch_put_surface(srPatchCells* c, const srPatchBody* rigid);

#endif
