// A contact problem as the solvers see it: loaded into memory that was made once, contacts, joints and bodies of an island next to each
// other. A method of the table solves one island.
#ifndef SR_NONSMOOTH_SOLVER_H
#define SR_NONSMOOTH_SOLVER_H

#include <sarrus/nonsmooth.h>

#include "nonsmooth/cone.h"

enum { SR_JOINT_ROWS = 6 };  // equations of a block at the most

typedef struct srLoadedContact {
  const double (*row)[3][6];   // of the problem; NULL: frame and arms
  double frame[9], arm[2][3];  // with bodies
  double W[SR_BLOCK];          // local block, compliance included
  double rho;                  // 1/W_NN of the problem
  double soft[2];              // compliances, normal and tangential, where the velocity does not contain them yet
  double shift[3];
  srCone cone;
  double p[3];
  int a, b;           // loaded bodies
  int rows, first;    // with a matrix: its rows in A
  int index, offset;  // in the problem; its first impulse
} srLoadedContact;

typedef struct srLoadedBody {
  double v[6];
  double inverse_mass, inverse_inertia[6];
  double unused[3];  // two cache lines
} srLoadedBody;

// Successive equations between the same two bodies.
typedef struct srLoadedJoint {
  double J[2][SR_JOINT_ROWS][6], shift[SR_JOINT_ROWS];
  double S[SR_JOINT_ROWS * SR_JOINT_ROWS], reciprocal[SR_JOINT_ROWS];  // factor of J M^-1 J^T
  double diagonal[SR_JOINT_ROWS];                                      // of J M^-1 J^T
  double lambda[SR_JOINT_ROWS];
  int a, b, rows;
  int first;  // equation of the problem
} srLoadedJoint;

// Ranges of what was loaded.
typedef struct srIsland {
  int contact[2], joint[2], body[2];
  int iterations;
  bool solved;
} srIsland;

// One island with the equations eliminated: u = A p + b over the rows of its contacts.
typedef struct srDense {
  int most;              // rows
  int m, n, ncontact;    // equations; rows and number of contacts
  int* equation;         // (m) loaded joint times SR_JOINT_ROWS, and its row; with a matrix: the equation
  double *full, *right;  // W and q over all rows, of bodies
  double *factor, *reciprocal, *X, *y;  // factor of W_ll; W_ll^-1 W_lp (m x n) and W_ll^-1 q_l (m)
  double *A, *At, *b, *p, *u;
  double *J, *F, *step, *trial, *trial_u, *best, *residual_u, *weight;  // Newton's
  int *pivot, *column, *place;
  double* lcp;  // Lemke's
  int* lcp_index;
} srDense;

// Of impact.c: cones and bodies of a phase; velocities, impulses.
typedef struct srImpactMemory {
  srContactCone* cone;
  srContactBody* body;
  double *before, *approach, *zero, *compression, *trial;  // (rows)
} srImpactMemory;

typedef struct srLanes srLanes;
typedef struct srContactPatch srContactPatch;

struct srContactSolver {
  srContactSize most;
  srLanes* lanes;         // of coloured sweeps; NULL: no bodies
  srContactPatch* patch;  // NULL: the problems are not larger than one, or it is itself that of a patch
  const srContactProblem* problem;
  bool matrix;  // the loaded problem has one
  int ncontact, njoint, nbody, nisland;
  int moving;  // bodies that are not fixed; the others follow, the world last
  srLoadedContact* contact;
  srLoadedJoint* joint;
  srLoadedBody* body;
  double (*free)[6];  // of the loaded bodies: v without impulses
  srIsland* island;
  int *parent, *place, *mark;  // of bodies: islands, place among the loaded, counts
  double *step, *direction;    // of sweeps: contacts 3 each, then joints
  double *before, *drift;      // of sweeps: bodies 6 each, or rows of a matrix
  double* velocity;            // (rows) for the error measure
  srDense dense;
  srImpactMemory impact;
};

// A row of the table.
typedef struct srMethodRow {
  srContactMethod method;
  bool (*takes)(const srContactSolver* s, const srContactProblem* problem, const srIsland* island);
  void (*solve)(srContactSolver* s, srIsland* island, const srContactOptions* options);
  // By colours; `solve` where the problem is not one for them.
  void (*coloured)(srContactSolver* s, const srContactProblem* p, const srContactOptions* o, double* impulse,
                   srContactResult* result);
} srMethodRow;

// whole: with patches.
srContactSolver* sr_contact_solver_make(const srContactSize* most, bool whole);
bool sr_contact_fits(const srContactSolver* s, const srContactProblem* problem);  // into its memory
double sr_contact_mobility(const srContactProblem* problem, int contact);         // W_NN of a contact between bodies

// ---- operator (operator.h, operator.c) ----------------------------------------------------------------------------------------------
void sr_contact_load(srContactSolver* s, const srContactProblem* problem, const double* impulse);
void sr_contact_store(const srContactSolver* s, double* impulse);
void sr_joint_velocity(const srContactSolver* s, const srLoadedJoint* j, double w[SR_JOINT_ROWS]);  // G v
void sr_joint_change(srContactSolver* s, const srLoadedJoint* j, const double dl[SR_JOINT_ROWS]);
// Largest residual of the contacts and joints of an island.
double sr_island_residual(const srContactSolver* s, const srIsland* island);

// ---- sweeps (sweeps.c) --------------------------------------------------------------------------------------------------
int sr_contact_sweep(srContactSolver* s, const srIsland* island, const srContactOptions* o, bool accelerate,
                     bool* solved);
void sr_solve_nsgs(srContactSolver* s, srIsland* island, const srContactOptions* o);
void sr_solve_nncg(srContactSolver* s, srIsland* island, const srContactOptions* o);

// ---- the island as a matrix (dense.c) -------------------------------------------------------------------------------------
int sr_island_rows(const srContactSolver* s, const srIsland* island);
void sr_dense_load(srContactSolver* s, const srIsland* island);
void sr_dense_store(srContactSolver* s,
                    const srIsland* island);  // dense p, and the equations' impulses, to what is loaded
double sr_dense_residual(const srContactSolver* s, const srIsland* island, const double* p);

// S = L D L^T in place; a row whose pivot is not above `least` times its diagonal entry is dropped: its reciprocal is 0.
void sr_dense_factor(int n, double* S, double* reciprocal, double least);
void sr_dense_factor_solve(int n, const double* S, const double* reciprocal, double* x);

void sr_solve_newton(srContactSolver* s, srIsland* island, const srContactOptions* o);
void sr_solve_lemke(srContactSolver* s, srIsland* island, const srContactOptions* o);

// Of sr_lemke: numbers and whole numbers of its memory.
size_t sr_lemke_numbers(int n);
// Finds z >= 0, w = M z + q >= 0, z.w = 0 (M n x n, row-major). False: no solution was found. *pivots: how many there were.
bool sr_lemke(int n, const double* M, const double* q, int most, double* memory, int* index, double* z, int* pivots);

#endif
