// What cvode and ida share: the objects of SUNDIALS, one step, restarts, dense output, sentences.
#ifndef SR_SUNDIALS_BDF_H
#define SR_SUNDIALS_BDF_H

#include <nvector/nvector_serial.h>
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>
#include <sundials/sundials_nonlinearsolver.h>

#include "sundials/newton.h"

// How a step of SUNDIALS ended.
typedef enum srBdfEnd {
  SRI_BDF_DONE,
  SRI_BDF_ACCURACY,  // the tolerances are below rounding
  SRI_BDF_ERROR,     // error test
  SRI_BDF_NEWTON,    // no convergence, or a matrix that is singular
  SRI_BDF_CALLBACK,  // an evaluation failed: see outcome
  SRI_BDF_SHORT,     // below the least step
  SRI_BDF_OTHER,     // what must not happen: see flag
} srBdfEnd;

typedef struct srBdf srBdf;

// What differs.
typedef struct srBdfOps {
  int (*size)(const srSystem* system);       // of the vector of SUNDIALS; (q, v, y) come first in it
  bool (*create)(srIntegrator* integrator);  // memory of the solver and its settings; false: out of memory
  void (*destroy)(srBdf* b);
  // History begins at the present state, whose rates are in b->rate; b->h_first > 0: with this step. False: refused.
  bool (*begin)(srIntegrator* integrator);
  // One step from t towards t_out, not beyond t_limit; the new state is in b->x and b->w, its rate in b->xdot.
  srBdfEnd (*advance)(srIntegrator* integrator, double t_out, double t_limit, double* t_new);
  bool (*dense)(srBdf* b, double t);  // into b->dense and b->dense_w
  double (*planned)(srBdf* b);        // the step that SUNDIALS tries next, or tried last
  // Since the last begin: steps tried in vain, Newton steps.
  void (*counts)(srBdf* b, long* rejected, long* iterations);
  // (B c + K)^-1 c B e into out, with the matrix of Newton's iteration: norm.c. 0: done.
  int (*filter)(srIntegrator* integrator, N_Vector e, N_Vector out);
  // From the increment of the state and the residual of (q, v, y) that it answers, in place: how far stiffness has held it back, as
  // errors of the state. False: with M_ii for the inertia.
  bool (*stiffness)(const srIntegrator* integrator, const double* increment, double* residual);
} srBdfOps;

// State of iteration.c.
typedef struct srIteration {
  SUNNonlinSolSysFn residual;
  SUNNonlinSolLSetupFn setup;
  SUNNonlinSolLSolveFn solve;
  SUNNonlinSolConvTestFn test;
  void* test_data;
  N_Vector increment;
  int n;                       // numbers of (q, v, y)
  double *lack, *lack_before;  // answers of stiffness in units of the tolerance, now and before (n)
  int most, now;               // iterations with one matrix; number of the present one
  long count, failures;        // of the last solution
  bool failed;                 // in this solution, with an older matrix
  int proper;                  // steps that still begin with Newton proper
} srIteration;

struct srBdf {
  const srBdfOps* ops;
  SUNContext context;
  void* memory;
  N_Vector x, xdot, w, dense, dense_w;  // w, dense_w: NULL where there are no quadratures
  SUNMatrix matrix;                     // a name: the numbers are in newton
  SUNLinearSolver solver;
  SUNNonlinearSolver nonlinear;
  srIteration iteration;
  N_Vector part, once, twice;  // of norm.c
  bool filters;                // a correction has been found, and its norm is requested
  srNewton newton;
  double* rate;         // (n) x' packed: of the last evaluation
  double* rate_before;  // (ncontrol) x' before `accepted`
  double* moved;        // (ncontrol) a state that is being projected
  double* nothing;      // (nq) scratch of the size of a motion
  double* lack;         // (2 ncontrol) room of the iteration
  unsigned char* kept;  // (ng) equations in use at the last start
  bool restart;         // history must restart
  bool first;           // no step has succeeded since it began
  bool begun;           // cvode: the order has grown since then
  bool straight;        // the last step was a straight line of a few roundings
  double h_first;       // step to begin with; 0: chosen by SUNDIALS
  double t_limit;       // of the present step
  int outcome;          // of the last evaluation that failed
  bool too_short;       // a step below the least one was tried
  int flag;             // of SUNDIALS, where it reports something unexpected
  bool rows_matter;     // multipliers are in the history: other rows, other history
  double t_dense;
  bool dense_known;
  long rejected, iterations;  // counts seen so far
};

size_t sri_bdf_room(const srSystem* system, int n);
void sri_bdf_lay_out(srIntegrator* integrator, const srBdfOps* ops);
srStatus sri_bdf_create(srIntegrator* integrator, srMessages* messages);
void sri_bdf_start(srIntegrator* integrator);
srStatus sri_bdf_step(srIntegrator* integrator, double t_limit);
void sri_bdf_interpolate(const srIntegrator* integrator, double theta, int first, int count, double* out);
void sri_bdf_destroy(srIntegrator* integrator);

// x' at a state of SUNDIALS into rate (n). Answers as callbacks do, and keeps the outcome.
int sri_bdf_rates(srIntegrator* integrator, double t, const double* x, double* rate);
// 0, > 0 or < 0 for an outcome of explicit.h; keeps it where it is not done.
int sri_bdf_answer(srIntegrator* integrator, int outcome);
// Is a step that ends at t below the least one, and not because of the limit? Then SUNDIALS is to stop.
bool sri_bdf_too_short(srIntegrator* integrator, double t);
// out = q put back on what its redundant numbers must satisfy: q moved by nothing. Outcomes as in explicit.h.
int sri_bdf_normalize(srIntegrator* integrator, const double* q, double* out);
bool sri_bdf_normalizes(const srSystem* system);
// Reciprocal tolerances of (q, v, y), times factor.
void sri_bdf_weights(const srIntegrator* integrator, const double* x, double factor, double* weight);
// A matrix in name and a solver whose solve is this function; false: out of memory.
typedef int (*srBdfSolve)(SUNLinearSolver solver, SUNMatrix matrix, N_Vector x, N_Vector b, realtype tolerance);
bool sri_bdf_solver(srIntegrator* integrator, srBdfSolve solve);
// A vector whose norm, and that of its clones, is filtered: norm.c. NULL: out of memory.
N_Vector sri_bdf_vector(srIntegrator* integrator, int size);
// b->nonlinear, after b->x, for n numbers of (q, v, y), with room for 2 n; false: out of memory.
bool sri_iteration_create(srBdf* b, int n, double* room);
// Takes the messages that SUNDIALS would print.
void sri_bdf_silent(int code, const char* module, const char* function, char* message, void* user);

#endif
