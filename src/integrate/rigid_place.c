// Contacts that stay closed after an event: their statuses for the next phase; position and velocity are put on them; combinations of redundant rows.
#include "integrate/rigid_touch.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define PLACES 6       // corrections of the position
#define SMALLEST 1e-9  // of the longest column of a Delassus matrix: one that depends on those before it
#define PASSES 20      // times u_c/(mu lambda_N A_TT): how long slip may be below u_c without sticking

// u_c; with steps of fixed length not less than what friction takes from the slip in one of them.
static double slip_least(const srRigid* x, const srTouch* at) {
  const double braking = at->mu * fmax(at->force[0], 0) * at->mobility;
  return fmax(fmax(0.3 * sqrt(x->o.position * braking), x->o.step * braking), x->o.speed);
}

void sri_rigid_put_closed(srRigid* x) {
  x->nclosed = x->ncontact = 0;
  for (int i = 0; i < x->ntouch; ++i) {
    const srTouch* at = &x->touch[i];
    if (at->status == SR_RIGID_OPEN) continue;
    srClosed* to = &x->closed[x->nclosed++];
    x->ncontact += at->clamp == 0;
    to->id = at->id;
    to->status = at->status;
    to->mu = at->mu;
    to->mu_static = at->mu_static;
    to->clamp = at->clamp;
    to->work = at->work;
    to->held = at->held && at->status == SR_RIGID_STICKS;
    to->planar = at->planar;
    memcpy(to->along, at->along, sizeof to->along);
    to->slip_least = slip_least(x, at);
    to->ratio[0] = to->ratio[1] = 0;
    memcpy(to->force, at->force, sizeof to->force);
    to->missed = at->status == SR_RIGID_SLIDES && at->missed;
    to->straight = to->missed && at->straight;
    to->creeps = false;
    to->t_missed = at->t_missed;
    to->t_most = to->missed ? PASSES * to->slip_least / fmax(at->mu * at->force[0] * at->mobility, 1e-300) : 0;
    to->rho = 1;
    to->at = -1;
  }
  if (x->ncontact > x->stats.closed) x->stats.closed = x->ncontact;
  if (x->listed) sri_rigid_find_places(x);
}

// Normals of the closed contacts as parts.
static void build_normals(srRigid* x) {
  for (int k = 0; k < x->ncontact; ++k) x->part[k] = (srRigidPart){.c = sri_rigid_contact(x, k), .rows = 1};
  x->npart = x->ncontact;
  sri_rigid_build(x);
}

int sri_rigid_place_position(srRigid* x, double t, double* q) {
  const srSystem* s = &x->inner;
  for (int round = 0; round < PLACES; ++round) {
    double off = 0;
    int answer = sri_rigid_list(x, t, q);
    if (answer == 0 && s->ng > 0) answer = s->constraint(s->user, t, q, x->g, NULL, NULL);
    if (answer != 0) return answer;
    for (int k = 0; k < x->ncontact; ++k) off = fmax(off, fabs(sri_rigid_contact(x, k)->gap));
    if (s->np > 0) off = fmax(off, sri_largest_of(x->kept, s->np, x->g));
    if (!(off > 4 * DBL_EPSILON * fmax(10, sri_largest(s->nq, q)))) return 0;
    build_normals(x);
    for (int k = 0; k < s->ng; ++k) x->right[k] = k < s->np ? -x->g[k] : 0;
    srm_saddle_solve(x->saddle, NULL, x->right, x->v_new, NULL);
    for (int k = 0; k < x->ncontact; ++k) {
      x->right_rows[k] = sri_rigid_contact(x, k)->gap + sri_contact_row_times(sri_rigid_contact(x, k), 0, x->v_new);
    }
    (void)sri_rigid_solve_rows(x, x->right_rows, x->p);
    sri_rigid_add(x, x->p, x->v_new);
    answer = sri_retract(s, q, x->v_new, x->q_new);
    if (answer != 0) return answer;
    memcpy(q, x->q_new, (size_t)s->nq * sizeof *q);
  }
  return 0;
}

// Normals of the closed contacts, and tangents of those that stick.
static void build_rows(srRigid* x) {
  for (int k = 0; k < x->nclosed; ++k) {
    const srClosed* at = &x->closed[k];
    x->part[k] = (srRigidPart){.c = sri_rigid_contact(x, k), .rows = 1};
    if (at->status == SR_RIGID_STICKS) x->part[k].rows = at->planar ? 2 : 3;
    memcpy(x->part[k].along, at->along, sizeof at->along);
  }
  x->npart = x->nclosed;
  sri_rigid_build(x);
}

void sri_rigid_place_velocity(srRigid* x, double* v) {
  build_rows(x);
  sri_rigid_velocities(x, v, x->right_rows);
  (void)sri_rigid_solve_rows(x, x->right_rows, x->p);
  sri_rigid_add(x, x->p, v);
}

// The velocity on the equations of the joints.
static void place_on_joints(srRigid* x, double* v) {
  const srSystem* s = &x->inner;
  if (s->ng == 0) return;
  srm_rows_times(&x->shape, x->G, v, x->right);
  for (int k = 0; k < s->ng; ++k) x->right[k] = -x->right[k] - x->b[k];
  srm_saddle_solve(x->saddle, NULL, x->right, x->v_new, NULL);
  for (int i = 0; i < s->nv; ++i) v[i] += x->v_new[i];
}

int sri_rigid_put(srRigid* x, double t, double* q, double* v, const double* y) {
  int answer = sri_rigid_free(x, t, q, v, y);
  if (answer == 0) answer = sri_rigid_place_position(x, t, q);
  if (answer == 0) answer = sri_rigid_free(x, t, q, v, y);
  if (answer == 0) answer = sri_rigid_list(x, t, q);
  if (answer != 0) return answer;
  place_on_joints(x, v);
  sri_rigid_place_velocity(x, v);
  return 0;
}

// An orthonormal basis of the range of C (n x n, symmetric; overwritten), its vectors as rows of `out` with n numbers in the places `row` of 3 most: by Gram-Schmidt, the longest
// first, at most `most` of them and not shorter than `least` of the first. Returns how many.
static int take_basis(const srRigid* x, double* C, int n, const int* row, int most, double least, double* out) {
  const size_t width = 3 * (size_t)x->most;
  double first = 0;
  int rank = 0;
  for (; rank < most; ++rank) {
    int best = -1;
    double longest = 0, *to = out + (size_t)rank * width;
    for (int k = 0; k < n; ++k) {
      double sum = 0;
      for (int i = 0; i < n; ++i) sum += C[k * n + i] * C[k * n + i];
      if (sum > longest) longest = sum, best = k;
    }
    longest = sqrt(longest);
    first = fmax(first, longest);
    if (best < 0 || longest <= least * first) break;
    memset(to, 0, width * sizeof *to);
    for (int i = 0; i < n; ++i) to[row[i]] = C[best * n + i] / longest;
    for (int k = 0; k < n; ++k) {
      double along = 0;
      for (int i = 0; i < n; ++i) along += C[k * n + i] * to[row[i]];
      for (int i = 0; i < n; ++i) C[k * n + i] -= along * to[row[i]];
    }
  }
  return rank;
}

// Rows of the closed contacts in A, x->row_from, and their places in the bases, x->row_to: normals, then tangents of those that stick. Returns how many normals.
static int number_rows(srRigid* x, int* count) {
  int n = 0;
  for (int k = 0; k < x->ncontact; ++k, ++n) {
    x->row_from[n] = x->part[k].first;
    x->row_to[n] = sri_rigid_row(x, k, 0);
  }
  for (int k = 0; k < x->nclosed; ++k) {
    for (int i = 1; i < x->part[k].rows && !x->closed[k].held; ++i, ++n) {
      x->row_from[n] = x->part[k].first + i;
      x->row_to[n] = sri_rigid_row(x, k, i);
    }
  }
  *count = n;
  return x->ncontact;
}

static void copy_rows(const srRigid* x, int n, double* out) {
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < n; ++k) out[i * n + k] = x->A[x->row_from[i] * x->nrow + x->row_from[k]];
  }
}

// 1 - B B^T over n rows, B the first `rank` vectors of a basis.
static void copy_rest(const srRigid* x, const double* basis, int rank, const int* row, int n, double* out) {
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < n; ++k) {
      double sum = i == k;
      for (int r = 0; r < rank; ++r) {
        const double* of = basis + (size_t)r * 3 * (size_t)x->most;
        sum -= of[row[i]] * of[row[k]];
      }
      out[i * n + k] = sum;
    }
  }
}

// The bases of rigid_rows.c where rows are redundant and friction makes their forces matter. 1 - B B^T has the redundancies as its range; combinations of tangents to which none of them belongs
// are independent of the normals, and of each other.
void sri_rigid_combine(srRigid* x) {
  bool friction = false;
  int n;
  x->combined = false;
  for (int k = 0; k < x->ncontact; ++k) {
    friction = friction || (x->closed[k].mu > 0 && x->closed[k].status != SR_RIGID_STICKS);
  }
  if (!friction) return;
  build_rows(x);
  const int normals = number_rows(x, &n), tangents = n - normals;
  double* C = x->lu;
  copy_rows(x, n, C);
  x->rank = take_basis(x, C, n, x->row_to, n, SMALLEST, x->force_basis);
  if (x->rank == n) return;
  copy_rows(x, normals, C);
  x->rank_normal = take_basis(x, C, normals, x->row_to, normals < x->rank ? normals : x->rank, SMALLEST, x->row_basis);
  const int *row = x->row_to + normals, free = x->rank - x->rank_normal;
  double* rest = x->row_basis + (size_t)x->rank_normal * 3 * (size_t)x->most;
  copy_rest(x, x->force_basis, x->rank, row, tangents, C);
  const int redundant = take_basis(x, C, tangents, row, tangents - free, 0, rest);
  copy_rest(x, rest, redundant, row, tangents, C);
  x->rank = x->rank_normal + take_basis(x, C, tangents, row, free, 0, rest);
  x->combined = true;
}
