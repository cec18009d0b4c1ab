// Force elements of a model on the graph.
//   elements.c ports, as force/ports.c | contact.c friction and contact of shapes, as src/contact
#ifndef SR_SYMBOLIC_ELEMENTS_H
#define SR_SYMBOLIC_ELEMENTS_H

#include "symbolic/import.h"
#include "symbolic/points.h"

// Which elements: bits.
enum {
  SR_SYM_LINKS = 1,     // springs, dampers, stops, bushings, tyres and formulas of joints and between points
  SR_SYM_EXTERNAL = 2,  // forces and moments at points of bodies, by formulas
  SR_SYM_CONTACTS = 4,  // friction and contact
  SR_SYM_STATES = 8,    // rates of <state> elements
  SR_SYM_ALL = 15
};

typedef struct srSymForces {
  srNode* tau;   // nv: on the coordinates
  srVec *F, *N;  // links: force and moment about the link's origin that it receives, computational axes
  srNode* ydot;  // ny; 0 of states that are of other elements
} srSymForces;

srSymForces* sr_sym_forces(srSymPass* pass, unsigned which);
// Wrenches of links to forces on the coordinates, which are added to tau.
void sr_sym_gather(srSymPass* pass, srSymForces* forces);
// NULL, or why: "..., and the contact 'foot' ...". which as above.
const char* sr_sym_forces_missing(srPool* pool, const srModel* m, unsigned which);

int sr_sym_formulas_of(const srForceElement* e);  // how many it has

// Between two frames: b as observed from a, in the axes of a; f acts on b at its origin (srPort).
typedef struct srSymFrames {
  srMat R;
  srVec x, w, u;
  srVec moment, force;
} srSymFrames;

// contact.c. An element of friction or contact; y: its states, ydot: their rates, tau: time constant.
typedef struct srSymLaw {
  srSymPass* pass;
  const srForceElement* element;
  srNode time_constant;
  const srNode* normal;  // numbers of the normal law, on a graph that is not the element's; NULL: its own
  const srNode* belt;    // velocities of surfaces in their frames, by srCollisionShape.belt; NULL: none
} srSymLaw;
srNode sr_sym_friction_joint(const srSymLaw* law, srNode rate, srNode* ydot);
srNode sr_sym_end_joint(const srSymLaw* law, srNode q, srNode rate);
void sr_sym_gap(const srSymLaw* law, srNode gap, srNode gap_rate, srNode slip_rate, srNode f[2], srNode* ydot);
void sr_sym_shapes(const srSymLaw* law, srSymFrames* at, srNode* ydot);
bool sr_sym_sees_rotation(const srForceElement* e);  // of b in a
int sr_sym_belt(const srForceElement* e, int k);     // where the velocity of the surface of a or b begins; -1: none
const char* sr_sym_contact_missing(srPool* pool, const srSurfaceLaws* c);  // a clause, or NULL

#endif
