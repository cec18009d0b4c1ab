// A spring with a damper from a point of a body to a point in space: what the mouse pulls with.
//
//   f = k (x_to - x) - c v,   tau = J^T f        x, v: the point and its velocity, J = dv/d(joint velocities)
//
// Its force is held over a step, which keeps every method and formulation as it is. So the spring must be slow beside the steps. With e = trace(J M^-1 J^T) of the tree, no
// direction has a smaller effective mass than 1/e, and the hold is stable for h^2 k e and h c e well below 1 (forward differences of a damped oscillator):
//
//   k = 3 w^2/e, w = 12 rad/s or less: h w <= 0.3;    c = 1.4 sqrt(3 k/e)        3/e: the mass of a free body that is pulled at its center
#include <math.h>
#include <sarrus/analysis.h>
#include <string.h>

#include "constraint/constraint.h"
#include "live/live.h"

#define SPEED 12.0      // rad/s: of the spring that is chosen
#define SPEED_STEP 0.3  // rad in one step
#define STIFFEST 0.25   // h^2 k e
#define DAMPING 1.4     // times sqrt(k m): 0.7 of critical

double sr_live_hold(const srLive* live) { return sr_run_is_adaptive(&live->run) ? live->every : live->run.step; }

// Place and velocity of the point, and dv/d(velocities) into the last three rows of the Jacobian.
static void measure(srLive* live, double x[3], double v[3]) {
  const srModel* m = live->model.m;
  srData* d = live->model.d;
  srLivePull* p = &live->pull;
  srFrameMotion at;
  double arm[3];
  (void)sr_evaluate(m, d, d->t, NULL, NULL, NULL, SR_STAGE_VELOCITY);
  sr_frame_motion(m, d, p->body, 0, &at);
  sr_frame_jacobian(m, d, p->body, 0, p->jacobian);
  for (int i = 0; i < 3; i++) {
    arm[i] = 0;
    for (int k = 0; k < 3; k++) arm[i] += at.rotation[3 * i + k] * p->at[k];
    x[i] = at.position[i] + arm[i];
  }
  const double* w = at.angular_velocity;
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    v[i] = at.velocity[i] + w[j] * arm[k] - w[k] * arm[j];
    for (int n = 0; n < m->nv; n++)
      p->jacobian[(3 + i) * m->nv + n] += p->jacobian[j * m->nv + n] * arm[k] - p->jacobian[k * m->nv + n] * arm[j];
  }
}

static void transposed_times(const srLive* live, const double f[3], double* tau) {
  const int nv = live->model.m->nv;
  const double* J = live->pull.jacobian + 3 * (size_t)nv;
  for (int n = 0; n < nv; n++) tau[n] = J[n] * f[0] + J[nv + n] * f[1] + J[2 * nv + n] * f[2];
}

void sr_live_pull(srLive* live) {
  srLivePull* p = &live->pull;
  srData* d = live->model.d;
  double x[3], v[3];
  if (!p->on) return;
  measure(live, x, v);
  for (int i = 0; i < 3; i++) p->force[i] = p->stiffness * (p->to[i] - x[i]) - p->damping * v[i];
  transposed_times(live, p->force, d->tau);
}

// e of the point; 0: it cannot move. Coordinates without inertia of their own have none here: then that of the body.
static double mobility(srLive* live) {
  const srModel* m = live->model.m;
  srData* d = live->model.d;
  double x[3], v[3], e = 0;
  const size_t nv = (size_t)m->nv;
  double* work = sr_alloc((4 * nv + 1) * sizeof *work);
  if (work == NULL) return (double)NAN;
  double *rest = work, *tau = rest + nv, *a = tau + nv, *a0 = a + nv;
  measure(live, x, v);
  bool good = sr_aba(m, d, d->q, rest, rest, a0) == SR_OK;
  for (int i = 0; i < 3 && good; i++) {
    const double unit[3] = {i == 0, i == 1, i == 2};
    transposed_times(live, unit, tau);
    good = sr_aba(m, d, d->q, rest, tau, a) == SR_OK;
    for (size_t n = 0; n < nv && good; n++) e += live->pull.jacobian[(3 + (size_t)i) * nv + n] * (a[n] - a0[n]);
  }
  d->stage = SR_STAGE_NONE;
  sr_free(work);
  if (good && isfinite(e)) return fmax(e, 0);
  return m->body_mass[live->pull.body] > 0 ? 3 / m->body_mass[live->pull.body] : 0;
}

// Stiffness and damping; NaN: not given.
static bool choose(srRequest* r, double stiffness) {
  srLivePull* p = &r->live->pull;
  const double h = sr_live_hold(r->live), e = mobility(r->live);
  if (isnan(e)) return sr_request_fail(r, "out of memory");
  if (!(e > 0))
    return sr_request_fail(r, "the body '%s' cannot be pulled: nothing can move it",
                           r->live->model.m->body_name[p->body]);
  const double w = fmin(SPEED, SPEED_STEP / h);
  p->stiffness = stiffness > 0 ? stiffness : 3 * w * w / e;
  if (h * h * p->stiffness * e > 3 * STIFFEST)
    return sr_request_fail(r,
                           "a pull with %.3g N/m is too stiff: its force changes every %.3g s, which is stable up to "
                           "%.3g N/m; take a smaller step or stiffness",
                           p->stiffness, h, 3 * STIFFEST / (h * h * e));
  p->damping = DAMPING * sqrt(3 * p->stiffness / e);
  return true;
}

static bool read_body(srRequest* r, int* body) {
  const srModel* m = r->live->model.m;
  const int at = sr_json_member(&r->tree, 0, "body");
  const char* name = NULL;
  long index = 0;
  if (at >= 0 && *r->tree.node[at].text == '"') {
    if (!sr_request_text(r, "body", SR_MEMBER_REQUIRED, &name, NULL)) return false;
    *body = sr_body_find(m, name);
    if (*body > 0) return true;
    return sr_request_fail(r, *body == 0 ? "'%.60s' is the ground, which cannot be pulled" : "there is no body '%.60s'",
                           name);
  }
  if (m->nbody == 0) return sr_request_fail(r, "the model has no bodies");
  if (!sr_request_whole(r, "body", SR_MEMBER_REQUIRED, 1, m->nbody, &index)) return false;
  *body = (int)index;
  return true;
}

static void let_go(srLive* live) {
  srData* d = live->model.d;
  live->pull.on = false;
  if (live->model.m->njv > 0) memset(d->tau, 0, (size_t)live->model.m->njv * sizeof *d->tau);
}

bool sr_do_pull(srRequest* r) {
  srLive* live = r->live;
  srLivePull before = live->pull, *p = &live->pull;
  double stiffness = 0;
  if (live->model.m->absolute)
    return sr_request_fail(r, "bodies are pulled in joint coordinates, and this model has others");
  if (p->jacobian == NULL) {
    p->jacobian = sr_alloc(((size_t)live->model.m->nv * 6 + 1) * sizeof *p->jacobian);
    before.jacobian = p->jacobian;
    if (p->jacobian == NULL) return sr_request_fail(r, "out of memory");
  }
  if (!read_body(r, &p->body) || !sr_request_vector(r, "at", SR_MEMBER_REQUIRED, p->at) ||
      !sr_request_vector(r, "to", SR_MEMBER_REQUIRED, p->to) ||
      !sr_request_number(r, "stiffness", SR_MEMBER_OPTIONAL, 0, 1e15, &stiffness) || !choose(r, stiffness)) {
    *p = before;
    return false;
  }
  p->on = true;
  sr_live_pull(live);
  sr_json_numbers(&r->answer.json, "force", p->force, 3);
  sr_json_number(&r->answer.json, "stiffness", p->stiffness);
  sr_json_number(&r->answer.json, "damping", p->damping);
  return true;
}

bool sr_do_release(srRequest* r) {
  let_go(r->live);
  return true;
}
