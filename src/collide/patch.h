// The patch of two solids that overlap: points of integration for a pressure that depends on the depth. On math alone; equations in
// patch.c and docs/theory/contact-patch.md.
#ifndef SR_COLLIDE_PATCH_H
#define SR_COLLIDE_PATCH_H

#include <stdbool.h>

#include "collide/polytope.h"
#include "collide/surface.h"

#define SR_PATCH_PLANES 100  // most planes of the solid that has the pressure field

// A convex solid with plane faces; a frustum about z, which may be a cylinder or a cone; or triangles of any form, which are always the rigid one.
typedef struct srPatchBody {
  const srPolytope* polytope;  // NULL: a frustum, or triangles
  double radius[2], z[2];      // of the two ends of a frustum, z[0] < z[1]
  const srSurface* surface;    // triangles; NULL: none
  double low[3], high[3];      // their bounds
} srPatchBody;

typedef struct srPatch {
  srPatchBody body[2];  // a and b
  int rigid;            // which one: its surface is integrated over; the other one has the pressure field
  bool line;            // none of both: pressure along the core of a capsule, the rigid one (line.h)
  bool round;           // two frusta
  double area;          // reference: a law gives the force on this area
} srPatch;

// Decides the roles of two solids, by their shapes alone. False: none of them can have the pressure field.
bool sr_patch_of(const srPatchBody* a, const srPatchBody* b, srPatch* out);
bool sr_patch_can_be_soft(const srPatchBody* b);  // can it have the field, whatever the other one is?

// In the axes of a. Force on b: n area/patch.area law(depth, -n.v), v the velocity of b relative to a at x; stored energy:
// store/patch.area E(depth). Two frusta have no store.
typedef struct srPatchPoint {
  double x[3], n[3];   // n from a to b
  double depth;        // >= 0
  double gradient[3];  // of the depth, a field of the solid that is not the rigid one
  double bend[3];      // its second derivative is -bend bend^T: 0 but next to the side of a cylinder or cone
  double area, store;
  double
      volume;  // of triangles, in place of store: stored energy volume/patch.area law(depth, 0). Then x, n and gradient are not set
} srPatchPoint;

typedef struct srPatchVisitor {
  void (*at)(void* user, const srPatchPoint* point);
  void* user;
  bool fine;    // for laws that are not linear in depth and rate: rules of degree 5 instead of 2
  bool energy;  // also the points that have energy alone (area 0)
} srPatchVisitor;

#define SR_PATCH_MERGED 1e-9  // corners of a polygon nearer than this part of its boundary are one
// Points of a triangle: weight and barycentric coordinates of each; how many in *n.
const double (*sr_patch_rule(bool fine, int* n))[4];

// pose: of b in a, 16 doubles as in math/pose.h. Returns the number of points.
int sr_patch_visit(const srPatch* patch, const double pose[16], const srPatchVisitor* visitor);

#endif
