// Coloured sweeps: contacts without common bodies have one colour; a colour is relaxed in batches, one contact in each lane of vector registers. Bodies of large problems are divided into
// subdomains: one thread sweeps the inner contacts of a subdomain through all colours, then the threads share the colours of the interface, the contacts between subdomains. Subdomains
// and colours depend on the problem alone: the same bits with any number of threads.
//
// Velocities are scaled by the factors of the inverse masses and hold the change by impulses alone:
//   v = v_free + C z,    M^-1 = C C^T,    u = H v_free + (H C) z + s,    z += (H C)^T dp
// so that one block H C of a contact serves both ways, and v_free may be large beside what single precision resolves.
#ifndef SR_NONSMOOTH_COLOURED_H
#define SR_NONSMOOTH_COLOURED_H

#include <stdint.h>

#include "base/team.h"
#include "nonsmooth/body_islands.h"
#include "nonsmooth/solver.h"

enum { SR_ROW = 8 };  // numbers of a body's row of z: linear and angular part with a fourth number of padding each

// Kinds of batches.
enum {
  SR_LANES_BALL,  // isotropic inertia, arms along the normal: the local problem is diagonal in normal and tangent
  SR_LANES_ROWS,  // any other
  SR_LANES_KINDS
};

// Factor of the inverse mass and inertia of a body.
typedef struct srScaledBody {
  double linear;      // sqrt(1/m)
  double angular[6];  // lower triangle L of I^-1 = L L^T: 00 10 11 20 21 22
} srScaledBody;
enum { SR_BODY_MOVES = 1, SR_BODY_ROUND = 2 };                      // round: L = angular[0] 1
enum { SR_CENTRAL_FIRST = 1, SR_CENTRAL_SECOND = 2, SR_IDLE = 4 };  // of contacts: arm of a, of b along the normal

// Batches of one kind and colour, in the order of the contacts.
typedef struct srLaneRun {
  int kind;
  int first, contacts;  // in srLanes.order
  size_t at;            // of the first batch, bytes
  int batches;
  int batch;    // number of the first one
  bool pairs;   // both bodies move; else body 1 alone
  bool idle;    // contacts without impulses at the start that open fast: batches of them may sleep
  bool serial;  // contacts without a colour: a body has too many. One lane after the other
} srLaneRun;

// Of all batches in a traced sweep, over their contacts; q + mu |u_T| n is the gradient without impulses. Of bodies: squared length of their part of d, and its product with z.
typedef struct srLaneSums {
  double square;           // of the step, in the metric of the mobilities
  double step, direction;  // the gradient times step and d
  double speed;            // of sweep_calm: squares of the velocities that the step stands for
  double soft[3];          // step.c step, step.c d, d.c d with the compliances c
} srLaneSums;
typedef struct srRowSums {
  double square, product;
} srRowSums;

enum { SR_SUBDOMAINS = 32 };  // of a bundle at the most

// The inner contacts of a subdomain, or those of the interface of a bundle.
typedef struct srSubdomain {
  int run[2];
  int body[2];      // range of the numbers of its bodies; of the interface: none, or all of the bundle
  bool inner;       // it is not an interface
  bool large;       // so is its bundle
  int interface;    // of its bundle
  srLaneSums sums;  // of its batches
} srSubdomain;

// Bodies, contacts and equations that are solved together: one large island, or many small ones.
typedef struct srBundle {
  int run[2], joint[2];
  int subdomain[2];   // without the interface, ...
  int interface;      // ... which follows them: number in srLanes.subdomain; -1: there is one subdomain alone
  int sides, before;  // sides of its contacts with moving bodies, all and, while these are divided, of those until now
  int crowd;          // largest number of contacts of a body
  int contacts, iterations;
  bool solved;
} srBundle;

// Equations between two bodies as a block over z.
typedef struct srScaledJoint {
  double J[2][SR_JOINT_ROWS][6];  // times C, linear part first
  double shift[SR_JOINT_ROWS];    // with G v_free
  double S[SR_JOINT_ROWS * SR_JOINT_ROWS], reciprocal[SR_JOINT_ROWS], diagonal[SR_JOINT_ROWS];
  double lambda[SR_JOINT_ROWS], before[SR_JOINT_ROWS], direction[SR_JOINT_ROWS];
  int body[2], rows, first;  // body -1: does not move
} srScaledJoint;

// Conjugate directions: d = beta d + step of the last sweep, p += way d - back step. beta < 0: there is no last sweep. What the velocities have left to do of it: nothing, the same with way
// = back = 1, or the motion along a d that they have already.
enum { SR_ROWS_STAY, SR_ROWS_FOLLOW, SR_ROWS_MOVE };
typedef struct srLaneMove {
  double beta, way, back;
  int rows;
  bool sleepers;  // batches that sleep are swept, too
} srLaneMove;

// Returns the largest velocity that a change of the impulses of a contact stands for, m/s.
typedef double srLaneAct(const srLanes* l, const srLaneRun* run, int from, int to, const srLaneMove* move);

// What depends on the precision and the width (lanes_single.c, lanes_wide.c, lanes_double.c, all of lanes.h). Batches from .. to-1 of a run.
typedef struct srLaneKernel {
  int lanes;
  size_t row_size, trace_size, sum_size;  // of a body's row of z, of a batch's direction, of its sums, bytes
  size_t size[SR_LANES_KINDS];            // of a batch, bytes
  void (*fill)(const srLanes* l, const srContactProblem* p, const srLaneRun* run, int from, int to,
               const double* impulse);
  srLaneAct* apply;  // z += (H C)^T p
  srLaneAct* sweep;
  srLaneAct* sweep_traced;  // after a move; its step goes to l->trace, its sums to l->sum
  srLaneAct* sweep_calm;    // the same with the square of the step alone
  // The largest one; above: += contacts that have more than the limit.
  double (*residual)(const srLanes* l, const srLaneRun* run, int from, int to, double limit, int* above);
  void (*add_sums)(const srLanes* l, int from, int to, srLaneSums* all);  // of batches, in their order
  void (*work)(const srLanes* l, const srLaneRun* run, int from,
               int to);  // p.W p and p.q for square and step of the sums
  void (*scale)(const srLanes* l, const srLaneRun* run, int from, int to, double by);  // impulses
  void (*scale_rows)(const srLanes* l, int from, int to, double by);                   // z
  void (*begin_rows)(const srLanes* l, int from, int to);                              // before the first sweep
  void (*aim_rows)(const srLanes* l, int from, int to, double beta, srRowSums* sums);  // d of z
  void (*move_rows)(const srLanes* l, int from, int to, const srLaneMove* move);
  void (*follow_rows)(const srLanes* l, int from, int to, double beta);  // both at once, with way = back = 1
  void (*store)(const srLanes* l, const srContactProblem* p, const srLaneRun* run, int from, int to, double* impulse);
  void (*row)(const srLanes* l, int body, double z[6]);          // linear part first
  void (*push)(const srLanes* l, int body, const double dz[6]);  // of joints
} srLaneKernel;

struct srLanes {
  const srLaneKernel *kernel, *single;  // in use; in single precision
  srTeam* team;
  bool hired;  // the team is its own
  int nbody, nrun, nbundle, nsubdomain, njoint;
  bool rows;  // the problem has rows in place of arms
  bool soft;  // contacts have compliances of their own
  srScaledBody* body;
  unsigned char* nature;  // bodies: SR_BODY_MOVES, SR_BODY_ROUND
  int (*end)[2];          // contacts, then equations: their bodies that move, else -1
  srScaledJoint* joint;
  unsigned char* traits;   // contacts: SR_CENTRAL_FIRST, SR_CENTRAL_SECOND, SR_IDLE
  srBodyIslands* islands;  // the three arrays that follow are its own
  int *island, *count;     // bodies: root of the island; of a root its contacts, then its bundle
  int* within;             // bodies: contacts, then subdomain, -1: nothing touches it
  int* home;               // contacts: subdomain or interface, -1: nothing moves
  // Bodies: colours that are taken by inner contacts with two and one moving body, and by those of the interface. [1]: of idle runs.
  uint64_t *pair[2], *wall[2], *between[2];
  uint32_t* key;      // contacts: subdomain, idle or not, two moving bodies or one, colour, kind
  int *order, *slot;  // contacts by key; where the next one of a key is put
  srLaneRun* run;
  srBundle* bundle;
  srSubdomain* subdomain;
  unsigned char* batch;
  void *z, *before, *drift;  // (bodies x SR_ROW)
  void* trace;               // (batches) of conjugate directions
  void* sum;                 // (batches)
  bool* zero;                // (batches) of idle runs: are all impulses and directions 0?
  bool* sleeps;              // ... and those of the other batches among sixteen contacts, whatever the width
  srRowSums* row_sum;        // (blocks of bodies)
  double* most;              // (parts of a loop) largest residual or change
  int* above;                // (the same) contacts whose residual is above the tolerance
};

static inline bool sr_lanes_moves(const srLanes* l, int body) {
  return body >= 0 && (l->nature[body] & SR_BODY_MOVES) != 0;
}

// row C, linear part first; row: angular part first.
static inline void sr_scale_row(const srScaledBody* b, const double row[6], double out[6]) {
  const double* L = b->angular;
  for (int k = 0; k < 3; ++k) out[k] = row[3 + k] * b->linear;
  out[3] = row[0] * L[0] + row[1] * L[1] + row[2] * L[3];
  out[4] = row[1] * L[2] + row[2] * L[4];
  out[5] = row[2] * L[5];
}

extern const srLaneKernel sr_lanes_single, sr_lanes_double;
const srLaneKernel* sr_lanes_wide(
    void);  // as the first one, with wider vectors and the same bits; NULL: the processor has none

srLanes* sr_lanes_create(const srContactSize* most);  // NULL: out of memory
void sr_lanes_destroy(srLanes* l);
// False: the problem is not one of bodies with contacts that begin at 0 impulse.
bool sr_lanes_take(const srContactProblem* p);
// sr_contact_error of a problem by points without equations and lower bounds (error_points.c). v: room for SR_ROW numbers of each body and of the world, aligned to 32 bytes: their
// velocities, linear part first. each (contacts, and room for three more): the residuals of the contacts. team: whose members share the loops, NULL: none.
srContactError sr_contact_error_points(const srContactProblem* p, const double* impulse, srTeam* team, double* v,
                                       double* each);
// Solve the whole problem: iterations, islands and error of the result.
void sr_coloured_nsgs(srContactSolver* s, const srContactProblem* p, const srContactOptions* o, double* impulse,
                      srContactResult* result);
void sr_coloured_nncg(srContactSolver* s, const srContactProblem* p, const srContactOptions* o, double* impulse,
                      srContactResult* result);

#endif
