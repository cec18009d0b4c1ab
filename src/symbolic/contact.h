// Where shapes touch, on the graph: what contact.c has of their geometry.
//   contact_box.c a box on a plane | contact_field.c spheres and capsules on a height field
#ifndef SR_SYMBOLIC_CONTACT_H
#define SR_SYMBOLIC_CONTACT_H

#include "contact/normal_graph.h"
#include "symbolic/elements.h"

typedef struct srSymPlace {  // as srContactPlace
  srVec n, r, slip, turn, turning, force, moment;
  srNode spin, N, N_spin;
} srSymPlace;

// Force of the normal law at the depth d, growing at the rate ddot; 0 where d <= 0.
srNode sr_sym_normal_force(const srSymLaw* law, srNode d, srNode ddot);
// The same by the numbers of the law, as arguments of its definition, on a graph that may be another one.
void sr_sym_normal_numbers(const srSymLaw* law, srNode out[SR_NORMAL_ARGUMENTS]);
srNode sr_sym_normal_of(srPool* pool, srGraph* g, const srNormalLaw* law, const srNode number[SR_NORMAL_ARGUMENTS],
                        srNode d, srNode ddot);
// Of a loop on the graph g: constants, or arguments behind the n others. Returns how many arguments there are; key: what the loop depends on.
int sr_sym_normal_arguments(const srSymLaw* law, const srNode* given, srGraph* g, srNode* number, srNode* all, int n,
                            double* key);
srVec sr_sym_flat(srGraph* g, srVec n, srVec a);  // a less its part along n

bool sr_sym_is_box_on_plane(const srSurfaceLaws* c);
void sr_sym_place_box(const srSymLaw* law, const srSymFrames* at, srSymPlace* out);

bool sr_sym_is_sphere_on_field(const srSurfaceLaws* c);
const char* sr_sym_field_missing(srPool* pool,
                                 const srSurfaceLaws* c);  // of all shapes: a clause why there is no code, or NULL
void sr_sym_place_field(const srSymLaw* law, const srSymFrames* at, srSymPlace* out);

// Loops over a window of a height field that moves with the shape: it reaches from its centre no farther than `reach`.
enum { SR_SYM_FIELD_MOST = 40, SR_SYM_ROUNDS = 4 };
struct srHeightField;
int sr_sym_field_steps(const struct srHeightField* f, int axis, double reach);  // corners, with the cells behind them
srNode sr_sym_field_first(srGraph* g, const struct srHeightField* f, int axis, double reach, srNode centre);
// May the cell behind the corner (i, j) reach into this box, which has no top?
srNode sr_sym_field_near(srGraph* g, const struct srHeightField* f, const srNode low[3], const srNode high[2], srNode i,
                         srNode j);

// A contact of a ball: its centre moves over the surface at the distance `core`, below 0 inside.
typedef struct srSymTouch {
  srNode ok, core;
  srVec n, edge;  // edge: unit, or 0
  srNode bends;   // 1: n turns as the centre moves; 0 on a face
} srSymTouch;
void sr_sym_ball_on_field(const srSymLaw* law, double radius, srVec centre, srSymTouch out[SR_SYM_ROUNDS]);

bool sr_sym_is_capsule_on_field(const srSurfaceLaws* c);
void sr_sym_place_capsule_on_field(const srSymLaw* law, const srSymFrames* at, srSymPlace* out);

bool sr_sym_is_box_on_field(const srSurfaceLaws* c);
void sr_sym_place_box_on_field(const srSymLaw* law, const srSymFrames* at, srSymPlace* out);

#endif
