// Contact problems with Coulomb friction as plain data, their solvers behind one table, one error measure for all of them, and impact laws.
// docs/theory/contact-problem.md has the equations.
//
//   v = v_free + M^-1 (G^T lambda + H^T p),   G v + c = 0,   u = H v + s n
//   K* contains  u + mu |u_T| n,  K contains p,  their product is 0                 K = {p: |p_T| <= mu p_N}; de Saxce and Feng (1998)
//
// lambda and p are impulses and v velocities (impacts, time-stepping), or forces and accelerations. A contact has its normal component first,
// then one or two tangential ones; the normal points from body a to body b, u is the velocity of b relative to a, p acts on b.
//
//   srContactSize most = sr_contact_size(problem);
//   srContactSolver* s = sr_contact_solver_create(&most);                     // all memory; a solve allocates nothing
//   srContactOptions o = sr_contact_options();
//   sr_contact_solve(s, problem, &o, impulse, &result);                       // impulse: start value, then the solution
#ifndef SARRUS_NONSMOOTH_H
#define SARRUS_NONSMOOTH_H

#include <sarrus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

// ------------------------------------------------------------------------------------------------------------- problem
// What every contact has.
typedef struct srContactCone {
  int rows;            // 1: normal alone; 2: planar friction; 3: friction in space
  double mu;           // coefficient of friction
  double restitution;  // for the impact laws alone; 0 .. 1
  double lower;        // smallest normal impulse, >= 0: 0, or what Poisson's law returns
  double shift;        // s: velocity added to u_N, m/s. gap/step makes a step gap-aware
  double slip[2];      // velocity added to u_T: of a moving surface
  // Of the contact itself, normal and tangential, m/(N s): u_N + c p_N and u_T + c p_T instead of u. A spring of stiffness K at the end of
  // a step h has 1/(h^2 K). Not used by the impact laws.
  double compliance[2];
} srContactCone;

// Rigid bodies with velocities at the center of mass, world axes, angular first. Inverse mass and inertia 0: its motion is prescribed.
typedef struct srContactBody {
  double inverse_mass;
  double inverse_inertia[6];  // about the center of mass: xx yy zz xy xz yz
  double velocity[6];         // v_free
} srContactBody;

#define SR_CONTACT_FIXED (-1)  // in place of a body: the world at rest

typedef struct srContactPoint {
  int body[2];       // a, b
  double normal[3];  // unit, from a to b; the tangential directions are those of sr_contact_frame
  double arm[2][3];  // from the centers of mass to the point of contact
} srContactPoint;

// One bilateral equation:  row[0] v_a + row[1] v_b + shift = 0. Successive equations with the same two bodies are solved together.
typedef struct srContactEquation {
  int body[2];
  double row[2][6];
  double shift;
} srContactEquation;

// Either bodies, or a matrix: W not NULL. Impulses and velocities are (size) in both: equations, then contacts with their rows.
typedef struct srContactProblem {
  int ncontact, nequation;
  srContactCone* cone;  // (ncontact); rows is 3 with bodies
  double
      compliance;  // c: u_N + c W_NN p_N instead of u_N, W_NN the diagonal entry of the contact. It makes redundant normals unique

  int nbody;
  srContactBody* body;          // (nbody)
  srContactPoint* point;        // (ncontact)
  srContactEquation* equation;  // (nequation)
  // NULL, or (ncontact x 2 x 3 x 6): u = row[0] v_a + row[1] v_b instead of normals and arms. The six velocities of a body are then any, with
  // the inverse mass matrix diag(inverse_inertia, inverse_mass): the identity where they are scaled by a factor of their mass matrix.
  double (*row)[2][3][6];

  double* W;  // (size x size), row-major, u = W p + q; it may be unsymmetric outside of the blocks of contacts
  double* q;  // (size)

  double* start;     // (size) impulses to start from, as a file has them
  double* solution;  // (size) impulses that were found, of a file that has them ...
  bool has_solution;
  double tolerance;  // ... and the residual that was wanted, m/s; 0: not given
} srContactProblem;

SR_API int sr_contact_rows(const srContactProblem* problem);  // size: nequation and the rows of all contacts
// Unit vectors n, t, b of a contact as the rows of a matrix.
SR_API void sr_contact_frame(const double normal[3], double frame[9]);
// Where a file has the parts of a problem; each may be NULL.
typedef struct srContactPlaces {
  const srPlace *body, *equation, *contact;
} srContactPlaces;
// What is wrong with a problem, in messages: counts, numbers that are not finite, bodies that do not exist, contacts that nothing moves.
// places may be NULL.
SR_API bool sr_contact_check(const srContactProblem* problem, const srContactPlaces* places, srMessages* messages);

// Memory for a problem of this size; all numbers are 0. dense: with a matrix instead of bodies. NULL: out of memory.
SR_API srContactProblem* sr_contact_problem_create(int nbody, int nequation, int ncontact, bool dense);
SR_API bool sr_contact_problem_take_rows(srContactProblem* problem);  // memory for `row`, of a problem with bodies
SR_API void sr_contact_problem_destroy(srContactProblem* problem);

// ----------------------------------------------------------------------------------------------------------- error measure
// How far impulses are from a solution. Of each contact the natural map of the cone C = {p in K, p_N >= lower}, divided by rho = 1/W_NN:
//   |p - P_C(p - rho (u + mu |u_T| n))| / rho        in m/s
typedef struct srContactError {
  double residual;         // largest natural map of a contact, m/s
  double bilateral;        // largest |G v + c|
  double penetration;      // largest of -u_N where that is positive, m/s
  double cone;             // largest of |p_T| - mu p_N and lower - p_N, Ns
  double complementarity;  // largest |(p_N - lower) u_N|, J
  int worst;               // contact of the largest natural map; -1: none
} srContactError;

// ----------------------------------------------------------------------------------------------------------------- solvers
typedef struct srContactSize {
  int bodies, contacts, equations;
  int dense;  // rows of an island that the methods with a matrix (newton, lemke) take; 0: none. Memory grows with its square
  int threads;  // of the methods by colours; 0, 1: the caller's alone. The results have the same bits for any number
  struct srTeam* team;  // in place of threads of its own (base/team.h), must outlive the solver; NULL: none
} srContactSize;
#define SR_CONTACT_DENSE 300  // what sr_contact_size asks for at the most for bodies; of a matrix all its rows
SR_API srContactSize sr_contact_size(const srContactProblem* problem);

typedef struct srContactMethod {
  const char *name, *about;
} srContactMethod;
SR_API int sr_contact_method_count(void);
SR_API const srContactMethod* sr_contact_method(int i);                  // NULL outside of the table
SR_API const srContactMethod* sr_contact_method_find(const char* name);  // NULL: none of this name

typedef struct srContactOptions {
  const srContactMethod* method;
  double tolerance;  // of the residual, m/s
  int iterations;    // at the most: sweeps, Newton steps of an attempt (fewer than 40: of one attempt alone), or pivots
  int least_iterations;  // sweeps, or steps of Newton's method, before the residual is tested
  bool
      single;  // methods by colours: in single precision as far as the tolerance allows; the error is measured in double precision
} srContactOptions;
SR_API srContactOptions sr_contact_options(void);  // method auto, 1e-9 m/s, 10 000 iterations

typedef struct srContactResult {
  const srContactMethod* method;
  bool solved;           // residual and bilateral are within the tolerance
  srContactError error;  // of the impulses that are returned, from velocities computed anew
  int iterations;        // largest number of an island
  int islands;
  const double*
      motion;  // methods by colours: 8 numbers of each body, its velocity with these impulses, 0, its angular velocity, 0; until the next solution. NULL: not known
} srContactResult;

typedef struct srContactSolver srContactSolver;
SR_API srContactSolver* sr_contact_solver_create(const srContactSize* most);  // NULL: out of memory
SR_API void sr_contact_solver_destroy(srContactSolver* solver);

// SR_OK: result, solved or not. SR_INPUT: the problem is larger than the solver, or the method does not take it (friction in space by
// lemke, more rows than `dense`): result->error has NaN.
SR_API srStatus sr_contact_solve(srContactSolver* solver, const srContactProblem* problem,
                                 const srContactOptions* options, double* impulse, srContactResult* result);
// A problem that a method of integration has solved: what those get who ask for them (srIntegratorOptions, srRigidOptions).
typedef struct srSolvedProblem {
  double t;   // of the start of its step, or of the impact
  long step;  // accepted steps before it. A step has several problems: islands, and solutions with more contacts
  const srContactProblem*
      problem;  // with the impulses that it was started from, those of a step that were found, and the residual that was wanted
  const srContactResult* result;
  const char*
      impact;  // of an impact: law of restitution, and options of `sarrus contact` for another order or friction; NULL: a step
} srSolvedProblem;
typedef void srSeeProblem(void* user, const srSolvedProblem* solved);

// Velocities of all rows, with the shifts and without compliances.
SR_API void sr_contact_velocity(srContactSolver* solver, const srContactProblem* problem, const double* impulse,
                                double* u);
// Velocities of the bodies, (nbody x 6).
SR_API void sr_contact_body_velocity(const srContactProblem* problem, const double* impulse, double* v);
SR_API srContactError sr_contact_error(srContactSolver* solver, const srContactProblem* problem, const double* impulse);

// ----------------------------------------------------------------------------------------------------------------- impacts
typedef enum srImpactLaw { SR_IMPACT_NEWTON, SR_IMPACT_POISSON, SR_IMPACT_STRONGE } srImpactLaw;
// Friction opposite to the slip after the impact or after each phase (algebraic), or at every moment of it (shock).
typedef enum srImpactFriction { SR_IMPACT_ALGEBRAIC, SR_IMPACT_SHOCK } srImpactFriction;

typedef struct srImpactResult {
  srContactResult solve;   // the worse of the phases
  double energy;           // T+ - T-, J
  double normal;           // of it: the work of the normal impulses
  double alpha;            // 1: the coefficients of restitution are as given
  bool gained;             // the law would have gained energy
  long collisions;         // of a sequence: how many there were
  bool ended;              // no contact approaches any more
  const double* approach;  // (contacts) largest speed with which each was struck, m/s; until the next call
} srImpactResult;
// All contacts together (simultaneous law), algebraic friction. v_free are the velocities before, shifts and lower bounds of the contacts are not used.
// Newton: u_N+ >= -e u_N-, where u_N- < 0. Poisson: compression, then an expansion with p_N >= e p_N of the compression. Newton's law with friction may
// gain energy: then all e are multiplied by the largest alpha that does not.
// law: Newton or Poisson. impulse (size): the whole impact. SR_INPUT: as sr_contact_solve, or Stronge's law.
SR_API srStatus sr_contact_impact(srContactSolver* solver, const srContactProblem* problem, srImpactLaw law,
                                  const srContactOptions* options, double* impulse, srImpactResult* result);
// One contact after the other, the fastest approach first, until none approaches with more than the tolerance of the options; the others transmit nothing
// while one is struck, equations do. Not `ended` after many collisions: what approaches then is left so. solve.error.residual: the fastest approach that is left, or the worst error of an
// algebraic collision. alpha: the smallest of all collisions. SR_INPUT: does not fit into the memory, Stronge's law with algebraic friction, or a collision without an end.
SR_API srStatus sr_contact_sequence(srContactSolver* solver, const srContactProblem* problem, srImpactLaw law,
                                    srImpactFriction friction, const srContactOptions* options, double* impulse,
                                    srImpactResult* result);
// T+ - T- of impulses: the mean of the velocities before and after times the impulses.
SR_API double sr_contact_work(srContactSolver* solver, const srContactProblem* problem, const double* impulse);

// One contact whose slip turns during the impact (Routh, Darboux, Keller 1986): du/dp_N = W (1, -mu u_T/|u_T|). The end by Newton's law,
// Poisson's, or Stronge's: the work of the normal impulse in the expansion is e^2 of that in the compression.
typedef struct srShock {
  double p[3], u[3];   // impulse; velocity after
  double compression;  // p_N at the end of the compression
  double energy;       // T+ - T-
  double normal;       // of it: the work of the normal impulse
  int phases;          // slip, stick, slip along a ray: how many there were
} srShock;
// W (3 x 3, positive definite), u: velocity before, u[0] < 0. False: no end was found (jamming that grows without bound, W not positive definite).
SR_API bool sr_contact_shock(const double W[9], const double u[3], double mu, double e, srImpactLaw law, srShock* out);

#ifdef __cplusplus
}
#endif
#endif
