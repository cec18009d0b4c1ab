// Force elements, states, closures and joints of free bodies in the tangent.
//
//   joint port    f acts on a variable v:                 f_x dx + f_x' dx' + f_y dy + (its formula), along the derivatives of v
//   link port     f acts on z, w = f (0, n):              the rotation of w, and the same along the derivatives of z
//   point, frames f is the wrench over the chain's twist: Lx = f_x (dx/dpose), Lt = f_x'
//   gap port      the gap's and the slip's force along the derivatives of each of their variables
//   states        rows of y': the same derivatives
//   instances     of contact sets: as elements between frames, over the chain of each, which is laid out when it is needed
//   closure       w = sum lambda_i W_i and its derivative; soft ones with their springs
//   free bodies   forces jf on joint coordinates, multipliers of drivers and couplings, minus armature times jv', act
//                 along the rows h of the measurements: w = sum jf_k h_k. Armature adds its own change, -armature d(jv')
#include <math.h>
#include <string.h>

#include "constraint/closure_graph.h"
#include "constraint/derivative.h"
#include "force/derivative.h"
#include "force/force.h"
#include "force/instances.h"
#include "force/ports.h"
#include "model/private.h"
#include "system/tangent.h"

#define NEW(x, type, n) ((type*)sr_pool_alloc(&(x)->pool, (size_t)((n) > 0 ? (n) : 1) * sizeof(type)))

// ---- memory -----------------------------------------------------------------------------------------------------------

static const srVariable* gap_variable(srModelTangent* x, const srContactVariable* of) {
  const srVariable key = {.kind = of->kind, .index = of->index, .scalar = of->scalar};
  const int k = sr_tangent_variable(x, key);  // may move the list
  return x->variable[k];
}

static void prepare_force(srModelTangent* x, int i) {
  const srForceElement* e = &x->m->force[i];
  x->of_distance[i] = -1;
  if (e->law->port == SR_PORT_JOINT) {
    sr_tangent_variable(x, (srVariable){.kind = SR_VAR_V, .index = e->dof});
    if (e->qdof >= 0) sr_tangent_variable(x, (srVariable){.kind = SR_VAR_Q, .index = e->qdof});
  } else if (e->law->port == SR_PORT_GAP) {
    for (int k = 0; k < e->contact->nvariable; k++) gap_variable(x, &e->contact->variable[k]);
  } else if (e->law->port == SR_PORT_POINT) {
    x->of_force[i] = sr_tangent_chain(x, e->point[0], 0, -1);
  } else {
    x->of_force[i] = sr_tangent_chain(x, e->point[1], e->point[0], -1);
  }
  if (e->law->port == SR_PORT_DISTANCE) {
    x->of_distance[i] = sr_tangent_variable(x, (srVariable){.kind = SR_VAR_ARG, .index = i, .scalar = 0});
    sr_tangent_variable(x, (srVariable){.kind = SR_VAR_ARG, .index = i, .scalar = 1});
  }
  for (int k = 0; k < e->ny; k++) sr_tangent_variable(x, (srVariable){.kind = SR_VAR_STATE, .index = e->y + k});
}

// One program for all elements of a law.
static const srProgram* derivative_of(srModelTangent* x, int i) {
  const srForceElement* force = x->m->force;
  if (force[i].jacobian || force[i].formula >= 0) return NULL;
  for (int k = i - 1; k >= 0 && k > i - 64; k--)
    if (force[k].law == force[i].law) return x->derivative[k];
  return sr_law_derivative(&x->pool, force[i].law);
}

// Room for the chain and the law of any instance.
static void prepare_contacts(srModelTangent* x, int* most, int* work) {
  const srModel* m = x->m;
  int path = 0;
  for (int i = 0; i < m->ncollider; i++) {
    const int n = sr_chain_count(m, m->collider[i].point, 0);
    if (n > path) path = n;
  }
  x->contact_ints = NEW(x, int, 2 * SR_CHAIN_INTS * path);
  x->contact_reals = NEW(x, double, 2 * SR_CHAIN_NUMBERS * path);
  for (int i = 0; i < m->nset; i++) {
    const srForceElement like = {.ny = m->set[i].ny};
    const int needed = sr_law_jacobian_work(&like, NULL);
    if (like.ny > *most) *most = like.ny;
    if (needed > *work) *work = needed;
  }
}

static const srProgram* closure_derivative_of(srModelTangent* x, int i) {
  const srClosure* closure = x->m->closure;
  for (int k = i - 1; k >= 0 && k > i - 64; k--)
    if (sr_closure_graph_same(&closure[k], &closure[i])) return x->closure_derivative[k];
  return sr_closure_derivative(&x->pool, &closure[i]);
}

void sr_tangent_force_prepare(srModelTangent* x) {
  const srModel* m = x->m;
  int most = 0, work = 0;
  x->derivative = NEW(x, const srProgram*, m->nforce);
  x->closure_derivative = NEW(x, const srProgram*, m->nclosure);
  for (int j = 0; m->absolute && j < m->njoint; j++) {
    if (m->joint_nv[j] > 0) x->of_joint[j] = sr_tangent_chain(x, m->joint_body[j], m->joint_point[j], -1);
  }
  for (int k = 0; m->absolute && k < m->njv; k++) sr_tangent_variable(x, (srVariable){.kind = SR_VAR_V, .index = k});
  for (int i = 0; i < m->nclosure; i++) {
    const srClosure* c = &m->closure[i];
    const bool both = c->kind->observer == SR_OBSERVER_COMMON;
    x->of_closure[i] = sr_tangent_chain(x, c->point[1], c->point[0], both ? c->common : -1);
    x->closure_derivative[i] = closure_derivative_of(x, i);
    const int needed = x->closure_derivative[i] ? sr_program_work(x->closure_derivative[i]) : 0;
    if (needed > work) work = needed;
  }
  for (int i = 0; i < m->nforce; i++) {
    prepare_force(x, i);
    if (m->force[i].ny > most) most = m->force[i].ny;
    x->derivative[i] = derivative_of(x, i);
    const int needed = sr_law_jacobian_work(&m->force[i], x->derivative[i]);
    if (needed > work) work = needed;
  }
  prepare_contacts(x, &most, &work);
  x->law_jacobian = NEW(x, double, (6 + most) * (12 + most));
  x->law_work = NEW(x, double, work);
  x->law_out = NEW(x, double, 6 + most);
  x->gap_by = NEW(x, double, m->nv);
  x->accel_q = NEW(x, double, 12);
  x->accel_v = NEW(x, double, 12);
}

// ---- elements -------------------------------------------------------------------------------------------------------------

typedef struct Law {
  const srForceElement* e;
  const srProgram* derivative;  // NULL: none on the graph
  int n, k;                     // width of the port, states
  const double* J;              // (n + k) x (2 n + k)
  const double* f;
  srPortMotion motion;
} Law;

static double derivative(const Law* law, int row, int column) { return law->J[row * (2 * law->n + law->k) + column]; }

// Force and derivative of an element at d's state; nothing while entries are only recorded.
static int evaluate(srModelTangent* x, srData* d, double tau, Law* law) {
  const srForceElement* e = law->e;
  law->n = sr_port_width(e->law->port);
  law->k = e->ny;
  law->J = x->law_jacobian;
  law->f = x->law_out;
  if (!x->entries.place) return 0;
  int answer = sr_port_motion(x->m, d, e, &law->motion);
  if (answer != 0) return answer;
  const srImpedanceIn in = {.t = d->t,
                            .tau = tau >= 0 ? tau : e->tau,
                            .x = law->motion.x,
                            .xdot = law->motion.xdot,
                            .y = d->y + e->y,
                            .p = e->p,
                            .formula = e->formula >= 0 ? d->formula + e->formula : NULL,
                            .z = e->z >= 0 ? d->z + e->z : NULL,
                            .data = e->contact};
  srImpedanceOut out = {.f = x->law_out, .ydot = x->law_out + 6};
  memset(x->law_out, 0, (size_t)(6 + law->k) * sizeof *x->law_out);
  answer = e->law->evaluate(&in, &out);
  return answer != 0 ? answer : sr_law_jacobian(e, law->derivative, &in, x->law_work, x->law_jacobian);
}

// Row `row` of the derivative, which acts on n rows of K with these coefficients: by the states, and by the formulas from `formula`.
static void put_states(srModelTangent* x, const Law* law, int row, int n, const int* rows, const double* coefficient,
                       int stride) {
  double by_q = 0, by_v = 1;
  for (int s = 0; s < law->k; s++) {
    const int column = x->m->nv + law->e->y + s;
    const srVariable y = {.n = 1, .column = &column, .dq = &by_q, .dv = &by_v};
    sr_tangent_outer(x, n, rows, coefficient, stride, &y, derivative(law, row, 2 * law->n + s));
  }
}

static void put_formula(srModelTangent* x, int formula, int n, const int* rows, const double* coefficient, int stride) {
  for (int i = x->law_start[formula]; i < x->law_start[formula + 1]; i++) {
    sr_tangent_outer(x, n, rows, coefficient, stride, x->variable[x->law[i].variable], x->law_value[x->law[i].at]);
  }
}

static const double one = 1;

// A port of one number: row 0 of the derivative acts on `on`, the others are rates of states.
static void put_scalar(srModelTangent* x, const Law* law, const srVariable* on, const double* coefficient,
                       const srVariable* position, const srVariable* rate) {
  if (law->e->formula >= 0) {
    put_formula(x, law->e->formula, on->n, on->column, coefficient, 1);
    return;
  }
  for (int r = 0; r < 1 + law->k; r++) {
    const int state = x->m->nv + law->e->y + r - 1, n = r == 0 ? on->n : 1;
    const int* rows = r == 0 ? on->column : &state;
    const double* by = r == 0 ? coefficient : &one;
    if (position) sr_tangent_outer(x, n, rows, by, 1, position, derivative(law, r, 0));
    sr_tangent_outer(x, n, rows, by, 1, rate, derivative(law, r, 1));
    put_states(x, law, r, n, rows, by, 1);
  }
}

static void joint_element(srModelTangent* x, const Law* law) {
  const srVariable* v = x->variable[x->of_v[law->e->dof]];
  const srVariable* q = law->e->qdof >= 0 ? x->variable[x->of_q[law->e->qdof]] : NULL;
  put_scalar(x, law, v, v->dv, q, v);
}

static void distance_element(srModelTangent* x, const srData* d, int i, const Law* law) {
  const srVariable *z = x->variable[x->of_distance[i]], *zdot = x->variable[x->of_distance[i] + 1];
  sr_tangent_variable_turn(x, d, z, law->f[0]);
  put_scalar(x, law, z, z->dq, z, zdot);
}

// Derivative by x converted to one by the pose: its rows r.
static void over_pose(const Law* law, int r, const double* A, double* out) {
  for (int j = 0; j < 6; j++) {
    out[j] = j < 3 ? 0 : derivative(law, r, j);
    for (int k = 0; j < 3 && law->e->law->port == SR_PORT_FRAMES && k < 3; k++)
      out[j] += derivative(law, r, k) * A[3 * k + j];
  }
}

static double dot6(const double* a, const double* b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

static void wide_element(srModelTangent* x, const srChain* chain, const Law* law) {
  double A[9] = {0}, Lx[36], Lt[36];
  if (law->e->law->port == SR_PORT_FRAMES && x->entries.place) sr_rotation_jacobian(law->motion.x, A);
  for (int r = 0; r < 6; r++) {
    over_pose(law, r, A, Lx + 6 * r);
    for (int j = 0; j < 6; j++) Lt[6 * r + j] = derivative(law, r, 6 + j);
  }
  sr_chain_wrench(chain, law->f, Lx, Lt, &x->entries);
  for (int r = 0; r < 6; r++) {
    put_states(x, law, r, chain->n, chain->dof, chain->c + r, 6);
    if (law->e->formula >= 0 && !law->e->contact)  // of a contact: velocities of surfaces, laws of the time
      put_formula(x, law->e->formula + r, chain->n, chain->dof, chain->c + r, 6);
  }
  for (int r = 6; r < 6 + law->k; r++) {
    const int row = x->m->nv + law->e->y + r - 6;
    double by_pose[6], by_twist[6];
    over_pose(law, r, A, by_pose);
    for (int j = 0; j < 6; j++) by_twist[j] = derivative(law, r, 6 + j);
    for (int k = 0; k < chain->n; k++) {
      const double *c = chain->c + 6 * k, *dt = chain->dt + 6 * k;
      srm_entry(&x->entries, row, chain->dof[k], -dot6(by_pose, c) - dot6(by_twist, dt), -dot6(by_twist, c));
    }
    put_states(x, law, r, 1, &row, &one, 1);
  }
}

// Row r of the derivative, (2 + k) x (4 + k) by (gap, slip, gap', slip', y), over n rows of K: the formulas of gap and rates.
static void put_gap_row(srModelTangent* x, const Law* law, int r, int n, const int* rows, double* by,
                        const double* coefficient, double factor) {
  static const int formula[] = {0, -1, 1, 2};
  for (int j = 0; j < 4; j++) {
    if (formula[j] < 0) continue;
    for (int i = 0; i < n; i++) by[i] = factor * derivative(law, r, j) * coefficient[i];
    put_formula(x, law->e->formula + formula[j], n, rows, by, 1);
  }
  for (int i = 0; i < n; i++) by[i] = factor * coefficient[i];
  put_states(x, law, r, n, rows, by, 1);
}

// A gap by formula: force f.(coefficients) over each of its variables.
static void gap_element(srModelTangent* x, const srData* d, const Law* law) {
  const srForceElement* e = law->e;
  const double* value = x->entries.place ? d->formula + e->formula + 3 : NULL;
  for (int k = 0; k < e->contact->nvariable; k++) {
    const srVariable* on = gap_variable(x, &e->contact->variable[k]);
    const double* over = on->velocity ? on->dv : on->dq;
    double force = 0;
    for (int r = 0; r < 2; r++) {
      const double coefficient = value ? value[2 * k + r] : 0, f = value ? law->f[r] : 0;
      put_gap_row(x, law, r, on->n, on->column, x->gap_by, over, coefficient);
      for (int i = 0; i < on->n; i++) x->gap_by[i] = f * over[i];
      put_formula(x, e->formula + 3 + 2 * k + r, on->n, on->column, x->gap_by, 1);
      force += f * coefficient;
    }
    if (on->kind == SR_VAR_SENSOR) sr_tangent_variable_turn(x, d, on, force);  // of coordinates: with their joint
  }
  for (int r = 2; r < 2 + law->k; r++) {
    const int row = x->m->nv + e->y + r - 2;
    put_gap_row(x, law, r, 1, &row, x->gap_by, &one, 1);
  }
}

static int elements(srModelTangent* x, srData* d, double tau) {
  for (int i = 0; i < x->m->nforce; i++) {
    Law law = {.e = &x->m->force[i], .derivative = x->derivative[i]};
    if (x->rigid && law.e->contact != NULL && (law.e->contact->law != NULL || sr_is_set_valued(law.e))) continue;
    const int answer = evaluate(x, d, tau, &law);
    if (answer != 0) return answer;
    switch (law.e->law->port) {
      case SR_PORT_JOINT: joint_element(x, &law); break;
      case SR_PORT_DISTANCE: distance_element(x, d, i, &law); break;
      case SR_PORT_GAP: gap_element(x, d, &law); break;
      default: wide_element(x, x->of_force[i], &law); break;
    }
  }
  for (int i = 0; i < x->m->priv->ny_user; i++) {
    const int row = x->m->nv + i;
    put_formula(x, x->m->priv->formula_rate + i, 1, &row, &one, 1);
  }
  return 0;
}

int sr_tangent_contacts(srModelTangent* x, srData* d, double tau) {
  const struct srInstances* list = d->instances;
  for (int i = 0; i < list->nused; i++) {
    const srForceElement* e = &list->instance[list->used[i]].element;
    Law law = {.e = e};
    srChain chain;
    sr_chain_init(x->m, e->point[1], e->point[0], -1, x->contact_ints, x->contact_reals, &chain);
    if (x->entries.place) sr_chain_evaluate(x->m, d, &chain);
    const int answer = evaluate(x, d, tau, &law);
    if (answer != 0) return answer;
    wide_element(x, &chain, &law);
  }
  return 0;
}

// ---- closures -------------------------------------------------------------------------------------------------------------

static int closure(srModelTangent* x, const srData* d, int i, const double* lambda) {
  const srClosure* c = &x->m->closure[i];
  const srChain* chain = x->of_closure[i];
  const srProgram* derivative = x->closure_derivative[i];
  double w[6] = {0}, L[36] = {0}, Lt[36] = {0}, own[6] = {0};
  srClosureIn in = {.t = x->entries.place ? d->t : 0};
  memcpy(in.R, chain->R, sizeof in.R);
  memcpy(in.d, chain->d, sizeof in.d);
  memcpy(in.w, chain->t, sizeof in.w);
  memcpy(in.u, chain->t + 3, sizeof in.u);
  int answer = 0;
  if (c->soft) {
    if (x->entries.place) answer = sr_soft_jacobian(x->m, c, derivative, &in, x->law_work, w, L, Lt);
    if (answer != 0) return answer;
    sr_chain_wrench(chain, w, L, Lt, &x->entries);
  }
  if (c->soft && c->nvel == 0) return 0;
  for (int k = c->soft ? c->np : 0; k < c->np + c->nvel && x->entries.place; k++) {
    own[k] = lambda[k < c->np ? c->row + k : c->vrow + k - c->np];
  }
  if (x->entries.place) answer = sr_closure_jacobian(c, derivative, &in, own, x->law_work, w, L);
  if (answer == 0) sr_chain_wrench(chain, w, L, NULL, &x->entries);
  return answer;
}

// ---- joints of free bodies --------------------------------------------------------------------------------------------------

// Multipliers of couplings and drivers on joint velocity k.
static double multiplier_on(const srModel* m, const double* lambda, int k) {
  double sum = 0;
  for (int i = 0; i < m->ncoupling; i++) {
    const srCoupling* c = &m->coupling[i];
    for (int l = 0; l < c->n; l++) sum += c->dof[l] == k ? c->factor[l] * lambda[c->row] : 0;
  }
  for (int i = 0; i < m->ndriver; i++) sum += m->driver[i].dof == k ? lambda[m->row_driver + i] : 0;
  return sum;
}

// Rotation of the armature torque of joint velocity k; returns its force.
static double armature(srModelTangent* x, const srVariable* v, int k, const srChainAcceleration* accel) {
  const double armature = x->m->joint_armature[k];
  double value = 0;
  if (x->entries.place) {
    value = sr_measurement_acceleration_jacobian(v->measurement, v->component, v->chain, accel, x->accel_q, x->accel_v);
  }
  const srVariable change = {.n = v->n, .column = v->column, .dq = x->accel_q, .dv = x->accel_v};
  sr_tangent_outer(x, v->n, v->column, v->dv, 1, &change, -armature);
  return -armature * value;
}

static bool has_armature(const srModel* m, int j) {
  for (int k = m->joint_v[j]; k < m->joint_v[j] + m->joint_nv[j]; k++) {
    if (m->joint_armature[k] > 0) return true;
  }
  return false;
}

static void joint(srModelTangent* x, const srData* d, int j, const double* a, const double* lambda) {
  const srModel* m = x->m;
  double w[6] = {0}, L[36] = {0};
  srChainAcceleration accel;
  if (x->entries.place && has_armature(m, j)) sr_chain_acceleration(x->of_joint[j], a, &accel);
  for (int k = m->joint_v[j]; k < m->joint_v[j] + m->joint_nv[j]; k++) {
    const srVariable* v = x->variable[x->of_v[k]];
    double force = x->entries.place ? d->jf[k] + multiplier_on(m, lambda, k) : 0;
    if (m->joint_armature[k] > 0) force += armature(x, v, k, &accel);
    for (int i = 0; i < 6; i++) w[i] += force * v->w[i];
    for (int i = 0; i < 36; i++) L[i] += force * v->L[i];
  }
  sr_chain_wrench(x->of_joint[j], w, L, NULL, &x->entries);
}

int sr_tangent_forces(srModelTangent* x, srData* d, double tau, const double* a, const double* lambda) {
  int answer = elements(x, d, tau);
  for (int i = 0; i < x->m->nclosure && answer == 0; i++) answer = closure(x, d, i, lambda);
  for (int j = 0; j < x->m->njoint && answer == 0 && x->m->absolute; j++) {
    if (x->m->joint_nv[j] > 0) joint(x, d, j, a, lambda);
  }
  return answer;
}
