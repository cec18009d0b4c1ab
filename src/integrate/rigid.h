// Event-driven rigid contact, for its files.   rigid.c memory and the extended system | rigid_rows.c closed contacts as constraint equations |
// rigid_delassus.c contact problems at a state | rigid_drift.c rates of their rows | rigid_forces.c forces of closed contacts |
// rigid_settle.c impacts and statuses after an event (its parts: rigid_touch.h) | rigid_switch.c what ends a status |
// rigid_clamp.c friction under given normal forces
#ifndef SR_INTEGRATE_RIGID_H
#define SR_INTEGRATE_RIGID_H

#include <sarrus/integrate.h>
#include <sarrus/nonsmooth.h>

#include "integrate/array.h"
#include "math/saddle.h"

typedef enum srRigidStatus {
  SR_RIGID_OPEN,
  SR_RIGID_STICKS,
  SR_RIGID_SLIDES,  // friction is opposite to the slip
  SR_RIGID_CONE,  // slip is about 0 and the force solves the cone problem: friction is opposite to the slip acceleration
} srRigidStatus;

// A closed contact, k of them.
typedef struct srClosed {
  long id;
  srRigidStatus status;
  double mu, mu_static;
  double clamp;  // > 0: friction under this normal force, which is not a contact (integrate.h)
  int work;      // of a clamp: as in srUnilateral
  bool held;     // a clamp that sticks where the equations of the system have it at rest: no equation of its own
  bool planar;   // it can slip along one direction alone ...
  double along
      [2];  // ... this one, over its tangents; while it slides, in the sense of the slip; in space: the direction of the slip at the start of the step
  double slip_least;  // slip at which it is examined for sticking, u_c
  double rho;  // n K f/(n K n) when the switching functions were evaluated last, f the force of a unit normal force
  // Slip in space that was examined and cannot stick: it misses 0 by little, or passes through it along a line.
  bool missed;              // examined: again where the slip is 1e-2 u_c, or more than 2 u_c
  bool straight;            // so little slip that its direction is held, until it is 0 in it
  bool creeps;              // for longer than it takes to pass
  double t_missed, t_most;  // when that was, and how long it may last: what creeps is a cone
  double ratio[2];          // cone: tangential force over normal force
  double force[3];          // of the last cone problem, where the next one begins: since the event, or of its decision
  int at;             // in the list: itself, or the contact that continues it (other features of the pair); -1: none
  bool lost;          // -1 when the switching functions were evaluated last
  srUnilateral last;  // as listed at the end of the last step, continued linearly where it is not listed any more
  double gap_last;
} srClosed;

// A contact in a problem: normal alone with a force n + s.t; normal and one tangent; normal and both tangents.
typedef struct srRigidPart {
  const srUnilateral* c;
  int rows;           // 1, 2, 3
  double along[2];    // of one tangent
  double force_s[2];  // with one row: its force along the tangents, over the normal one
  double mu, restitution;
  int first;  // its first row in the problem
} srRigidPart;

struct srTouch;  // a contact that touches at an event (rigid_touch.h)

struct srRigid {
  srSystem inner;  // without contacts in its equations
  srSystem outer;  // with them
  srSparsity pattern;
  srRigidOptions o;
  const srIntegrator* integrator;
  int most, nclosed;
  int ncontact;                     // the first of the closed ones: contacts; the others are clamps
  srClosed* closed;                 // (most)
  unsigned char* active;            // equations of the outer system
  bool combined;                    // redundant rows with friction: the equations are `rank` combinations of them ...
  int rank, rank_normal;            // ... the first of which are of normals alone
  double *force_basis, *row_basis;  // (3 most x 3 most), row-major: combination i over the rows (rigid_rows.c)
  srUnilateral *list, *other;       // contacts at a position; at one next to it
  int count;
  bool listed;
  bool whole;                 // all contacts are listed, not only those of the pairs of closed ones
  bool rated;                 // with their rates (3 a contact) at v_list, as far as they are known
  double *rate, *rate_other;  // of `list` and of `other`
  long* pairs;                // (most) of closed contacts, or of those of a problem
  double t_list, *q_list, *v_list;
  double* q_last;  // position of `last` of the closed contacts
  // A state, without contacts.
  srmSaddleShape shape;
  srmSaddle* saddle;
  srmRows* rows;
  double *M, *f, *ydot, *G, *b, *g, *gamma, *right;
  unsigned char* kept;
  double* free;  // accelerations
  bool freed;    // of the state in t_free, q_free, v_free, y_free: the same is not evaluated again within an event
  double t_free, *q_free, *v_free, *y_free;
  // The contact problem there.
  srRigidPart* part;
  int* owner;  // of the parts: a touching contact
  struct srTouch* touch;
  double softness;   // relative accelerations that the compliance of redundant normals leaves in the last cone problem
  bool contradicts;  // equations of contacts that stick were not met together at the last state
  double resolved;   // relative accelerations that the solution of their last problem tells from 0
  double closed_speed;                // m/s: normal speed of a contact that is closed after this event
  double rest_friction, rest_driver;  // work of the impulses that have ended a slip at this event, J
  int ntouch;
  int nstrike;  // the first of the touching ones: contacts, which impacts concern
  int npart, nrow;
  double *W, *X;                                 // (3 most x nv): its rows, and accelerations by unit forces
  double* drift;                                 // (3 most): rates of the rows of the parts times v
  double* samples;                               // of these
  double *rhs, *scale, *right_rows, *rhs_other;  // (3 most)
  double* p;                                     // forces or impulses
  double *A, *lu;                                // (3 most)^2
  int* pivot;
  int *row_from, *row_to;  // (3 most): rows of the problem, and their places in the bases
  srContactProblem* problem;
  srContactSolver* solver;
  // Vectors.
  double *a, *dq, *q_near, *q_new, *v_new, *lambda, *lambda_kept, *slips;
  double*
      partings;  // (most) of the last forces: normal accelerations of closed contacts that the cone problem opens, relative to the largest acceleration
  double *q_ahead, *v_ahead, *y_ahead;
  double *q_start, *v_start, *y_start;
  double *Nv, *Dv;  // (3 most): rates of the equations and of the forces of closed contacts, at the last `dynamics`
  signed char *fired, *direction;
  srGaps* gaps;
  srEventSource gap_source;
  srRigidStats stats;
  char error_message[200];
  double* block;
  long generation, evaluated;  // of the statuses: now, and when the switching functions were evaluated
  double t_settled, t_evaluated;
  int rounds;     // of opening and closing at the present instant
  bool wrong;     // a force at the last evaluation of the switching functions is clearly not one of its status
  double* value;  // (3 most): of them
};

// ---- rigid_rows.c
int sri_rigid_row(const srRigid* x, int k, int direction);  // of closed contact k: its normal, or tangent 1 or 2
int sri_rigid_list(srRigid* x, double t, const double* q);  // contacts at a position. Returns as the callbacks
// The same with rates at v of the pairs that have closed contacts; alone: other pairs are of no interest.
int sri_rigid_list_rates(srRigid* x, double t, const double* q, const double* v, bool alone);
const srUnilateral* sri_rigid_contact(srRigid* x, int k);  // closed contact k at the position listed last
void sri_rigid_keep(srRigid* x, const double* q);          // `last` of the closed contacts
void sri_rigid_find_places(srRigid* x);                    // of the closed contacts in the list
void sri_rigid_rename(srRigid* x);                         // closed contacts are those that continue them
void sri_rigid_activate(srRigid* x);                       // which equations are active
double sri_rigid_slip(const srUnilateral* c, const double* v, double s[2]);  // its length
void sri_rigid_callbacks(srRigid* x);                                        // of the outer system
// Direction of the friction of closed contact k over its tangents, times mu: - mu s/|s|, or the ratio of a cone.
void sri_rigid_friction(const srRigid* x, int k, const srUnilateral* c, const double* v, double out[2]);

// ---- rigid_delassus.c
// M, forces and equations at a state, factored, and the accelerations without contact forces. Returns as the callbacks.
int sri_rigid_free(srRigid* x, double t, const double* q, const double* v, const double* y);
void sri_rigid_build(srRigid* x);                                              // W, X and A = W X^T of the parts
void sri_rigid_velocities(const srRigid* x, const double* v, double* out);     // W v + b of the rows
void sri_rigid_accelerations(const srRigid* x, const double* a, double* out);  // W a + drift
void sri_rigid_right(srRigid* x);  // x->right_rows: W a_free + drift, and what gives clamps their normal forces
// Of the accelerations q of the rows without contact forces: what residuals and accelerations at rest are compared with. Rounding, where q cancels (a ball that just fits between two walls).
double sri_rigid_size(const srRigid* x, const double* q);
double sri_rigid_cancelled(const srRigid* x);                      // the least of it
void sri_rigid_add(const srRigid* x, const double* p, double* v);  // v += X^T p
double sri_rigid_work(const srRigid* x, const double* p, const double* before, const double* after, bool normal);
double sri_rigid_compliance(
    srRigid* x);  // of normals in cone problems, relative to their own: > 0 where rows are redundant
// A start for the problem in x->problem, into x->p. Several contacts with friction may have several solutions, of which rounding would choose one (four
// dominoes that lean on each other: one symmetric, two that lift a corner). This leads to the limit of equal compliances.
void sri_rigid_begin_soft(srRigid* x);
#define SR_RIGID_UNSOLVED 1e-6  // of the right-hand side: residual of a cone problem whose solution says nothing
// The cone problem with right-hand side q (nrow), into x->p, and its residual relative to q. False: not solved.
// As an event needs it: from the forces with which all contacts stay closed where these are a solution, else from that start.
bool sri_rigid_decide(srRigid* x, const double* q, double* residual);
// As the motion goes on: from x->p, the last forces; where that leads nowhere, as an event needs it.
bool sri_rigid_follow(srRigid* x, const double* q, double* residual);
// A p = -right by rows: regular, or with equal compliances of all rows.
// False: they are dependent.
bool sri_rigid_solve_rows(srRigid* x, const double* right, double* p);
double sri_rigid_rows_residual(const srRigid* x, const double* right, const double* p);  // largest |A p + right|

// ---- rigid_drift.c
int sri_rigid_drift(srRigid* x, double t, const double* q, const double* v);  // of the parts. Returns as the callbacks
size_t sri_rigid_sample_size(void);                                           // bytes of `samples`, for each part

// ---- rigid_forces.c
void sri_rigid_part_force(const srRigid* x, const srRigidPart* part,
                          double out[3]);  // x->p of a part, in the axes of its contact
// Forces of the closed contacts with their present statuses: lambda (3 a contact), and accelerations into x->a. slips (a contact, or NULL): slip
// accelerations of contacts that stick, relative to the largest acceleration, where friction at rest cannot hold all of them; else 0.
int sri_rigid_forces(srRigid* x, double t, const double* q, const double* v, const double* y, double* lambda,
                     double* slips);
void sri_rigid_cone_part(srRigid* x, int k, const double* v,
                         srRigidPart* out);  // of closed contact k in the cone problem

// ---- rigid_clamp.c
void sri_rigid_clamp_rows(srRigid* x);                              // of the normals of clamps among the parts, in A
bool sri_rigid_is_held(const srRigid* x, const srRigidPart* part);  // a clamp: have the equations left it no mobility?
// f += forces of clamps that slide.
int sri_rigid_clamp_forces(srRigid* x, double t, const double* q, const double* v, double* f);

// ---- rigid_settle.c
#define SR_RIGID_NEAR 1e-2  // of u_c: slip that has missed sticking is as good as 0
enum { SR_CAUSE_RELEASE = 1, SR_CAUSE_ONSET = 2, SR_CAUSE_STOP = 4, SR_CAUSE_PAINLEVE = 8, SR_CAUSE_LEAVE = 16 };
// cause (nclosed): what has happened to the closed contacts; NULL: nothing.
int sri_rigid_settle(srRigid* x, double t, double* q, double* v, double* y, const signed char* cause);

#endif
