// An island as a matrix over the rows of its contacts, with the equations eliminated:
//   lambda = -(y + X p),  X = W_ll^-1 W_lp,  y = W_ll^-1 q_l;     A = W_pp - W_pl X,  b = q_p - W_pl y
// Equations that depend on others are dropped: their pivot is rounding. The compliance of the contacts is on the diagonal of A.
#include <string.h>

#include "nonsmooth/operator.h"

#define DEPENDENT 1e-10  // part of the diagonal entry that a pivot of an independent equation has at least

void sr_dense_factor(int n, double* S, double* reciprocal, double least) {
  for (int i = 0; i < n; ++i) {
    double* row = S + (size_t)i * (size_t)n;
    const double diagonal = row[i];
    double D = diagonal;
    for (int j = 0; j < i; ++j) {
      const double* other = S + (size_t)j * (size_t)n;
      for (int k = 0; k < j; ++k) row[j] -= row[k] * other[k];  // row[k] is L_ik D_k so far
    }
    for (int j = 0; j < i; ++j) {
      const double L = row[j] * reciprocal[j];
      D -= L * row[j];
      row[j] = L;
    }
    reciprocal[i] = D > least * diagonal ? 1 / D : 0;
  }
}

void sr_dense_factor_solve(int n, const double* S, const double* reciprocal, double* x) {
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) x[i] -= S[(size_t)i * (size_t)n + (size_t)k] * x[k];
  }
  for (int i = n - 1; i >= 0; --i) {
    x[i] *= reciprocal[i];
    for (int k = i + 1; k < n; ++k) x[i] -= S[(size_t)k * (size_t)n + (size_t)i] * x[k];
  }
}

int sr_island_rows(const srContactSolver* s, const srIsland* island) {
  if (s->matrix) return sr_contact_rows(s->problem);
  int rows = 3 * (island->contact[1] - island->contact[0]);
  for (int i = island->joint[0]; i < island->joint[1]; ++i) rows += s->joint[i].rows;
  return rows;
}

// ---- from bodies --------------------------------------------------------------------------------------------------------

// Velocities of all rows of the island without shifts, equations first.
static void read_rows(const srContactSolver* s, const srIsland* island, double* out, size_t stride) {
  size_t at = 0;
  for (int i = island->joint[0]; i < island->joint[1]; ++i) {
    double w[SR_JOINT_ROWS];
    sr_joint_velocity(s, &s->joint[i], w);
    for (int k = 0; k < s->joint[i].rows; ++k) out[stride * at++] = w[k];
  }
  for (int i = island->contact[0]; i < island->contact[1]; ++i) {
    double u[3];
    sr_relative_velocity(s, &s->contact[i], u);
    for (int k = 0; k < 3; ++k) out[stride * at++] = u[k];
  }
}

static void set_velocity(srContactSolver* s, int body, bool free) {
  for (int k = 0; k < 6; ++k) s->body[body].v[k] = free ? s->free[body][k] : 0;
}

// Of the bodies of an island, and of prescribed bodies that it touches.
static void set_velocities(srContactSolver* s, const srIsland* island, bool free) {
  for (int i = island->body[0]; i < island->body[1]; ++i) set_velocity(s, i, free);
  for (int i = island->contact[0]; i < island->contact[1]; ++i) {
    set_velocity(s, s->contact[i].a, free);
    set_velocity(s, s->contact[i].b, free);
  }
  for (int i = island->joint[0]; i < island->joint[1]; ++i) {
    set_velocity(s, s->joint[i].a, free);
    set_velocity(s, s->joint[i].b, free);
  }
}

// The column of W that the impulse just applied between two bodies causes; they are at rest again afterwards.
static void take_column(srContactSolver* s, const srIsland* island, int a, int b, int column, int rows) {
  read_rows(s, island, s->dense.full + column, (size_t)rows);
  set_velocity(s, a, false);
  set_velocity(s, b, false);
}

static void assemble_right(const srContactSolver* s, const srIsland* island) {
  double* right = s->dense.right;
  read_rows(s, island, right, 1);
  for (int i = island->joint[0]; i < island->joint[1]; ++i) {
    for (int k = 0; k < s->joint[i].rows; ++k) *right++ += s->joint[i].shift[k];
  }
  for (int i = island->contact[0]; i < island->contact[1]; ++i) {
    for (int k = 0; k < 3; ++k) *right++ += s->contact[i].shift[k];
  }
}

static void assemble(srContactSolver* s, const srIsland* island, int rows) {
  set_velocities(s, island, true);
  assemble_right(s, island);
  set_velocities(s, island, false);
  int column = 0;
  for (int i = island->joint[0]; i < island->joint[1]; ++i) {
    const srLoadedJoint* j = &s->joint[i];
    for (int k = 0; k < j->rows; ++k, ++column) {
      double dl[SR_JOINT_ROWS] = {0};
      dl[k] = 1;
      sr_joint_change(s, j, dl);
      take_column(s, island, j->a, j->b, column, rows);
    }
  }
  for (int i = island->contact[0]; i < island->contact[1]; ++i) {
    const srLoadedContact* c = &s->contact[i];
    for (int k = 0; k < 3; ++k, ++column) {
      double dp[3] = {0};
      dp[k] = 1;
      sr_loaded_change(s, c, dp);
      take_column(s, island, c->a, c->b, column, rows);
    }
  }
  set_velocities(s, island, true);
}

// ---- elimination --------------------------------------------------------------------------------------------------------

static void eliminate(srDense* d, const double* W, const double* q) {
  const size_t m = (size_t)d->m, n = (size_t)d->n, size = m + n;
  for (size_t i = 0; i < m; ++i) {
    memcpy(d->factor + i * m, W + i * size, m * sizeof *W);
    d->y[i] = q[i];
  }
  sr_dense_factor(d->m, d->factor, d->reciprocal, DEPENDENT);
  sr_dense_factor_solve(d->m, d->factor, d->reciprocal, d->y);
  for (size_t j = 0; j < n; ++j) {
    double* column = d->trial;
    for (size_t i = 0; i < m; ++i) column[i] = W[i * size + m + j];
    sr_dense_factor_solve(d->m, d->factor, d->reciprocal, column);
    for (size_t i = 0; i < m; ++i) d->X[i * n + j] = column[i];
  }
  for (size_t i = 0; i < n; ++i) {
    const double* row = W + (m + i) * size;
    d->b[i] = q[m + i];
    memcpy(d->A + i * n, row + m, n * sizeof *row);
    for (size_t k = 0; k < m; ++k) {
      d->b[i] -= row[k] * d->y[k];
      for (size_t j = 0; j < n; ++j) d->A[i * n + j] -= row[k] * d->X[k * n + j];
    }
  }
}

void sr_dense_load(srContactSolver* s, const srIsland* island) {
  srDense* d = &s->dense;
  const srContactProblem* p = s->problem;
  const int rows = sr_island_rows(s, island);
  d->ncontact = island->contact[1] - island->contact[0];
  d->n = s->matrix ? rows - p->nequation : 3 * d->ncontact;
  d->m = rows - d->n;
  if (!s->matrix) assemble(s, island, rows);
  eliminate(d, s->matrix ? p->W : d->full, s->matrix ? p->q : d->right);
  const size_t n = (size_t)d->n;
  for (int i = 0, row = 0; i < d->ncontact; ++i) {
    srLoadedContact* c = &s->contact[island->contact[0] + i];
    c->first = row;
    row += c->rows;
    const srContactCone* cone = &p->cone[c->index];
    d->A[(size_t)c->first * (n + 1)] += p->compliance / c->rho;
    for (int k = 0; k < c->rows; ++k) {
      d->A[(size_t)(c->first + k) * (n + 1)] += cone->compliance[k > 0];
      if (s->matrix) d->b[c->first + k] += k == 0 ? cone->shift : cone->slip[k - 1];
    }
    memcpy(d->p + c->first, c->p, (size_t)c->rows * sizeof *c->p);
  }
  for (size_t i = 0; i < n; ++i) {
    d->u[i] = d->b[i];
    for (size_t j = 0; j < n; ++j) {
      d->At[j * n + i] = d->A[i * n + j];
      d->u[i] += d->A[i * n + j] * d->p[j];
    }
  }
}

void sr_dense_store(srContactSolver* s, const srIsland* island) {
  srDense* d = &s->dense;
  for (int i = island->contact[0]; i < island->contact[1]; ++i) {
    srLoadedContact* c = &s->contact[i];
    memcpy(c->p, d->p + c->first, (size_t)c->rows * sizeof *c->p);
  }
  if (s->matrix) {
    for (int i = 0; i < d->n; ++i) {
      d->u[i] = d->b[i];
      for (int j = 0; j < d->n; ++j) d->u[i] += d->A[(size_t)i * (size_t)d->n + (size_t)j] * d->p[j];
    }
    return;
  }
  set_velocities(s, island, true);
  for (int i = island->joint[0], e = 0; i < island->joint[1]; ++i) {
    srLoadedJoint* j = &s->joint[i];
    for (int k = 0; k < j->rows; ++k, ++e) {
      j->lambda[k] = -d->y[e];
      for (int l = 0; l < d->n; ++l) j->lambda[k] -= d->X[(size_t)e * (size_t)d->n + (size_t)l] * d->p[l];
    }
    sr_joint_change(s, j, j->lambda);
  }
  for (int i = island->contact[0]; i < island->contact[1]; ++i) sr_loaded_change(s, &s->contact[i], s->contact[i].p);
}

double sr_dense_residual(const srContactSolver* s, const srIsland* island, const double* p) {
  const srDense* d = &s->dense;
  double most = 0;
  for (int i = island->contact[0]; i < island->contact[1]; ++i) {
    const srLoadedContact* c = &s->contact[i];
    double u[3] = {0, 0, 0}, x[3] = {0, 0, 0};
    for (int k = 0; k < c->rows; ++k) {
      const double* row = d->A + (size_t)(c->first + k) * (size_t)d->n;
      u[k] = d->b[c->first + k];
      for (int j = 0; j < d->n; ++j) u[k] += row[j] * p[j];
      x[k] = p[c->first + k];
    }
    const double r = sr_cone_residual(&c->cone, c->rho, x, u);
    if (!(r <= most)) most = r;
  }
  return most;
}
