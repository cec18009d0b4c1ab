// Integrators: they see numbers and callbacks (the system interface), never a body.
//
//   q' = H(q) v                                nq >= nv
//   M(q) v' = f(t,q,v,y,z; tau) + D(t,q,v)^T lambda
//   G(t,q) v + b(t,q) = 0                      ng equations; the first np also have a position form g(t,q) = 0
//   y' = r(t,q,v,y,z; tau)                     user states and states of force elements
//   w' = power(t,q,v,y)                        quadratures: integrated alongside, outside the error control unless w_most is given
//   z                                          discrete: changes only in `accepted` and at events
//   0 <= gap(q)  _|_  lambda_N >= 0            unilateral contacts: rows of G while they are closed
//
// ng is a capacity: `active` selects the equations in force. The selection may change at a start or restart, never within a step.
//
// The interface is wider than explicit methods need: half-explicit methods take G of the next stage with M, f, D of
// this one; implicit ones take the tangent. A callback that a system cannot provide is NULL, and a method that needs it
// refuses the system with a message.
#ifndef SARRUS_INTEGRATE_H
#define SARRUS_INTEGRATE_H

#include <sarrus/base.h>
#include <sarrus/nonsmooth.h>
#include <sarrus/words.h>

#ifdef __cplusplus
extern "C" {
#endif

// Derivatives of the residual that implicit methods solve, with one row per entry of v and y,
//   [ M(q) a - f(t,q,v,y; tau) - D^T lambda ]
//   [         - y'(t,q,v,y; tau)            ]
// with a and lambda held. Both matrices are (nv+ny) x (nv+ny), row-major, or by K_sparsity.
typedef struct srTangent {
  double* Kq;  // by q, along the directions of `retract`; the columns of y are 0
  double* Kv;  // by v and by y
} srTangent;

// One unilateral contact. u = W v + b is the relative velocity in its axes: the normal, then one tangent (planar motion) or two; u[0] is
// the rate of the gap. The normal points from body A to body B: lambda_N > 0 pushes the bodies apart.
typedef struct srUnilateral {
  long id;    // persistent: the same contact has the same number in every call, never reused
  long pair;  // contacts of the same two surfaces have the same number; 0: it has no others
  // Of systems with `bodies`, where n is 0: by its point instead of rows. What changes from step to step is side by side in memory.
  int body[2];  // a, b: numbers of bodies; -1: at rest
  double gap;   // > 0 apart
  double axis
      [3];  // unit normal from a to b in world axes; where there are rows: in the axes of a, and 0 where there is no such direction (a stop, a gap by formula)
  double arm[2][3];        // from the centers of mass to the point, world axes
  double b[3];             // 1 + ntangent; of points along the tangents of sr_contact_frame
  double mu, restitution;  // of rigid contact: coefficient of friction, coefficient of restitution
  double clamp;  // > 0: no contact but friction under this normal force, N: row 0 of W is 0, and so is the gap
  int n;         // velocities in its rows, at most ncolumn of the system
  int work;      // of a clamp: quadrature of the system that takes its work; -1: none
  // Rows of G: its normal while it is closed (one of the first np), and its first tangent while it sticks, followed by the second; -1:
  // none.
  int normal, tangent;
  double mu_static;           // coefficient of friction while it sticks; below mu: mu
  double stiffness, damping;  // of compliant contact: p_N/h = K d + D d', N/m and N s/m; of a stop of its coordinate
  int* column;                // (n) their indices, each once, in any order; the memory is the caller's
  double* W;                  // (1 + ntangent) x n, row-major: row k begins at W + k n; the memory is the caller's
  // Where friction depends on the direction: unit tangent of row 1, in the axes of a, with the coefficient mu; row 2 is `factor` times the one across it, axis x across, with factor mu. 0: the
  // tangents are those of the normal, and factor does not count. Impulses of row 2 times factor are those along it.
  double across[3], factor;
} srUnilateral;

// Which contacts a method asks for, and what of them.
typedef struct srContactChoice {
  int npair;
  const long* pair;  // (npair) srUnilateral.pair of those concerned
  bool alone;        // no others are listed
  // (3 for each contact listed, NULL: none) rates of u of the contacts concerned along the motion with v held: dW/dt v + db/dt, and NAN where the system
  // has no closed form.
  double* rate;
  const double* v;
} srContactChoice;

// A body that moves freely: six velocities in its own axes, first angular, then of its origin; no others share its inertia.
typedef struct srFreeBody {
  int first;            // of its velocities
  double mass, com[3];  // com: from its origin, in its axes
  double inverse[6];    // of its inertia about com, in its axes: xx yy zz xy xz yz
  double rotation[9];   // rows: its axes to those of the world
  double origin[3];     // in the world
} srFreeBody;

// The matrix cM diag(M, 0) + cI diag(0, I) + cq Kq + cv Kv over (v, y), with complex coefficients: real parts first.
typedef struct srShift {
  double cM[2], cI[2], cq[2], cv[2];
} srShift;

// Linear systems of the motion that the system solves itself, matrix-free. For a long kinematic tree M, Kq and Kv are full, yet
// products and solutions cost a fixed number of operations per body. Implicit methods use it instead of M and `tangent` where there are no
// constraints, and allocate nothing of size nv^2. Vectors over (v, y) have nv + ny entries. Return values as those of srSystem's callbacks.
typedef struct srMotionSolver {
  // E = [M(q) a - f; -y'] at a state; a (nv), NULL: 0.
  int (*residual)(void* user, double t, const double* q, const double* v, const double* y, double tau, const double* a,
                  double* E);
  // out = M(q) x (nv).
  int (*mass_times)(void* user, const double* q, const double* x, double* out);
  // Stores M, Kq and Kv at this state with a held. diagonal (nv): that of M.
  int (*tangent)(void* user, double t, const double* q, const double* v, const double* y, double tau, const double* a,
                 double* diagonal);
  // out = Kq dxi + Kv dx; dxi (nv) or dx (nv + ny) may be NULL.
  void (*times)(void* user, const double* dxi, const double* dx, double* out);
  // Factors the shifted matrix; false: singular. One real and one complex factor are kept side by side.
  bool (*factor)(void* user, const srShift* shift, bool is_complex);
  // In place (nv + ny); complex: imaginary parts behind the real ones.
  void (*solve)(void* user, bool is_complex, double* x);
} srMotionSolver;

#define SR_Y_UNUSED (-1.0)  // of srSystem.y_most

// Every callback returns 0: done; > 0: failed, try a smaller step; < 0: stop, the run cannot continue.
typedef struct srSystem {
  int nq, nv;  // positions, velocities
  int ny;      // continuous states
  int nw;      // quadratures (energy balance), not error controlled
  int nz;      // discrete states, held by the user of the system
  int ng, np;  // constraint equations; the first np have a position form
  // Which equations are active (ng): the others are ignored, whatever (finite) numbers the callbacks write for them, and have
  // multiplier 0. NULL: all. Owned by the user of the system, read only at sri_start and sri_restart, where a
  // number other than before, not 0, is another equation in its place. `rates` honours it itself.
  const unsigned char* active;
  int ncontact, ntangent;  // largest number of unilateral contacts at one time; tangential directions of each, 1 or 2
  int ncolumn;             // largest number of velocities in the rows of one of them; 0: nv
  // Largest error of a state in a step, whatever rtol and atol are (ny; 0: no bound). NULL: no bounds. For states whose
  // magnitude is far below that of the others: bristles. SR_Y_UNUSED: an entry without a state; it is 0, its rate is 0, and norms
  // skip it. May change between steps.
  const double* y_most;
  // Largest error of a quadrature in a step, by explicit and half-explicit methods under the default rule of the step; 0 or NULL: quadratures are outside the error control. May change between steps.
  const double* w_most;
  void* user;

  // q', v', y', w'. With constraints: the system solves them itself at acceleration level, and `accepted` enforces them. NULL: the
  // integrators solve M, f, G and gamma for the accelerations, and enforce the constraints as the options state.
  int (*rates)(void* user, double t, const double* q, const double* v, const double* y, double tau,  //
               double* qdot, double* vdot, double* ydot, double* wdot);
  // The same where no constraint equation is active. NULL: integrators solve M and f for them there too.
  int (*rates_free)(void* user, double t, const double* q, const double* v, const double* y, double tau,  //
                    double* qdot, double* vdot, double* ydot, double* wdot);
  // M (nv x nv, row-major, or by M_sparsity) and f (nv). D (ng x nv, or by G_sparsity) is requested where D_differs is set,
  // else it is NULL. ydot (ny). M is NULL where a method has it already: of systems with `bodies`, whose M is the same at every q.
  int (*dynamics)(void* user, double t, const double* q, const double* v, const double* y, double tau,  //
                  double* M, double* f, double* ydot, double* D);
  // g (np), G (ng x nv, row-major, or by G_sparsity), b (ng). Any output may be NULL.
  int (*constraint)(void* user, double t, const double* q, double* g, double* G, double* b);
  // gamma = -(dG/dt v + db/dt), so that G v' = gamma on the constraint (ng).
  int (*gamma)(void* user, double t, const double* q, const double* v, double* gamma);
  // The unilateral contacts that are closed or near, in any order (out has room for ncontact), and their number. Any contact not
  // listed is far apart.
  int (*contacts)(void* user, double t, const double* q, srUnilateral* out, int* count);
  // The same for some of them. NULL: methods list all, and take differences for the rates.
  int (*contacts_chosen)(void* user, double t, const double* q, const srContactChoice* choice, srUnilateral* out,
                         int* count);
  // From now on `contacts` at q lists all that may close within a step h of the velocities v. 0; 1: that may be others than before. NULL: it always does.
  int (*foresee)(void* user, double t, const double* q, const double* v, double h);
  // From now on, until it is called with NULL: `contacts` need not list those of velocities (nv) that are not 0 here, with each other and with what never moves. The numbers change between
  // steps. NULL: all are listed.
  void (*sleep)(void* user, const int* asleep);
  // Friction under given normal forces (dry friction of joints): all nclamp of them, in a fixed order, with ids that no contact has. Methods for rigid
  // contact solve them with the contacts. Not together with `bodies`.
  int nclamp;
  // rate (3 of each): dW/dt v of its rows, and NAN where the system has no closed form. NULL: not asked for, then v may be NULL.
  int (*clamps)(void* user, double t, const double* q, const double* v, srUnilateral* out, double* rate);
  // Where everything that moves is a free body: nbody of them at q. Contacts are then given by their points. What does not change in a run is not written again where
  // mass > 0. NULL: they have rows.
  int nbody;
  int (*bodies)(void* user, const double* q, srFreeBody* out);
  // From now on, until it is called with NULL: the system may share its loops over these bodies and their contacts among a team (base/team.h), with the same bits. NULL: it does not.
  void (*share)(void* user, struct srTeam* team);
  // Exact derivatives of the residual; a (nv) and lambda (ng) are held. NULL: integrators take differences.
  int (*tangent)(void* user, double t, const double* q, const double* v, const double* y, double tau,  //
                 const double* a, const double* lambda, srTangent* out);
  // q' = H(q) v
  int (*qdot)(void* user, const double* q, const double* v, double* qdot);
  // q_out = q (+) dxi, dxi in the space of v; difference: dxi with q1 (+) dxi = q2. Lie-group steps and differences.
  int (*retract)(void* user, const double* q, const double* dxi, double* q_out);
  int (*difference)(void* user, const double* q1, const double* q2, double* dxi);
  // Velocities in axes that rotate with a body. axes_rate: their rate by this rotation alone, -w x v (nv). drift: q_out is q moved for the time h with `move`
  // constant in the axes at q, and v, which may be the same numbers, is given in the axes at q_out. NULL: there are none; q_out is q (+) h move.
  int (*axes_rate)(void* user, const double* v, double* out);
  int (*drift)(void* user, const double* q, double h, const double* move, double* v, double* q_out);
  // After every accepted step: may restore what q and v must satisfy exactly (unit quaternions, driven
  // coordinates) and may change z. It must not move the state by more than the error of the step.
  int (*accepted)(void* user, double t, double* q, double* v, double* y);
  // w' (nw), called right after `dynamics` with the same state; lambda (ng) are the multipliers of that stage, 0 in equations
  // not in use, of low order in half-explicit stages. NULL: w' is taken from `rates`, which costs an evaluation.
  int (*power)(void* user, double t, const double* q, const double* v, const double* y, const double* lambda,
               double* wdot);
  // Name of constraint equation k for messages, and its tolerance where the motion begins. NULL: equations are numbered and have no bounds.
  const char* (*row)(void* user, int k, double* tolerance);
  // Role of coordinate i of v in a partition: < 0 dependent, > 0 independent, 0 either. NULL: all either.
  int (*role)(void* user, int i);
  bool D_differs;                // D is not G: `dynamics` writes it
  const srSparsity* M_sparsity;  // NULL: dense. The whole symmetric pattern with its diagonal; must outlive sri_create
  const srSparsity* G_sparsity;  // NULL: dense. The pattern of G and D; must outlive sri_create
  const srSparsity*
      K_sparsity;  // NULL: dense. Of the tangent, over (v, y): symmetric, with its diagonal and all of M's
  const srMotionSolver* solver;  // NULL: none, implicit methods form and factor matrices. Must outlive the integrator
} srSystem;

// Drift control by projection after each accepted step:
//   N dq + G^T mu = 0, g(q + dq) = 0      N dv + G^T eta = 0, G (v + dv) + b = 0        N: M or the identity
typedef enum srProject {
  SR_PROJECT_DEFAULT,  // the method's default: both where it is explicit or half-explicit and solves the constraints
  SR_PROJECT_NONE,
  SR_PROJECT_POSITION,
  SR_PROJECT_VELOCITY,
  SR_PROJECT_BOTH,
} srProject;

typedef enum srMetric { SR_METRIC_MASS, SR_METRIC_IDENTITY } srMetric;

typedef struct srIntegratorOptions {
  double step;      // fixed step, or first step of an adaptive method (0: chosen by the method)
  double step_min;  // below it an adaptive method gives up (0: 16 ulp of t)
  double step_max;  // 0: no bound
  // After a restart the step that was planned before it is tried first: for events that leave the motion as smooth as it was (impacts of rigid
  // bodies). Else, and by implicit methods, it is chosen anew, as after a start.
  bool keeps_step;
  double rtol, atol;
  // Constraints (docs/theory/half-explicit.md, docs/theory/loops.md). Index-1 methods do not project by default with the next four.
  srProject project;
  srMetric metric;
  double alpha, beta;  // Baumgarte's terms, 1/s: G v' = gamma - 2 alpha (G v + b) - beta^2 g
  bool augmented;      // accelerations by the augmented Lagrangian over all equations, dense
  // Dependent coordinates follow from the independent ones: in every evaluation of explicit methods, at the end of every step of the others; dense.
  bool partition;
  const unsigned char* independent;  // nv, read by sri_create: 1 where a coordinate is to be so in the partition
  double rank_tolerance;             // distance of a row of G from the others up to which it is redundant; 0: 1e-5
  double geometry_error;             // known error of the lengths in redundant equations; 0: none
  bool free_rows;    // choose independent equations in every stage: fails at changes of rank, kept for demonstration
  bool no_crossing;  // do not step across singular positions
  // Rule of the step.
  srControlRule control;
  double safety;          // 0: of the rule (default 0.9, positions 0.3)
  double violation_most;  // projections wait until g or G v + b is beyond it; 0: after every step
  // Implicit methods.
  double rho;               // spectral radius at infinity of the generalized-alpha methods, 0 .. 1
  srFamily family;          // their parameters from rho
  srTangentWay tangent;     // exact where the system offers it
  double newton_tolerance;  // largest residual that counts as solved; 0: a part of the error tolerance
  int threads;   // of the sweeps over many rigid contacts; 0, 1: one. The results have the same bits for any number
  double theta;  // methods with impulses: of the velocity at the end in the motion of a step, 0.5 .. 1; 0: 1
  // Methods with impulses: islands whose velocities stay below sleep_speed (0: 0.01) for this time, s, are put to sleep (0: none).
  double sleep, sleep_speed;
  srSeeProblem* problem;  // of methods with impulses, not NULL: called with every contact problem after its solution
  void* user;             // its first argument
} srIntegratorOptions;

SR_API srIntegratorOptions sri_default_options(void);  // rtol 1e-6, atol 1e-9, step 0, rho 0.8
// Control positions with Haddouni et al. (2017), Table 1: rtol and atol 1e-4, least step 1e-7, residual 1e-8, violation 1e-4, safety 0.3.
SR_API srIntegratorOptions sri_positions_options(void);

typedef struct srIntegratorStats {
  long steps, rejected, evaluations;
  double step_last, step_smallest, step_largest;
  // Constraints, for methods that handle them.
  int rank, redundant;  // equations in use, equations left out
  int redundant_most;   // largest of the latter
  long rank_phases;     // restarts with other active equations whose rank differs
  long rank_changes, crossings,
      projections;            // crossings: singular positions passed; projections: steps that were corrected
  long factorizations;        // of saddle-point matrices
  long factor_entries;        // of the last such factor in a stage
  long tangents, iterations;  // of implicit methods: matrices evaluated, Newton steps
  // Largest after an accepted step, over all equations. Acceleration: of its last evaluation, for index-1 methods.
  double violation_position, violation_velocity, violation_acceleration;
  long partitions;  // new partitions of the coordinates chosen during the run
  long switches;    // of auto: changes of method
} srIntegratorStats;

// What happened to the rank of the constraints, in order of time.
typedef enum srRankEventKind {
  SR_RANK_CHOSEN,    // at a start or restart: rank differs from before
  SR_RANK_RETURNED,  // an equation that was left out has become independent
  SR_RANK_PASSED,    // a singular position was crossed in one step; the rank was lower there
  SR_RANK_NEARED,    // one was passed, or nearly so, by steps not planned for it
  SR_RANK_LEFT,      // row is a coordinate of `independent` that cannot be independent here: others are chosen
  SR_RANK_REGAINED,  // the coordinates of `independent` are the independent ones again
} srRankEventKind;

typedef struct srRankEvent {
  double t;
  srRankEventKind kind;
  int before, after;  // rank
  int row;            // first equation, or coordinate, concerned; -1: none
} srRankEvent;

// A change of method of `auto`.
typedef struct srSwitch {
  double t;
  const char *from, *to;  // names of the methods
  char reason[120];
} srSwitch;
#define SR_SWITCHES 64

typedef struct srIntegrator srIntegrator;

// A method is one of these: its file, and one row in the table of integrator.c.
typedef struct srMethod {
  const char* name;
  int order;      // of the state
  bool adaptive;  // takes rtol and atol; otherwise needs a step
  bool implicit;  // takes rho, tangent and newton_tolerance where they apply; stays stable in stiff systems
  int index;  // of the equations it solves where there are constraints: 1, 2, 3; 0: 1, or `rates` where there are such
  bool baumgarte;   // takes Baumgarte's terms and the augmented Lagrangian
  bool partitions;  // takes coordinate partitioning
  bool drifts;      // from g = 0, by its error: it enforces velocities only and does not project
  bool switches;    // between an explicit and an implicit method: takes the options of both
  bool impulses;    // solves the unilateral contacts of the system itself, by impulses in every step
  bool laws;        // ... by their stiffness and damping: they are compliant, not rigid
  bool absent;      // not in this build: its name is known, sri_create refuses it
  // One word for all methods with the same coefficients: their agreement is weak evidence. NULL: no relatives.
  const char* family;
  const char* about;
} srMethod;

SR_API int sri_method_count(void);
SR_API const srMethod* sri_method(int i);
SR_API const srMethod* sri_method_find(const char* name);  // NULL: unknown
// Can the method enforce constraints this way? Projection is every method's own way, or its equivalent.
SR_API bool sri_method_takes(const srMethod* method, srStabilization way);

// Allocates all memory. The system is copied (the struct, not what user points to). On failure *out is NULL and the
// reason is in messages.
SR_API srStatus sri_create(const char* method, const srSystem* system, const srIntegratorOptions* options,
                           srMessages* messages, srIntegrator** out);
SR_API void sri_destroy(srIntegrator* integrator);

// Sets the state; discards history. w starts at 0. Restarts after an event without allocating.
SR_API srStatus sri_start(srIntegrator* integrator, double t, const double* q, const double* v, const double* y);
// The same within or at the end of the last step, after an event that has changed forces or states but not the constraints: the equations
// in use, their rank and the distance to a singular position stay known. Before the first step, and where `active` has changed, it is
// sri_start.
SR_API srStatus sri_restart(srIntegrator* integrator, double t, const double* q, const double* v, const double* y);
// One accepted step, never past t_limit, ending on it exactly when it reaches it. SR_FAILED: see sri_error_message.
SR_API srStatus sri_step(srIntegrator* integrator, double t_limit);
// Projects a state inside the last step onto the constraints by the least correction, over the equations independent there: dense
// output carries the error of the step. Does nothing where the method does not enforce them.
SR_API srStatus sri_put_on_constraints(srIntegrator* integrator, double t, double* q, double* v, const double* y);
// State at time t inside the last step, by the method's dense output. Outputs may be NULL.
SR_API srStatus sri_interpolate(const srIntegrator* integrator, double t, double* q, double* v, double* y, double* w);

// Events: functions of the state whose sign changes are detected after every step, by the method's dense output.
typedef struct srRoots {
  int count;
  void* user;
  // value (count + rated) at a state, followed by the rates of the last `rated` functions; as the callbacks of srSystem.
  int (*evaluate)(void* user, double t, const double* q, const double* v, const double* y, double* value);
  const signed char* direction;  // (count) +1: rising only, -1: falling only, 0: both; NULL: both. Must stay
  int rated;                     // functions whose rates are known: where one turns back, its extremum is checked
  double zero;                   // a value of these that is as good as 0 where they fall or rise through it
  // First time found in (a, b] where a function of the time alone has another sign than at a, HUGE_VAL: none. NULL: there are none.
  double (*ahead)(void* user, double a, double b);
  // Are these the same functions throughout the next step, and those without rates constant in it? NULL: no.
  bool (*steady)(void* user);
} srRoots;

typedef struct srRootFinder srRootFinder;
SR_API srRootFinder* sri_roots_create(const srIntegrator* integrator, const srRoots* roots);  // NULL: out of memory
SR_API void sri_roots_destroy(srRootFinder* finder);
// Records the signs at the present state: after every sri_start. A function that is 0 there has no sign until it leaves 0.
SR_API srStatus sri_roots_start(srRootFinder* finder, const srIntegrator* integrator);
// Checks the last step. *t: the first time, to the last digits, at which a function has changed its sign; fired (count) is
// 1 for those that have. HUGE_VAL: none. The signs are then those at *t, or at the end of the step. SR_FAILED: a function could
// not be evaluated.
SR_API srStatus sri_roots_step(srRootFinder* finder, const srIntegrator* integrator, double* t, unsigned char* fired);
// After the caller has changed the state at the reported time: fired (count) is 1 for the functions whose sign changed by
// it. The signs are then those of the new state; one that is 0 there keeps its sign. Instead of sri_roots_start.
SR_API srStatus sri_roots_jump(srRootFinder* finder, double t, const double* q, const double* v, const double* y,
                               unsigned char* fired);
// Between steps: replaces `count` functions from `first` on. Their signs are those at the start of the next step.
SR_API void sri_roots_forget(srRootFinder* finder, int first, int count);
SR_API int sri_roots_bad(const srRootFinder* finder);          // the function that could not be evaluated, -1: unknown
SR_API int sri_roots_sign(const srRootFinder* finder, int i);  // current sign of function i: 1, -1, 0: none yet

// A source of events: switching functions, and actions at their sign changes. Formulas of a model, gaps of contacts, slip, multipliers,
// force laws that jump: the loop does not distinguish them.
typedef struct srEventSource {
  int count;  // functions
  // evaluate appends the rates of its functions: count more values, so that no function that turns back within a step is missed. For functions
  // of the positions only: actions do not change them.
  bool rated;
  double zero;                   // of these, as in srRoots: the least of all sources holds
  const signed char* direction;  // (count), as in srRoots
  void* user;
  int (*evaluate)(void* user, double t, const double* q, const double* v, const double* y, double* value);
  // fired[i] is the new sign of function i at this state, 0: no change. May change q, v, y, discrete states, parameters and the active
  // equations. Returns 0: continue; > 0: the run ends here; < 0: failed.
  int (*act)(void* user, double t, double* q, double* v, double* y, const signed char* fired);
  double (*ahead)(void* user, double a,
                  double b);   // as in srRoots, NULL: none of its functions depends on the time alone
  bool (*steady)(void* user);  // as in srRoots
} srEventSource;

typedef struct srEventList {
  int count;
  const srEventSource* source;  // in the order in which they act at one instant; copied
  // Called before the sources are evaluated at a state, for shared quantities. NULL: nothing.
  int (*prepare)(void* user, double t, const double* q, const double* v, const double* y);
  void* user;
} srEventList;

// Why event handling failed; source and function concerned, -1: unknown.
typedef enum srEventErrorKind {
  SR_EVENTS_FUNCTION,  // a function could not be evaluated
  SR_EVENTS_ACTION,    // an action could not be carried out
  SR_EVENTS_CROWD,     // they follow each other without time passing: 1000 of them
} srEventErrorKind;

typedef struct srEventError {
  srEventErrorKind kind;
  int source, function;
} srEventError;

typedef struct srEvents srEvents;
SR_API srEvents* sri_events_create(const srIntegrator* integrator, const srEventList* list);  // NULL: out of memory
SR_API void sri_events_destroy(srEvents* events);
SR_API srStatus sri_events_start(srEvents* events, const srIntegrator* integrator);  // after every sri_start
// The first event of the last step: its time in *t, HUGE_VAL: none.
SR_API srStatus sri_events_step(srEvents* events, const srIntegrator* integrator, double* t);
// Handles all that happens at the time found by sri_events_step, at this state: actions, and what they trigger. sri_restart follows.
// *end: the run ends here.
SR_API srStatus sri_events_act(srEvents* events, double t, double* q, double* v, double* y, bool* end);
// Functions of a source that fire at the present state without a detected sign change: sri_events_act follows. fired: their signs (count).
SR_API void sri_events_fire(srEvents* events, int source, const signed char* fired);
// Between steps: replaces the functions of a source from `first` on.
SR_API void sri_events_forget(srEvents* events, int source, int first);
SR_API srEventError sri_events_error(const srEvents* events);  // after SR_FAILED
// Steps to t_end through all events, each followed by a restart; after sri_start and sri_events_start. *end: an action ended the run.
// SR_FAILED: the reason is in sri_error_message, or in sri_events_error where that is empty.
SR_API srStatus sri_events_run(srEvents* events, srIntegrator* integrator, double t_end, bool* end);

// Changes v by impulses along `count` rows J (count x nv, row-major) and of the active constraints, so that J v = u (count): the
// nearest v in the metric of M. Needs `dynamics`, and `constraint` where there are equations. > 0: the constraints do not allow it,
// v is unchanged; else as the callbacks return.
typedef struct srImpulse srImpulse;
SR_API srImpulse* sri_impulse_create(const srSystem* system, int most);  // most rows at one time. NULL: out of memory
SR_API void sri_impulse_destroy(srImpulse* impulse);
SR_API int sri_impulse(srImpulse* impulse, double t, const double* q, double* v, const double* y, int count,
                       const double* J, const double* u);

// Memory for the list of `contacts` and `clamps`: ncontact + nclamp of them with their rows. NULL: out of memory.
SR_API srUnilateral* sri_contacts_create(const srSystem* system);
SR_API void sri_contacts_destroy(srUnilateral* list);
// Component k of u = W v + b.
SR_API double sri_contact_velocity(const srUnilateral* contact, int k, const double* v);

// The gaps of the unilateral contacts of a system as a source of events, one function per slot of ncontact: it falls through 0 where a
// contact closes. Contacts keep their slot by their id; those whose normal equation is active are closed, and raise no event.
typedef struct srGaps srGaps;
SR_API srGaps* sri_gaps_create(const srSystem* system);  // NULL: out of memory
SR_API void sri_gaps_destroy(srGaps* gaps);
// Action at the closing of a contact, at the state of the event; one call per contact. Returns as srEventSource.act.
typedef int (*srTouched)(void* user, double t, double* q, double* v, double* y, const srUnilateral* contact);
SR_API srEventSource sri_gaps_source(srGaps* gaps, srTouched touched, void* user);

// ---- event-driven rigid contact ------------------------------------------------------------------------------------------
// Smooth phases between events: closed contacts are constraint equations with the forces of Coulomb's law, all that changes them is an event
// (docs/theory/event-driven.md; Haddouni et al. 2017, extended by friction). Made from a system that lists its contacts:
//
//   srRigid* x = sri_rigid_create(&system, &options);                   // all memory
//   srSystem closed = sri_rigid_system(x);                              // its equations, with those of closed contacts
//   sri_create(method, &closed, ..., &integrator);
//   sri_rigid_attach(x, integrator);
//   srEventSource source[2];                                            // events: impact, take-off, stick, slip
//   sri_rigid_sources(x, source);
//   sri_rigid_start(x, t, q, v, y); sri_start(integrator, t, q, v, y); sri_events_start(...);
typedef enum srRigidEventKind {
  SR_RIGID_IMPACT,
  SR_RIGID_TAKE_OFF,
  SR_RIGID_SLIP,          // a contact that stuck begins to slip
  SR_RIGID_STICK,         // slip ends
  SR_RIGID_REVERSAL,      // slip passes through 0 and goes on
  SR_RIGID_ACCUMULATION,  // infinitely many impacts in a finite time: closed
  SR_RIGID_FEATURE,       // other features of the same shapes touch
  SR_RIGID_PAINLEVE,      // the sliding contact has no consistent force: an impact without collision
  SR_RIGID_EVENT_KINDS
} srRigidEventKind;

typedef struct srRigidEvent {
  srRigidEventKind kind;
  double t;
  long id;                  // of the contact
  double speed;             // impact: of approach, m/s; accumulation: that of separation which is left
  double t_closed;          // accumulation: when the contact was closed, t is when the impacts would have ended
  double normal, friction;  // work of the impulses on the normal and in the tangent plane, J
  double driver;            // work of the impulses of what moves by itself: drivers, surfaces with a velocity, J
  double alpha;             // impact: factor of the coefficients of restitution; < 1: the law would have gained energy
  bool endless;             // impact: of a sequence that did not end
} srRigidEvent;

typedef struct srRigidOptions {
  int most;           // contacts closed at one time
  srImpactRule rule;  // of restitution
  srImpactFrictionRule friction;
  srImpactOrder order;
  double gap;                // m: two contacts within it touch at the same time
  double speed;              // m/s: normal speed of a closed contact, slip of one that sticks
  double hop;                // m: impacts that throw a body less high are the end of an accumulation
  double position;           // m: error of the position that ending and beginning slip may cost
  double step;               // s: length of the steps of a method without error control; 0: it has one
  int w_normal, w_friction;  // quadratures of the system that take the work of contact forces; -1: none
  void* user;
  void (*told)(void* user, const srRigidEvent* event);
  srSeeProblem* problem;  // not NULL: called with every impact after its solution
  void* problem_user;     // its first argument
} srRigidOptions;
SR_API srRigidOptions sri_rigid_options(void);
// The words auto of friction and order become what they stand for. Returns NULL, or a sentence: why the three do not go together.
SR_API const char* sri_impact_settle(srImpactRule rule, srImpactFrictionRule* friction, srImpactOrder* order);

typedef struct srRigid srRigid;
SR_API srRigid* sri_rigid_create(const srSystem* system, const srRigidOptions* options);  // NULL: out of memory
SR_API void sri_rigid_destroy(srRigid* rigid);
SR_API srSystem sri_rigid_system(srRigid* rigid);
SR_API void sri_rigid_attach(srRigid* rigid, const srIntegrator* integrator);
// Gaps of open contacts, then what ends the status of closed ones.
SR_API void sri_rigid_sources(srRigid* rigid, srEventSource source[2]);
// Impacts, statuses and the position of touching contacts at a state, which it may change. Returns 0, or < 0: see sri_rigid_error.
SR_API int sri_rigid_start(srRigid* rigid, double t, double* q, double* v, double* y);
// A state of dense output on the joints and on all closed contacts, redundant ones alike. Returns as the callbacks.
SR_API int sri_rigid_put(srRigid* rigid, double t, double* q, double* v, const double* y);
// After an accepted step without an event: is there a contact whose status cannot continue from the state at its end? Then fired (of the second source) is set, and
// *t is when that was.
SR_API bool sri_rigid_late(srRigid* rigid, double* t, signed char* fired);
SR_API int sri_rigid_late_count(const srRigid* rigid);
SR_API const char* sri_rigid_error(const srRigid* rigid);
// How many contacts are closed, and how many of them stick; true: at the last state the equations of these contradicted each other, or those of the system.
SR_API bool sri_rigid_contradicts(const srRigid* rigid, int* closed, int* stick);
// Impacts by what they were solved with.
typedef struct srImpactCount {
  long newton, poisson, stronge;  // by this law
  long reduced;                   // with less restitution, which would have gained energy
  long collisions;                // in all sequences
  long longest;                   // collisions of the longest sequence
  long endless;                   // sequences that did not end: an inelastic impact of all contacts together ends them
} srImpactCount;
// Residuals of the complementarity problems: largest relative one, how many were not solved, how many there were.
typedef struct srRigidStats {
  long impacts, problems, unsolved;
  srImpactCount impact;
  long iterations;  // Newton steps of the cone problems
  double effort;    // events, each with the square of the contacts that touch: the size of its dense problem
  double residual;  // largest of an impact problem, m/s
  double gap;       // deepest gap after a step, m
  int closed;       // most contacts closed at one time
  double overlap;   // deepest of the contacts at the start, m, which it has moved apart; 0: none
  long overlaps;    // its id
} srRigidStats;
SR_API const srRigidStats* sri_rigid_stats(const srRigid* rigid);
// Generalized forces (nv) of all closed contacts at a state of the phase. Returns as the callbacks.
SR_API int sri_rigid_generalized(srRigid* rigid, double t, const double* q, const double* v, const double* y,
                                 double* out);
// Force of a contact, or of a clamp, as the last call of sri_rigid_generalized has found it; false: there is none.
SR_API bool sri_rigid_force_found(const srRigid* rigid, long id, double force[3]);
// Closed contact k as that call has found it: its force, and whether it sticks; NULL: there are not so many.
SR_API const srUnilateral* sri_rigid_found(srRigid* rigid, int k, double force[3], bool* sticks);
// Force of a contact at the present state of the phase, N: normal, two tangential components; false: it is open.
SR_API bool sri_rigid_force(srRigid* rigid, double t, const double* q, const double* v, const double* y, long id,
                            double force[3]);

SR_API double sri_time(const srIntegrator* integrator);
SR_API double sri_time_before(const srIntegrator* integrator);  // start of the last step
SR_API const double* sri_q(const srIntegrator* integrator);
SR_API const double* sri_v(const srIntegrator* integrator);
SR_API const double* sri_y(const srIntegrator* integrator);
SR_API const double* sri_w(const srIntegrator* integrator);
// Multipliers of the method itself at the end of the last step (ng; 0 in equations not in use), of its own order; NULL
// where it has none: sri_multipliers computes them at any state.
SR_API const double* sri_lambda(const srIntegrator* integrator);
// What the contacts did in the last step of a method that solves them by impulses; NULL: the method does not.
typedef struct srImpulses {
  int count;    // contacts in the problem of the step
  double gap;   // least of these, at its start
  int nstruck;  // impacts among them: contacts that closed with more than the speed that forces give in a few steps
  const long* struck;       // (nstruck) their ids ...
  const double* speed;      // ... and approach velocities, m/s
  const double* time;       // ... and when they were: at the start of the step, with theta < 1 within it
  double normal, friction;  // work of the normal and tangential impulses, J
  long unsolved;            // steps whose problem was not solved to its tolerance, since the integrator was created
  double worst, t_worst;    // largest residual of a problem, m/s, and its time
  long sweeps;              // over the contacts of large islands, in all steps
  long jam;                 // id of a contact that slides in Painleve's configuration; -1: none
  int asleep;               // contacts of islands that sleep: they are not in the problem
} srImpulses;
SR_API const srImpulses* sri_impulses(const srIntegrator* integrator);
// Contact i of those in the problem of the last step, as listed at its start; NULL: there are not so many.
SR_API const srUnilateral* sri_contact_of_step(const srIntegrator* integrator, int i);
// Impulse of a contact in the last step, Ns: normal, then two tangential components. NULL: it was not in the problem.
SR_API const double* sri_impulse_of(const srIntegrator* integrator, long id);
// Adds the generalized forces of these impulses over the last step, in the axes at its start (nv). False: there was no such step, f is unchanged.
SR_API bool sri_impulse_forces(const srIntegrator* integrator, double* f);
// Which velocities sleep (nv; not 0: in an island with this number). NULL: none ever do.
SR_API const int* sri_asleep(const srIntegrator* integrator);
SR_API const double* sri_asleep_forces(const srIntegrator* integrator);  // nv: generalized forces of their contacts
typedef enum srWakeCause {
  SR_WAKE_CONTACT,  // something that moves touches it
  SR_WAKE_FORCE,    // its forces change
  SR_WAKE_MOTION,   // a driver moves it, or the surface that it rests on
  SR_WAKE_RESTART,  // the motion restarts: an event, forces or parameters changed by the caller
} srWakeCause;
typedef struct srSleepEvent {
  double t;
  bool wakes;
  srWakeCause cause;  // where it wakes
  long id;            // of the contact that wakes it; -1: none
  int velocity;       // the first of the island
  int count;          // of its velocities
} srSleepEvent;
// What fell asleep and woke up since the last call, in order of time; *count is their number.
SR_API const srSleepEvent* sri_sleep_events(srIntegrator* integrator, int* count);
// v' of the method itself at the end of the last step (nv), of its own order: it need not solve the constraints at acceleration
// level. NULL where the method's only v' does.
SR_API const double* sri_acceleration(const srIntegrator* integrator);
SR_API const srIntegratorStats* sri_stats(const srIntegrator* integrator);
// The first 256 changes of rank; *count is the number in the array.
SR_API const srRankEvent* sri_rank_events(const srIntegrator* integrator, int* count);
// Which equations are in use (ng; 1 or 0), or NULL where the method does not choose.
SR_API const unsigned char* sri_kept_rows(const srIntegrator* integrator);
// An equation left out is the sum of coefficient[k] times equation k (ng), at the state of the last choice.
SR_API srStatus sri_dependence(srIntegrator* integrator, int row, double* coefficient);
// Multipliers at the present state, of least norm over all active equations; unique[k] != 0 where no other distribution exists. Where D is
// not G they are those of the equations in use: another distribution would be another motion. Both ng, unique may be NULL. Evaluates the
// callbacks.
SR_API srStatus sri_multipliers(srIntegrator* integrator, double* lambda, unsigned char* unique);
// Which coordinates are dependent (nv; 1 or 0), chosen now if necessary; NULL: the coordinates are not partitioned.
SR_API const unsigned char* sri_dependent(srIntegrator* integrator);
// The first equation, -1: none, with a large residual after a step while nothing enforces the constraints: its time and residual.
SR_API int sri_drifted(const srIntegrator* integrator, double* t, double* off);
// For callers that make the steps themselves, after sri_start with an explicit method: x' = (q', v', y', w') at x = (q, v, y) as the
// method uses it, and the acceptance of a step that ends at t in x. Return values are those of the callbacks.
SR_API int sri_rates(srIntegrator* integrator, double t, const double* x, double tau, double* xdot);
SR_API int sri_accept_state(srIntegrator* integrator, double t, double* x);
SR_API const char* sri_error_message(const srIntegrator* integrator);  // message: why the last step failed
// The first SR_SWITCHES changes of method, in order of time; *count is the number in the array, stats.switches the total.
SR_API const srSwitch* sri_switches(const srIntegrator* integrator, int* count);
// Has stability limited the steps of an explicit method (dopri5, mdop5) for about 1000 steps? *since: the time at which that began; *factor:
// how many times longer the steps could be by accuracy. Outputs are set where true.
SR_API bool sri_crawls(const srIntegrator* integrator, double* since, double* factor);

#ifdef __cplusplus
}
#endif
#endif
