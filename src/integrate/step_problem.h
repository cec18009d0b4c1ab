// The contact problem of a time step over the velocities of a system: contacts with sparse rows, and the mass matrix by its blocks.
//
//   u = W v + b + shift,   v = v_free + K W^T p,     K = M^-1, or that of the saddle-point system of M and G
//
// Velocities that M couples are a block, blocks that G couples a group, groups that contacts couple in this step an island; each island is a problem of
// its own. Small islands, and those with joints or large blocks, become a matrix W K W^T: Newton's method solves them to 1e-9 m/s. Large islands of small
// blocks (free bodies, sliders, planar bodies) become a problem with rows over velocities that are scaled by the Cholesky factor of their block,
// M_b = L L^T, w = L^T v, so that their mass matrix is 1: sweeps over the contacts, whose time and memory are proportional to their number.
//
// A clamp has the equation w u_N = w (p_N - given) for its normal, which no velocity enters: p_N = given, and the cone of its tangent is the interval
// |p_T| <= mu given. w is the mobility of its slip, so that errors of both rows are velocities; where the joints hold the slip (a driver) a small one. Its island
// is a matrix.
//
// Redundant normals share their load as by equal relative compliances of 1e-6: in space their distribution changes the motion.
#ifndef SR_INTEGRATE_STEP_PROBLEM_H
#define SR_INTEGRATE_STEP_PROBLEM_H

#include <sarrus/nonsmooth.h>

#include "base/team.h"
#include "integrate/array.h"
#include "math/saddle.h"

// A contact of the problem. cone: mu, shift, slip, compliance; the velocity b of the contact itself is added.
typedef struct srStepContact {
  srUnilateral* from;
  long id, pair;         // of `from`: what loops over the contacts of a problem read is side by side
  srContactPoint point;  // ... of free bodies; arms of what does not move are 0
  double b[3];
  int rows;  // that act: 1, 2 or 3
  srContactCone cone;
  double given;  // > 0: normal impulse of a clamp (integrate.h), whose first row is 0
} srStepContact;

typedef struct srStepProblem srStepProblem;

// pattern: of the mass matrix of a step, which may have the stiffness of the step; NULL: dense. It must outlive the problem. constrained: G of the system is in
// the saddle-point system. team: of its loops and sweeps; NULL: none, else it must outlive the problem. NULL: out of memory.
srStepProblem* sri_step_problem_create(const srSystem* system, const srSparsity* pattern, bool constrained,
                                       srTeam* team);
void sri_step_problem_destroy(srStepProblem* problem);

// Are there no joints? Then M is factored by its blocks, and no saddle-point system is needed unless that fails. Are all blocks small, too? False of `factor`: M is not positive
// definite. accelerate: a = M^-1 f.
bool sri_step_problem_is_blocks(const srStepProblem* problem);
bool sri_step_problem_is_small(const srStepProblem* problem);
bool sri_step_problem_factor(srStepProblem* problem, const double* M);
void sri_step_problem_accelerate(srStepProblem* problem, const double* f, double* a);

// The change of the normal velocity of a contact with rows from v to v_free: of each block that it concerns, added without signs.
double sri_step_problem_change(const srStepProblem* problem, const srUnilateral* contact, const double* v,
                               const double* v_free);

// How the islands of the last solution were solved.
typedef struct srStepResult {
  bool solved;      // all to their tolerances
  double residual;  // largest, m/s
  int sweeps;       // over the contacts of large islands; 0: none
  int too_many;  // contacts of an island with joints or large blocks, more than a matrix takes: nothing was solved. 0: none
} srStepResult;

// The bodies of a system whose contacts have points, and their motion at v_free (points.h), for the next solutions. Large islands are then problems of bodies and
// points, small ones get their rows.
void sri_step_problem_bodies(srStepProblem* problem, const srFreeBody* body, const double* motion);

// Of each of the contacts (count) the least number of its island.
void sri_step_problem_least(srStepProblem* problem, const srStepContact* contact, int count, double* number);
// Gives a number to the groups that a contact concerns, in out (nv): by the number of the group of a velocity.
void sri_step_problem_mark(const srStepProblem* problem, const srUnilateral* contact, double number, double* out);
int sri_step_problem_group(const srStepProblem* problem, int velocity);
// Velocities that stand for all that a contact concerns: those of its rows, or the first of each of its bodies, in `first`. Returns their number.
int sri_step_problem_concerned(const srStepProblem* problem, const srUnilateral* contact, int first[2],
                               const int** velocity);

// After a solution, of free bodies: the motion at its end of those in large islands, 8 numbers each: linear part first (srContactResult).
typedef struct srStepMotion {
  const double* row;           // NULL: of no body
  const int* number;           // of each body: that of its row
  const unsigned char* known;  // of each body: has it one?
  const int* rest;             // the contacts of the others, ...
  int nrest;                   // ... and how many
} srStepMotion;
srStepMotion sri_step_problem_motion(const srStepProblem* problem);

// Calls see with every problem after its solution; t and step are the caller's to set.
void sri_step_problem_see(srStepProblem* problem, srSeeProblem* see, void* user);

// impulse (3 count): start values, then the solution. saddle: factor of M and G, NULL after `factor`; coarse: tolerance of large islands, m/s. SR_INPUT: numbers that are
// not finite, or too_many.
srStatus sri_step_problem_solve(srStepProblem* problem, srmSaddle* saddle, const double* M, const double* v_free,
                                const srStepContact* contact, int count, double coarse, double* impulse,
                                srStepResult* result);

// ---- impulses by id ---------------------------------------------------------------------------------------------------
// Numbers kept from step to step for each contact, found by its id: the impulse, 3 numbers.
typedef struct srKept srKept;
srKept* sri_kept_create(int most);
void sri_kept_destroy(srKept* kept);
void sri_kept_clear(srKept* kept);
void sri_kept_put(srKept* kept, long id, const double x[3]);  // of an id that is not in it
const double* sri_kept_find(srKept* kept, long id);           // NULL: none
// The first `rows` numbers of an id that is asked for once, and 0 behind them, go to `to` (3) at the next `give`; all of them are 0 where there is no entry.
void sri_kept_want(srKept* kept, long id, int rows, double to[3]);
void sri_kept_give(srKept* kept,
                   srTeam* team);  // team: whose members share the search, where each id has one entry; NULL: none
// For members of a team: room for count entries behind those that are there, each of which is set by one of them; the first of these is returned. The entry of an id among a few from *next
// on, NULL: it is elsewhere or nowhere; guess: where that of contact i of so many is, about.
int sri_kept_add(srKept* kept, int count);
void sri_kept_set(srKept* kept, int i, long id, const double x[3]);
const double* sri_kept_of(const srKept* kept, int i);  // of an entry
int sri_kept_guess(const srKept* kept, int i, int count);
const double* sri_kept_near(const srKept* kept, long id, int* next);

#endif
