// Frames of points of the model on the graph: pose, motion and columns of coordinates, as dynamics/frame.c and constraint/frames.c have them of numbers.
#ifndef SR_SYMBOLIC_POINTS_H
#define SR_SYMBOLIC_POINTS_H

#include "symbolic/tree.h"

typedef struct srSymMotion {
  srMat R;      // rotation to the observer's axes
  srVec p;      // origin
  srVec w, u;   // angular velocity, velocity of the origin
  srVec wd, a;  // angular acceleration, acceleration of the origin
} srSymMotion;

typedef enum srSymLevel { SR_SYM_POSE, SR_SYM_VELOCITY, SR_SYM_ACCELERATION } srSymLevel;

// Links as observed from one of them, in its computational axes; 0: from the ground. Links on the way are computed once.
// acceleration: nodes of dv/dt; NULL: 0, so that accelerations are what velocities alone give.
typedef struct srSymView srSymView;
srSymView* sr_sym_view(srSymPass* pass, int observer, srSymLevel level, const srNode* acceleration);
srSymMotion sr_sym_view_link(srSymView* view,
                             int link);  // in its computational frame; the observer is on its path to the ground
srSymMotion sr_sym_view_point(srSymView* view, int point);  // in the frame of the point

// A point's frame as sr_frame_motion has it: observed from the frame of another point, which may move, in its axes.
void sr_sym_frame_motion(srSymPass* pass, int point, int relative_to, srSymLevel level, const srNode* acceleration,
                         srSymMotion* out);
// The frame of a point in the computational frame of its link.
void sr_sym_place(srSymPass* pass, int point, srMat* R, srVec* p);
int sr_sym_common_link(const srSymPass* pass, int a, int b);  // the youngest link on the paths of both to the ground

// Columns over the twist of coordinates that move a point at p, as the view has it, on the way from its link to the observer: descending coordinates into dof; returns their number.
typedef struct srSymColumn {
  srVec w, u;
} srSymColumn;
int sr_sym_columns(srSymView* view, int link, srVec p, int* dof, srSymColumn* column);

#endif
