// Linear systems of the motion of a tree by recursion, exact, in a fixed number of operations per link:
//   (cM M + cv Kv + cq Kq) x = b,     Kq, Kv: derivatives of M a + c by q and by v
//
// The matrix is full, but its products pass through 18 numbers per link (derived in rnea_derivative.c): the displacement eta
// of a link, and eta', eta'' with
//   dv = eta' - v x eta,   da = eta'' - v x eta' - a x eta,   df = eta x* f + B eta' + I eta''  =  W e,   e = (eta, eta', eta'')
// The coordinates x_j of link j move it and all links beyond by s_j x_j,
//   s_j = (cq S;  cv S + cq A;  cM S + cv D + cq C),    A = v_p x S,  C = a_p x S + v_p x A,  D = v x S + A       p: parent
// Inwards, with F the wrench through the joint and L the contribution of the joint's force elements (armature, springs, friction):
//   rho = S^T W + ((S x* F)^T, 0, 0),    N = rho s + L,    W_p += X^T (W - W s N^-1 rho) X
//   u = b - S^T w,                                          w_p += X^T (w + W s N^-1 u)
// Outwards:
//   e = X e_p,   x = N^-1 (u - rho e),   e += s x
// X shifts the reference point of six-vectors: axes are those of the ground, origins the links' own. With one origin for all the
// error of a chain of 1000 links is a thousand times larger. States that belong to one joint are unknowns of its block with S = 0.
#include "dynamics/tree_tangent.h"

#include <math.h>
#include <string.h>

#include "dynamics/turn.h"
#include "math/dense.h"
#include "math/shifted.h"

enum { E = 18, W_SIZE = 6 * E };
#define SINGULAR 1e-13  // of the terms that a pivot sums

SRM_INLINE double dot6(const double* a, const double* b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

// Six numbers from the two vectors of a twist or wrench in memory.
SRM_INLINE void six(const double* from, double* to) {
  for (int i = 0; i < 3; i++) {
    to[i] = from[i];
    to[3 + i] = from[4 + i];
  }
}

SRM_INLINE void add_cross(const double* r, const double* a, double* to) {  // to += r x a
  to[0] += r[1] * a[2] - r[2] * a[1];
  to[1] += r[2] * a[0] - r[0] * a[2];
  to[2] += r[0] * a[1] - r[1] * a[0];
}

// A wrench of the child, about the origin of its parent, is added there.
SRM_INLINE void add_to_parent(const double* arm, const double* child, double* parent) {
  for (int i = 0; i < 6; i++) parent[i] += child[i];
  add_cross(arm, child + 3, parent);
}

// e = X e_p: each of the three parts at the child's origin, v + w x arm.
SRM_INLINE void to_child(const double* arm, const double* parent, double* e) {
  const double back[3] = {-arm[0], -arm[1], -arm[2]};
  memcpy(e, parent, E * sizeof *e);
  for (int k = 0; k < 3; k++) add_cross(back, parent + 6 * k, e + 6 * k + 3);
}

// ---- evaluation -------------------------------------------------------------------------------------------------------

int sr_tree_link_numbers(const srModel* m) { return SR_TURN_LINK * m->nlink; }

int sr_tree_dof_numbers(const srModel* m) { return SR_TURN_DOF * m->nv; }

int sr_tree_factor_links(const srTreeTangent* t) { return W_SIZE * t->m->nlink; }

int sr_tree_block_numbers(const srTreeBlock* b) { return b->nv * (E + 6) + b->n * E + b->n * b->n + b->n; }

// Inertia of all that is beyond each joint, for the diagonal of M.
SRM_INLINE void composite(const srTreeTangent* t, double* diagonal) {
  const srModel* m = t->m;
  double* const all = t->e;  // 2 E doubles a link, of which 16 are used here
  for (int i = 0; i < m->nlink; i++) {
    srm_inertia_store(all + 2 * E * i, srm_inertia_load(t->link + SR_TURN_LINK * i + INERTIA));
  }
  for (int i = m->nlink - 1; i > 0; i--) {
    const srmInertia I = srm_inertia_load(all + 2 * E * i);
    for (int k = m->link_v[i]; k < m->link_v[i] + sr_link_nv[m->link_type[i]]; k++) {
      const srmTwist S = srm_twist_load(t->dof + SR_TURN_DOF * k + AXIS);
      diagonal[k] = power(S, srm_momentum(I, S)) + m->dof_armature[k];
    }
    double* parent = all + 2 * E * m->link_parent[i];
    const srmInertia up = about(I, v4_load(t->arm + 4 * i)), own = srm_inertia_load(parent);
    srm_inertia_store(parent, (srmInertia){m3_plus(own.J, up.J), own.h + up.h});
  }
}

SRM_CLONES void sr_tree_evaluate(srTreeTangent* t, const srData* d, const double* a, double* diagonal) {
  const srModel* m = t->m;
  outwards(m, d, a, true, t->link, t->dof);
  for (int i = 1; i < m->nlink; i++) {
    v4_store(t->arm + 4 * i, v4_load(d->link_pose + 16 * i + 12) - v4_load(d->link_pose + 16 * m->link_parent[i] + 12));
    six(t->link + SR_TURN_LINK * i + FORCE, t->force + 6 * i);
  }
  for (int i = m->nlink - 1; i > 0; i--) {
    const double* F = t->force + 6 * i;
    const srmWrench wrench = {v4_xyz(F), v4_xyz(F + 3)};
    for (int k = m->link_v[i]; k < m->link_v[i] + sr_link_nv[m->link_type[i]]; k++) {
      double both[8] __attribute__((aligned(32)));
      srm_wrench_store(both, cross_force(srm_twist_load(t->dof + SR_TURN_DOF * k + AXIS), wrench));
      six(both, t->turn + 6 * k);
    }
    if (m->link_parent[i] != 0) add_to_parent(t->arm + 4 * i, F, t->force + 6 * m->link_parent[i]);
  }
  composite(t, diagonal);
}

// ---- products -----------------------------------------------------------------------------------------------------------

// W e of one link alone.
SRM_INLINE void own_wrench(const double* link, const double* e, double* out) {
  const srmTwist eta = {v4_xyz(e), v4_xyz(e + 3)}, second = {v4_xyz(e + 12), v4_xyz(e + 15)};
  const v4 r = v4_xyz(e + 6);
  const srmWrench turned = cross_force(eta, srm_wrench_load(link + FORCE));
  const srmWrench inertial = srm_momentum(srm_inertia_load(link + INERTIA), second);
  v4_put3(out, turned.n + inertial.n + m3_mul(m3_load(link + MOMENT), r));
  v4_put3(out + 3, turned.f + inertial.f + 2 * v4_cross(r, v4_load(link + P)));
}

// e += effect of coordinate k by its displacement and rate.
SRM_INLINE void move(const double* dof, double dq, double dv, double* e) {
  for (int i = 0; i < 6; i++) {
    const int at = i < 3 ? i : i + 1;
    e[i] += dof[AXIS + at] * dq;
    e[6 + i] += dof[AXIS + at] * dv + dof[A + at] * dq;
    e[12 + i] += dof[D + at] * dv + dof[C + at] * dq;
  }
}

static void local_times(const srTreeTangent* t, const double* dxi, const double* dx, double* out) {
  for (int i = 0; i < t->nblock; i++) {
    const srTreeBlock* b = &t->block[i];
    for (int r = 0; r < b->n; r++) {
      const double *Kq = t->Kq + b->local + r * b->n, *Kv = t->Kv + b->local + r * b->n;
      double sum = 0;
      for (int c = 0; c < b->n; c++) {
        if (dxi && c < b->nv) sum += Kq[c] * dxi[b->index[c]];
        if (dx) sum += Kv[c] * dx[b->index[c]];
      }
      out[b->index[r]] += sum;
    }
  }
}

SRM_CLONES void sr_tree_times(srTreeTangent* t, const double* dxi, const double* dx, double* out) {
  const srModel* m = t->m;
  memset(out, 0, (size_t)(m->nv + t->ny) * sizeof *out);
  memset(t->e, 0, E * sizeof *t->e);
  for (int i = 1; i < m->nlink; i++) {
    double* e = t->e + 2 * E * i;
    to_child(t->arm + 4 * i, t->e + 2 * E * m->link_parent[i], e);
    for (int k = m->link_v[i]; k < m->link_v[i] + sr_link_nv[m->link_type[i]]; k++) {
      move(t->dof + SR_TURN_DOF * k, dxi ? dxi[k] : 0, dx ? dx[k] : 0, e);
    }
    own_wrench(t->link + SR_TURN_LINK * i, e, t->w + 12 * i);
  }
  for (int i = m->nlink - 1; i > 0; i--) {
    const double* w = t->w + 12 * i;
    for (int k = m->link_v[i]; k < m->link_v[i] + sr_link_nv[m->link_type[i]]; k++) {
      double S[6];
      six(t->dof + SR_TURN_DOF * k + AXIS, S);
      out[k] = dot6(S, w) + dot6(t->turn + 6 * k, t->e + 2 * E * i);
    }
    if (m->link_parent[i] != 0) add_to_parent(t->arm + 4 * i, w, t->w + 12 * m->link_parent[i]);
  }
  local_times(t, dxi, dx, out);
}

// ---- factor -------------------------------------------------------------------------------------------------------------

// Where the numbers of a block are.
typedef struct Numbers {
  double *s, *Ws;  // per coordinate: E, 6
  double* Z;       // per row: N^-1 rho (E)
  double* N;       // factor; complex: the parts of an entry side by side
  double* scale;   // of its rows
  int* pivot;
} Numbers;

static Numbers numbers_of(const srTreeFactor* f, const srTreeBlock* b) {
  Numbers out = {.s = f->number + f->parts * b->number, .pivot = f->pivot + b->pivot};
  out.Ws = out.s + f->parts * b->nv * E;
  out.Z = out.Ws + f->parts * b->nv * 6;
  out.N = out.Z + f->parts * b->n * E;
  out.scale = out.N + f->parts * b->n * b->n;
  return out;
}

// The link's own W added.
SRM_INLINE void add_link(const double* link, double* W) {
  const double *f = link + FORCE, *J = link + INERTIA, *h = J + 12, *T = link + MOMENT, *p = link + P;
  for (int j = 0; j < 3; j++) {
    const int k = (j + 1) % 3, l = (j + 2) % 3;  // e_j x a = -a_l e_k + a_k e_l
    W[k * E + j] -= f[l];
    W[l * E + j] += f[k];
    W[(3 + k) * E + j] -= f[4 + l];
    W[(3 + l) * E + j] += f[4 + k];
    W[k * E + 3 + j] -= f[4 + l];
    W[l * E + 3 + j] += f[4 + k];
    W[(3 + k) * E + 6 + j] -= 2 * p[l];
    W[(3 + l) * E + 6 + j] += 2 * p[k];
    W[(3 + k) * E + 12 + j] -= h[l];
    W[(3 + l) * E + 12 + j] += h[k];
    W[k * E + 15 + j] += h[l];
    W[l * E + 15 + j] -= h[k];
    W[(3 + j) * E + 15 + j] += h[3];
    for (int i = 0; i < 3; i++) {
      W[i * E + 6 + j] += T[4 * j + i];
      W[i * E + 12 + j] += J[4 * j + i];
    }
  }
}

// X^T W X added to the parent's.
SRM_INLINE void add_W_to_parent(const double* arm, double* W, double* parent) {
  for (int i = 0; i < 6; i++) {
    for (int k = 0; k < E; k += 6) add_cross(arm, W + i * E + k + 3, W + i * E + k);
  }
  for (int j = 0; j < E; j++) {
    const double f[3] = {W[3 * E + j], W[4 * E + j], W[5 * E + j]};
    parent[j] += W[j] + arm[1] * f[2] - arm[2] * f[1];
    parent[E + j] += W[E + j] + arm[2] * f[0] - arm[0] * f[2];
    parent[2 * E + j] += W[2 * E + j] + arm[0] * f[1] - arm[1] * f[0];
    for (int i = 3; i < 6; i++) parent[i * E + j] += W[i * E + j];
  }
}

// s of one coordinate, one part.
SRM_INLINE void motion_of(const double* dof, const srTreeShift* c, int part, double* s) {
  for (int i = 0; i < 6; i++) {
    const int at = i < 3 ? i : i + 1;
    const double S = dof[AXIS + at];
    s[i] = c->cq[part] * S;
    s[6 + i] = c->cv[part] * S + c->cq[part] * dof[A + at];
    s[12 + i] = c->cM[part] * S + c->cv[part] * dof[D + at] + c->cq[part] * dof[C + at];
  }
}

// rho of one coordinate, one part.
SRM_INLINE void row_of(const double* S, const double* turn, const double* W, double* rho) {
  for (int j = 0; j < E; j++) {
    rho[j] = S[0] * W[j] + S[1] * W[E + j] + S[2] * W[2 * E + j] + S[3] * W[3 * E + j] + S[4] * W[4 * E + j] +
             S[5] * W[5 * E + j];
  }
  for (int j = 0; turn && j < 6; j++) rho[j] += turn[j];
}

SRM_INLINE double dot18(const double* a, const double* b) {
  double sum = 0;
  for (int i = 0; i < E; i++) sum += a[i] * b[i];
  return sum;
}

// a^T b, of one or two parts, is added.
SRM_INLINE void add_dot18(int parts, const double* a, const double* b, double* out) {
  out[0] += dot18(a, b);
  if (parts == 1) return;
  out[0] -= dot18(a + E, b + E);
  out[1] += dot18(a, b + E) + dot18(a + E, b);
}

// Ws = W s.
SRM_INLINE void W_times(int parts, const double* W, const double* s, double* out) {
  for (int i = 0; i < 6; i++) {
    out[i] = dot18(W + i * E, s);
    if (parts == 1) continue;
    out[i] -= dot18(W + W_SIZE + i * E, s + E);
    out[6 + i] = dot18(W + i * E, s + E) + dot18(W + W_SIZE + i * E, s);
  }
}

// W -= c z^T.
SRM_INLINE void subtract_outer(int parts, const double* restrict c, const double* restrict z, double* restrict W) {
  for (int i = 0; i < 6; i++) {
    double* row = W + i * E;
    for (int j = 0; j < E; j++) row[j] -= c[i] * z[j];
    if (parts == 1) continue;
    double* im = row + W_SIZE;
    for (int j = 0; j < E; j++) row[j] += c[6 + i] * z[E + j];
    for (int j = 0; j < E; j++) im[j] -= c[i] * z[E + j] + c[6 + i] * z[j];
  }
}

// Contribution to N of the elements of a block, inertia of the drive and states, from the derivatives of the block.
static void local_matrix(const srTreeTangent* t, const srTreeShift* c, const srTreeBlock* b, int parts, double* N) {
  for (int i = 0; i < b->n * b->n; i++) {
    for (int part = 0; part < parts; part++) {
      N[parts * i + part] = c->cq[part] * t->Kq[b->local + i] + c->cv[part] * t->Kv[b->local + i];
    }
  }
  for (int i = 0; i < b->n; i++) {
    const double armature = i < b->nv ? t->m->dof_armature[b->index[i]] : 0;
    for (int part = 0; part < parts; part++) {
      N[parts * (i * b->n + i) + part] += i < b->nv ? c->cM[part] * armature : c->cI[part];
    }
  }
}

static double size_of(int parts, const double* a) { return parts == 1 ? fabs(a[0]) : fabs(a[0]) + fabs(a[1]); }

// Rows of several unknowns are scaled, so that a pivot can be distinguished from rounding; a single one is compared with the terms it
// sums: under a compressive load it may be of either sign, and so 0.
static bool factor_block(int parts, int n, double terms, const Numbers* to) {
  double* N = to->N;
  if (n == 1) return size_of(parts, N) > SINGULAR * terms && isfinite(terms);
  for (int i = 0; i < n; i++) {
    double most = 0;
    for (int j = 0; j < n; j++) most = fmax(most, size_of(parts, N + parts * (i * n + j)));
    if (!(most > 0) || !isfinite(most)) return false;
    to->scale[i] = 1 / most;
    for (int j = 0; j < parts * n; j++) N[parts * i * n + j] *= to->scale[i];
  }
  if (!(parts == 1 ? srm_lu(n, N, to->pivot) : srm_complex_lu(n, N, to->pivot))) return false;
  for (int i = 0; i < n; i++) {
    if (!(size_of(parts, N + parts * (i * n + i)) > SINGULAR)) return false;
  }
  return true;
}

// x = N^-1 x, the parts of a number side by side.
static void solve_block(int parts, int n, const Numbers* of, double* x) {
  const double* N = of->N;
  if (n == 1 && parts == 1) {
    x[0] /= N[0];
  } else if (n == 1) {
    const double size = N[0] * N[0] + N[1] * N[1], re = x[0], im = x[1];
    x[0] = (re * N[0] + im * N[1]) / size;
    x[1] = (im * N[0] - re * N[1]) / size;
  } else {
    for (int i = 0; i < parts * n; i++) x[i] *= of->scale[i / parts];
    if (parts == 1) {
      srm_lu_solve(n, N, of->pivot, x);
    } else {
      srm_complex_lu_solve(n, N, of->pivot, x);
    }
  }
}

// Z = N^-1 rho, column by column; rows of states are 0 in rho.
static void solve_rows(int parts, const srTreeBlock* b, const Numbers* to) {
  double column[2 * SR_TREE_BLOCK];
  for (int j = 0; j < E; j++) {
    for (int i = 0; i < b->n; i++) {
      for (int part = 0; part < parts; part++) {
        column[parts * i + part] = i < b->nv ? to->Z[(parts * i + part) * E + j] : 0;
      }
    }
    solve_block(parts, b->n, to, column);
    for (int i = 0; i < b->n; i++) {
      for (int part = 0; part < parts; part++) to->Z[(parts * i + part) * E + j] = column[parts * i + part];
    }
  }
}

// s, W s, rho (stored in Z) and N of a block.
SRM_INLINE double block_matrix(const srTreeTangent* t, const srTreeShift* c, const srTreeBlock* b, int parts,
                               const double* W, const Numbers* to) {
  double terms = 0;
  local_matrix(t, c, b, parts, to->N);
  for (int i = 0; i < b->n * b->n * parts; i++) terms += fabs(to->N[i]);
  for (int k = 0; k < b->nv; k++) {
    const int dof = b->index[k];
    double S[6];
    six(t->dof + SR_TURN_DOF * dof + AXIS, S);
    for (int part = 0; part < parts; part++) {
      motion_of(t->dof + SR_TURN_DOF * dof, c, part, to->s + (parts * k + part) * E);
      row_of(S, part == 0 ? t->turn + 6 * dof : NULL, W + part * W_SIZE, to->Z + (parts * k + part) * E);
    }
    W_times(parts, W, to->s + parts * k * E, to->Ws + parts * k * 6);
  }
  for (int r = 0; r < b->nv; r++) {
    for (int k = 0; k < b->nv; k++) {
      const double *rho = to->Z + parts * r * E, *s = to->s + parts * k * E;
      add_dot18(parts, rho, s, to->N + parts * (r * b->n + k));
      for (int i = 0; i < parts * E; i++) terms += fabs(rho[i] * s[i]);
    }
  }
  return terms;
}

// With W of its link; false: singular.
SRM_INLINE bool eliminate(const srTreeTangent* t, const srTreeShift* c, const srTreeBlock* b, const srTreeFactor* f,
                          double* W) {
  const Numbers to = numbers_of(f, b);
  const double terms = block_matrix(t, c, b, f->parts, W, &to);
  if (!factor_block(f->parts, b->n, terms, &to)) return false;
  if (b->nv == 0) return true;
  solve_rows(f->parts, b, &to);
  for (int k = 0; k < b->nv; k++) {
    subtract_outer(f->parts, to.Ws + f->parts * k * 6, to.Z + f->parts * k * E, W);
  }
  return true;
}

SRM_CLONES bool sr_tree_factor(srTreeTangent* t, const srTreeShift* shift, srTreeFactor* out) {
  const srModel* m = t->m;
  const int size = out->parts * W_SIZE;
  memset(out->W, 0, (size_t)(size * m->nlink) * sizeof *out->W);
  for (int i = 0; i < t->nblock; i++) {
    if (t->block[i].link == 0 && !eliminate(t, shift, &t->block[i], out, NULL)) return false;
  }
  for (int i = m->nlink - 1; i > 0; i--) {
    double* W = out->W + size * i;
    add_link(t->link + SR_TURN_LINK * i, W);
    if (t->block_of[i] >= 0 && !eliminate(t, shift, &t->block[t->block_of[i]], out, W)) return false;
    for (int part = 0; part < out->parts && m->link_parent[i] != 0; part++) {
      add_W_to_parent(t->arm + 4 * i, W + part * W_SIZE, out->W + size * m->link_parent[i] + part * W_SIZE);
    }
  }
  return true;
}

// ---- solution -------------------------------------------------------------------------------------------------------------

// u = N^-1 (b - S^T w), and w + W s u: the remaining wrench.
SRM_INLINE void inwards(const srTreeTangent* t, const srTreeFactor* f, const srTreeBlock* b, int n, const double* x,
                        double* w) {
  const Numbers of = numbers_of(f, b);
  const int parts = f->parts;
  double u[2 * SR_TREE_BLOCK];
  for (int i = 0; i < b->n; i++) {
    for (int part = 0; part < parts; part++) {
      double S[6];
      u[parts * i + part] = x[part * n + b->index[i]];
      if (i >= b->nv) continue;
      six(t->dof + SR_TURN_DOF * b->index[i] + AXIS, S);
      u[parts * i + part] -= dot6(S, w + 6 * part);
    }
  }
  solve_block(parts, b->n, &of, u);
  for (int k = 0; k < b->nv; k++) {
    const double *c = of.Ws + parts * k * 6, *by = u + parts * k;
    for (int i = 0; i < 6; i++) {
      w[i] += c[i] * by[0];
      if (parts == 1) continue;
      w[i] -= c[6 + i] * by[1];
      w[6 + i] += c[i] * by[1] + c[6 + i] * by[0];
    }
  }
  for (int i = 0; i < b->n; i++) {
    for (int part = 0; part < parts; part++) t->u[part * n + b->index[i]] = u[parts * i + part];
  }
}

// x = u - Z e, then e += s x.
SRM_INLINE void outwards_block(const srTreeTangent* t, const srTreeFactor* f, const srTreeBlock* b, int n, double* e,
                               double* x) {
  const Numbers of = numbers_of(f, b);
  const int parts = f->parts;
  for (int i = 0; i < b->n; i++) {
    double known[2] = {0};
    if (b->nv > 0) add_dot18(parts, of.Z + parts * i * E, e, known);
    for (int part = 0; part < parts; part++) {
      x[part * n + b->index[i]] = t->u[part * n + b->index[i]] - known[part];
    }
  }
  for (int k = 0; k < b->nv; k++) {
    const double *s = of.s + parts * k * E, re = x[b->index[k]], im = parts == 2 ? x[n + b->index[k]] : 0;
    for (int i = 0; i < E; i++) {
      e[i] += s[i] * re;
      if (parts == 1) continue;
      e[i] -= s[E + i] * im;
      e[E + i] += s[i] * im + s[E + i] * re;
    }
  }
}

SRM_CLONES void sr_tree_solve(srTreeTangent* t, const srTreeFactor* f, double* x) {
  const srModel* m = t->m;
  const int n = m->nv + t->ny;
  memset(t->w, 0, (size_t)(12 * m->nlink) * sizeof *t->w);
  for (int i = m->nlink - 1; i > 0; i--) {
    double* w = t->w + 12 * i;
    if (t->block_of[i] >= 0) inwards(t, f, &t->block[t->block_of[i]], n, x, w);
    for (int part = 0; part < f->parts && m->link_parent[i] != 0; part++) {
      add_to_parent(t->arm + 4 * i, w + 6 * part, t->w + 12 * m->link_parent[i] + 6 * part);
    }
  }
  memset(t->e, 0, 2 * E * sizeof *t->e);
  for (int i = 1; i < m->nlink; i++) {
    double* e = t->e + 2 * E * i;
    for (int part = 0; part < f->parts; part++) {
      to_child(t->arm + 4 * i, t->e + 2 * E * m->link_parent[i] + E * part, e + E * part);
    }
    if (t->block_of[i] >= 0) outwards_block(t, f, &t->block[t->block_of[i]], n, e, x);
  }
  for (int i = 0; i < t->nblock; i++) {
    if (t->block[i].link != 0) continue;
    inwards(t, f, &t->block[i], n, x, NULL);
    outwards_block(t, f, &t->block[i], n, NULL, x);
  }
}
