// Inverse dynamics with loops, and with actuators in any joints.                                                 ROBOTRAN manual, equation 59
//
//   M a + c - f = S tau + G^T lambda        S: the actuators' coordinates; G without the drivers
//   B^T S tau = B^T (M a + c - f)           G B = 0: virtual velocities that the loops allow, one a degree of freedom
//
// As many actuators as degrees of freedom: one solution, where B^T S is regular. More: the one of least 2-norm, by QR of the rows of B^T S.
#include <math.h>
#include <sarrus/analysis.h>
#include <stdio.h>
#include <string.h>

#include "analysis/dependent.h"
#include "base/base.h"
#include "constraint/constraint.h"
#include "dynamics/measurement.h"
#include "math/qr.h"

#define REGULAR 1e-9  // part of a row of B^T S that is independent of the others, at least

struct srInverse {
  srDriven* driven;
  srDependent* dependent;  // without drivers
  int n, dof;
  int *actuator, *order;       // n; dof
  double *B, *H, *Q, *L;       // nv x dof; dof x n; dof x n; dof x dof
  double *r, *s, *y, *length;  // nv; nv; dof; dof
  double* memory;
};

// ---- creation -----------------------------------------------------------------------------------------------------------

static bool choose(const srInverse* x, int* row) {
  const srModel* m = x->driven->m;
  srData* d = x->driven->d;
  (void)sr_evaluate(m, d, d->t, NULL, NULL, NULL, SR_STAGE_POSITION);
  return sr_constraints(m, d) == 0 && sr_dependent_choose(x->dependent, row) && sr_dependent_put(x->dependent);
}

static srStatus refuse_few(const srModel* m, int n, int dof, srMessages* messages) {
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0},
                  "'%s' has %d degree%s of freedom and %d actuator%s: as many are needed at least. Name them by "
                  "--actuators, or drive more joints",
                  m->name, dof, dof == 1 ? "" : "s", n, n == 1 ? "" : "s");
  return SR_INPUT;
}

static srStatus refuse_held(const srDriven* driven, srMessages* messages) {
  char name[256];
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0},
                  "the motion is not given: no driver moves %d degree%s of freedom of '%s' ('%s'%s). Drive them",
                  driven->nheld, driven->nheld == 1 ? "" : "s", driven->m->name,
                  sr_coordinate_name(driven->m, driven->held[0], name, sizeof name), driven->nheld > 1 ? ", ..." : "");
  return SR_INPUT;
}

static bool allocate(srInverse* x) {
  const size_t nv = (size_t)x->driven->m->nv, n = (size_t)x->n, dof = (size_t)x->dof;
  unsigned char* bytes;
  const srPart parts[] = {{&x->B, nv * dof}, {&x->H, dof * n}, {&x->Q, dof * n}, {&x->L, dof * dof},
                          {&x->r, nv},       {&x->s, nv},      {&x->y, dof},     {&x->length, dof}};
  if (!sr_take_parts(parts, SR_COUNT(parts), (n + dof + 1) * sizeof(int), &x->memory, &bytes)) return false;
  x->actuator = (int*)(void*)bytes;
  x->order = x->actuator + n;
  return true;
}

static srStatus create(srInverse* x, const int* actuator, int n, srMessages* messages) {
  const srModel* m = x->driven->m;
  int row;
  x->n = actuator != NULL ? n : m->ndriver;
  x->dependent = sr_dependent_create_undriven(m, x->driven->d);
  if (x->dependent == NULL || !choose(x, &row)) return SR_MEMORY;
  x->dof = m->nv - sr_dependent_count(x->dependent);
  if (x->n < x->dof) return refuse_few(m, x->n, x->dof, messages);
  if (x->driven->nheld > 0) return refuse_held(x->driven, messages);
  if (!allocate(x)) return SR_MEMORY;
  for (int i = 0; i < x->n; ++i) x->actuator[i] = actuator != NULL ? actuator[i] : m->driver[i].dof;
  return SR_OK;
}

srStatus sr_inverse_create(srDriven* driven, const int* actuator, int n, srMessages* messages, srInverse** out) {
  srInverse* x = sr_alloc(sizeof *x);
  *out = NULL;
  if (x != NULL) x->driven = driven;
  const srStatus status = x != NULL ? create(x, actuator, n, messages) : SR_MEMORY;
  if (status == SR_MEMORY)
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "out of memory for the inverse dynamics");
  if (status == SR_OK)
    *out = x;
  else
    sr_inverse_destroy(x);
  return status;
}

void sr_inverse_destroy(srInverse* x) {
  if (x == NULL) return;
  sr_dependent_destroy(x->dependent);
  sr_free(x->memory);
  sr_free(x);
}

int sr_inverse_count(const srInverse* x) { return x->n; }
int sr_inverse_actuator(const srInverse* x, int i) { return x->actuator[i]; }
bool sr_inverse_redundant(const srInverse* x) { return x->n > x->dof; }

// ---- forces -------------------------------------------------------------------------------------------------------------

// B^T S: column by column, the virtual velocities of the actuators.
static void actuate(srInverse* x) {
  const srModel* m = x->driven->m;
  for (int k = 0; k < x->n; ++k) {
    memset(x->s, 0, (size_t)m->nv * sizeof *x->s);
    if (m->absolute)
      sr_measurement_row(m, x->driven->d, x->actuator[k], 1.0, x->s);
    else
      x->s[x->actuator[k]] = 1.0;
    for (int i = 0; i < x->dof; ++i) {
      double sum = 0.0;
      for (int j = 0; j < m->nv; ++j) sum += x->B[j * x->dof + i] * x->s[j];
      x->H[i * x->n + k] = sum;
    }
  }
}

// tau of least norm with H tau = B^T r. False: the rows of H are dependent.
static bool solve(srInverse* x, double* tau) {
  const int n = x->n, dof = x->dof, nv = x->driven->m->nv;
  double longest = 0.0;
  for (int i = 0; i < dof * n; ++i) longest = fmax(longest, fabs(x->H[i]));
  if (srm_row_qr(dof, n, x->H, NULL, REGULAR * longest, x->order, x->length, x->Q, x->L) < dof) return false;
  memset(tau, 0, (size_t)n * sizeof *tau);
  for (int k = 0; k < dof; ++k) {
    const int row = x->order[k];
    double sum = 0.0;
    for (int j = 0; j < nv; ++j) sum += x->B[j * dof + row] * x->r[j];
    for (int j = 0; j < k; ++j) sum -= x->L[row * dof + j] * x->y[j];
    x->y[k] = sum / x->L[row * dof + k];
    for (int j = 0; j < n; ++j) tau[j] += x->y[k] * x->Q[k * n + j];
  }
  return true;
}

static srStatus fail(const srInverse* x, const char* reason) {
  (void)snprintf(x->driven->error_message, sizeof x->driven->error_message, "t = %.9g s: %s", x->driven->d->t, reason);
  return SR_FAILED;
}

srStatus sr_inverse_forces(srInverse* x, double* tau, double* passive) {
  const srModel* m = x->driven->m;
  srData* d = x->driven->d;
  int row;
  memcpy(x->s, d->a, (size_t)m->nv * sizeof *x->s);
  if (sr_evaluate(m, d, d->t, NULL, NULL, NULL, SR_STAGE_FORCE) != 0) return fail(x, d->error_message);
  memcpy(passive, d->f, (size_t)m->nv * sizeof *passive);
  sr_required_force(m, d, x->s, x->r);

  if (!choose(x, &row) || m->nv - sr_dependent_count(x->dependent) != x->dof)
    return fail(x, "a singular position: the loops allow other motions than before");
  memcpy(d->a, x->s, (size_t)m->nv * sizeof *x->s);
  sr_dependent_basis(x->dependent, x->B);
  actuate(x);
  if (!solve(x, tau))
    return fail(x, "the actuators cannot cause this motion: they do not act on all degrees of freedom");
  return SR_OK;
}
