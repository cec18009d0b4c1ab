// Sparse linear systems A x = b whose pattern stays while the numbers change: one interface, several implementations.
//
//   srmSolver* s = srm_solver_create(&pattern, srm_solver_kind("klu"));   // analyses: order of elimination
//   if (srm_solver_factor(s, values)) srm_solver_solve(s, x);             // x = A^-1 x; again for the next numbers
//
// An implementation is a row of the table in solver.c. A row with `refactor` repeats the elimination with the pivots that an earlier
// factor chose, for a fraction of its cost and without allocating. Old pivots may be poor for new numbers and yet succeed, so
// that two quantities are monitored: the growth of the elements in refactor, and the residual of every solution (Arioli, Demmel and
// Duff 1989), which is refined. Where either fails, new pivots are chosen. Only that call may allocate after create.
// The numbers of a solution depend in their last digits on when pivots were chosen.
#ifndef SR_MATH_SOLVER_H
#define SR_MATH_SOLVER_H

#include "math/sparse.h"

typedef struct srmSolverKind {
  const char *name, *about;
  bool absent;                                 // not in this build
  void* (*create)(const srmPattern* pattern);  // analyses a square pattern; NULL: out of memory
  void (*destroy)(void* factor);
  bool (*factor)(void* factor, const double* values);    // chooses pivots; false: singular to working precision
  bool (*refactor)(void* factor, const double* values);  // keeps them; false: they are unsuitable. NULL: always factor
  void (*solve)(void* factor, double* x);                // x = A^-1 x
  size_t (*fill)(const void* factor);                    // entries of the last L and U
} srmSolverKind;

int srm_solver_count(void);
const srmSolverKind* srm_solver_at(int index);
const srmSolverKind* srm_solver_kind(const char* name);  // NULL: no such word
// The kind for a saddle-point matrix (or one like it) whose leading block has this pattern. Where the weighted mean length of its rows,
// sum r^2 / sum r, is at most SRM_SHALLOW, paths to the ground are short: an order for A^T A costs little, memory is bounded for every
// choice of pivots, and "lu" is used. Otherwise A^T A is nearly full and the order is one of A + A^T: "klu" where it is in the build,
// "lu-diagonal" where not.
#define SRM_SHALLOW 16
bool srm_pattern_is_deep(const srmPattern* leading);
const srmSolverKind* srm_solver_for(const srmPattern* leading);

typedef struct srmSolver srmSolver;
srmSolver* srm_solver_create(const srmPattern* pattern,
                             const srmSolverKind* kind);  // the pattern is copied; NULL: out of memory
void srm_solver_destroy(srmSolver* solver);
bool srm_solver_factor(srmSolver* solver, const double* values);  // false: singular to working precision
void srm_solver_solve(srmSolver* solver, double* x);              // after factor: x = A^-1 x
size_t srm_solver_fill(const srmSolver* solver);                  // entries of the last L and U
long srm_solver_choices(const srmSolver* solver);                 // number of times pivots were chosen

extern const srmSolverKind srm_klu_kind;  // src/suitesparse; without it a row that is absent

#endif
