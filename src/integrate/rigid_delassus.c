// Contact problems of a state: u = W v over the rows of some contacts, and
//   du = A p,   A = W K W^T,   K = M^-1 with the reactions of the joints (M dv - G^T nu = W^T p, G dv = 0)
//   a  = W a_free + dW/dt v + db/dt + A p         a_free: accelerations without contact forces
// A part with one row may have a force that is not its normal, n + s.t (a contact that slides): its column of A is that of the force.
#include <math.h>
#include <string.h>

#include "integrate/rigid.h"
#include "math/dense.h"

#define DEPENDENT                                                                                                      \
  1e-5  // distance of a row of the joints from the others, as everywhere: some are redundant only where loops are closed to the last digit
#define SINGULAR 1e-9  // pivot of scaled rows that are dependent: then all rows have ...
#define EQUAL                                                                                                          \
  1e-8  // ... this compliance, of the largest diagonal entry, which the refinement removes from all but the distribution
#define CANCELLED                                                                                                      \
  1e-6  // of the accelerations without contacts: what they leave along the contacts, if no more, is as good as 0
#define SOLVED 1e-11  // of the right-hand side: residual of a problem
#define SOLVED_REDUNDANT                                                                                               \
  5e-10  // the same with dependent rows, where rounding is larger by the compliance: all attempts would run in vain
#define REFINEMENTS 3
#define ITERATIONS 200         // of an attempt of the cone problem: beyond them it is not solved
#define ITERATIONS_EVENT 5000  // the same where an event depends on it, at the most
#define SOFT_LEAST 1e-6   // of their own mobility: compliance of all rows at the end of the start of a cone problem
#define SOFT_SOLVED 1e-6  // of the right-hand side: residual there
#define REDUNDANT 1e-10   // compliance of normals relative to their own, in cone problems with dependent rows

// ---- a state ------------------------------------------------------------------------------------------------------------

static bool is_same(const double* a, const double* b, int n) {
  return n == 0 || memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

static bool is_freed(const srRigid* x, double t, const double* q, const double* v, const double* y) {
  const srSystem* s = &x->inner;
  return x->freed && x->t_free == t && is_same(x->q_free, q, s->nq) && is_same(x->v_free, v, s->nv) &&
         is_same(x->y_free, y, s->ny);
}

static void keep_freed(srRigid* x, double t, const double* q, const double* v, const double* y) {
  x->t_free = t;
  sri_copy(x->q_free, q, x->inner.nq);
  sri_copy(x->v_free, v, x->inner.nv);
  sri_copy(x->y_free, y, x->inner.ny);
  x->freed = true;
}

int sri_rigid_free(srRigid* x, double t, const double* q, const double* v, const double* y) {
  const srSystem* s = &x->inner;
  if (is_freed(x, t, q, v, y)) return 0;
  x->freed = false;
  int answer = s->dynamics(s->user, t, q, v, y, SR_TAU_ELEMENT, x->M, x->f, x->ydot, NULL);
  if (answer == 0 && s->ng > 0) answer = s->constraint(s->user, t, q, x->g, x->G, x->b);
  if (answer == 0 && s->ng > 0) answer = s->gamma(s->user, t, q, v, x->gamma);
  if (answer != 0) return answer;
  const srmRowsChoice choice = {.tau = DEPENDENT};
  if (s->ng > 0 && srm_rows_classify(x->rows, x->M, x->G, &choice, x->kept) < 0) return 1;
  for (int k = 0; k < s->ng && s->active != NULL; ++k) x->kept[k] = x->kept[k] != 0 && s->active[k] != 0;
  if (!srm_saddle_factor(x->saddle, x->M, NULL, x->G, x->kept)) return 1;
  srm_saddle_solve(x->saddle, x->f, x->gamma, x->free, NULL);
  if (!sri_all_finite(s->nv, x->free)) return 1;
  keep_freed(x, t, q, v, y);
  return 0;
}

// ---- the problem --------------------------------------------------------------------------------------------------------

static void put_row(const srRigid* x, const srUnilateral* c, double normal, const double s[2], double* out) {
  memset(out, 0, (size_t)x->inner.nv * sizeof *out);
  if (normal != 0) sri_contact_row_add(c, 0, normal, out);
  for (int k = 0; k < x->inner.ntangent; ++k) {
    if (s[k] != 0) sri_contact_row_add(c, 1 + k, s[k], out);
  }
}

// Tangential directions of the rows of a part.
static void direction_of(const srRigidPart* part, int row, double* normal, double s[2]) {
  *normal = row == 0;
  s[0] = row == 1 ? (part->rows == 2 ? part->along[0] : 1) : 0;
  s[1] = row == 1 && part->rows == 2 ? part->along[1] : row == 2;
}

static double dot(int n, const double* a, const double* b) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

void sri_rigid_build(srRigid* x) {
  const int nv = x->inner.nv;
  double s[2], normal;
  x->nrow = 0;
  for (int i = 0; i < x->npart; ++i) {
    srRigidPart* part = &x->part[i];
    part->first = x->nrow;
    for (int k = 0; k < part->rows; ++k, ++x->nrow) {
      double *w = x->W + (size_t)x->nrow * (size_t)nv, *force = x->a;
      direction_of(part, k, &normal, s);
      put_row(x, part->c, normal, s, w);
      if (part->rows == 1) {
        put_row(x, part->c, 1, part->force_s, force);
      } else {
        memcpy(force, w, (size_t)nv * sizeof *w);
      }
      srm_saddle_solve(x->saddle, force, NULL, x->X + (size_t)x->nrow * (size_t)nv, NULL);
    }
  }
  for (int i = 0; i < x->nrow; ++i) {
    for (int j = 0; j < x->nrow; ++j) {
      x->A[i * x->nrow + j] = dot(nv, x->W + (size_t)i * (size_t)nv, x->X + (size_t)j * (size_t)nv);
    }
  }
  sri_rigid_clamp_rows(x);
}

void sri_rigid_velocities(const srRigid* x, const double* v, double* out) {
  for (int i = 0; i < x->npart; ++i) {
    const srRigidPart* part = &x->part[i];
    for (int k = 0; k < part->rows; ++k) {
      double normal, s[2];
      direction_of(part, k, &normal, s);
      out[part->first + k] = dot(x->inner.nv, x->W + (size_t)(part->first + k) * (size_t)x->inner.nv, v) +
                             normal * part->c->b[0] + s[0] * part->c->b[1] + s[1] * part->c->b[2];
    }
  }
}

void sri_rigid_accelerations(const srRigid* x, const double* a, double* out) {
  for (int i = 0; i < x->npart; ++i) {
    const srRigidPart* part = &x->part[i];
    const double* drift = x->drift + 3 * i;
    for (int k = 0; k < part->rows; ++k) {
      double normal, s[2];
      direction_of(part, k, &normal, s);
      out[part->first + k] = dot(x->inner.nv, x->W + (size_t)(part->first + k) * (size_t)x->inner.nv, a) +
                             normal * drift[0] + s[0] * drift[1] + s[1] * drift[2];
    }
  }
}

void sri_rigid_right(srRigid* x) {
  sri_rigid_accelerations(x, x->free, x->right_rows);
  for (int i = 0; i < x->npart; ++i) {
    const int r = x->part[i].first;
    if (x->part[i].c->clamp > 0) x->right_rows[r] = -x->A[r * x->nrow + r] * x->part[i].c->clamp;
  }
}

double sri_rigid_cancelled(const srRigid* x) { return fmax(CANCELLED * sri_largest(x->inner.nv, x->free), 1e-300); }

double sri_rigid_size(const srRigid* x, const double* q) {
  return fmax(sri_largest(x->nrow, q), sri_rigid_cancelled(x));
}

void sri_rigid_add(const srRigid* x, const double* p, double* v) {
  for (int r = 0; r < x->nrow; ++r) {
    const double* column = x->X + (size_t)r * (size_t)x->inner.nv;
    for (int i = 0; i < x->inner.nv && p[r] != 0; ++i) v[i] += column[i] * p[r];
  }
}

double sri_rigid_work(const srRigid* x, const double* p, const double* before, const double* after, bool normal) {
  double sum = 0;
  for (int i = 0; i < x->npart; ++i) {
    const srRigidPart* part = &x->part[i];
    for (int k = normal ? 0 : 1; k < (normal ? 1 : part->rows); ++k) {
      sum += 0.5 * p[part->first + k] * (before[part->first + k] + after[part->first + k]);
    }
  }
  return sum;
}

// A with its rows and columns scaled to a diagonal of 1, which makes forces and moments comparable, and `compliance` of the largest entry added to all rows; factored.
// False: rows are dependent.
static bool factor_rows(srRigid* x, double compliance) {
  const int n = x->nrow;
  double most = 0;
  for (int i = 0; i < n; ++i) {
    const double own = fabs(x->A[i * n + i]);
    most = fmax(most, own);
    x->scale[i] = own > 0 ? 1 / sqrt(own) : 1;
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const double soft = i == j ? compliance * most : 0;
      x->lu[i * n + j] = x->scale[i] * (x->A[i * n + j] + soft) * x->scale[j];
    }
  }
  if (!srm_lu(n, x->lu, x->pivot)) return false;
  for (int i = 0; i < n; ++i) {
    if (fabs(x->lu[i * n + i]) < SINGULAR) return false;
  }
  return true;
}

double sri_rigid_compliance(srRigid* x) { return factor_rows(x, 0) ? 0 : REDUNDANT; }

// Equal compliances of all contacts in all directions, of their own mobility: 1, 0.1, ... 1e-3, each from the solution of the last; then that of redundant normals alone.
void sri_rigid_begin_soft(srRigid* x) {
  srContactProblem* p = x->problem;
  srContactResult result;
  srContactOptions o = sr_contact_options();
  bool friction = false;
  memset(x->p, 0, (size_t)x->nrow * sizeof *x->p);
  for (int i = 0; i < x->npart; ++i) {
    friction = friction || x->part[i].mu > 0 || x->part[i].force_s[0] != 0 || x->part[i].force_s[1] != 0;
  }
  if (x->npart < 2 || !friction) return;  // then the solution is unique
  o.method = sr_contact_method_find("newton");
  o.iterations = ITERATIONS;
  for (double soft = 1; soft > 0.5 * SOFT_LEAST; soft *= 0.1) {
    o.tolerance = SOFT_SOLVED * fmin(1, 1e3 * soft) * sri_largest(x->nrow, p->q);
    for (int i = 0; i < x->npart; ++i) {
      const int k = x->part[i].first;
      p->cone[i].compliance[0] = p->cone[i].compliance[1] = soft * fabs(x->A[k * x->nrow + k]);
    }
    if (sr_contact_solve(x->solver, p, &o, x->p, &result) != SR_OK) break;
  }
  for (int i = 0; i < x->npart; ++i) p->cone[i].compliance[0] = p->cone[i].compliance[1] = 0;
  const double kept = p->compliance;
  p->compliance = sri_rigid_compliance(x);
  o.tolerance = SOLVED_REDUNDANT * sri_largest(x->nrow, p->q);
  if (p->compliance > 0) (void)sr_contact_solve(x->solver, p, &o, x->p, &result);
  p->compliance = kept;
  if (!sri_all_finite(x->nrow, x->p)) memset(x->p, 0, (size_t)x->nrow * sizeof *x->p);
}

// The cone problem of the parts with right-hand side q.
static void pose(srRigid* x, const double* q) {
  srContactProblem* p = x->problem;
  p->ncontact = x->npart;
  p->nequation = 0;
  p->compliance = sri_rigid_compliance(x);
  for (int i = 0; i < x->npart; ++i) {
    const srRigidPart* part = &x->part[i];
    p->cone[i] = (srContactCone){.rows = part->rows, .mu = part->mu, .restitution = part->restitution};
  }
  memcpy(p->W, x->A, (size_t)(x->nrow * x->nrow) * sizeof *p->W);
  memcpy(p->q, q, (size_t)x->nrow * sizeof *p->q);
  for (int i = 0; i < x->npart; ++i) {  // what is given does not depend on the compliance
    if (x->part[i].c->clamp > 0) p->q[x->part[i].first] *= 1 + p->compliance;
  }
}

// Is p a solution as it is: all closed, friction at rest inside of its cones?
static bool is_admissible(const srRigid* x, const double* p) {
  for (int i = 0; i < x->npart; ++i) {
    const srRigidPart* part = &x->part[i];
    const double* of = p + part->first;
    const double pull = part->rows == 1 ? 0 : part->rows == 2 ? fabs(of[1]) : hypot(of[1], of[2]);
    if (!(of[0] >= 0) || !(pull <= part->mu * of[0])) return false;
  }
  return true;
}

static bool solve(srRigid* x, const double* q, int iterations, double* residual) {
  srContactProblem* p = x->problem;
  pose(x, q);
  const bool singular = p->compliance > 0;
  const double size = sri_rigid_size(x, q);
  srContactOptions o = sr_contact_options();
  srContactResult result;
  o.method = sr_contact_method_find("newton");
  o.tolerance = (singular ? SOLVED_REDUNDANT : SOLVED) * fmax(size, 1e-12);
  o.iterations = iterations;
  ++x->stats.problems;
  *residual = 0;
  if (sr_contact_solve(x->solver, p, &o, x->p, &result) != SR_OK) return false;
  *residual = result.error.residual / size;
  x->stats.iterations += result.iterations;
  x->softness = 0;
  for (int i = 0; i < x->npart && singular; ++i) {
    const int r = x->part[i].first;
    x->softness = fmax(x->softness, REDUNDANT * fabs(x->A[r * x->nrow + r] * x->p[r]) / size);
  }
  // With redundant rows the residual is of the compliance's size.
  return result.solved || *residual < 1e-8;
}

static bool decide(srRigid* x, const double* q, double* residual) {
  (void)sri_rigid_solve_rows(x, q, x->p);
  if (is_admissible(x, x->p) && solve(x, q, ITERATIONS, residual)) return true;
  pose(x, q);
  sri_rigid_begin_soft(x);
  return solve(x, q, ITERATIONS_EVENT, residual);
}

bool sri_rigid_decide(srRigid* x, const double* q, double* residual) {
  const bool solved = decide(x, q, residual);
  x->stats.unsolved += !solved;
  return solved;
}

bool sri_rigid_follow(srRigid* x, const double* q, double* residual) {
  bool solved = solve(x, q, ITERATIONS, residual);
  if (!solved) solved = decide(x, q, residual);
  x->stats.unsolved += !solved;
  return solved;
}

// x = (A + c)^-1 x by the factor of the scaled matrix.
static void solve_factor(srRigid* x, double* r) {
  for (int i = 0; i < x->nrow; ++i) r[i] *= x->scale[i];
  srm_lu_solve(x->nrow, x->lu, x->pivot, r);
  for (int i = 0; i < x->nrow; ++i) r[i] *= x->scale[i];
}

// Dependent rows: (A + c)^-1 A (A + c)^-1 instead of the inverse. What they ask for beyond their range, which no force can give, is left out.
bool sri_rigid_solve_rows(srRigid* x, const double* right, double* p) {
  const int n = x->nrow;
  const bool regular = factor_rows(x, 0);
  double *r = x->rhs, *z = x->rhs_other;
  if (!regular) (void)factor_rows(x, EQUAL);
  memset(p, 0, (size_t)n * sizeof *p);
  for (int k = 0; k < (regular ? 1 : REFINEMENTS); ++k) {
    for (int i = 0; i < n; ++i) r[i] = -(right[i] + dot(n, x->A + (size_t)i * (size_t)n, p));
    solve_factor(x, r);
    for (int i = 0; i < n && !regular; ++i) z[i] = dot(n, x->A + (size_t)i * (size_t)n, r);
    if (!regular) {
      solve_factor(x, z);
      memcpy(r, z, (size_t)n * sizeof *r);
    }
    for (int i = 0; i < n; ++i) p[i] += r[i];
  }
  return regular;
}

double sri_rigid_rows_residual(const srRigid* x, const double* right, const double* p) {
  double most = 0;
  for (int i = 0; i < x->nrow; ++i) {
    most = fmax(most, fabs(right[i] + dot(x->nrow, x->A + (size_t)i * (size_t)x->nrow, p)));
  }
  return most;
}
