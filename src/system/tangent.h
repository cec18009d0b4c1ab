// The parts of the exact tangent (docs/theory/tangent.md): chains of coordinates, variables that formulas and laws see, entries.
#ifndef SR_SYSTEM_TANGENT_H
#define SR_SYSTEM_TANGENT_H

#include <sarrus/system.h>

#include "dynamics/derivative.h"
#include "dynamics/tree_tangent.h"
#include "expr/expr.h"

// A quantity that a force law or a constraint depends on, and its derivatives along the coordinates.
typedef struct srVariable {
  int kind, index,
      scalar;      // srVarKind and index; of a sensor: which of its scalars; SR_VAR_ARG: 0 z, 1 zdot of a force element
  bool velocity;   // depends on v: x = w . t; else x' = w . t
  srChain* chain;  // NULL: of a coordinate or a state itself
  int link;        // of a position coordinate itself
  const srMeasurement* measurement;  // of a joint coordinate of free bodies
  int component;                     // ... which one of the measurement
  int n;
  const int* column;   // n: of K
  double *dq, *dv;     // n: dx along q (of K_q), and by v or y (of K_v)
  double w[6], L[36];  // chain: row over the twist, and its change with the pose
} srVariable;

// A value that depends on a variable: the derivative is value[at].
typedef struct srDependence {
  int variable, at;
} srDependence;

typedef struct srTangentMatrix srTangentMatrix;

struct srModelTangent {
  srPool pool;
  const srModel* m;
  srmEntries entries;
  int n;                // nv + ny
  bool rigid;           // contacts have no force
  bool forces_alone;    // without M a + c
  size_t inertial;      // entries of M a + c, the first ones
  srSparsity sparsity;  // of K; row NULL: dense
  size_t count;         // numbers of a matrix
  double* rnea;         // work of sr_rnea_derivative
  srChain** chain;      // all of them
  int nchain, chain_capacity;
  srChain **of_closure, **of_force, **of_sensor,
      **of_joint;  // nclosure, nforce, nsensor, njoint; NULL where there is none
  srVariable** variable;
  int nvariable, variable_capacity;
  int *of_q, *of_v;        // njq, njv: their variables, -1 none
  int* of_scalar;          // nsensor_value
  int* of_state;           // ny
  int* of_distance;        // nforce: the variable z of a law between two points; zdot is the next one
  srProgram *laws, *rows;  // derivatives of force-law formulas; first and second ones of constraint formulas
  int* law_start;          // nformula + 1: dependences of each formula
  srDependence* law;
  int* row_first;  // of each variable of each constraint formula (nrow_arg): its first derivative in row_value, -1 none
  int* row_second;    // of each pair of them (row_pair), -1 none
  int* row_pair;      // nformula_row: first pair
  int* row_variable;  // nrow_arg: variable, -1 time
  double *law_value, *row_value, *program_work;
  const srProgram** derivative;               // (nforce) of its law, NULL: none on the graph
  const srProgram** closure_derivative;       // (nclosure)
  double *law_jacobian, *law_work, *law_out;  // of one force element
  double *accel_q, *accel_v;                  // of one joint coordinate
  double* gap_by;                             // nv: rows of one variable of a gap
  srTreeTangent* tree;                        // the linear systems are solved by recursion; NULL: K is formed
  srTreeFactor factor[2];                     // ... real, complex
  // Contact sets (tangent_matrix.c): entries up to nfixed are those of the model, the others those of the instances of `edition`.
  int* contact_ints;  // of the chain of one instance
  double* contact_reals;
  int *pair, *place;  // of all entries: row and column, and place in K
  size_t nfixed, nentry, entry_capacity;
  long edition;  // -1: not recorded
  srTangentMatrix*
      matrix;  // the linear systems are solved with a sparse matrix whose pattern changes; NULL: K is formed
};

// ---- tangent_variable.c
int sr_tangent_variable(srModelTangent* x, srVariable key);  // finds or adds; kind, index, scalar of key are given
srChain* sr_tangent_chain(srModelTangent* x, int point, int observer, int common);
void sr_tangent_variables(srModelTangent* x, const srData* d);  // all derivatives, at the velocity stage
// Subtracts by * (row coefficients) (derivatives of the variable) from the entries.
void sr_tangent_outer(srModelTangent* x, int n, const int* row, const double* coefficient, int stride,
                      const srVariable* variable, double by);
void sr_tangent_variable_turn(srModelTangent* x, const srData* d, const srVariable* variable, double by);

// ---- tangent_tree.c
// Prepares the recursion; false: the model is not a tree whose force elements act within one joint each, and nothing has changed.
bool sr_tangent_tree_prepare(srModelTangent* x);
// State of d as for sr_tangent_evaluate; diagonal (nv): of M.
int sr_tangent_tree_evaluate(srModelTangent* x, srData* d, double tau, const double* a, double* diagonal);

// ---- tangent_formula.c
void sr_tangent_formulas(srModelTangent* x);  // programs; may add variables
void sr_tangent_formula_values(srModelTangent* x, const srData* d);
void sr_tangent_formula_rows(srModelTangent* x, const srData* d, const double* lambda);

// ---- tangent_force.c
void sr_tangent_force_prepare(srModelTangent* x);
int sr_tangent_forces(srModelTangent* x, srData* d, double tau, const double* a, const double* lambda);
int sr_tangent_contacts(srModelTangent* x, srData* d, double tau);  // instances in use

// ---- tangent_matrix.c
bool sr_tangent_fixed(srModelTangent* x, const int* pair,
                      size_t count);  // keeps the entries of the model; false: out of memory
// The same, and prepares the sparse matrix.
bool sr_tangent_matrix_prepare(srModelTangent* x, const int* pair, size_t count);
void sr_tangent_matrix_destroy(srModelTangent* x);
// Before an evaluation: records the entries of the instances where they have changed. < 0: out of memory, reported in d->error_message.
int sr_tangent_record(srModelTangent* x, srData* d);
// As the callbacks of srMotionSolver.
int sr_tangent_matrix_evaluate(srModelTangent* x, srData* d, double tau, const double* a, double* diagonal);
void sr_tangent_matrix_times(const srModelTangent* x, const double* dxi, const double* dx, double* out);
bool sr_tangent_matrix_factor(srModelTangent* x, const srShift* shift, bool is_complex);
void sr_tangent_matrix_solve(srModelTangent* x, bool is_complex, double* b);

// Entries of the model's tangent at the state of d, after sr_forces; out has been cleared. Returns as integrate.h.
int sr_tangent_evaluate(srModelTangent* x, srData* d, double tau, const double* a, const double* lambda,
                        srTangent* out);

// As sr_tangent_create, with an explicit choice between matrices and the solution by the system: recursion, or with contact sets a sparse
// matrix. SR_SOLVE_OWN where that is not possible: matrices. SR_SOLVE_REST: matrices without contacts, which are rigid; SR_SOLVE_RIGID: of
// forces alone, without M a + c too.
typedef enum srSolve { SR_SOLVE_AUTO, SR_SOLVE_MATRIX, SR_SOLVE_OWN, SR_SOLVE_RIGID, SR_SOLVE_REST } srSolve;
srModelTangent* sr_tangent_create_as(const srModel* m, srSolve solve);

#endif
