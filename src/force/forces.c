// All force elements at one state: motion of drivers, sensors, formulas, then every element by its port.
//   f = tau + sum of the elements,   y' = r(t, q, v, y; tau),   power of every account of the energy balance
// An element with stored energy enters -dissipated into the balance (its other power is the change of its energy); one
// without enters all its power f . x' into its account. tau is the stage length of the method (Kikuuwe and Yamamoto), or the element's
// own.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dynamics/measurement.h"
#include "force/force.h"
#include "force/instances.h"
#include "force/ports.h"
#include "math/pose.h"
#include "math/v4.h"
#include "model/private.h"

static void clear(double* x, int n) {
  if (n > 0) memset(x, 0, (size_t)n * sizeof *x);
}

// ---- what laws see --------------------------------------------------------------------------------------------------

static bool motion_known(const srModel* m, const srData* d) {
  const struct srDataPrivate* p = d->priv;
  if (p == NULL || !p->motion_known || p->motion_t != d->t || p->motion_held != (d->held != NULL)) return false;
  return d->held == NULL || memcmp(p->motion_switch, d->held, (size_t)m->priv->nswitch * sizeof *d->held) == 0;
}

void sr_driver_motion(const srModel* m, srData* d) {
  if (m->ndriver == 0 || motion_known(m, d)) return;
  const srInputs inputs = {.t = d->t, .held = d->held};
  sr_program_evaluate(m->priv->drivers, &inputs, d->work, d->motion);
  struct srDataPrivate* p = d->priv;
  if (p == NULL) return;
  p->motion_known = true;
  p->motion_t = d->t;
  p->motion_held = d->held != NULL;
  if (d->held != NULL) memcpy(p->motion_switch, d->held, (size_t)m->priv->nswitch * sizeof *d->held);
}

// A smaller step may avoid it, as with forces.
static int motion_finite(const srModel* m, srData* d) {
  for (int i = 0; i < 3 * m->ndriver; ++i) {
    if (isfinite(d->motion[i])) continue;
    (void)snprintf(d->error_message, sizeof d->error_message,
                   "the motion of driver '%s' or a derivative of it is %s at t = %.9g", m->driver[i / 3].name,
                   isnan(d->motion[i]) ? "not a number" : "infinite", d->t);
    return 1;
  }
  return 0;
}

// The scalars of frame sensors that formulas use.
void sr_sense(const srModel* m, srData* d) {
  if (m->nsensor_value == 0) return;
  for (int i = 0; i < m->nsensor; ++i) {
    const srSensor* sensor = &m->sensor[i];
    if (sensor->value < 0) continue;
    srFrameMotion motion;
    sr_frame_motion(m, d, sensor->point, sensor->relative_to, &motion);
    double* out = d->sensor + sensor->value;
    memcpy(out, motion.position, sizeof motion.position);
    memcpy(out + 3, motion.velocity, sizeof motion.velocity);
    memcpy(out + 6, motion.angular_velocity, sizeof motion.angular_velocity);
    memcpy(out + 9, motion.rotation, sizeof motion.rotation);
  }
}

// z and zdot of forces between two points whose law is a formula.
static int measure_distances(const srModel* m, srData* d) {
  if (m->ndistance_arg == 0) return 0;
  for (int i = 0; i < m->nforce; ++i) {
    const srForceElement* element = &m->force[i];
    if (element->distance_arg < 0) continue;
    srPortMotion motion;
    const int answer = sr_port_motion(m, d, element, &motion);
    if (answer != 0) return answer;
    d->distance_arg[element->distance_arg] = motion.x[0];
    d->distance_arg[element->distance_arg + 1] = motion.xdot[0];
  }
  return 0;
}

static void evaluate_formulas(const srModel* m, srData* d) {
  if (m->nformula == 0) return;
  const srInputs inputs = sr_law_inputs(d);
  sr_program_evaluate(m->priv->laws, &inputs, d->work, d->formula);
}

int sr_measure_arguments(const srModel* m, srData* d) {
  sr_sense(m, d);
  return measure_distances(m, d);
}

int sr_measure(const srModel* m, srData* d) {
  if (m->nsensor_value + m->ndistance_arg + m->nformula == 0) return 0;
  const int answer = sr_measure_arguments(m, d);
  if (answer == 0) evaluate_formulas(m, d);
  return answer;
}

static srImpedanceIn law_input(const srData* d, const srForceElement* element, const srPortMotion* motion,
                               double tau_stage) {
  return (srImpedanceIn){
      .t = d->t,
      .tau = tau_stage >= 0.0 ? tau_stage : element->tau,
      .x = motion->x,
      .xdot = motion->xdot,
      .y = d->y + element->y,
      .p = element->p,
      .formula = element->formula >= 0 ? d->formula + element->formula : NULL,
      .z = element->z >= 0 ? d->z + element->z : NULL,
      .data = element->contact,
  };
}

// ---- elements -------------------------------------------------------------------------------------------------------

static int refused(srData* d, const srForceElement* element, int answer) {
  (void)snprintf(d->error_message, sizeof d->error_message, "the law '%s' of the force element '%s' refused the state",
                 element->law->name, element->name);
  return answer;
}

// A smaller step may avoid it: an adaptive method also tries states that no motion reaches.
static int not_finite(srData* d, const srForceElement* element, double f) {
  (void)snprintf(d->error_message, sizeof d->error_message, "the force of the element '%s' is %s", element->name,
                 isnan(f) ? "not a number" : "infinite");
  return 1;
}

// A gap or a belt that moves by itself: the contact receives f . x', the model f . (x' - own rates), and what moves the
// gap does the work between the two.
static double gap_power(const srForceElement* element, const srPortMotion* motion, const double* f) {
  const double* own = motion->formula + 3 + 2 * element->contact->nvariable;
  return -(f[0] * own[0] + f[1] * own[1]);
}

// Force and power of one element at the motion of its port, and the rates of its states. Inline: models have many small elements.
SRM_INLINE int evaluate(const srModel* m, srData* d, const srForceElement* element, double tau_stage,
                        srPortMotion* motion, srElementForce* x) {
  *x = (srElementForce){0};
  int answer = sr_port_motion(m, d, element, motion);
  if (answer != 0) return answer;

  const srImpedanceIn in = law_input(d, element, motion, tau_stage);
  srImpedanceOut out = {.f = x->f, .ydot = d->ydot + element->y};
  answer = element->law->evaluate(&in, &out);
  if (answer != 0) return refused(d, element, answer);
  for (int i = 0, n = sr_port_width(element->law->port); i < n; ++i) {
    if (!isfinite(x->f[i])) return not_finite(d, element, x->f[i]);
    x->power += x->f[i] * motion->xdot[i];
  }
  x->dissipated = out.dissipated;
  x->friction_dissipation = out.friction_dissipation;
  x->driven = out.driven;
  return 0;
}

// One element: its force to d->f or d->link_wrench, the rates of its states, its power to its account and to *power.
static int apply(const srModel* m, srData* d, const srForceElement* element, double tau_stage, double* power) {
  srPortMotion motion;
  srElementForce x;
  const int answer = evaluate(m, d, element, tau_stage, &motion, &x);
  if (answer != 0) return answer;
  *power = x.power;
  sr_port_force(m, d, element, &motion, x.f);
  if (element->law->port == SR_PORT_GAP) d->power[SR_ACCOUNT_DRIVER] += gap_power(element, &motion, x.f);
  if (element->contact != NULL) {
    d->power[SR_ACCOUNT_DRIVER] += x.driven;
    d->power[SR_ACCOUNT_FRICTION] -= x.friction_dissipation;
    d->power[SR_ACCOUNT_CONTACT] -= x.dissipated - x.friction_dissipation;
  } else if (element->law->energy != NULL) {
    d->power[SR_ACCOUNT_DISSIPATED] -= x.dissipated;
  } else {
    d->power[element->account] += x.power;
  }
  return 0;
}

srImpedanceIn sr_element_input(const srData* d, const srForceElement* element, const srPortMotion* motion) {
  return law_input(d, element, motion, SR_TAU_ELEMENT);
}

int sr_element_force(const srModel* m, srData* d, const srForceElement* element, srPortMotion* motion,
                     srElementForce* out) {
  clear(d->ydot + element->y, element->ny);
  const int answer = evaluate(m, d, element, SR_TAU_ELEMENT, motion, out);
  if (answer != 0 || element->law->energy == NULL) return answer;
  const srImpedanceIn in = sr_element_input(d, element, motion);
  out->energy = element->law->energy(&in);
  return 0;
}

// f = tau; everything that elements add to is zero.
SRM_INLINE void begin(const srModel* m, srData* d) {
  clear(d->ydot, m->ny);
  clear(d->power, SR_ACCOUNTS);
  if (d->element_power != NULL) clear(d->element_power, m->nforce + m->nset);
  if (m->absolute) clear(d->f, m->nv);
  for (int i = 0; i < m->njv; ++i) {
    d->jf[i] = d->tau[i];
    if (d->tau[i] != 0) d->power[SR_ACCOUNT_APPLIED] += d->tau[i] * d->jv[i];
  }
}

// Contacts of a set are counted together.
static void keep_power(const srModel* m, srData* d, int i, double power) {
  const struct srInstances* x = d->instances;
  d->element_power[i < m->nforce ? i : m->nforce + x->instance[x->used[i - m->nforce]].set] += power;
}

// Rates of <state> elements.
static void user_rates(const srModel* m, srData* d) {
  for (int i = 0; i < m->priv->ny_user; ++i) d->ydot[i] = d->formula[m->priv->formula_rate + i];
}

static void add_contact_forces(const srModel* m, srData* d) {
  for (int i = 0; i < m->nv && d->contact_force != NULL; ++i) d->f[i] += d->contact_force[i];
}

int sr_forces(const srModel* m, srData* d, double tau_stage) {
  d->error_message[0] = '\0';
  if (sr_only_tau(m, d)) {
    begin(m, d);
    add_contact_forces(m, d);
    return 0;
  }
  int answer = 0;
  if (m->ndriver > 0) {
    sr_driver_motion(m, d);
    answer = motion_finite(m, d);
  }
  if (answer == 0) answer = sr_measure(m, d);
  if (answer == 0 && d->instances != NULL && !d->rigid) answer = sr_instances_at(m, d);
  if (answer != 0) return answer;

  begin(m, d);
  bool wrenches = m->formulation == SR_FORMULATION_PENALTY;
  if (wrenches) clear(d->link_wrench, 8 * m->nlink);
  for (int i = 0, n = sr_element_count(m, d); i < n; ++i) {
    const srForceElement* element = i < m->nforce ? &m->force[i] : sr_element(m, d, i);
    if (sr_force_is_rigid(d, element)) continue;
    if (element->law->port != SR_PORT_JOINT && !wrenches) {
      clear(d->link_wrench, 8 * m->nlink);
      wrenches = true;
    }
    double power;
    answer = apply(m, d, element, tau_stage, &power);
    if (answer != 0) return answer;
    if (d->element_power != NULL) keep_power(m, d, i, power);
  }
  if (m->formulation == SR_FORMULATION_PENALTY) answer = sr_soft_closures(m, d);
  if (wrenches) sr_gather_wrenches(m, d);
  if (m->absolute) sr_measurement_transposed(m, d, d->jf, d->f);
  add_contact_forces(m, d);
  user_rates(m, d);
  return answer;
}

// ---- energy and blame -----------------------------------------------------------------------------------------------

double sr_stored_energy(const srModel* m, srData* d) {
  double sum = 0.0;
  for (int i = 0, n = sr_element_count(m, d); i < n; ++i) {
    const srForceElement* element = sr_element(m, d, i);
    srPortMotion motion;
    if (element->law->energy == NULL || sr_force_is_rigid(d, element) || sr_port_motion(m, d, element, &motion) != 0)
      continue;
    const srImpedanceIn in = law_input(d, element, &motion, SR_TAU_ELEMENT);
    sum += element->law->energy(&in);
  }
  return sum;
}

// The wrench received by a link, for a body that rides on it; inertial axes, about the ground's origin.
static void take_wrench(const srModel* m, srData* d, int point, double* wrench) {
  const int link = m->point_link[point];
  const double* pose = d->link_pose + 16 * link;
  double* W = d->link_wrench + 8 * link;
  double n[3], f[3], turn[3];
  srm_pose_rotate(pose, W, n);
  srm_pose_rotate(pose, W + 4, f);
  srm_cross3(pose + 12, f, turn);
  for (int i = 0; i < 3; ++i) {
    wrench[6 * m->point_body[point] + i] += n[i] + turn[i];
    wrench[6 * m->point_body[point] + 3 + i] += f[i];
  }
  clear(W, 8);
}

// For a gap: its effect on joint coordinates acts inside joints, the rest on the bodies of its sensors.
static int gap_body_forces(const srModel* m, srData* d, const srForceElement* element, double* wrench) {
  const srSurfaceLaws* contact = element->contact;
  srPortMotion motion;
  srElementForce x;
  const int answer = evaluate(m, d, element, SR_TAU_ELEMENT, &motion, &x);
  if (answer != 0) return answer;
  sr_port_gap_wrenches(m, d, element, &motion, x.f);
  for (int k = 0; k < contact->nvariable; ++k) {
    if (contact->variable[k].dof >= 0) continue;
    const srSensor* sensor = &m->sensor[contact->variable[k].index];
    take_wrench(m, d, sensor->point, wrench);
    take_wrench(m, d, sensor->relative_to, wrench);
  }
  return 0;
}

int sr_body_forces(const srModel* m, srData* d, double* wrench) {
  double power[SR_ACCOUNTS], unused;
  memcpy(power, d->power, sizeof power);
  clear(d->link_wrench, 8 * m->nlink);
  int answer = 0;
  for (int i = 0, n = sr_element_count(m, d); i < n && answer == 0; ++i) {
    const srForceElement* element = sr_element(m, d, i);
    if (element->law->port == SR_PORT_JOINT || sr_force_is_rigid(d, element)) continue;
    clear(d->ydot + element->y, element->ny);
    if (element->law->port == SR_PORT_GAP) {
      answer = gap_body_forces(m, d, element, wrench);
      continue;
    }
    answer = apply(m, d, element, SR_TAU_ELEMENT, &unused);
    for (int k = 0; k < 2; ++k) {
      if (element->point[k] >= 0) take_wrench(m, d, element->point[k], wrench);
    }
  }
  memcpy(d->power, power, sizeof power);
  return answer;
}

// Force of one element alone on a coordinate.
static double force_alone(const srModel* m, srData* d, const srForceElement* element, int dof) {
  clear(d->f, m->nv);
  clear(d->jf, m->njv);
  double power;
  clear(d->link_wrench, 8 * m->nlink);
  if (apply(m, d, element, SR_TAU_ELEMENT, &power) != 0) return 0.0;
  if (element->law->port != SR_PORT_JOINT) sr_gather_wrenches(m, d);
  if (m->absolute) sr_measurement_transposed(m, d, d->jf, d->f);
  return d->f[dof];
}

int sr_force_source(const srModel* m, srData* d, int dof, double* force) {
  int source = -1;
  *force = 0.0;
  for (int i = 0, n = sr_element_count(m, d); i < n; ++i) {
    const double f = sr_force_is_rigid(d, sr_element(m, d, i)) ? 0.0 : force_alone(m, d, sr_element(m, d, i), dof);
    if (fabs(f) > fabs(*force)) {
      source = i;
      *force = f;
    }
  }
  return source;
}
