// Constraint equations by formula. Their variables x are t, coordinates and scalars of frame sensors; the graph gives exact derivatives by
// x, and the chain rule does the rest:
//
//   position eq.   G = sum_x g_x (dx'/dv),   b = g_t,   gamma = -(sum_xy g_xy x' y' + sum_x g_x x'')
//   velocity eq.   G = sum_x h_x (dx/dv) over velocity variables,   b = h - G v,
//                  gamma = -(sum over position variables and t of h_x x' + sum over velocity variables of h_x x')
//
// with x', x'' of the motion whose joint accelerations are 0. Quaternion coordinates move by q' = H(q) v, q'' = -|w|^2 q/4.
#include <math.h>
#include <string.h>

#include "constraint/constraint.h"
#include "constraint/reaction.h"
#include "dynamics/link.h"
#include "dynamics/measurement.h"
#include "math/pose.h"

static bool is_velocity(const srFormulaVariable* x) {
  return x->kind == SR_VAR_V || (x->kind == SR_VAR_SENSOR && x->scalar >= 3 && x->scalar < 9);
}

// ---- coordinates --------------------------------------------------------------------------------------------------------

static int joint_of_position(const srModel* m, int q) {
  int low = 0, high = m->njoint - 1;
  while (low < high) {  // last joint whose first coordinate is not beyond q
    const int middle = (low + high + 1) / 2;
    if (m->joint_q[middle] <= q) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// Row of H(q) of component k of a unit quaternion n: n' = n o (0, w)/2.
static void quaternion_row(const double* n, int k, double out[3]) {
  const double rows[4][3] = {{-n[1], -n[2], -n[3]}, {n[0], -n[3], n[2]}, {n[3], n[0], -n[1]}, {-n[2], n[1], n[0]}};
  for (int i = 0; i < 3; i++) out[i] = 0.5 * rows[k][i];
}

// q_i' = row . v of its joint, and the part of q_i'' that is not row . v'. Returns the first velocity coordinate.
static int position_row(const srModel* m, const srData* d, int i, int* n, double row[6], double* bias) {
  const int joint = joint_of_position(m, i), k = i - m->joint_q[joint];
  const double *q = d->jq + m->joint_q[joint], *v = d->jv + m->joint_v[joint];
  const bool is_free = m->joint_type[joint] == SR_JOINT_FREE;
  int first = m->joint_v[joint];
  memset(row, 0, 6 * sizeof *row);
  *n = m->joint_nv[joint];
  *bias = 0;
  if (!is_free && m->joint_type[joint] != SR_JOINT_BALL) {
    row[0] = 1;
    *n = 1;
    first += k;
  } else if (is_free && k < 3) {  // position' = R v,  position'' = R (w x v)
    const m3 R = srm_quaternion_matrix(q + 3);
    double turn[3];
    srm_cross3(v, v + 3, turn);
    for (int j = 0; j < 3; j++) {
      row[3 + j] = R.c[j][k];
      *bias += R.c[j][k] * turn[j];
    }
  } else {
    const int shift = is_free ? 3 : 0;
    quaternion_row(q + shift, k - shift, row);
    *bias = -0.25 * srm_dot3(v, v) * q[k];
  }
  for (int j = 0; m->absolute && j < *n; j++) *bias += row[j] * d->jbias[first + j];
  return first;
}

// Adds `by` times joint velocity k to d->row_scatter.
static void scatter_velocity(const srModel* m, srData* d, int k, double by) {
  if (m->absolute) {
    sr_measurement_row(m, d, k, by, d->row_scatter);
  } else {
    d->row_scatter[k] += by;
  }
}

// ---- sensors ------------------------------------------------------------------------------------------------------------

// A scalar of a sensor as P over the twist: its rate (position scalars) or itself (velocity scalars) is P . (w, u); and the
// part of the rate's derivative that is not P . (w', u').
static void sensor_row(const srFrameMotion* s, int scalar, double P[6], double* bias) {
  memset(P, 0, 6 * sizeof *P);
  *bias = 0;
  if (scalar < 3) {
    P[3 + scalar] = 1;
  } else if (scalar < 6) {
    P[scalar] = 1;
  } else if (scalar < 9) {
    P[scalar - 6] = 1;
  } else {  // R_ij' = e_i . (w x c) = w . (c x e_i), c column j of R
    const int i = (scalar - 9) / 3, j = (scalar - 9) % 3;
    const double c[3] = {s->rotation[j], s->rotation[3 + j], s->rotation[6 + j]}, e[3] = {i == 0, i == 1, i == 2};
    double turn[3], twice[3];
    srm_cross3(c, e, P);
    srm_cross3(s->angular_velocity, c, turn);
    srm_cross3(s->angular_velocity, turn, twice);
    *bias = twice[i];
  }
}

static double along(const double P[6], const double* angular, const double* linear) {
  return srm_dot3(P, angular) + srm_dot3(P + 3, linear);
}

// Scalars of the sensors that the formulas use, into d->sensor.
static void sense(const srModel* m, srData* d) {
  for (int r = 0; r < m->nformula_row; r++) {
    for (int k = 0; k < m->formula_row[r].nvar; k++) {
      const srFormulaVariable* x = &m->formula_row[r].var[k];
      if (x->kind != SR_VAR_SENSOR) continue;
      srFrameMotion s;
      sr_frame_motion(m, d, m->sensor[x->index].point, m->sensor[x->index].relative_to, &s);
      double* out = d->sensor + m->sensor[x->index].value;
      memcpy(out, s.position, sizeof s.position);
      memcpy(out + 9, s.rotation, sizeof s.rotation);
      if (d->stage < SR_STAGE_VELOCITY) continue;
      memcpy(out + 3, s.velocity, sizeof s.velocity);
      memcpy(out + 6, s.angular_velocity, sizeof s.angular_velocity);
    }
  }
}

static void evaluate(const srModel* m, srData* d) {
  const srInputs inputs = {.t = d->t, .q = d->jq, .v = d->jv, .sensor = d->sensor, .arg = d->row_arg, .held = d->held};
  sr_program_evaluate(m->priv->rows, &inputs, d->work, d->row_formula);
}

// ---- rows ---------------------------------------------------------------------------------------------------------------

// Adds `by` times the row of variable x to d->row_scatter.
static void scatter(const srModel* m, srData* d, const srFormulaVariable* x, double by) {
  if (x->kind == SR_VAR_V) {
    scatter_velocity(m, d, x->index, by);
  } else if (x->kind == SR_VAR_Q) {
    double row[6], bias;
    int n;
    const int first = position_row(m, d, x->index, &n, row, &bias);
    for (int i = 0; i < n; i++) scatter_velocity(m, d, first + i, by * row[i]);
  } else if (x->kind == SR_VAR_SENSOR) {
    const srSensor* sensor = &m->sensor[x->index];
    double P[6], bias, *column = d->work;
    int* dof = (int*)(void*)(column + 6 * m->nv);
    srFrameMotion s;
    sr_frame_motion(m, d, sensor->point, sensor->relative_to, &s);
    sensor_row(&s, x->scalar, P, &bias);
    const int n = sr_path_columns(m, d, sensor->point, sensor->relative_to, -1, dof, column);
    for (int i = 0; i < n; i++) d->row_scatter[dof[i]] += by * along(P, column + 6 * i, column + 6 * i + 3);
  }
}

static void put_row(const srModel* m, srData* d, const srFormulaRow* row) {
  const double* value = d->row_formula + row->value;
  double b = 0;
  for (int k = 0; k < row->nvar; k++) {
    const srFormulaVariable* x = &row->var[k];
    if (row->velocity != is_velocity(x) && x->kind != SR_VAR_TIME) continue;
    if (x->kind != SR_VAR_TIME) {
      scatter(m, d, x, value[1 + k]);
    } else if (!row->velocity) {
      b = value[1 + k];
    }
  }
  for (int k = m->G_start[row->row]; k < m->G_start[row->row + 1]; k++) {
    d->G[k] = d->row_scatter[m->G_index[k]];
    d->row_scatter[m->G_index[k]] = 0;
  }
  if (!row->velocity) d->g[row->row] = value[0];
  d->b[row->row] = b;
}

// b of a velocity equation is its formula where all velocities are 0.
static void velocity_rows_at_rest(const srModel* m, srData* d, const double* v) {
  for (int r = 0; r < m->nformula_row; r++) {
    for (int k = 0; k < m->formula_row[r].nvar; k++) {
      const srFormulaVariable* x = &m->formula_row[r].var[k];
      if (!is_velocity(x) || x->kind != SR_VAR_SENSOR) continue;
      memset(d->sensor + m->sensor[x->index].value + 3, 0, 6 * sizeof(double));
    }
  }
  const srInputs inputs = {.t = d->t, .q = d->jq, .v = v, .sensor = d->sensor, .arg = d->row_arg, .held = d->held};
  sr_program_evaluate(m->priv->rows, &inputs, d->work, d->row_formula);
  for (int r = 0; r < m->nformula_row; r++) {
    const srFormulaRow* row = &m->formula_row[r];
    if (row->velocity) d->b[row->row] = d->row_formula[row->value];
  }
}

int sr_formula_rows(const srModel* m, srData* d) {
  sense(m, d);
  evaluate(m, d);
  for (int i = 0; i < m->nformula_row; i++) put_row(m, d, &m->formula_row[i]);
  memset(d->row_work, 0, (size_t)m->nv * sizeof *d->row_work);
  velocity_rows_at_rest(m, d, d->row_work);
  sense(m, d);
  return 0;
}

// Constraints over sensors act on the bodies of their frames; those over coordinates act inside joints.
void sr_formula_wrenches(const srModel* m, srData* d, const double* lambda, double* wrench) {
  for (int r = 0; r < m->nformula_row; r++) {
    const srFormulaRow* row = &m->formula_row[r];
    for (int k = 0; k < row->nvar; k++) {
      const srFormulaVariable* x = &row->var[k];
      if (x->kind != SR_VAR_SENSOR || row->velocity != is_velocity(x)) continue;
      double P[6], bias;
      srFrameMotion s;
      sr_frame_motion(m, d, m->sensor[x->index].point, m->sensor[x->index].relative_to, &s);
      sensor_row(&s, x->scalar, P, &bias);
      for (int i = 0; i < 6; i++) P[i] *= lambda[row->row] * d->row_formula[row->value + 1 + k];
      sr_pair_wrench(m, d, m->sensor[x->index].point, m->sensor[x->index].relative_to, -1, P, wrench);
    }
  }
}

// Constraint forces on joint velocities: out += lambda times the row over them.
void sr_formula_joint_forces(const srModel* m, srData* d, const double* lambda, double* out) {
  for (int r = 0; r < m->nformula_row; r++) {
    const srFormulaRow* row = &m->formula_row[r];
    for (int k = 0; k < row->nvar; k++) {
      const srFormulaVariable* x = &row->var[k];
      const double by = lambda[row->row] * d->row_formula[row->value + 1 + k];
      double over[6], bias;
      int n;
      if (row->velocity && x->kind == SR_VAR_V) out[x->index] += by;
      if (row->velocity || x->kind != SR_VAR_Q) continue;
      const int first = position_row(m, d, x->index, &n, over, &bias);
      for (int i = 0; i < n; i++) out[first + i] += by * over[i];
    }
  }
}

// ---- gamma --------------------------------------------------------------------------------------------------------------

// x' of a position variable (velocity variables: the part of x' without joint accelerations) and, of a position variable,
// the part of x'' without them.
static void rates_of(const srModel* m, const srData* d, const srFormulaVariable* x, double* rate, double* second) {
  *rate = *second = 0;
  if (x->kind == SR_VAR_TIME) {
    *rate = 1;
  } else if (x->kind == SR_VAR_Q) {
    double row[6];
    int n;
    const int first = position_row(m, d, x->index, &n, row, second);
    for (int i = 0; i < n; i++) *rate += row[i] * d->jv[first + i];
  } else if (x->kind == SR_VAR_V) {
    *rate = m->absolute ? d->jbias[x->index] : 0;
  } else if (x->kind == SR_VAR_SENSOR) {
    double P[6], bias;
    srFrameMotion s;
    sr_frame_motion(m, d, m->sensor[x->index].point, m->sensor[x->index].relative_to, &s);
    sensor_row(&s, x->scalar, P, &bias);
    const double acceleration = along(P, s.angular_acceleration, s.acceleration) + bias;
    *rate = is_velocity(x) ? acceleration : along(P, s.angular_velocity, s.velocity);
    *second = is_velocity(x) ? 0 : acceleration;
  }
}

void sr_formula_gamma(const srModel* m, srData* d) {
  sense(m, d);
  for (int r = 0; r < m->nformula_row; r++) {
    const srFormulaRow* row = &m->formula_row[r];
    for (int k = 0; k < row->nvar; k++) {
      double second;
      rates_of(m, d, &row->var[k], &d->row_arg[row->arg + k], &second);
    }
  }
  evaluate(m, d);
  for (int r = 0; r < m->nformula_row; r++) {
    const srFormulaRow* row = &m->formula_row[r];
    const double* value = d->row_formula + row->value;
    double sum = row->velocity ? 0 : value[1 + row->nvar];
    for (int k = 0; k < row->nvar; k++) {
      double rate, second;
      rates_of(m, d, &row->var[k], &rate, &second);
      sum += value[1 + k] * (row->velocity ? rate : second);
    }
    d->gamma[row->row] = -sum;
  }
}
