// The model as the equations that integrators see (integrate.h): its only constraints are the drivers.
//   g = q_i - s(t),   G = unit rows,   b = -s'(t),   gamma = s''(t)
// In the index-1 form (rates) driven coordinates are given: q_i = s, v_i = s', a_i = s'', and the force that does it is
// their multiplier. Integrators then merely repeat s by quadrature; `accepted` puts them back on it.
#include "analysis/system.h"

#include <math.h>
#include <string.h>

#include "force/force.h"

static void copy(double* to, const double* from, int n) {
  if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
}

// Driven coordinates from d->motion into q and v (v may be NULL).
static void put_driven(const srModel* m, const srData* d, double* q, double* v) {
  for (int i = 0; i < m->ndriver; ++i) {
    q[m->driver[i].qdof] = d->motion[3 * i];
    if (v != NULL) v[m->driver[i].dof] = d->motion[3 * i + 1];
  }
}

// Everything but the quaternions, which the kinematics takes as normalised.
static void put_raw(const srModel* m, srData* d, double t, const double* q, const double* v, const double* y) {
  d->t = t;
  copy(d->q, q, m->nq);
  copy(d->v, v, m->nv);
  copy(d->y, y, m->ny);
  d->stage = SR_STAGE_NONE;
}

void sr_put_state(const srModel* m, srData* d, double t, const double* q, const double* v, const double* y) {
  put_raw(m, d, t, q, v, y);
  sr_normalize(m, d->q);
  sr_driver_motion(m, d);
  put_driven(m, d, d->q, d->v);
}

// ---- callbacks ------------------------------------------------------------------------------------------------------

static int rates(void* user, double t, const double* q, const double* v, const double* y, double tau, double* qdot,
                 double* vdot, double* ydot, double* wdot) {
  const srModelSystem* s = user;
  srData* d = s->d;
  put_raw(s->m, d, t, q, v, y);
  sr_driver_motion(s->m, d);
  put_driven(s->m, d, d->q, d->v);
  const int answer = sr_forward_rates(s->m, d, tau);
  if (answer != 0) return answer;
  sr_qdot(s->m, d->q, d->v, qdot);
  copy(vdot, d->a, s->m->nv);
  copy(ydot, d->ydot, s->m->ny);
  copy(wdot, d->power, SR_ACCOUNTS);
  return 0;
}

static void unit_rows(const srModel* m, double* G) {
  memset(G, 0, (size_t)m->ndriver * (size_t)m->nv * sizeof *G);
  for (int i = 0; i < m->ndriver; ++i) G[(size_t)i * (size_t)m->nv + (size_t)m->driver[i].dof] = 1.0;
}

static int dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau, double* M,
                    double* f, double* ydot, double* D) {
  const srModelSystem* s = user;
  const srModel* m = s->m;
  srData* d = s->d;
  put_raw(m, d, t, q, v, y);
  sr_kinematics(m, d);
  sr_velocity(m, d);
  const int answer = sr_forces(m, d, tau);
  if (answer != 0) return answer;
  copy(ydot, d->ydot, m->ny);
  memset(d->a, 0, (size_t)m->nv * sizeof *d->a);
  sr_rnea(m, d, d->q, d->v, d->a, d->bias);
  sr_crba(m, d, d->q, M);
  for (int i = 0; i < m->nv; ++i) {
    f[i] = d->f[i] - d->bias[i];
    M[(size_t)i * (size_t)m->nv + (size_t)i] += m->dof_armature[i];
  }
  if (D != NULL && m->ndriver > 0) unit_rows(m, D);
  return 0;
}

static int constraint(void* user, double t, const double* q, double* g, double* G, double* b) {
  const srModelSystem* s = user;
  s->d->t = t;
  sr_driver_motion(s->m, s->d);
  if (G != NULL && s->m->ndriver > 0) unit_rows(s->m, G);
  for (int i = 0; i < s->m->ndriver; ++i) {
    if (g != NULL) g[i] = q[s->m->driver[i].qdof] - s->d->motion[3 * i];
    if (b != NULL) b[i] = -s->d->motion[3 * i + 1];
  }
  return 0;
}

static int gamma_term(void* user, double t, const double* q, const double* v, double* gamma) {
  const srModelSystem* s = user;
  (void)q;
  (void)v;
  s->d->t = t;
  sr_driver_motion(s->m, s->d);
  for (int i = 0; i < s->m->ndriver; ++i) gamma[i] = s->d->motion[3 * i + 2];
  return 0;
}

static int position_rates(void* user, const double* q, const double* v, double* qdot) {
  sr_qdot(((const srModelSystem*)user)->m, q, v, qdot);
  return 0;
}

static int retract(void* user, const double* q, const double* dxi, double* q_out) {
  sr_retract(((const srModelSystem*)user)->m, q, dxi, q_out);
  return 0;
}

static int difference(void* user, const double* q1, const double* q2, double* dxi) {
  sr_difference(((const srModelSystem*)user)->m, q1, q2, dxi);
  return 0;
}

static int accepted(void* user, double t, double* q, double* v, double* y) {
  srModelSystem* s = user;
  const srModel* m = s->m;
  (void)y;
  sr_normalize(m, q);
  if (m->ndriver == 0) return 0;
  s->d->t = t;
  sr_driver_motion(m, s->d);
  for (int i = 0; i < m->ndriver; ++i) {
    const double* motion = s->d->motion + 3 * i;
    s->violation_position = fmax(s->violation_position, fabs(q[m->driver[i].qdof] - motion[0]));
    s->violation_velocity = fmax(s->violation_velocity, fabs(v[m->driver[i].dof] - motion[1]));
  }
  put_driven(m, s->d, q, v);
  return 0;
}

srSystem sr_system(srModelSystem* user) {
  const srModel* m = user->m;
  return (srSystem){
      .nq = m->nq,
      .nv = m->nv,
      .ny = m->ny,
      .nw = SR_ACCOUNTS,
      .nz = m->nz,
      .ng = m->ndriver,
      .np = m->ndriver,
      .user = user,
      .rates = rates,
      .dynamics = dynamics,
      .constraint = constraint,
      .gamma = gamma_term,
      .qdot = position_rates,
      .retract = retract,
      .difference = difference,
      .accepted = accepted,
  };
}
