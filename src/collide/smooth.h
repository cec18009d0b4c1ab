// Contact of smooth parametric surfaces x(u, v): points with a common normal, with each other and with convex shapes. On math alone.
// Equations and measured accuracy: docs/theory/common-normal.md.
//
//   prepare a surface (faults are found here), build its tree once; then sr_smooth_nearest follows a contact by the Newton iteration from
//   the last answer, and sr_smooth_search finds all contacts of a pose.
//
// Surfaces touch where both are smooth: the edge of an open surface has no normal, and contacts of edges are not found.
#ifndef SR_COLLIDE_SMOOTH_H
#define SR_COLLIDE_SMOOTH_H

#include "collide/distance.h"

typedef struct srSmoothPoint {
  double x[3], first[2][3];  // x; x_u, x_v
  double second[3][3];       // x_uu, x_uv, x_vv
} srSmoothPoint;

// An end of a parameter that is a single point of the surface, as at the poles of a sphere, in the coordinates
// (xi, eta) = r (cos theta, sin theta): r the distance of the parameter from its end, theta the other one, over a full turn.
typedef struct srSmoothPole {
  bool is;
  double first[2][3], second[3][3];  // derivatives by xi and eta
} srSmoothPole;

typedef struct srSmooth {
  void (*at)(const void* self, const double at[2], srSmoothPoint* out);  // at: u and v
  const void* self;
  double low[2], high[2];  // ranges of u and v
  bool periodic[2];        // the surface closes: x(low) = x(high)
  bool inward;             // x_u cross x_v points into the solid, not out of it
  // Set by sr_smooth_prepare:
  double centre[3], size;   // of a ball about its points
  srSmoothPole pole[2][2];  // parameter, end: low or high
} srSmooth;

typedef enum srSmoothFault {
  SR_SMOOTH_GOOD,
  SR_SMOOTH_RANGE,       // a range is empty or not finite
  SR_SMOOTH_NOT_FINITE,  // x or a derivative is not finite
  SR_SMOOTH_OPEN,        // a parameter is said to be periodic and the surface does not close
  SR_SMOOTH_DEGENERATE,  // x_u cross x_v vanishes: a tip, a crease, or a surface that is a curve
  SR_SMOOTH_FOLD,        // the normal turns over from one side to the other
  SR_SMOOTH_FAULTS
} srSmoothFault;
extern const char* const sr_smooth_fault_texts[SR_SMOOTH_FAULTS];

// Finds size and poles, and faults on a grid of points. place: u and v of the fault.
srSmoothFault sr_smooth_prepare(srSmooth* surface, double place[2]);

// ------------------------------------------------------------------------------------------------------------ one point
// Symmetric 2 x 2 matrices are {11, 12, 22}.
typedef struct srSmoothFrame {
  double x[3], n[3];  // n: outward, unit
  double e[2][3];     // orthonormal tangents
  double W[3];        // dn = e W delta for a step e delta: positive where the solid is convex
  double T[3];        // tangents of the chart to e, upper triangular: the step of the chart is T delta
} srSmoothFrame;

bool sr_smooth_frame(const srSmooth* surface, const double at[2], srSmoothFrame* out);  // false: there is no normal
// Moves along the tangent e delta, to first order; poles are passed, periods wrapped, ends hold.
void sr_smooth_step(const srSmooth* surface, const srSmoothFrame* frame, const double delta[2], double at[2]);

// ---------------------------------------------------------------------------------------------------------------- search
typedef struct srSmoothTree srSmoothTree;

// Patches with bounding spheres and cones of normals, from samples of the prepared surface, which must outlive the tree. In the pool.
const srSmoothTree* sr_smooth_tree_create(srPool* pool, const srSmooth* surface);
int sr_smooth_tree_patches(const srSmoothTree* tree);  // that are not divided further
// Are this point and its normal within the bounds of a patch that they are in, at every level?
bool sr_smooth_tree_holds(const srSmoothTree* tree, const double at[2]);

typedef struct srSmoothPair {
  const srSmoothTree* a;
  const srSmoothTree* b;  // NULL: convex is b
  const srConvex* convex;
} srSmoothPair;

typedef struct srSmoothContact {
  srNearest near;
  double at[2][2];  // u and v of a and of b
} srSmoothContact;

typedef struct srSmoothReach {
  double margin, depth;  // contacts with -depth <= gap <= margin are found
} srSmoothReach;

// All contacts within reach, those with the smallest gaps first; `most` of them are written, the number found is returned. work: pairs of
// patches and Newton iterations that were begun; may be NULL.
typedef struct srSmoothWork {
  long patches, newtons;
} srSmoothWork;
int sr_smooth_search(const srSmoothPair* pair, const double pose[16], srSmoothReach reach, srSmoothContact* out,
                     int most, srSmoothWork* work);

// The contact near contact->at, where contact->near.state is SR_NEAREST_FOUND; where there is none any more or none was known, that with
// the smallest gap by the search. SR_NEAREST_NONE: there is none within reach.
void sr_smooth_nearest(const srSmoothPair* pair, const double pose[16], srSmoothReach reach, srSmoothContact* contact);

// ------------------------------------------------------------------------------------------------- iterations (common_normal.c)
// From contact->at to the points with a common normal. True: they are the nearest ones of their surroundings, solids on opposite
// sides; contact is set. False: no such point was reached; contact->near.iterations alone is set.
bool sr_common_normal(const srSmooth* a, const srSmooth* b, const double pose[16], srSmoothContact* contact);
bool sr_common_normal_convex(const srSmooth* a, const srConvex* b, const double pose[16], srSmoothContact* contact);

// Point p against the convex shape: gap, and the normal from the point to the shape.
void sr_smooth_point_distance(const double p[3], const srConvex* b, const double pose[16], double warm[3],
                              srNearest* out);

static inline const srSmooth* sr_smooth_of_tree(const srSmoothTree* tree) { return *(const srSmooth* const*)tree; }

#endif
