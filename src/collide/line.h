// The depth of a convex shape along the core of a capsule: points of integration for a line of pressure. On math alone; what a contact makes of it:
// docs/theory/contact-patch.md.
//
// Every point of the core is the centre of a ball of the capsule's radius. With s along the core and gap(s) that of the ball and the other shape,
// the depth d(s) = -gap(s) is concave, since the distance to a convex set is convex: it is positive on one interval.
#ifndef SR_COLLIDE_LINE_H
#define SR_COLLIDE_LINE_H

#include "collide/distance.h"

#define SR_LINE_POINTS 64

typedef struct srLinePoint {
  double s;        // along the core, from its middle
  double weight;   // ds; of an end 1/|d'(s)|
  double depth;    // of the ball there
  double arm[3];   // from the origin of b to the point of contact, between the nearest points
  srNearest near;  // of the ball and the other shape, in the axes of a
} srLinePoint;

typedef struct srLine {
  int which;       // is the capsule a (0) or b (1)?
  double axis[3];  // of its core, in the axes of a
  int n;           // 0: nowhere deep
  srLinePoint point[SR_LINE_POINTS];
  int nend;  // ends of the interval where the depth is 0; an end of the core is none
  srLinePoint end[2];
  srLinePoint deepest;
} srLine;

// Can the shape be the other one? A sphere or an ellipsoid touches at a point, a plane at both ends of the core.
bool sr_line_faces(srShapeKind kind);

// pose: of b in a.
void sr_line_find(const srConvex* a, const srConvex* b, int which, const double pose[16], srLine* out);

// What a small motion of b does to a point, which stays at its place of the core. twist: rotation about the origin of b, its translation.
typedef struct srLineChange {
  double depth, n[3], arm[3];
} srLineChange;
void sr_line_change(const srLine* line, const srLinePoint* at, const srNearestDerivative* by, const double twist[6],
                    srLineChange* out);

#endif
