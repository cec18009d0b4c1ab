// What contacts need of a shape, and where two shapes touch or are nearest. On math alone.
#ifndef SR_COLLIDE_COLLISION_H
#define SR_COLLIDE_COLLISION_H

#include "collide/distance.h"
#include "collide/line.h"
#include "collide/pair.h"
#include "collide/patch.h"
#include "collide/smooth.h"
#include "collide/surface.h"

typedef struct srCollisionShape {
  srConvex
      convex;    // kind SR_KIND_NONE: nothing can touch it; of a surface the kind alone is set, of a mesh also the hull
  double reach;  // of a ball about its origin that contains it; infinite for a plane
  double size;   // a length: the least of its sizes
  bool flat;     // it has flat faces: pressure over a patch, where the other shape has a body too
  srPatchBody body;            // of a flat one
  const srSurface* surface;    // SR_KIND_MESH, SR_KIND_FIELD
  const srSmoothTree* smooth;  // SR_KIND_SMOOTH
  // Friction along the projection of this unit vector on the surface, turned about the outward normal (cosine, sine), differs from friction
  // across it. Zeros: in no direction.
  double direction[3], turn[2];
  int belt;  // its surface moves in the shape's frame: the first of three values of its velocity; -1: it does not
} srCollisionShape;

static inline bool sr_surface_directed(const srCollisionShape* x) { return x->turn[0] != 0 || x->turn[1] != 0; }

// Two shapes at their nearest points, in the axes of a.
typedef struct srPairPoint {
  double n[3];  // unit normal, from a to b
  double gap;   // > 0: apart
  double r[3];  // from the origin of b to the point of contact, between the nearest points
} srPairPoint;

// Are two shapes certainly apart? pose: of b in a. By balls around them; of a plane by its normal.
bool sr_shapes_are_far(const srCollisionShape* a, const srCollisionShape* b, const double pose[16]);

// By the closed form of the pair, or where it has none by the distance of the two shapes. size: as srPairKind.place; pose: of b in a.
void sr_pair_point(const srPairKind* pair, const double size[2], const srCollisionShape* a, const srCollisionShape* b,
                   const double pose[16], srPairPoint* out);

// The nearest points of two shapes of a pair without a closed form, a first as in srPairKind. Of surfaces the deepest contact; where none is found, state
// SR_NEAREST_NONE and a gap that is larger than any.
void sr_shapes_nearest(const srCollisionShape* a, const srCollisionShape* b, const double pose[16], srNearest* out);

// ------------------------------------------------------------------------------------------------------------- touches.c
#define SR_CONTACTS_MOST 32

// All contacts of a surface a and a convex shape or smooth surface b with a gap below the margin, deepest first, each with what its derivatives need.
int sr_smooth_contacts(const srCollisionShape* a, const srCollisionShape* b, const double pose[16], srSmoothReach reach,
                       srNearest* out, int most);
int sr_surface_contacts(const srCollisionShape* a, const srCollisionShape* b, const double pose[16], double margin,
                        srNearest* out, int most);
// Those of triangles, as surface.h reports them (SR_TOUCH_MOST).
int sr_surface_touches(const srCollisionShape* a, const srCollisionShape* b, const double pose[16], double margin,
                       srTouch* out);
// One of them as nearest points with their active features; on a face t gets the normal of the face.
void sr_touch_nearest(const srSurface* surface, const srConvex* b, const double pose[16], srTouch* t, srNearest* out);

#endif
