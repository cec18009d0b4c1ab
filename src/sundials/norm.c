// Vectors of the state whose norm is that of the error test of a stiff system.
//
// Formulas of backward differentiation judge a step by how far the corrector went from the prediction, e. A stiff spring ties v to
// the positions: v is then a difference of them, and each change of the step throws its prediction off by O(h), which no shorter
// step cures before it resolves the vibration. The formula forgets it within a step, so it is not an error. With the matrix B c + K
// of Newton's iteration (B: q, M v, y; without constraints c - J) e_v and e_y go through
//   e_v, e_y := v- and y-part of (B c + K)^-1 c B (0, e_v, e_y)
// up to two times. That is the identity up to O(h^2) where nothing is stiff, and divides by k/(m c^2) along a spring. The error of
// positions counts as it is: a step on which Newton's iteration has found a solution far away, where all is stiff, fails by it.
// Filters of this kind: Shampine; Hairer, Wanner II, IV.8, with q and v together, which makes -c e_q of e_v.
//
// Under the rule `positions` the errors of v do not count, as in the other methods: only the norm of a correction that was found leaves
// them out, Newton's iteration solves for all. The choice of step and order from that norm is SUNDIALS' own.
//
// SUNDIALS computes the norm through the vector, so the vectors know their integrator. Where no correction has been found in the present step
// (increments of Newton's iteration, the first step) the norm is plain.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integrate/control.h"
#include "sundials/bdf.h"

#define STIFF 0.8  // the first pass leaves less than this of the norm: there is stiffness, and a second pass

typedef struct Content {
  struct _N_VectorContent_Serial serial;  // first: the operations of serial vectors see this alone
  srIntegrator* owner;
} Content;

static srIntegrator* owner_of(N_Vector x) { return ((Content*)x->content)->owner; }

static bool give_owner(N_Vector x, srIntegrator* owner) {
  Content* content = realloc(x->content, sizeof *content);  // N_VDestroy_Serial frees it
  if (content == NULL) return false;
  content->owner = owner;
  x->content = content;
  return true;
}

static N_Vector clone(N_Vector x) {
  N_Vector copy = N_VClone_Serial(x);
  if (copy != NULL && !give_owner(copy, owner_of(x))) {
    N_VDestroy_Serial(copy);
    return NULL;
  }
  return copy;
}

// out = e once filtered, the positions as they are; not in place: e may be part of the history.
static int pass(srIntegrator* integrator, N_Vector e, N_Vector out) {
  srBdf* b = integrator->work;
  const size_t nq = (size_t)integrator->system.nq;
  N_VScale(1, e, b->part);
  memset(NV_DATA_S(b->part), 0, nq * sizeof(double));
  const int answer = b->ops->filter(integrator, b->part, out);
  memcpy(NV_DATA_S(out), NV_DATA_S(e), nq * sizeof(double));
  return answer;
}

// Of an error: over what the rule of the step counts. The weights are made for the mean over (q, v, y).
static realtype error_norm(const srIntegrator* integrator, N_Vector e, N_Vector weight) {
  const srSystem* s = &integrator->system;
  if (sri_counts_velocities(integrator)) return N_VWrmsNorm_Serial(e, weight);
  const double *x = NV_DATA_S(e), *w = NV_DATA_S(weight);
  double sum = 0;
  for (int i = 0; i < integrator->ncontrol; ++i) {
    if (i < s->nq || i >= s->nq + s->nv) sum += x[i] * w[i] * (x[i] * w[i]);
  }
  const int unused = sri_unused_states(integrator), counted = s->nq + s->ny - unused;
  return counted > 0 ? sqrt(sum / (double)NV_LENGTH_S(e) * (integrator->ncontrol - unused) / counted) : 0;
}

static realtype norm(N_Vector e, N_Vector weight) {
  srIntegrator* integrator = owner_of(e);
  srBdf* b = integrator->work;
  if (!b->filters || integrator->ncontrol == 0) return N_VWrmsNorm_Serial(e, weight);
  const realtype plain = error_norm(integrator, e, weight);
  if (pass(integrator, e, b->once) != 0) return plain;
  const realtype once = fmin(plain, error_norm(integrator, b->once, weight));
  if (once > STIFF * plain || pass(integrator, b->once, b->twice) != 0) return once;
  return fmin(once, error_norm(integrator, b->twice, weight));
}

N_Vector sri_bdf_vector(srIntegrator* integrator, int size) {
  const srBdf* b = integrator->work;
  N_Vector x = N_VNew_Serial(size, b->context);
  if (x == NULL) return NULL;
  if (!give_owner(x, integrator)) {
    N_VDestroy_Serial(x);
    return NULL;
  }
  x->ops->nvclone = clone;
  x->ops->nvwrmsnorm = norm;
  return x;
}
