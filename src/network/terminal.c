// Terminals: where impedances are attached, and the maps of Psi and Phi behind them. Every pair of maps is one Jacobian: if
// the motion is xdot = J v, the force goes back as J^T f, so that power is neither made nor lost.
#include <math.h>
#include <string.h>

#include "math/pose.h"
#include "network/network.h"

const srTerminal sr_no_terminal = {0, -1, -1, -1, -1, -1, -1};

static bool good_terminal(srNetwork* n, srTerminal t, const char* what) {
  if (t.n > 0 && t.motion >= 0 && t.motion < n->ncomponent) return true;
  sr_net_error(n, "%s: there is no such terminal", what);
  return false;
}

srTerminal sr_terminal_part(srTerminal t, int first, int n) {
  if (first < 0 || n < 1 || first > t.n - n) return sr_no_terminal;
  if (t.x >= 0) t.x += first;
  if (t.force >= 0) t.f += first;
  t.xdot += first;
  t.n = n;
  t.attitude = -1;
  return t;
}

// ---- the ground -------------------------------------------------------------------------------------------------------------

static int ground(void* self, double t, const double* in, double* out) {
  (void)t, (void)in;
  memcpy(out + 3, self, 3 * sizeof *out);
  out[12] = 1.0;
  return 0;
}

srTerminal sr_network_ground(srNetwork* n, const double p[3]) {
  const double origin[3] = {0};
  void* self = sr_net_keep(n, p ? p : origin, sizeof origin);
  const int i = self ? sr_network_map(n, "ground", 0, 16, ground, self) : SR_REFUSED;
  return i < 0 ? sr_no_terminal : (srTerminal){6, i, 0, 6, 12, -1, -1};
}

// ---- masses, joints, points of mechanisms -------------------------------------------------------------------------------------

srTerminal sr_network_mass_terminal(srNetwork* n, int mass) {
  const srComponent* c = sr_net_get(n, mass, "a terminal of a mass");
  if (!c) return sr_no_terminal;
  if (c->kind == SR_ADMITTANCE && c->admittance.rates == sr_admittance_mass.rates)
    return (srTerminal){3, mass, 0, 3, -1, mass, 0};
  sr_net_error(n, "'%s' is not a point mass", c->name);
  return sr_no_terminal;
}

srTerminal sr_network_joint_terminal(srNetwork* n, int multibody, const char* coordinate) {
  const srComponent* c = sr_net_get(n, multibody, "a terminal of a joint");
  const srModel* m = c ? sr_multibody_model(c) : NULL;
  if (!m) {
    if (c) sr_net_error(n, "'%s' is not a mechanism: it has no joints", c->name);
    return sr_no_terminal;
  }
  const int v = sr_word_index(m->v_name, m->njv, coordinate);
  if (v < 0) {
    sr_net_error(n, "'%s': the model has no coordinate '%s'%s", c->name, coordinate,
                 sr_pool_guess(&n->pool, sr_nearest_word(coordinate, m->v_name, m->njv)));
    return sr_no_terminal;
  }
  const int q = sr_word_index(m->q_name, m->njq, coordinate);  // ball and free joints have none of this name
  return (srTerminal){1, multibody, q, m->njq + v, -1, multibody, v};
}

srTerminal sr_network_point_terminal(srNetwork* n, int multibody, const char* point) {
  const srComponent* c = sr_net_get(n, multibody, "a terminal of a point");
  const srModel* m = c ? sr_multibody_model(c) : NULL;
  const int k = m ? sr_multibody_point(c, point) : -1;
  if (k < 0) {
    if (c) sr_net_error(n, "'%s' was not given the point '%s' when it was added", c->name, point);
    return sr_no_terminal;
  }
  const int first = m->njq + m->njv + 16 * k;
  return (srTerminal){6, multibody, first, first + 6, first + 12, multibody, m->njv + 6 * k};
}

// ---- a point of a rigid body ----------------------------------------------------------------------------------------------------

typedef struct Lever {
  double s[3];
  bool upright;
} Lever;

static void lever_now(const Lever* lever, const double* q, double* s) {
  if (lever->upright)
    memcpy(s, lever->s, sizeof lever->s);
  else
    sr_net_rotate(q, lever->s, s);
}

// in: p, v, q, w. The position of the point is p + s, its velocity v + w x s.
static int point_motion(void* self, double t, const double* in, double* out) {
  const double *p = in, *v = in + 3, *q = in + 6, *w = in + 10;
  double s[3], turn[3];
  (void)t;
  lever_now(self, q, s);
  srm_cross3(w, s, turn);
  for (int i = 0; i < 3; ++i) {
    out[3 + i] = p[i] + s[i];
    out[6 + i] = w[i];
    out[9 + i] = v[i] + turn[i];
  }
  memcpy(out + 12, q, 4 * sizeof *out);
  return 0;
}

// in: moment, force at the point; q. out: force, moment about the centre of mass: m + s x f.
static int point_force(void* self, double t, const double* in, double* out) {
  double s[3], turn[3];
  (void)t;
  lever_now(self, in + 6, s);
  srm_cross3(s, in + 3, turn);
  for (int i = 0; i < 3; ++i) {
    out[i] = in[3 + i];
    out[3 + i] = in[i] + turn[i];
  }
  return 0;
}

srTerminal sr_network_body_terminal(srNetwork* n, int body, const double s[3], bool upright) {
  const srComponent* c = sr_net_get(n, body, "a terminal of a body");
  if (!c) return sr_no_terminal;
  if (c->kind != SR_ADMITTANCE || c->admittance.rates != sr_admittance_rigid.rates) {
    sr_net_error(n, "'%s' is not a rigid body", c->name);
    return sr_no_terminal;
  }
  Lever lever = {{0}, upright};
  if (s) memcpy(lever.s, s, sizeof lever.s);
  void* self = sr_net_keep(n, &lever, sizeof lever);
  if (!self) return sr_no_terminal;
  const char* name = c->name;  // the component itself moves when others are added
  const int motion = sr_network_map(n, name, 13, 16, point_motion, self);
  const int force = sr_network_map(n, name, 10, 6, point_force, self);
  if (motion < 0 || force < 0) return sr_no_terminal;
  srStatus status = sr_network_wires(n, 1.0, body, 0, motion, 0, 13);
  if (status == SR_OK) status = sr_network_wires(n, 1.0, body, 6, force, 6, 4);
  if (status == SR_OK) status = sr_network_wires(n, 1.0, force, 0, body, 0, 6);
  for (int i = 0; i < 6 && status == SR_OK; ++i) status = sr_network_constant(n, 0.0, force, i);  // none is no mistake
  return status == SR_OK ? (srTerminal){6, motion, 0, 6, 12, force, 0} : sr_no_terminal;
}

// ---- attaching --------------------------------------------------------------------------------------------------------------------

static const srComponent* get_impedance(srNetwork* n, int i) {
  const srComponent* c = sr_net_get(n, i, "an impedance to be attached");
  if (!c || c->kind == SR_IMPEDANCE || c->kind == SR_ELEMENT) return c;
  sr_net_error(n, "'%s' is not an impedance: it cannot be attached", c->name);
  return NULL;
}

static bool fits(srNetwork* n, const srComponent* c, srTerminal t) {
  const srElementForm* form = &c->form;
  if (form->nf != t.n || (form->nx != 0 && form->nx != t.n) || (form->nxdot != 0 && form->nxdot != t.n)) {
    sr_net_error(n,
                 "'%s' takes %d positions and %d velocities and gives %d forces, but the terminal has %d coordinates",
                 c->name, form->nx, form->nxdot, form->nf, t.n);
    return false;
  }
  if (form->nx > 0 && t.x < 0) {
    sr_net_error(n, "'%s' takes positions, but the terminal has velocities alone", c->name);
    return false;
  }
  return true;
}

static srStatus wire_terminal(srNetwork* n, double sign, int impedance, srElementForm form, srTerminal t) {
  srStatus status = SR_OK;
  if (form.nx > 0) status = sr_network_wires(n, sign, t.motion, t.x, impedance, 0, form.nx);
  if (status == SR_OK && form.nxdot > 0)
    status = sr_network_wires(n, sign, t.motion, t.xdot, impedance, form.nx, form.nxdot);
  if (status == SR_OK && t.force >= 0) status = sr_network_wires(n, sign, impedance, 0, t.force, t.f, t.n);
  return status;
}

srStatus sr_network_attach(srNetwork* n, int impedance, srTerminal t) {
  const srComponent* c = get_impedance(n, impedance);
  if (!c || !good_terminal(n, t, c->name) || !fits(n, c, t)) return SR_INPUT;
  return wire_terminal(n, 1.0, impedance, c->form, t);
}

srStatus sr_network_between(srNetwork* n, int impedance, srTerminal a, srTerminal b) {
  const srComponent* c = get_impedance(n, impedance);
  if (!c || !good_terminal(n, a, c->name) || !good_terminal(n, b, c->name) || !fits(n, c, a) || !fits(n, c, b))
    return SR_INPUT;
  const srElementForm form = c->form;
  const srStatus status = wire_terminal(n, 1.0, impedance, form, b);
  return status == SR_OK ? wire_terminal(n, -1.0, impedance, form, a) : status;
}

srStatus sr_network_push(srNetwork* n, srTerminal t, const double* force) {
  if (!good_terminal(n, t, "a constant force")) return SR_INPUT;
  srStatus status = SR_OK;
  for (int i = 0; i < t.n && t.force >= 0 && status == SR_OK; ++i)
    status = sr_network_constant(n, force[i], t.force, t.f + i);
  return status;
}

srStatus sr_network_apply(srNetwork* n, double coefficient, int from, int out, srTerminal t) {
  if (!good_terminal(n, t, "a force")) return SR_INPUT;
  return t.force >= 0 ? sr_network_wires(n, coefficient, from, out, t.force, t.f, t.n) : SR_OK;
}
