// Contact with a surface of triangles: a mesh (mesh.h) or a height field (field.h). On math alone.
//
// The contacts of a ball are the local minima of the distance to the surface, one for each cluster of nearly equal normals, so that edges between
// triangles of a smooth surface are not felt; concave surfaces stay concave. docs/theory/mesh-contact.md
#ifndef SR_COLLIDE_SURFACE_H
#define SR_COLLIDE_SURFACE_H

#include <stdbool.h>

#include "collide/shape.h"

// What a surface tells of itself. Corners of a triangle are counterclockwise from the front; edge k goes from corner k to corner k + 1.
typedef struct srSurface {
  const void* user;
  bool solid;  // what is behind the triangles is inside; otherwise they have two equal sides
  // Calls `visit` for every triangle whose bounding box meets this one, at least.
  void (*near)(const void* user, const double low[3], const double high[3], void (*visit)(void* to, int triangle),
               void* to);
  void (*corners)(const void* user, int triangle, double corner[9]);
  // The corner opposite to an edge, of the k-th of all triangles that have it. False: there are not so many.
  bool (*opposite)(const void* user, int triangle, int edge, int k, double corner[3]);
  // The other end of the k-th of all edges at a corner.
  bool (*spoke)(const void* user, int triangle, int corner, int k, double end[3]);
  // A bound of the distance to the surface of a point that may be inside; negative: it is outside. NULL where it is not solid.
  double (*depth)(const void* user, const double point[3]);
} srSurface;

typedef struct srTouch {
  double point[3];  // on the surface
  double n[3];      // unit, from the surface to the shape
  double gap;       // < 0: overlap
  int triangle;     // the first of those that have the point
  int feature;      // of it: 0 the face, 1 to 3 an edge, 4 to 6 a corner
  double along;     // of a capsule: place on its axis, 0 at the first end and 1 at the second
} srTouch;

#define SR_TOUCH_MOST 64  // contacts of one shape with a surface that are kept: the deepest ones

// Contacts of a ball, deepest first: those with a gap below margin. Returns their number, at most `most`.
// The centre behind a surface that is not solid is in front of its other side: a ball must not be deeper than its radius.
int sr_surface_ball(const srSurface* surface, const double centre[3], double radius, double margin, srTouch* out,
                    int most);

// Contacts of a capsule, in the order along its axis: at its ends, and where edges and corners touch it in between.
int sr_surface_capsule(const srSurface* surface, const double end[2][3], double radius, double margin, srTouch* out,
                       int most);

// Contacts of any bounded convex shape; pose: of the shape in the frame of the surface (srm_pose). Faces of the two on each other give at most four
// points for each normal, wherever edges of the surface run.
int sr_surface_convex(const srSurface* surface, const srConvex* shape, const double pose[16], double margin,
                      srTouch* out, int most);

void sr_triangle_normal(const double corner[9], double out[3]);  // unit, to the front
// The point of a triangle nearest to x; returns its feature, as in srTouch.
int sr_triangle_nearest(const double corner[9], const double x[3], double out[3]);

// Is n (unit, from a point of the feature outward) in its polar cone: n.t <= 0 for all directions t into the surface there?
bool sr_surface_polar(const srSurface* surface, int triangle, int feature, const double n[3]);

// Normals within the angle 2 sqrt(2 depth/R) of each other are those of one contact; depth: of the deeper one.
bool sr_surface_one(const double n[3], const double other[3], double depth, double radius);

#endif
