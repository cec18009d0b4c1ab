// Newton's iteration of cvode and ida: a nonlinear solver of SUNDIALS.
//
// At first with the present matrix (simplified Newton), as SUNDIALS' own; where that does not converge, with the matrix of the
// prediction; where that does not either, with the matrix of each iterate (Newton proper). A stiff spring that turns needs the
// last: prediction and solution are e apart, k e is its force there, and a direction that is wrong by e makes of it k h^2 e^2 / m along
// the soft motion.
#include <math.h>
#include <string.h>
#include <sundials/sundials_nonlinearsolver.h>

#include "sundials/bdf.h"

#define MOST_PROPER 8   // iterations of Newton proper
#define FOR_STEPS 10    // so many steps begin with the kind of iteration that was needed
#define MORE 2          // iterations than SUNDIALS allows: it ends without looking at what is solved
#define ROUNDING 1e-13  // relative increments below it are rounding

typedef enum Matrix { AT_HAND, OF_PREDICTION, OF_ITERATE } Matrix;

static srIteration* iteration_of(SUNNonlinearSolver solver) { return &((srBdf*)solver->content)->iteration; }

static int set_up(const srIteration* it, bool bad, void* memory) {
  booleantype current = SUNFALSE;
  return it->setup(bad ? SUNTRUE : SUNFALSE, &current, memory);
}

static bool increment_is_rounding(const srIteration* it, N_Vector predicted, N_Vector x) {
  const double *d = NV_DATA_S(it->increment), *at = NV_DATA_S(predicted), *to = NV_DATA_S(x);
  for (int i = 0; i < it->n; ++i) {
    if (!(fabs(d[i]) <= ROUNDING * fmax(1, fabs(at[i] + to[i])))) return false;
  }
  return true;
}

// Falls in a row of what stiffness answers the increment with; its residual is in `lack`.
static int stiffness_falls(SUNNonlinearSolver solver, N_Vector weight, double tolerance, int falls) {
  srBdf* b = solver->content;
  srIteration* it = &b->iteration;
  const bool exact = b->ops->stiffness(b->solver->content, NV_DATA_S(it->increment), it->lack);
  for (int i = 0; i < it->n; ++i) it->lack[i] = fabs(it->lack[i]) * NV_Ith_S(weight, i);
  return sri_stiffness_falls(it->n, exact ? tolerance : SRI_NEGLIGIBLE, it->lack, it->lack_before, falls);
}

// One try from the prediction.
static int iterate(SUNNonlinearSolver solver, N_Vector predicted, N_Vector x, N_Vector weight, realtype tolerance,
                   Matrix matrix, void* memory) {
  srIteration* it = iteration_of(solver);
  const int most = matrix == OF_ITERATE ? MOST_PROPER : it->most + MORE;
  int falls = -1;
  N_VConst(0, x);
  for (it->now = 0; it->now < most; ++it->now) {
    int answer = it->residual(x, it->increment, memory);
    if (answer == 0 && (matrix == OF_ITERATE || (matrix == OF_PREDICTION && it->now == 0))) {
      answer = set_up(it, it->now > 0 || it->failed, memory);
    }
    if (answer != 0) return answer;
    memcpy(it->lack, NV_DATA_S(it->increment), (size_t)it->n * sizeof(double));
    N_VScale(-1, it->increment, it->increment);
    answer = it->solve(it->increment, memory);
    if (answer != 0) return answer;
    ++it->count;
    N_VLinearSum(1, x, 1, it->increment, x);
    answer = it->test(solver, x, it->increment, tolerance, weight, it->test_data);
    falls = stiffness_falls(solver, weight, tolerance, falls);
    // The tests of SUNDIALS end with an increment that is small, whatever made it so: tangent.h.
    if (answer == SUN_NLS_SUCCESS && falls < SRI_FALLS_ENOUGH && !increment_is_rounding(it, predicted, x)) {
      answer = SUN_NLS_CONTINUE;
    }
    if (answer != SUN_NLS_CONTINUE) return answer;
  }
  return SUN_NLS_CONV_RECVR;
}

static int solve(SUNNonlinearSolver solver, N_Vector predicted, N_Vector x, N_Vector weight, realtype tolerance,
                 booleantype set_up_now, void* memory) {
  srBdf* b = solver->content;
  srIteration* it = &b->iteration;
  Matrix matrix = set_up_now ? OF_PREDICTION : AT_HAND;
  if (it->proper > 0) {
    --it->proper;
    matrix = OF_ITERATE;
  }
  it->count = it->failures = 0;
  it->failed = b->filters = false;
  int answer = iterate(solver, predicted, x, weight, tolerance, matrix, memory);
  while (answer > 0 && matrix != OF_ITERATE) {
    it->failed = true;
    answer = iterate(solver, predicted, x, weight, tolerance, ++matrix, memory);
    if (answer == 0 && matrix == OF_ITERATE) it->proper = FOR_STEPS;
  }
  it->failures = answer != 0;
  b->filters = answer == 0;
  return answer;
}

// ---- what SUNDIALS needs of a solver ----------------------------------------------------------------------------------

static SUNNonlinearSolver_Type type_of(SUNNonlinearSolver solver) {
  (void)solver;
  return SUNNONLINEARSOLVER_ROOTFIND;
}

static int nothing(SUNNonlinearSolver solver) {
  (void)solver;
  return 0;
}

static int set_residual(SUNNonlinearSolver solver, SUNNonlinSolSysFn residual) {
  iteration_of(solver)->residual = residual;
  return 0;
}

static int set_setup(SUNNonlinearSolver solver, SUNNonlinSolLSetupFn setup) {
  iteration_of(solver)->setup = setup;
  return 0;
}

static int set_solve(SUNNonlinearSolver solver, SUNNonlinSolLSolveFn function) {
  iteration_of(solver)->solve = function;
  return 0;
}

static int set_test(SUNNonlinearSolver solver, SUNNonlinSolConvTestFn test, void* data) {
  iteration_of(solver)->test = test;
  iteration_of(solver)->test_data = data;
  return 0;
}

static int set_most(SUNNonlinearSolver solver, int most) {
  iteration_of(solver)->most = most;
  return 0;
}

static int get_now(SUNNonlinearSolver solver, int* now) {
  *now = iteration_of(solver)->now;
  return 0;
}

static int get_count(SUNNonlinearSolver solver, long* count) {
  *count = iteration_of(solver)->count;
  return 0;
}

static int get_failures(SUNNonlinearSolver solver, long* failures) {
  *failures = iteration_of(solver)->failures;
  return 0;
}

bool sri_iteration_create(srBdf* b, int n, double* room) {
  b->iteration.increment = N_VClone(b->x);
  b->iteration.n = n;
  b->iteration.lack = room;
  b->iteration.lack_before = room + n;
  b->nonlinear = SUNNonlinSolNewEmpty(b->context);
  if (b->iteration.increment == NULL || b->nonlinear == NULL) return false;
  b->nonlinear->content = b;
  *b->nonlinear->ops = (struct _generic_SUNNonlinearSolver_Ops){.gettype = type_of,
                                                                .initialize = nothing,
                                                                .solve = solve,
                                                                .setsysfn = set_residual,
                                                                .setlsetupfn = set_setup,
                                                                .setlsolvefn = set_solve,
                                                                .setctestfn = set_test,
                                                                .setmaxiters = set_most,
                                                                .getnumiters = get_count,
                                                                .getcuriter = get_now,
                                                                .getnumconvfails = get_failures};
  return true;
}
