// Forces of a step, linear in its unknowns, by the Moreau-Jean theta method (Jean 1999): at v_0 + theta dv and at the same part of the way of the trapezoidal rule,
// q_0 + theta h (v_0 + theta dv), dv = v_1 - v_0. With f and its derivatives -Kq, -Kv (integrate.h: srTangent, of a = 0 and lambda = 0) at q_0 + (1 - theta) h v_0 and v_at:
//
//   M dv = h (f - Kq h ((2 theta - 1) v_0 + theta^2 dv) - Kv (v_0 + theta dv - v_at))
//   A dv = h (f - (2 theta - 1) h Kq v_0 + Kv (v_at - v_0)),      A = M + theta h Kv + (theta h)^2 Kq
//
// theta = 1: implicit Euler; 1/2: the trapezoidal rule.
// Springs, dampers and servos do not blow up (theta = 1: they are damped beyond h), however stiff they are. Kq and Kv are replaced by their symmetric parts: they are
// multiplied by h^2 v, so that the order stays 1 (theta = 1/2: 2, as f is that of the middle), and the contact problem stays symmetric. What feeds one coordinate back on another without the reverse
// remains explicit, and so do the states y. The tangent is that of the forces alone: of c(q, v), gyroscopic forces and weight, the symmetric part would be no stiffness or damping, but makes A indefinite at h v ~ sqrt(J/m). Where A is not above half of M on the diagonal (a negative stiffness beyond M/(2 h^2)), the step is explicit.
#include "integrate/step_mass.h"

#include <string.h>

#include "integrate/array.h"

#define LEAST 0.5  // A_ii/M_ii

struct srStepMass {
  srTangentWork tangent;
  srSparsity pattern;  // of A
  bool dense;          // neither M nor the tangent has a pattern: A has none either
  int *row, *column;
  int* at;        // of each entry of A: its place in the tangent
  int* mass;      // of each number of M: its place in A, -1: none
  int* diagonal;  // of A (nv)
  double *A, *zero, *block;
};

// ---- life -------------------------------------------------------------------------------------------------------------

// The entries of the tangent over velocities. place (entries of the tangent): of each one in A.
static void find_entries(srStepMass* x, int nv, int* place) {
  const srTangentWork* t = &x->tangent;
  int n = 0;
  for (int i = 0; i < nv; ++i) {
    x->row[i] = n;
    for (int k = t->pattern.row[i]; k < t->pattern.row[i + 1]; ++k) {
      if (t->pattern.column[k] >= nv) continue;
      if (t->pattern.column[k] == i) x->diagonal[i] = n;
      x->at[n] = k;
      place[k] = n;
      x->column[n++] = t->pattern.column[k];
    }
  }
  x->row[nv] = n;
  x->pattern = (srSparsity){nv, nv, x->row, x->column};
  for (size_t k = 0; k < t->nmass; ++k) x->mass[k] = t->mass[k] >= 0 ? place[t->mass[k]] : -1;
}

srStepMass* sri_step_mass_create(const srSystem* s) {
  srStepMass* x = sr_alloc(sizeof *x);
  int* place = NULL;
  if (x == NULL) return NULL;
  bool good = sri_tangent_create(&x->tangent, s);
  const size_t count = x->tangent.count, nv = (size_t)s->nv;
  const srPart parts[] = {{&x->A, count}, {&x->zero, nv + (size_t)s->ng}};
  good = good && srm_take_ints(&place, count) && srm_take_ints(&x->row, nv + 1) && srm_take_ints(&x->column, count) &&
         srm_take_ints(&x->at, count) && srm_take_ints(&x->mass, x->tangent.nmass) && srm_take_ints(&x->diagonal, nv) &&
         sr_take_parts(parts, SR_COUNT(parts), 0, &x->block, NULL);
  if (good) find_entries(x, s->nv, place);
  x->dense = s->M_sparsity == NULL && s->K_sparsity == NULL;
  sr_free(place);
  if (good) return x;
  sri_step_mass_destroy(x);
  return NULL;
}

void sri_step_mass_destroy(srStepMass* x) {
  if (x == NULL) return;
  sri_tangent_destroy(&x->tangent);
  sr_free(x->row);
  sr_free(x->column);
  sr_free(x->at);
  sr_free(x->mass);
  sr_free(x->diagonal);
  sr_free(x->block);
  sr_free(x);
}

const srSparsity* sri_step_mass_pattern(const srStepMass* x) { return x->dense ? NULL : &x->pattern; }
const double* sri_step_mass_values(const srStepMass* x) { return x->A; }

// ---- a step -----------------------------------------------------------------------------------------------------------

int sri_step_mass_tangent(srIntegrator* integrator, srStepMass* x, double t, const double* state) {
  const srSystem* s = &integrator->system;
  return sri_tangent(integrator, &x->tangent, t, state, x->zero, s->ng > 0 ? x->zero + s->nv : NULL);
}

static double symmetric(const srTangentWork* t, const double* K, int k) { return 0.5 * (K[k] + K[t->transposed[k]]); }

static void add_mass(srStepMass* x, const double* M) {
  for (size_t k = 0; k < x->tangent.nmass; ++k) {
    if (x->mass[k] >= 0) x->A[x->mass[k]] += M[k];
  }
}

// h Kv + h^2 Kq over M, and the diagonal: is it above LEAST of M alone?
static bool put_stiffness(srStepMass* x, int nv, double h, const double* M) {
  const srTangentWork* t = &x->tangent;
  memset(x->A, 0, (size_t)x->row[nv] * sizeof *x->A);
  add_mass(x, M);
  for (int i = 0; i < nv; ++i) {
    const int k = x->at[x->diagonal[i]];
    if (h * (t->Kv[k] + h * t->Kq[k]) < (LEAST - 1) * x->A[x->diagonal[i]]) return false;
  }
  for (int e = 0; e < x->row[nv]; ++e) {
    x->A[e] += h * (symmetric(t, t->Kv, x->at[e]) + h * symmetric(t, t->Kq, x->at[e]));
  }
  return true;
}

void sri_step_mass_set(srStepMass* x, const srSystem* s, double h, double theta, const double* M, const double* v,
                       const double* v_at, double* f) {
  const srTangentWork* t = &x->tangent;
  const double part = (2 * theta - 1) * h;
  if (!put_stiffness(x, s->nv, theta * h, M)) return;
  for (int i = 0; i < s->nv; ++i) {
    double sum = 0, damped = 0;
    for (int e = x->row[i]; e < x->row[i + 1]; ++e) {
      const int j = x->column[e];
      sum += symmetric(t, t->Kq, x->at[e]) * v[j];
      if (v_at != v) damped += symmetric(t, t->Kv, x->at[e]) * (v_at[j] - v[j]);
    }
    f[i] += damped - part * sum;
  }
}
