// Chains: the coordinates between two frames A (observer) and B (point), and how their columns change.
//
//   column c_j = (w_j, u_j): angular velocity and velocity of B for v_j = 1, observed from A and in A's axes
//
// Lay the chain out from A to B. A displacement along k rotates all that comes after k, as A observes it, and carries B along:
//
//   dc_j/dq_k = (w_k x w_j, w_k x u_j)     k before j, or both in one link on B's path
//             = (0, w_j x u_k)             otherwise: only the lever arm of j changes
//
// With a third frame that observes both (common), each path counts separately, from the junction outwards, and A's columns are minus
// the displacement of A. A wrench w over the twist gives the forces Q_j = c_j.w; with w = (n, f):
//
//   dQ_j/dq_k = c_j.(Lx c_k + Lt dt/dq_k) + dc_j/dq_k . w,      dQ_j/dv_k = c_j.(Lt c_k)
//   dc_j/dq_k . w = w_k.(w_j x n + u_j x f)   or   u_k.(f x w_j)
#include <string.h>

#include "dynamics/derivative.h"
#include "dynamics/link.h"
#include "math/pose.h"

static double dot6(const double* a, const double* b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

static int larger(const int link[2]) { return link[0] > link[1] ? 0 : 1; }

int sr_chain_count(const srModel* m, int point, int observer) {
  int link[2] = {m->point_link[observer], m->point_link[point]}, n = 0;
  while (link[0] != link[1]) {  // parents have smaller numbers: the larger one is not on the other's path
    int* x = &link[larger(link)];
    n += sr_link_nv[m->link_type[*x]];
    *x = m->link_parent[*x];
  }
  return n;
}

// The columns that a displacement along k rotates: those after it on the path from A to B, with the others of its link on B's path; with a
// common frame those further out on its own side, with its link.
static void find_turned(srChain* x, int* turn) {
  const int n = x->n, middle = x->n_observer;
  for (int k = 0; k < n; k++) {
    int first = k, last = k + 1;
    while (first > 0 && x->link[first - 1] == x->link[k]) first--;
    while (last < n && x->link[last] == x->link[k]) last++;
    const bool of_a = k < middle;
    turn[2 * k] = !of_a ? first : x->common < 0 ? last : 0;
    turn[2 * k + 1] = of_a && x->common >= 0 ? last : n;
  }
}

void sr_chain_init(const srModel* m, int point, int observer, int common, int* ints, double* reals, srChain* out) {
  int at[2] = {m->point_link[observer], m->point_link[point]}, first = 0;
  const int n = sr_chain_count(m, point, observer);
  int last = n, *dof = ints, *link = dof + n, *turn = link + n;
  while (at[0] != at[1]) {  // A's path fills from the front, B's from the back
    const int side = larger(at), count = sr_link_nv[m->link_type[at[side]]];
    const int start = side == 0 ? first : last - count;
    for (int k = 0; k < count; k++) {
      dof[start + k] = m->link_v[at[side]] + k;
      link[start + k] = at[side];
    }
    if (side == 0) first += count;
    if (side == 1) last -= count;
    at[side] = m->link_parent[at[side]];
  }
  *out = (srChain){.point = point, .observer = observer, .common = common, .n = n, .n_observer = first};
  out->dof = dof;
  out->link = link;
  out->turn = turn;
  out->c = reals;
  out->dt = reals + 6 * n;
  out->arm = reals + 12 * n;
  find_turned(out, turn);
}

// ---- columns ------------------------------------------------------------------------------------------------------------

static void columns(const srModel* m, const srData* d, srChain* x) {
  const srmPose b = sr_point_pose(m, d, x->point), a = sr_point_pose(m, d, x->observer);
  const m3 back = m3_transpose(x->common < 0 ? a.R : sr_point_pose(m, d, x->common).R), R = m3_product(back, b.R);
  for (int i = 0; i < 9; i++) x->R[i] = R.c[i % 3][i / 3];
  v4_put3(x->d, m3_mul(back, b.p - a.p));
  for (int j = 0; j < x->n; j++) {
    const int link = x->link[j], k = x->dof[j] - m->link_v[link];
    const bool of_a = j < x->n_observer;
    sr_link_column(m, d, link, k, of_a ? -1 : 1, back, of_a && x->common >= 0 ? a.p : b.p, x->c + 6 * j);
  }
}

// Columns that a displacement along k may change: all, or those of its own side.
static int side_first(const srChain* x, int k) { return x->common >= 0 && k >= x->n_observer ? x->n_observer : 0; }
static int side_last(const srChain* x, int k) { return x->common >= 0 && k < x->n_observer ? x->n_observer : x->n; }
// A's columns are minus the displacement of A where a common frame observes both.
static double sign_of(const srChain* x, int k) { return x->common >= 0 && k < x->n_observer ? -1 : 1; }

void sr_chain_second(const srChain* x, int j, int k, double* out) {
  const double *cj = x->c + 6 * j, *ck = x->c + 6 * k;
  memset(out, 0, 6 * sizeof *out);
  if (j >= x->turn[2 * k] && j < x->turn[2 * k + 1]) {
    srm_cross3(ck, cj, out);
    srm_cross3(ck, cj + 3, out + 3);
  } else if (j >= side_first(x, k) && j < side_last(x, k)) {
    srm_cross3(cj, ck + 3, out + 3);
  }
  for (int i = 0; i < 6; i++) out[i] *= sign_of(x, j);
}

// t, and dt/dq_k = sum over j of (dc_j/dq_k) v_j: the columns that k rotates, and the others, whose lever arm it moves. Prefix sums,
// in `sum`, make each a difference.
static void twists(srChain* x) {
  double* sum = x->arm;
  const int n = x->n;
  memset(x->t, 0, sizeof x->t);
  for (int j = 0; j < n; j++) {
    const double rate = x->v[x->dof[j]];
    for (int i = 0; i < 6; i++) sum[6 * j + i] = x->t[i] += x->c[6 * j + i] * rate;
  }
#define BEFORE(j, i) ((j) > 0 ? sum[6 * ((j)-1) + (i)] : 0)
  for (int k = 0; k < n; k++) {
    const int first = x->turn[2 * k], last = x->turn[2 * k + 1], begin = side_first(x, k), end = side_last(x, k);
    const double *ck = x->c + 6 * k, sign = sign_of(x, k);
    double turned[6], moved[3], one[3], two[3], three[3];
    for (int i = 0; i < 6; i++) turned[i] = sign * (BEFORE(last, i) - BEFORE(first, i));
    for (int i = 0; i < 3; i++) moved[i] = sign * (BEFORE(end, i) - BEFORE(begin, i)) - turned[i];
    srm_cross3(ck, turned, one);
    srm_cross3(ck, turned + 3, two);
    srm_cross3(moved, ck + 3, three);
    for (int i = 0; i < 3; i++) {
      x->dt[6 * k + i] = one[i];
      x->dt[6 * k + 3 + i] = two[i] + three[i];
    }
  }
#undef BEFORE
}

SRM_CLONES void sr_chain_evaluate(const srModel* m, const srData* d, srChain* chain) {
  chain->v = d->v;
  columns(m, d, chain);
  twists(chain);
}

// ---- forces -------------------------------------------------------------------------------------------------------------

// A x, or 0 where A is NULL.
static void times(const double* A, const double* x, double* out) {
  for (int i = 0; i < 6; i++) out[i] = A ? dot6(A + 6 * i, x) : 0;
}

// w_j x n + u_j x f, and f x w_j: for a rotation and for a displacement of the arm (above), with their signs.
static void put_arms(const srChain* x, const double* w) {
  for (int j = 0; j < x->n; j++) {
    const double *cj = x->c + 6 * j, sign = sign_of(x, j);
    double one[3], two[3], three[3], *out = x->arm + 6 * j;
    srm_cross3(cj, w, one);
    srm_cross3(cj + 3, w + 3, two);
    srm_cross3(w + 3, cj, three);
    for (int i = 0; i < 3; i++) {
      out[i] = sign * (one[i] + two[i]);
      out[3 + i] = sign * three[i];
    }
  }
}

static void wrench_column(const srChain* x, const double* Lx, const double* Lt, int k, srmEntries* out) {
  const int first = x->turn[2 * k], last = x->turn[2 * k + 1], begin = side_first(x, k), end = side_last(x, k);
  const double* ck = x->c + 6 * k;
  double by_pose[6], by_twist[6], by_v[6];
  times(Lx, ck, by_pose);
  times(Lt, x->dt + 6 * k, by_twist);
  times(Lt, ck, by_v);
  for (int i = 0; i < 6; i++) by_pose[i] += by_twist[i];
  for (int j = 0; j < x->n; j++) {
    const double *cj = x->c + 6 * j, *arm = x->arm + 6 * j;
    double q = dot6(cj, by_pose);
    if (j >= first && j < last) {
      q += srm_dot3(ck, arm);
    } else if (j >= begin && j < end) {
      q += srm_dot3(ck + 3, arm + 3);
    }
    srm_entry(out, x->dof[j], x->dof[k], -q, Lt ? -dot6(cj, by_v) : 0);
  }
}

SRM_CLONES void sr_chain_wrench(const srChain* chain, const double* w, const double* Lx, const double* Lt,
                                srmEntries* out) {
  if (!out->place) {  // only their positions are requested
    for (int k = 0; k < chain->n; k++)
      for (int j = 0; j < chain->n; j++) srm_entry(out, chain->dof[j], chain->dof[k], 0, 0);
    return;
  }
  put_arms(chain, w);
  for (int k = 0; k < chain->n; k++) wrench_column(chain, Lx, Lt, k, out);
}
