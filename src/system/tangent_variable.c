// Variables of force laws and formulas, and their derivatives along the coordinates.
//
//   coordinate   of a plain joint dx = 1; of a quaternion n' = n o (0, w)/2; of a free link's position p' = R v
//   on a chain   x' = w . t (positions) or x = w . t (velocities), w from the pose: c_k the chain's columns, L = dw
//                positions    dx/dq_k = w . c_k
//                velocities   dx/dv_k = w . c_k,   dx/dq_k = (L c_k) . t + w . dt/dq_k
//     z            w = (0, n), n = d/|d|,  L = (1 - n n^T)/|d| over displacements
//     sensor       x y z: (0, e), vx vy vz: the same, wx wy wz: (e, 0), r_ij: (c x e_i, 0) with c column j of R
//     joint coordinates of free bodies: the derivatives of the measurements
#include <math.h>
#include <string.h>

#include "dynamics/link.h"
#include "math/pose.h"
#include "system/tangent.h"

#define NEW(x, type, n) ((type*)sr_pool_alloc(&(x)->pool, (size_t)((n) > 0 ? (n) : 1) * sizeof(type)))

static double dot6(const double* a, const double* b) { return srm_dot3(a, b) + srm_dot3(a + 3, b + 3); }

srChain* sr_tangent_chain(srModelTangent* x, int point, int observer, int common) {
  const int n = sr_chain_count(x->m, point, observer);
  srChain* chain = NEW(x, srChain, 1);
  sr_chain_init(x->m, point, observer, common, NEW(x, int, SR_CHAIN_INTS* n), NEW(x, double, SR_CHAIN_NUMBERS* n),
                chain);
  SR_PUSH(&x->pool, x->chain, x->nchain, x->chain_capacity) = chain;
  return chain;
}

// ---- what a variable is ---------------------------------------------------------------------------------------------------

static int* slot_of(srModelTangent* x, const srVariable* key) {
  switch (key->kind) {
    case SR_VAR_Q: return &x->of_q[key->index];
    case SR_VAR_V: return &x->of_v[key->index];
    case SR_VAR_STATE: return &x->of_state[key->index];
    case SR_VAR_SENSOR: return &x->of_scalar[x->m->sensor[key->index].value + key->scalar];
    default: return NULL;  // z and zdot: made in pairs with their element
  }
}

static int link_of_position(const srModel* m, int q) {
  int link = m->nlink - 1;
  while (m->link_q[link] > q) link--;
  return link;
}

// The measurement of a joint coordinate of free bodies.
static void find_gauge(srModelTangent* x, srVariable* out) {
  const srModel* m = x->m;
  for (int i = 0; i < m->nmeasurement; i++) {
    const srMeasurement* measurement = &m->measurement[i];
    const bool of_q = out->kind == SR_VAR_Q;
    const int first = of_q ? measurement->q : measurement->v;
    const int three =
        measurement->kind == SR_MEASUREMENT_ROTATION || measurement->kind == SR_MEASUREMENT_ORIGIN ? 3 : 1;
    const int count = of_q && measurement->kind == SR_MEASUREMENT_ROTATION ? 4 : three;
    if (out->index < first || out->index >= first + count) continue;
    out->measurement = measurement;
    out->component = out->index - first;
    out->chain = x->of_joint[m->body_joint[measurement->body]];
  }
}

// Its chain, where it has one.
static void find_chain(srModelTangent* x, srVariable* out) {
  const srModel* m = x->m;
  if (out->kind == SR_VAR_SENSOR) {
    srChain** chain = &x->of_sensor[out->index];
    if (!*chain) *chain = sr_tangent_chain(x, m->sensor[out->index].point, m->sensor[out->index].relative_to, -1);
    out->chain = *chain;
  } else if (out->kind == SR_VAR_ARG) {
    out->chain = x->of_force[out->index];
  } else if (m->absolute && out->kind != SR_VAR_STATE) {
    find_gauge(x, out);
  }
}

static bool is_velocity(const srVariable* x) {
  if (x->kind == SR_VAR_SENSOR) return x->scalar >= 3 && x->scalar < 9;
  return x->kind == SR_VAR_V || (x->kind == SR_VAR_ARG && x->scalar == 1);
}

// Columns of a coordinate or a state itself.
static void own_columns(srModelTangent* x, srVariable* out) {
  const srModel* m = x->m;
  int first = out->kind == SR_VAR_STATE ? m->nv + out->index : out->index;
  out->n = 1;
  if (out->kind == SR_VAR_Q) {
    out->link = link_of_position(m, out->index);
    out->n = sr_link_nv[m->link_type[out->link]];
    first = m->link_v[out->link];
  }
  int* column = NEW(x, int, out->n);
  for (int i = 0; i < out->n; i++) column[i] = first + i;
  out->column = column;
}

static void complete(srModelTangent* x, srVariable* out) {
  find_chain(x, out);
  out->velocity = is_velocity(out);
  if (out->chain) {
    out->n = out->chain->n;
    out->column = out->chain->dof;
  } else {
    own_columns(x, out);
  }
  out->dq = NEW(x, double, out->n);
  out->dv = NEW(x, double, out->n);
  if (out->chain || out->n > 1) return;
  *(out->kind == SR_VAR_Q ? out->dq : out->dv) = 1;
}

int sr_tangent_variable(srModelTangent* x, srVariable key) {
  int* slot = slot_of(x, &key);
  if (slot && *slot >= 0) return *slot;
  srVariable* made = NEW(x, srVariable, 1);
  *made = key;
  complete(x, made);
  SR_PUSH(&x->pool, x->variable, x->nvariable, x->variable_capacity) = made;
  if (slot) *slot = x->nvariable - 1;
  return x->nvariable - 1;
}

// ---- coordinates ------------------------------------------------------------------------------------------------------------

static void quaternion_product(const double* a, const double* b, double* out) {
  out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
  out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
  out[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
  out[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

// n o (0, w)/2
static void quaternion_rate(const double* n, const double* w, double* out) {
  const double half[4] = {0, 0.5 * w[0], 0.5 * w[1], 0.5 * w[2]};
  quaternion_product(n, half, out);
}

static const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

// Of a ball or free link: which quaternion and which component of it, or which component of the position (quaternion NULL).
static const double* quaternion_of(const srModel* m, const srData* d, const srVariable* x, int* component) {
  const int link = x->link, k = x->index - m->link_q[link];
  const bool is_free = m->link_type[link] == SR_LINK_FREE;
  *component = is_free && k >= 3 ? k - 3 : k;
  return is_free && k < 3 ? NULL : d->q + m->link_q[link] + (is_free ? 3 : 0);
}

static void coordinate(const srModel* m, const srData* d, srVariable* x) {
  int k;
  const double* n = quaternion_of(m, d, x, &k);
  const m3 R = srm_quaternion_matrix(n ? n : d->q + m->link_q[x->link] + 3);
  for (int i = 0; i < 3; i++) {
    double rate[4];
    if (n) quaternion_rate(n, unit[i], rate);
    if (n) x->dq[i] = rate[k];
    if (!n) x->dq[3 + i] = R.c[i][k];
  }
}

// The derivative along k of the derivative along j.
static double coordinate_second(const srModel* m, const srData* d, const srVariable* x, int j, int k) {
  int component;
  const double* n = quaternion_of(m, d, x, &component);
  if (n) {
    double one[4], two[4];
    if (j >= 3 || k >= 3) return 0;
    quaternion_rate(n, unit[k], one);
    quaternion_rate(one, unit[j], two);
    return two[component];
  }
  if (j < 3 || k >= 3) return 0;
  const m3 R = srm_quaternion_matrix(d->q + m->link_q[x->link] + 3);
  double turn[3];
  srm_cross3(unit[k], unit[j - 3], turn);
  return R.c[0][component] * turn[0] + R.c[1][component] * turn[1] + R.c[2][component] * turn[2];
}

// ---- chains -----------------------------------------------------------------------------------------------------------------

static void distance_row(srVariable* x) {
  const double z = srm_norm3(x->chain->d);
  for (int i = 0; i < 3; i++) x->w[3 + i] = x->chain->d[i] / z;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) x->L[6 * (3 + i) + 3 + j] = ((i == j) - x->w[3 + i] * x->w[3 + j]) / z;
  }
}

static void sensor_row(srVariable* x) {
  const int s = x->scalar;
  if (s < 6) {
    x->w[3 + s % 3] = 1;
  } else if (s < 9) {
    x->w[s - 6] = 1;
  } else {
    const int i = (s - 9) / 3, j = (s - 9) % 3;
    const double *R = x->chain->R, c[3] = {R[j], R[3 + j], R[6 + j]};
    srm_cross3(c, unit[i], x->w);
    for (int k = 0; k < 3; k++) {
      double turn[3], row[3];
      srm_cross3(unit[k], c, turn);
      srm_cross3(turn, unit[i], row);
      for (int l = 0; l < 3; l++) x->L[6 * l + k] = row[l];
    }
  }
}

// Component k of the quaternion of R:  w = R b, b_m = (n o e_m)_k/2;   dw = s x w + R db, with n moved by R^T s.
static void quaternion_row(const srData* d, srVariable* x) {
  const double *n = d->jq + x->measurement->q, *R = x->chain->R;
  const int k = x->component;
  for (int m = 0; m < 3; m++) {
    double rate[4];
    quaternion_rate(n, unit[m], rate);
    for (int i = 0; i < 3; i++) x->w[i] += R[3 * i + m] * rate[k];
  }
  for (int s = 0; s < 3; s++) {
    const double body[3] = {R[3 * s], R[3 * s + 1], R[3 * s + 2]};  // R^T e_s
    double one[4], two[4], dw[3];
    quaternion_rate(n, body, one);
    srm_cross3(unit[s], x->w, dw);
    for (int m = 0; m < 3; m++) {
      quaternion_rate(one, unit[m], two);
      for (int i = 0; i < 3; i++) dw[i] += R[3 * i + m] * two[k];
    }
    for (int i = 0; i < 3; i++) x->L[6 * i + s] = dw[i];
  }
}

static void chain_row(const srData* d, srVariable* x) {
  memset(x->w, 0, sizeof x->w);
  memset(x->L, 0, sizeof x->L);
  if (x->kind == SR_VAR_ARG) {
    distance_row(x);
  } else if (x->kind == SR_VAR_SENSOR) {
    sensor_row(x);
  } else if (x->kind == SR_VAR_Q && x->measurement->kind == SR_MEASUREMENT_ROTATION) {
    quaternion_row(d, x);
  } else if (x->kind == SR_VAR_Q && x->measurement->kind == SR_MEASUREMENT_ORIGIN) {
    x->w[3 + x->component] = 1;
  } else {
    sr_measurement_jacobian(x->measurement, x->component, x->chain->R, x->w, x->L);
  }
}

static void chain_variable(const srData* d, srVariable* x) {
  const srChain* chain = x->chain;
  chain_row(d, x);
  for (int k = 0; k < x->n; k++) {
    const double* c = chain->c + 6 * k;
    const double along = dot6(x->w, c);
    double turn = 0;
    for (int i = 0; i < 6 && x->velocity; i++) turn += chain->t[i] * dot6(x->L + 6 * i, c);
    x->dq[k] = x->velocity ? turn + dot6(x->w, chain->dt + 6 * k) : along;
    x->dv[k] = x->velocity ? along : 0;
  }
}

void sr_tangent_variables(srModelTangent* x, const srData* d) {
  for (int i = 0; i < x->nchain; i++) sr_chain_evaluate(x->m, d, x->chain[i]);
  for (int i = 0; i < x->nvariable; i++) {
    srVariable* variable = x->variable[i];
    if (variable->chain) {
      chain_variable(d, variable);
    } else if (variable->kind == SR_VAR_Q && variable->n > 1) {
      coordinate(x->m, d, variable);
    }
  }
}

// ---- entries ----------------------------------------------------------------------------------------------------------------

void sr_tangent_outer(srModelTangent* x, int n, const int* row, const double* coefficient, int stride,
                      const srVariable* variable, double by) {
  for (int j = 0; j < n; j++) {
    const double factor = -by * coefficient[(ptrdiff_t)j * stride];
    for (int k = 0; k < variable->n; k++) {
      srm_entry(&x->entries, row[j], variable->column[k], factor * variable->dq[k], factor * variable->dv[k]);
    }
  }
}

// The force of a multiplier `by` on a variable is by times its derivatives; this is their change with q.
void sr_tangent_variable_turn(srModelTangent* x, const srData* d, const srVariable* variable, double by) {
  if (variable->chain) {
    double w[6], L[36];
    for (int i = 0; i < 6; i++) w[i] = by * variable->w[i];
    for (int i = 0; i < 36; i++) L[i] = by * variable->L[i];
    sr_chain_wrench(variable->chain, w, L, NULL, &x->entries);
  } else if (variable->kind == SR_VAR_Q && variable->n > 1) {
    for (int j = 0; j < variable->n; j++) {
      for (int k = 0; k < variable->n; k++) {
        const double second = x->entries.place ? coordinate_second(x->m, d, variable, j, k) : 0;
        srm_entry(&x->entries, variable->column[j], variable->column[k], -by * second, 0);
      }
    }
  }
}
