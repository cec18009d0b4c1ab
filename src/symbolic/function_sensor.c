// Kinematics of the frame sensors as a function: the ROBOTRAN manual, section 4.5.
//
//   position p, rotation R, velocity, angular velocity, their Jacobian by v, acceleration, angular acceleration for given dv/dt: of the sensor's frame as observed from the frame that it is measured in, in its axes
// Velocities are linear in v, so that columns of the Jacobian are derivatives by its entries.
#include "symbolic/function.h"
#include "symbolic/points.h"

enum { Q = SR_SYM_IN(SR_VAR_Q), V = SR_SYM_IN(SR_VAR_V), A = SR_SYM_IN(SR_VAR_A) };

static bool is_frame(const srSensor* sensor) { return sensor->point >= 0; }

static int count(const srSymContext* context) {
  int n = 0;
  for (int i = 0; i < context->m->nsensor; i++) n += is_frame(&context->m->sensor[i]);
  return n;
}
static int count_rows(const srSymContext* context) { return 6 * count(context); }
static int three(const srSymContext* context) {
  (void)context;
  return 3;
}
static int nine(const srSymContext* context) {
  (void)context;
  return 9;
}

// Columns of (u, w) by v, into 6 rows.
static void put_jacobian(srSymPass* x, const srSymMotion* s, srNode* J) {
  const int nv = x->tree->m->nv;
  srNode rate[6], by[6];
  for (int k = 0; k < 3; k++) rate[k] = s->u.x[k], rate[3 + k] = s->w.x[k];
  for (int j = 0; j < nv; j++) {
    sr_graph_derive_all(x->g, rate, 6, sr_sym_v(x, j), by);
    for (int k = 0; k < 6; k++) J[k * nv + j] = by[k];
  }
}

static void build_sensor(srSymPass* x, const void* user, srNode* out) {
  const srSymContext* context = user;
  const srModel* m = context->m;
  const int n = count(context);
  const srNode* a = sr_sym_leaves(x, SR_VAR_A);
  srNode *p = out, *R = p + 3 * n, *v = R + 9 * n, *w = v + 3 * n, *J = w + 3 * n, *acc = J + 6 * n * m->nv,
         *wd = acc + 3 * n;
  for (int i = 0, k = 0; i < m->nsensor; i++) {
    srSymMotion s;
    if (!is_frame(&m->sensor[i])) continue;
    sr_sym_note_text(x, m->sensor[i].name);
    sr_sym_frame_motion(x, m->sensor[i].point, m->sensor[i].relative_to, SR_SYM_ACCELERATION, a, &s);
    for (int j = 0; j < 9; j++) R[9 * k + j] = s.R.x[j];
    for (int j = 0; j < 3; j++) {
      p[3 * k + j] = s.p.x[j], v[3 * k + j] = s.u.x[j], w[3 * k + j] = s.w.x[j];
      acc[3 * k + j] = s.a.x[j], wd[3 * k + j] = s.wd.x[j];
    }
    put_jacobian(x, &s, J + 6 * k * m->nv);
    k++;
  }
}

static const char* no_sensor(const srSymContext* context) {
  return count(context) > 0 ? NULL : "is of sensors of frames, and the model has none";
}

const srSymFunction sr_function_sensor = {
    .name = "sensor",
    .about = "Kinematics of the frame sensors, in the order of the model: a row, of the Jacobian six rows each.",
    .in = Q | V | A,
    .out = {{"p_sens", count, three, "positions", false},
            {"R_sens", count, nine, "rotations from the sensor's axes to those it is measured in, by rows", false},
            {"v_sens", count, three, "velocities", false},
            {"om_sens", count, three, "angular velocities", false},
            {"J_sens", count_rows, sr_count_v, "derivatives of velocity and angular velocity by v", false},
            {"a_sens", count, three, "accelerations", false},
            {"omp_sens", count, three, "angular accelerations", false}},
    .build = {build_sensor},
    .on_demand = true,
    .missing = no_sensor};
