// Convex shapes: support points and functions, their second derivatives, bounds, flat features. On math alone.
//
// A shape is a core and a ball of `radius` rolled around it (Minkowski sum): a sphere is a point with a radius, a capsule a segment, and a
// box with a radius is a box with rounded edges. The support function of a core is s(n) = max n.x over its points.
#ifndef SR_COLLIDE_SHAPE_H
#define SR_COLLIDE_SHAPE_H

#include <stdbool.h>

#include "base/base.h"

typedef enum srShapeKind {
  SR_KIND_NONE,       // nothing can touch it
  SR_KIND_PLANE,      // the half space below z = 0 of its frame
  SR_KIND_SPHERE,     // core: the origin
  SR_KIND_HOLLOW,     // a sphere that holds others within (pair.h alone: it is not convex)
  SR_KIND_BOX,        // size: half sizes along x, y, z
  SR_KIND_CAPSULE,    // core: the segment |z| <= size[2]
  SR_KIND_CYLINDER,   // size[0]: its radius; |z| <= size[2]
  SR_KIND_CONE,       // size[0]: radius of its base at z = -size[2]; apex at z = size[2]
  SR_KIND_ELLIPSOID,  // size: semi-axes along x, y, z
  SR_KIND_HULL,       // convex hull of points
  SR_KIND_BORE,  // a cylinder about z, without ends, that holds spheres within: not convex either, and after all that are
  SR_KINDS,      // those above, of srConvex; the following are surfaces (collision.h)
  SR_KIND_MESH,    // triangles: mesh.h
  SR_KIND_FIELD,   // heights on a grid: field.h
  SR_KIND_SMOOTH,  // x(u, v): smooth.h
} srShapeKind;

// Is it within a ball about its origin? An unbounded shape may be near everything.
bool sr_shape_bounded(srShapeKind kind);

// Corners of a convex hull, and what is between them. Where the points lie in a plane there are no neighbours and no faces.
typedef struct srConvexHull {
  int n;
  const double* corner;  // n x 3
  const int *first,
      *neighbour;  // neighbours of corner i: neighbour[first[i]] .. neighbour[first[i + 1] - 1]; NULL: none known
  int nface;       // flat faces: triangles in one plane are one face
  const int *face_first, *face_corner;  // corners of face i, counterclockwise from outside: as above
  const double* face_normal;            // nface x 3, unit, outward
  double reach;                         // largest distance of a corner from the origin
} srConvexHull;

typedef struct srConvex {
  srShapeKind kind;
  double size[3];  // of the core
  double radius;   // around the core
  double peeled;   // of an ellipsoid: the core is what a ball of this radius is rolled around (sr_convex_peel)
  const srConvexHull* hull;
} srConvex;

srConvex sr_convex_plane(void);
srConvex sr_convex_sphere(double radius);
srConvex sr_convex_box(const double half[3]);
srConvex sr_convex_capsule(double half_length, double radius);
srConvex sr_convex_cylinder(double half_length, double radius);
srConvex sr_convex_cone(double half_length, double radius);
srConvex sr_convex_ellipsoid(const double semi_axes[3]);
srConvex sr_convex_of_hull(const srConvexHull* hull);
// The same shape with the largest ball in its radius that its core is a sum of: a shallow overlap is then a distance of cores.
srConvex sr_convex_peel(const srConvex* shape);

// The hull of n points, in memory of the pool. NULL: there is no point, or a coordinate is not finite.
const srConvexHull* sr_convex_hull_create(srPool* pool, const double* point, int n);

// ------------------------------------------------------------------------------------------- all in the axes of the shape
// A feature of a core is a part of its surface where the support point is a smooth function of n: a corner of a box or hull, an end of a
// capsule's axis, a rim of a cylinder (0: z < 0, 1: z > 0), the rim (0) or the apex (1) of a cone, the whole ellipsoid (0).

// Support of the core: s(n), the point, its feature. n has any length but 0; `hint` is a feature to start from where corners are many.
double sr_convex_core_support(const srConvex* shape, const double n[3], int hint, double point[3], int* feature);
// Support of the shape, n a unit vector.
double sr_convex_support(const srConvex* shape, const double n[3], double point[3]);
// The support point as if this feature alone were the core; n a unit vector.
void sr_convex_feature_point(const srConvex* shape, int feature, const double n[3], double point[3]);
// Its derivative with respect to n, the Hessian of s: symmetric, H n = 0, row-major. A core is flat at corners: H = 0.
void sr_convex_feature_hessian(const srConvex* shape, int feature, const double n[3], double H[9]);
// A circular flat face of a cylinder or cone whose outward normal is within an angle of this sine of n: true, with that normal.
bool sr_convex_cap(const srConvex* shape, const double n[3], double sine, double normal[3]);

// Radius of a ball about the origin that contains the shape: INFINITY for a plane.
double sr_convex_reach(const srConvex* shape);
// Radius of a ball that is within the shape: how thin it is. 0 for points in a plane, INFINITY for a plane.
double sr_convex_inner(const srConvex* shape);
// Smallest box with the axes of the frame that the pose is given in.
void sr_convex_bounds(const srConvex* shape, const double pose[16], double low[3], double high[3]);

// The flat part of the core's surface that faces n: of all whose normals are within an angle of this sine, the face that is
// nearest to n, else an edge, else a corner.
#define SR_FLAT_MOST 64  // corners of a face that are reported; of a face with more, every second, third, ...
typedef struct srFlat {
  int dimension;  // 0: a point, 1: an edge, 2: a face
  int id;         // the same as long as the feature is: of a face, an edge or a point of this shape
  int n;          // its corners, counterclockwise as seen from outside; 0: a circular face
  double corner[SR_FLAT_MOST][3];
  int corner_id[SR_FLAT_MOST];  // of this shape: as the features of its core
  double normal[3];             // of a face, outward; otherwise n
  double centre[3], disc;       // of a circular face, and its radius
} srFlat;
void sr_convex_flat(const srConvex* shape, const double n[3], double sine, srFlat* out);

#endif
