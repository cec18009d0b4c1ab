// Inverse kinematics: closed forms, poses reached by robots, loops, limits, redundancy, targets out of reach.
#include <math.h>
#include <stdint.h>

#include "loading.h"
#include "messages.h"

static char said[2000];

static double noise(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)(*state) / 9.3e18;
}

static srStatus reach(Loaded* x, const srTarget* target, int n, const unsigned char* move, srInverseKinematics* out) {
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_inverse_kinematics(x->m, x->d, target, n, move, messages, out);
  messages_keep(messages, said, sizeof said);
  sr_messages_destroy(messages);
  return status;
}

// A frame as it is now.
static srTarget target_at(Loaded* x, int point, bool oriented) {
  srFrameMotion at;
  srTarget t = {.point = point, .oriented = oriented};
  ENSURE_EQUAL(sr_evaluate(x->m, x->d, 0, x->d->q, x->d->v, x->d->y, SR_STAGE_POSITION), 0);
  sr_frame_motion(x->m, x->d, point, 0, &at);
  for (int i = 0; i < 3; i++) t.position[i] = at.position[i];
  const double* R = at.rotation;  // away from half turns in these tests, else by the largest diagonal
  const double trace = R[0] + R[4] + R[8];
  int k = 0;
  for (int i = 1; i < 3; i++) k = R[4 * i] > R[4 * k] ? i : k;
  if (trace > R[4 * k]) {
    const double q[4] = {1 + trace, R[7] - R[5], R[2] - R[6], R[3] - R[1]};
    for (int i = 0; i < 4; i++) t.quaternion[i] = q[i];
  } else {
    const int a = (k + 1) % 3, b = (k + 2) % 3;
    t.quaternion[0] = R[3 * b + a] - R[3 * a + b];
    t.quaternion[1 + k] = 1 + R[4 * k] - R[4 * a] - R[4 * b];
    t.quaternion[1 + a] = R[3 * a + k] + R[3 * k + a];
    t.quaternion[1 + b] = R[3 * b + k] + R[3 * k + b];
  }
  return t;
}

static void ensure_reached(Loaded* x, const srTarget* t, double tolerance) {
  srFrameMotion at;
  sr_frame_motion(x->m, x->d, t->point, t->relative_to, &at);
  for (int i = 0; i < 3; i++) ENSURE_NEAR(at.position[i], t->position[i], tolerance);
}

static const char two_links[] =
    "<sarrus version='1'><body name='upper'><joint name='a' type='revolute' axis='0 0 1' q='0.3' %s/>"
    "<inertial mass='1' inertia='1 1 1'/></body><body name='lower' parent='upper'><joint name='b' type='revolute' "
    "axis='0 0 1' at='0.5 0 0' q='0.4' %s/><inertial mass='1' inertia='1 1 1'/><point name='tip' at='0.3 0 0'/></body>"
    "</sarrus>";

static Loaded open_links(const char* a, const char* b) {
  char text[1000];
  snprintf(text, sizeof text, two_links, a, b);
  return open_text(text);
}

// cos b = (r^2 - 0.5^2 - 0.3^2)/(2 0.5 0.3), a = atan2(y, x) - atan2(0.3 sin b, 0.5 + 0.3 cos b)
TEST(two_links_have_the_angles_of_the_closed_form) {
  Loaded x = open_links("", "");
  const int tip = sr_point_find(x.m, "lower/tip");
  const double wanted[4][2] = {{0.5, 0.4}, {-0.3, 0.5}, {0.1, -0.6}, {0.25, 0.0}};
  for (int k = 0; k < 4; k++) {
    srTarget t = {.point = tip, .position = {wanted[k][0], wanted[k][1], 0}};
    srInverseKinematics out;
    sr_data_reset(x.m, x.d);
    ENSURE_EQUAL(reach(&x, &t, 1, NULL, &out), SR_OK);
    ENSURE_SMALL(out.residual, 2e-12);
    const double r2 = wanted[k][0] * wanted[k][0] + wanted[k][1] * wanted[k][1], b = acos((r2 - 0.34) / 0.3);
    const double side = remainder(x.d->q[1], 8 * atan(1.0)) > 0 ? b : -b;
    const double a = atan2(wanted[k][1], wanted[k][0]) - atan2(0.3 * sin(side), 0.5 + 0.3 * cos(side));
    ENSURE_SMALL(remainder(x.d->q[1] - side, 8 * atan(1.0)), 1e-10);
    ENSURE_SMALL(remainder(x.d->q[0] - a, 8 * atan(1.0)), 1e-10);
  }
  close_model(&x);
}

TEST(a_target_out_of_reach_is_named_and_its_distance_stated) {
  Loaded x = open_links("", "");
  srTarget t = {.point = sr_point_find(x.m, "lower/tip"), .position = {0.6, 0.8, 0}};
  srInverseKinematics out;
  ENSURE_EQUAL(reach(&x, &t, 1, NULL, &out), SR_INPUT);
  ENSURE(strstr(said, "'lower/tip' cannot reach its target"));
  srFrameMotion at;
  ENSURE_EQUAL(sr_evaluate(x.m, x.d, 0, x.d->q, x.d->v, x.d->y, SR_STAGE_POSITION), 0);
  sr_frame_motion(x.m, x.d, t.point, 0, &at);
  ENSURE_NEAR(hypot(at.position[0] - 0.6, at.position[1] - 0.8), 0.2, 1e-6);  // stretched towards it
  t.position[0] = NAN;
  ENSURE_EQUAL(reach(&x, &t, 1, NULL, NULL), SR_INPUT);
  t = (srTarget){.point = 99};
  ENSURE_EQUAL(reach(&x, &t, 1, NULL, NULL), SR_INPUT);
  close_model(&x);
}

// A vehicle 3 km away, with a mast of 2 m that leans by itself; and a landmark of the ground in the axes of the vehicle.
TEST(targets_far_away_and_points_of_the_ground_are_reached) {
  Loaded x = open_text(
      "<sarrus version='1'><body name='car'><joint name='car' type='planar'/><inertial mass='1' inertia='1 1 "
      "1'/></body>"
      "<body name='mast' parent='car'><joint name='lean' type='revolute' axis='0 1 0'/><inertial mass='1' inertia='1 1 "
      "1'/>"
      "<point name='top' at='0 0 2'/></body></sarrus>");
  const unsigned char drives[4] = {1, 1, 1, 0};
  srTarget t = {.point = sr_point_find(x.m, "mast/top"), .position = {3000, -40, 2}};
  srInverseKinematics out;
  ENSURE_EQUAL(reach(&x, &t, 1, NULL, &out), SR_OK);
  ensure_reached(&x, &t, 1e-8);
  ENSURE(out.iterations < 200);  // from the first start
  t = (srTarget){
      .point = sr_point_find(x.m, "ground"), .relative_to = sr_point_find(x.m, "car"), .position = {3, 4, 0}};
  ENSURE_EQUAL(reach(&x, &t, 1, drives, &out), SR_OK);
  ENSURE_NEAR(hypot(x.d->q[0], x.d->q[1]), 5, 1e-9);
  close_model(&x);
}

// The elbow may bend one way only: the other solution is found, from a start that is nearer to the forbidden one.
TEST(limits_are_kept_and_the_other_elbow_is_found) {
  Loaded x = open_links("", "limits='-2.5 0.5'");
  srTarget t = {.point = sr_point_find(x.m, "lower/tip"), .position = {0.3, 0.4, 0}};
  ENSURE_EQUAL(reach(&x, &t, 1, NULL, NULL), SR_OK);
  ENSURE_NEAR(x.d->q[1], -acos((0.25 - 0.34) / 0.3), 1e-10);
  close_model(&x);
  x = open_links("", "limits='-0.5 0.5'");
  ENSURE_EQUAL(reach(&x, &t, 1, NULL, NULL), SR_INPUT);
  ENSURE(x.d->q[1] >= -0.5 && x.d->q[1] <= 0.5);
  close_model(&x);
}

TEST(an_arm_of_six_joints_reaches_poses_from_elsewhere) {
  Loaded x = open_model("robots/arm-six", "");
  const int tcp = sr_point_find(x.m, "tool/tcp");
  uint64_t seed = 3;
  for (int k = 0; k < 10; k++) {
    for (int i = 0; i < 6; i++) x.d->q[i] = 1.5 * noise(&seed);
    const srTarget t = target_at(&x, tcp, true);
    sr_data_reset(x.m, x.d);
    ENSURE_EQUAL(reach(&x, &t, 1, NULL, NULL), SR_OK);
    ensure_reached(&x, &t, 1e-11);
    const srTarget there = target_at(&x, tcp, true);
    double dot = 0, one = 0, two = 0;
    for (int i = 0; i < 4; i++) {
      dot += there.quaternion[i] * t.quaternion[i];
      one += there.quaternion[i] * there.quaternion[i];
      two += t.quaternion[i] * t.quaternion[i];
    }
    ENSURE_NEAR(fabs(dot), sqrt(one * two), 1e-11 * sqrt(one * two));
  }
  close_model(&x);
}

// For a small displacement the change of seven joints is that of least norm: orthogonal to every motion that leaves the point at rest.
TEST(redundancy_is_resolved_by_the_least_change) {
  Loaded x = open_model("robots/arm-seven", "");
  const int nv = x.m->nv, tool = x.m->nbody;
  uint64_t seed = 5;
  double q[16], J[6 * 16], dq[16];
  ENSURE(nv <= 16);
  for (int i = 0; i < nv; i++) q[i] = x.d->q[i] = 0.4 + 0.3 * noise(&seed);
  srTarget t = target_at(&x, tool, false);
  sr_frame_jacobian(x.m, x.d, tool, 0, J);
  const double h = 1e-5;
  for (int i = 0; i < 3; i++) t.position[i] += h * noise(&seed);
  ENSURE_EQUAL(reach(&x, &t, 1, NULL, NULL), SR_OK);
  ensure_reached(&x, &t, 1e-11);
  for (int i = 0; i < nv; i++) dq[i] = x.d->q[i] - q[i];
  double A[9], left = 0, size = 0;  // dq - J^T (J J^T)^-1 J dq, with J its three rows of velocity
  const double* Jv = J + 3 * nv;
  double u[3] = {0};
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < nv; k++) u[i] += Jv[i * nv + k] * dq[k];
    for (int j = 0; j < 3; j++) {
      A[3 * i + j] = 0;
      for (int k = 0; k < nv; k++) A[3 * i + j] += Jv[i * nv + k] * Jv[j * nv + k];
    }
  }
  const double det =
      A[0] * (A[4] * A[8] - A[5] * A[7]) - A[1] * (A[3] * A[8] - A[5] * A[6]) + A[2] * (A[3] * A[7] - A[4] * A[6]);
  double y[3];
  for (int c = 0; c < 3; c++) {  // Cramer
    double B[9];
    for (int i = 0; i < 9; i++) B[i] = i % 3 == c ? u[i / 3] : A[i];
    y[c] =
        (B[0] * (B[4] * B[8] - B[5] * B[7]) - B[1] * (B[3] * B[8] - B[5] * B[6]) + B[2] * (B[3] * B[7] - B[4] * B[6])) /
        det;
  }
  for (int k = 0; k < nv; k++) {
    double part = dq[k];
    for (int i = 0; i < 3; i++) part -= Jv[i * nv + k] * y[i];
    left = fmax(left, fabs(part));
    size = fmax(size, fabs(dq[k]));
  }
  ENSURE_SMALL(left, 1e-3 * size);
  close_model(&x);
}

TEST(a_coupler_point_is_reached_with_the_loop_closed) {
  Loaded x = open_model("mechanisms/four-bar", "");
  const int trace = sr_point_find(x.m, "coupler/trace");
  srMessages* messages = sr_messages_create();
  ENSURE(trace > 0);
  for (int k = 0; k < 5; k++) {  // positions of the mechanism itself, with the crank elsewhere
    sr_data_reset(x.m, x.d);
    x.d->q[0] += 0.5 * k;
    ENSURE_EQUAL(sr_assemble(x.m, x.d, messages, NULL), SR_OK);
    const srTarget t = target_at(&x, trace, false);
    sr_data_reset(x.m, x.d);
    ENSURE_EQUAL(reach(&x, &t, 1, NULL, NULL), SR_OK);
    ensure_reached(&x, &t, 1e-10);
    ENSURE_EQUAL(sr_constraints(x.m, x.d), 0);
    for (int i = 0; i < x.m->row_driver; i++) ENSURE_SMALL(x.d->g[i], 1e-10);
  }
  sr_messages_destroy(messages);
  close_model(&x);
}

TEST(only_what_may_move_moves) {
  Loaded x = open_model("robots/arm-seven", "");
  unsigned char move[16];
  double q[16];
  for (int i = 0; i < x.m->nv; i++) {
    move[i] = i >= 3;
    q[i] = x.d->q[i] = 0.4;
  }
  srTarget t = target_at(&x, x.m->nbody, false);
  t.position[0] += 0.01;
  t.position[1] -= 0.01;
  ENSURE_EQUAL(reach(&x, &t, 1, move, NULL), SR_OK);
  ensure_reached(&x, &t, 1e-11);
  for (int i = 0; i < 3; i++) ENSURE_NEAR(x.d->q[i], q[i], 0);
  close_model(&x);
}
