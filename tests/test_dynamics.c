// Tests of src/dynamics: independent computations of one number on random trees, differences, conservation, refusals.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/energy.h"
#include "math/dense.h"
#include "random_tree.h"
#include "runner.h"

static double* numbers(int n) { return calloc((size_t)(n > 0 ? n : 1), sizeof(double)); }

static double largest(const double* x, int n) {
  double out = 0;
  for (int i = 0; i < n; i++) out = fmax(out, fabs(x[i]));
  return out;
}

// Max norm of M a + c - tau over (|M| |a| + |c|).
static double residual(int n, const double* M, const double* a, const double* c, const double* tau) {
  double worst = 0, size = 0;
  for (int i = 0; i < n; i++) {
    double row = 0, sum = c[i] - tau[i];
    for (int j = 0; j < n; j++) {
      sum += M[i * n + j] * a[j];
      row += fabs(M[i * n + j]);
    }
    worst = fmax(worst, fabs(sum));
    size = fmax(size, row);
  }
  const double scale = size * largest(a, n) + largest(c, n);
  return scale > 0 ? worst / scale : worst;
}

// -------------------------------------------------------------------------------------------- two methods, one number
static void compare_roads(const srModel* m, srData* d, double* worst) {
  const int n = m->nv;
  double *M = numbers(n * n), *L = numbers(n * n), *a = numbers(n), *c = numbers(n), *zero = numbers(n);
  double *back = numbers(n), *x = numbers(n);
  ENSURE(sr_aba(m, d, d->q, d->v, d->tau, a) == SR_OK);
  sr_crba(m, d, d->q, M);
  sr_rnea(m, d, d->q, d->v, zero, c);
  worst[0] = fmax(worst[0], residual(n, M, a, c, d->tau));  // ABA in M and c
  sr_rnea(m, d, d->q, d->v, a, back);
  worst[1] = fmax(worst[1], residual(n, M, a, c, back));  // RNEA in M and c

  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) ENSURE(M[i * n + j] == M[j * n + i]);
  memcpy(L, M, (size_t)(n * n) * sizeof *L);
  int bad = -1;
  ENSURE(sr_ltl_factor(m, L, &bad) == SR_OK);
  for (int i = 0; i < n; i++) x[i] = d->tau[i] - c[i];
  sr_ltl_solve(m, L, x);
  worst[2] = fmax(worst[2], residual(n, M, x, c, d->tau));  // CRBA + LTL
  if (n <= 60) {
    memcpy(L, M, (size_t)(n * n) * sizeof *L);
    ENSURE(srm_cholesky(n, L));
  }
  free(M), free(L), free(a), free(c), free(zero), free(back), free(x);
}

TEST(articulated_composite_and_newton_euler_agree_on_1000_random_trees) {
  Random r = {2024};
  double worst[3] = {0};
  for (int k = 0; k < 1000; k++) {
    srModel* m = random_tree(&r, &(RandomTree){.nbody = 1 + random_below(&r, 60)});
    srData* d = sr_data_create(m);
    random_state(&r, m, d);
    compare_roads(m, d, worst);
    sr_data_destroy(d);
    sr_model_destroy(m);
  }
  if (getenv("SARRUS_TEST_VERBOSE"))
    printf("largest residuals: ABA %.1e, RNEA %.1e, LTL %.1e\n", worst[0], worst[1], worst[2]);
  for (int i = 0; i < 3; i++) ENSURE_SMALL(worst[i], 1e-13);
}

// ----------------------------------------------------------- a plain method: inertial axes, body by body, no shared code
typedef struct Plain {
  double R[3][3], p[3], w[3], v[3], wd[3], a[3];  // of a link, in inertial axes; wd and a with dv/dt = 0
  double axis[6][6];                              // of its coordinates: angular, linear at its origin
} Plain;

static void cross(const double* a, const double* b, double* out) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

static void add_cross(const double* a, const double* b, double factor, double* sum) {
  double t[3];
  cross(a, b, t);
  for (int i = 0; i < 3; i++) sum[i] += factor * t[i];
}

// C = A B and c = A b + a, with B, b in the layout of model.h.
static void compose(double A[3][3], const double* a, const double* pose, double C[3][3], double* c) {
  for (int i = 0; i < 3; i++) {
    c[i] = a[i];
    for (int k = 0; k < 3; k++) c[i] += A[i][k] * pose[12 + k];
    for (int j = 0; j < 3; j++) {
      C[i][j] = 0;
      for (int k = 0; k < 3; k++) C[i][j] += A[i][k] * pose[4 * j + k];
    }
  }
}

// Pose of a joint at q, axis z, in the layout of model.h.
static void joint_pose(int type, double pitch, const double* q, double* pose) {
  memset(pose, 0, 16 * sizeof(double));
  double n[4] = {1, 0, 0, 0};
  if (type == SR_LINK_REVOLUTE || type == SR_LINK_HELICAL) n[0] = cos(q[0] / 2), n[3] = sin(q[0] / 2);
  if (type == SR_LINK_PRISMATIC) pose[14] = q[0];
  if (type == SR_LINK_HELICAL) pose[14] = pitch * q[0];
  if (type == SR_LINK_FREE) memcpy(pose + 12, q, 3 * sizeof(double));
  if (type == SR_LINK_BALL || type == SR_LINK_FREE) {
    const double* quaternion = type == SR_LINK_FREE ? q + 3 : q;
    double length = 0;
    for (int i = 0; i < 4; i++) length += quaternion[i] * quaternion[i];
    for (int i = 0; i < 4; i++) n[i] = quaternion[i] / sqrt(length);
  }
  for (int j = 0; j < 3; j++) {  // e_j turned: u + 2 w (v x u) + 2 v x (v x u)
    double u[3] = {j == 0, j == 1, j == 2}, vu[3], vvu[3];
    cross(n + 1, u, vu);
    cross(n + 1, vu, vvu);
    for (int i = 0; i < 3; i++) pose[4 * j + i] = u[i] + 2 * n[0] * vu[i] + 2 * vvu[i];
  }
}

static void plain_link(const srModel* m, const double* q, const double* v, int i, const Plain* above, Plain* out) {
  static const int count[] = {0, 1, 1, 1, 3, 6};
  const int type = m->link_type[i];
  double pose[16], R[3][3], p[3], relative[6] = {0}, r[3];
  compose((double(*)[3])above->R, above->p, m->link_tree + 16 * i, R, p);
  joint_pose(type, m->link_pitch[i], q + m->link_q[i], pose);
  compose(R, p, pose, out->R, out->p);
  for (int k = 0; k < count[type]; k++) {
    double s[6] = {0};
    if (type == SR_LINK_REVOLUTE || type == SR_LINK_HELICAL) s[2] = 1;
    if (type == SR_LINK_PRISMATIC) s[5] = 1;
    if (type == SR_LINK_HELICAL) s[5] = m->link_pitch[i];
    if (type == SR_LINK_BALL || type == SR_LINK_FREE) s[k] = 1;
    for (int j = 0; j < 3; j++) {
      out->axis[k][j] = out->axis[k][3 + j] = 0;
      for (int l = 0; l < 3; l++) {
        out->axis[k][j] += out->R[j][l] * s[l];
        out->axis[k][3 + j] += out->R[j][l] * s[3 + l];
      }
      relative[j] += out->axis[k][j] * v[m->link_v[i] + k];
      relative[3 + j] += out->axis[k][3 + j] * v[m->link_v[i] + k];
    }
  }
  for (int j = 0; j < 3; j++) {
    r[j] = out->p[j] - above->p[j];
    out->w[j] = above->w[j] + relative[j];
    out->v[j] = above->v[j] + relative[3 + j];
    out->wd[j] = above->wd[j];
    out->a[j] = above->a[j];
  }
  double wr[3];
  cross(above->w, r, wr);
  add_cross(above->w, r, 1, out->v);
  add_cross(above->w, relative, 1, out->wd);  // axes ride on the links
  add_cross(above->wd, r, 1, out->a);
  add_cross(above->w, wr, 1, out->a);            // centripetal
  add_cross(above->w, relative + 3, 2, out->a);  // Coriolis
  add_cross(relative, relative + 3, 1, out->a);  // velocity of a free link is given in its own, turning axes
}

// M = sum J^T I J and c = sum J^T (I (accel - gravity) + w x I w) over the bodies.
static void plain_dynamics(const srModel* m, const double* q, const double* v, double* M, double* c) {
  static const int count[] = {0, 1, 1, 1, 3, 6};
  const int n = m->nv;
  Plain* link = calloc((size_t)m->nlink, sizeof *link);
  double* J = numbers(6 * n);
  for (int i = 0; i < 3; i++) link[0].R[i][i] = 1;
  for (int i = 1; i < m->nlink; i++) plain_link(m, q, v, i, &link[m->link_parent[i]], &link[i]);
  memset(M, 0, (size_t)(n * n) * sizeof *M);
  memset(c, 0, (size_t)n * sizeof *c);
  for (int b = 1; b <= m->nbody; b++) {
    Plain* l = &link[m->body_link[b]];
    double R[3][3], p[3], com[3], r[3], inertia[3][3] = {{0}};
    compose(l->R, l->p, m->point_pose + 16 * b, R, p);
    for (int i = 0; i < 3; i++) {
      com[i] = p[i];
      for (int j = 0; j < 3; j++) com[i] += R[i][j] * m->body_com[4 * b + j];
      r[i] = com[i] - l->p[i];
      for (int j = 0; j < 3; j++)
        for (int k = 0; k < 9; k++) inertia[i][j] += R[i][k / 3] * m->body_inertia[9 * b + k] * R[j][k % 3];
    }
    memset(J, 0, (size_t)(6 * n) * sizeof *J);
    for (int i = m->body_link[b]; i > 0; i = m->link_parent[i])
      for (int k = 0; k < count[m->link_type[i]]; k++) {
        double* column = J + 6 * (m->link_v[i] + k);
        const double arm[3] = {com[0] - link[i].p[0], com[1] - link[i].p[1], com[2] - link[i].p[2]};
        memcpy(column, link[i].axis[k], 6 * sizeof(double));
        add_cross(link[i].axis[k], arm, 1, column + 3);
      }
    double accel[3], wr[3], force[6] = {0}, Iw[3] = {0};
    memcpy(accel, l->a, sizeof accel);
    cross(l->w, r, wr);
    add_cross(l->wd, r, 1, accel);
    add_cross(l->w, wr, 1, accel);
    for (int i = 0; i < 3; i++) {
      force[3 + i] = m->body_mass[b] * (accel[i] - m->gravity[i]);
      for (int j = 0; j < 3; j++) {
        force[i] += inertia[i][j] * l->wd[j];
        Iw[i] += inertia[i][j] * l->w[j];
      }
    }
    add_cross(l->w, Iw, 1, force);
    for (int i = 0; i < n; i++) {
      double IJ[6] = {0};
      for (int k = 0; k < 6; k++) c[i] += J[6 * i + k] * force[k];
      for (int j = 0; j < 3; j++) {
        for (int k = 0; k < 3; k++) IJ[j] += inertia[j][k] * J[6 * i + k];
        IJ[3 + j] = m->body_mass[b] * J[6 * i + 3 + j];
      }
      for (int j = 0; j < n; j++)
        for (int k = 0; k < 6; k++) M[i * n + j] += IJ[k] * J[6 * j + k];
    }
  }
  free(J), free(link);
}

TEST(mass_matrix_and_bias_agree_with_newton_euler_of_every_body_in_inertial_axes) {
  Random r = {11};
  for (int k = 0; k < 200; k++) {
    srModel* m = random_tree(&r, &(RandomTree){.nbody = 1 + random_below(&r, 12)});
    srData* d = sr_data_create(m);
    random_state(&r, m, d);
    const int n = m->nv;
    double *M = numbers(n * n), *P = numbers(n * n), *c = numbers(n), *b = numbers(n), *zero = numbers(n);
    sr_crba(m, d, d->q, M);
    sr_rnea(m, d, d->q, d->v, zero, c);
    plain_dynamics(m, d->q, d->v, P, b);
    const double M_size = largest(P, n * n), c_size = largest(b, n);
    for (int i = 0; i < n * n; i++) ENSURE_NEAR(M[i], P[i], 1e-13 * M_size);
    for (int i = 0; i < n; i++) ENSURE_NEAR(c[i], b[i], 1e-12 * c_size);
    free(M), free(P), free(c), free(b), free(zero);
    sr_data_destroy(d);
    sr_model_destroy(m);
  }
}

// [M + armature, -G^T; G, 0] [a; lambda] = [f - c; given], solved densely.
static void solve_driven(const srModel* m, srData* d, double* a, double* lambda) {
  const int n = m->nv, all = n + m->ndriver;
  double *M = numbers(n * n), *K = numbers(all * all), *x = numbers(all), *zero = numbers(n);
  int* pivot = calloc((size_t)all + 1, sizeof *pivot);
  sr_crba(m, d, d->q, M);
  sr_rnea(m, d, d->q, d->v, zero, x);
  for (int i = 0; i < n; i++) {
    x[i] = d->tau[i] - x[i];
    for (int j = 0; j < n; j++) K[i * all + j] = M[i * n + j];
    K[i * all + i] += m->dof_armature[i];
  }
  for (int k = 0; k < m->ndriver; k++) {
    const int dof = m->driver[k].dof;
    K[dof * all + n + k] = -1;
    K[(n + k) * all + dof] = 1;
    x[n + k] = d->motion[3 * k + 2];
  }
  ENSURE(srm_lu(all, K, pivot));
  srm_lu_solve(all, K, pivot, x);
  memcpy(a, x, (size_t)n * sizeof *a);
  memcpy(lambda, x + n, (size_t)m->ndriver * sizeof *lambda);
  free(M), free(K), free(x), free(zero), free(pivot);
}

TEST(driven_and_armature_dynamics_agree_with_the_constrained_system_solved_densely) {
  Random r = {12};
  int drivers = 0;
  for (int k = 0; k < 200; k++) {
    srModel* m =
        random_tree(&r, &(RandomTree){.nbody = 1 + random_below(&r, 15), .armature = true, .drivers = k % 4 != 0});
    srData* d = sr_data_create(m);
    random_state(&r, m, d);
    const int n = m->nv;
    double *a = numbers(n), *x = numbers(n), *lambda = numbers(m->ndriver), *y = numbers(m->ndriver);
    ENSURE(sr_aba_driven(m, d, d->q, d->v, d->tau, a, lambda) == SR_OK);
    solve_driven(m, d, x, y);
    const double a_size = largest(x, n) + 1, y_size = largest(y, m->ndriver) + 1;
    for (int i = 0; i < n; i++) ENSURE_NEAR(a[i], x[i], 1e-9 * a_size);  // condition of M up to 1e6
    for (int i = 0; i < m->ndriver; i++) ENSURE_NEAR(lambda[i], y[i], 1e-9 * y_size);
    drivers += m->ndriver;
    // After kinematics the transforms are taken as they are: the same numbers.
    sr_kinematics(m, d);
    ENSURE(sr_aba_driven(m, d, d->q, d->v, d->tau, x, y) == SR_OK);
    ENSURE(memcmp(a, x, (size_t)n * sizeof *a) == 0);
    free(a), free(x), free(lambda), free(y);
    sr_data_destroy(d);
    sr_model_destroy(m);
  }
  ENSURE(drivers > 100);
}

// ---------------------------------------------------------------------------------------------------------- differences
// State of d moved along its flow by time h: v + a h and, to second order, the position.
static void move(const srModel* m, const srData* from, double h, srData* to) {
  double* dxi = numbers(m->nv);
  for (int i = 0; i < m->nv; i++) {
    dxi[i] = h * from->v[i] + h * h / 2 * from->a[i];
    to->v[i] = from->v[i] + h * from->a[i];
    to->a[i] = from->a[i];
  }
  sr_retract(m, from->q, dxi, to->q);
  sr_kinematics(m, to);
  sr_velocity(m, to);
  sr_acceleration(m, to);
  free(dxi);
}

// Central differences with steps h and 2h, combined so that the error is of fourth order.
#define STEP 1e-3
typedef void (*Measure)(const srModel* m, srData* d, void* user, double* out);
static void derivative(const srModel* m, const srData* d, Measure measure, void* user, int n, double* out) {
  static const double weight[4] = {-1, 8, -8, 1}, place[4] = {2, 1, -1, -2};
  srData* moved = sr_data_create(m);
  double value[16];
  for (int i = 0; i < n; i++) out[i] = 0;
  for (int k = 0; k < 4; k++) {
    move(m, d, place[k] * STEP, moved);
    measure(m, moved, user, value);
    for (int i = 0; i < n; i++) out[i] += weight[k] * value[i] / (12 * STEP);
  }
  sr_data_destroy(moved);
}

typedef struct Pair {
  int point, relative_to;
} Pair;

static void measure_position(const srModel* m, srData* d, void* user, double* out) {
  const Pair* pair = user;
  srFrameMotion motion;
  sr_frame_motion(m, d, pair->point, pair->relative_to, &motion);
  memcpy(out, motion.position, 3 * sizeof *out);
  memcpy(out + 3, motion.rotation, 9 * sizeof *out);
}

static void measure_velocity(const srModel* m, srData* d, void* user, double* out) {
  const Pair* pair = user;
  srFrameMotion motion;
  sr_frame_motion(m, d, pair->point, pair->relative_to, &motion);
  memcpy(out, motion.angular_velocity, 3 * sizeof *out);
  memcpy(out + 3, motion.velocity, 3 * sizeof *out);
}

static void check_frame(const srModel* m, srData* d, Pair pair) {
  srFrameMotion f;
  double rate[12], accel[6], *J = numbers(6 * m->nv);
  sr_frame_motion(m, d, pair.point, pair.relative_to, &f);
  // velocities: J v, and the derivative of the position
  sr_frame_jacobian(m, d, pair.point, pair.relative_to, J);
  for (int i = 0; i < 6; i++) {
    double Jv = 0;
    for (int k = 0; k < m->nv; k++) Jv += J[i * m->nv + k] * d->v[k];
    ENSURE_NEAR(Jv, i < 3 ? f.angular_velocity[i] : f.velocity[i - 3], 1e-12 * (1 + fabs(Jv)));
  }
  derivative(m, d, measure_position, &pair, 12, rate);
  for (int i = 0; i < 3; i++) ENSURE_NEAR(rate[i], f.velocity[i], 1e-7);
  for (int j = 0; j < 3; j++) {  // R' = [w] R
    const double column[3] = {f.rotation[j], f.rotation[3 + j], f.rotation[6 + j]};
    double expected[3];
    cross(f.angular_velocity, column, expected);
    for (int i = 0; i < 3; i++) ENSURE_NEAR(rate[3 + 3 * i + j], expected[i], 1e-7);
  }
  // accelerations: derivative of the velocities
  derivative(m, d, measure_velocity, &pair, 6, accel);
  for (int i = 0; i < 3; i++) {
    ENSURE_NEAR(accel[i], f.angular_acceleration[i], 1e-6);
    ENSURE_NEAR(accel[3 + i], f.acceleration[i], 1e-6);
  }
  free(J);
}

TEST(frame_velocities_jacobians_and_accelerations_agree_with_differences) {
  Random r = {13};
  for (int k = 0; k < 100; k++) {
    srModel* m = random_tree(&r, &(RandomTree){.nbody = 1 + random_below(&r, 8)});
    srData* d = sr_data_create(m);
    random_state(&r, m, d);
    move(m, d, 0, d);
    check_frame(m, d, (Pair){random_below(&r, m->npoint), 0});
    check_frame(m, d, (Pair){random_below(&r, m->npoint), random_below(&r, m->npoint)});
    sr_data_destroy(d);
    sr_model_destroy(m);
  }
}

TEST(every_column_of_a_jacobian_is_the_derivative_along_its_coordinate) {
  Random r = {14};
  for (int k = 0; k < 30; k++) {
    srModel* m = random_tree(&r, &(RandomTree){.nbody = 1 + random_below(&r, 6)});
    srData* d = sr_data_create(m);
    Pair pair = {random_below(&r, m->npoint), random_below(&r, m->npoint)};
    double *J = numbers(6 * m->nv), rate[12];
    random_state(&r, m, d);
    memset(d->a, 0, (size_t)m->nv * sizeof *d->a);
    for (int column = 0; column < m->nv; column++) {
      for (int i = 0; i < m->nv; i++) d->v[i] = i == column;
      move(m, d, 0, d);
      sr_frame_jacobian(m, d, pair.point, pair.relative_to, J);
      derivative(m, d, measure_position, &pair, 12, rate);
      for (int i = 0; i < 3; i++) ENSURE_NEAR(J[(3 + i) * m->nv + column], rate[i], 1e-9);
    }
    free(J);
    sr_data_destroy(d);
    sr_model_destroy(m);
  }
}

TEST(a_frame_gives_only_what_the_stage_has) {
  Random r = {15};
  srModel* m = random_tree(&r, &(RandomTree){.nbody = 3});
  srData* d = sr_data_create(m);
  srFrameMotion f;
  sr_frame_motion(m, d, 1, 0, &f);
  ENSURE(isnan(f.position[0]) && isnan(f.rotation[8]) && isnan(f.velocity[0]));
  sr_kinematics(m, d);
  sr_frame_motion(m, d, 1, 0, &f);
  ENSURE(!isnan(f.position[0]) && !isnan(f.rotation[8]) && isnan(f.velocity[0]) && isnan(f.angular_velocity[2]));
  sr_velocity(m, d);
  sr_frame_motion(m, d, 1, 0, &f);
  ENSURE(!isnan(f.velocity[0]) && isnan(f.acceleration[1]) && isnan(f.angular_acceleration[1]));
  sr_acceleration(m, d);
  sr_frame_motion(m, d, 1, 0, &f);
  ENSURE(!isnan(f.acceleration[1]) && !isnan(f.angular_acceleration[1]));
  sr_data_destroy(d);
  sr_model_destroy(m);
}

// ---------------------------------------------------------------------------------------------- energy and momentum
static void measure_momentum(const srModel* m, srData* d, void* user, double* out) {
  (void)user;
  sr_momentum(m, d, out, NULL, NULL);
}

static void measure_centre(const srModel* m, srData* d, void* user, double* out) {
  (void)user;
  double momentum[6], mass;
  sr_momentum(m, d, momentum, &mass, out);
}

TEST(momentum_of_a_floating_tree_changes_by_gravity_alone) {
  Random r = {16};
  for (int k = 0; k < 50; k++) {
    srModel* m = random_tree(&r, &(RandomTree){.nbody = 1 + random_below(&r, 10), .free_root = true});
    srData* d = sr_data_create(m);
    random_state(&r, m, d);
    for (int i = 0; i < 6; i++) d->tau[i] = 0;  // nothing pushes on the root
    ENSURE(sr_aba(m, d, d->q, d->v, d->tau, d->a) == SR_OK);
    move(m, d, 0, d);
    double momentum[6], mass, com[3], rate[6], moment[3], centre_rate[3];
    sr_momentum(m, d, momentum, &mass, com);
    const double weight[3] = {mass * m->gravity[0], mass * m->gravity[1], mass * m->gravity[2]};
    cross(com, weight, moment);
    derivative(m, d, measure_momentum, NULL, 6, rate);
    derivative(m, d, measure_centre, NULL, 3, centre_rate);
    const double a_size = 1 + largest(d->a, m->nv);  // STEP^4 times the fifth derivative grows with it
    for (int i = 0; i < 3; i++) {
      ENSURE_NEAR(rate[i], moment[i], 1e-7 * a_size * a_size);
      ENSURE_NEAR(rate[3 + i], weight[i], 1e-7 * a_size * a_size);
      ENSURE_NEAR(momentum[3 + i], mass * centre_rate[i], 1e-8 * a_size * a_size);
    }
    sr_data_destroy(d);
    sr_model_destroy(m);
  }
}

TEST(kinetic_energy_is_half_v_M_v) {
  Random r = {17};
  for (int k = 0; k < 100; k++) {
    srModel* m = random_tree(&r, &(RandomTree){.nbody = 1 + random_below(&r, 20)});
    srData* d = sr_data_create(m);
    random_state(&r, m, d);
    double *M = numbers(m->nv * m->nv), sum = 0;
    sr_crba(m, d, d->q, M);
    for (int i = 0; i < m->nv; i++)
      for (int j = 0; j < m->nv; j++) sum += 0.5 * d->v[i] * M[i * m->nv + j] * d->v[j];
    sr_kinematics(m, d);
    sr_velocity(m, d);
    ENSURE_NEAR(sr_kinetic_energy(m, d), sum, 1e-13 * (1 + sum));
    free(M);
    sr_data_destroy(d);
    sr_model_destroy(m);
  }
}

static void measure_gravity(const srModel* m, srData* d, void* user, double* out) {
  (void)user;
  *out = sr_gravity_energy(m, d);
}

TEST(the_gradient_of_the_potential_is_the_bias_at_rest) {
  Random r = {18};
  for (int k = 0; k < 30; k++) {
    srModel* m = random_tree(&r, &(RandomTree){.nbody = 1 + random_below(&r, 8)});
    srData* d = sr_data_create(m);
    double *c = numbers(m->nv), *zero = numbers(m->nv), slope;
    random_state(&r, m, d);
    memset(d->a, 0, (size_t)m->nv * sizeof *d->a);
    sr_rnea(m, d, d->q, zero, zero, c);
    for (int i = 0; i < m->nv; i++) {
      for (int j = 0; j < m->nv; j++) d->v[j] = i == j;
      derivative(m, d, measure_gravity, NULL, 1, &slope);
      ENSURE_NEAR(slope, c[i], 1e-8 * (1 + largest(c, m->nv)));
    }
    free(c), free(zero);
    sr_data_destroy(d);
    sr_model_destroy(m);
  }
}

// ------------------------------------------------------------------------------------------------------ configuration
TEST(difference_undoes_retract_also_for_large_and_tiny_steps) {
  Random r = {19};
  for (int k = 0; k < 300; k++) {
    srModel* m = random_tree(&r, &(RandomTree){.nbody = 1 + random_below(&r, 10)});
    srData* d = sr_data_create(m);
    double *dxi = numbers(m->nv), *back = numbers(m->nv), *q = numbers(m->nq);
    random_state(&r, m, d);
    const double size = k % 3 == 0 ? 1e-3 : k % 3 == 1 ? 1e-9 : 1.7;  // |dxi| of a ball stays below pi
    for (int i = 0; i < m->nv; i++) dxi[i] = random_in(&r, -size, size);
    sr_retract(m, d->q, dxi, q);
    sr_difference(m, d->q, q, back);
    for (int i = 0; i < m->nv; i++) ENSURE_NEAR(back[i], dxi[i], 1e-14 * (1 + size) / (k % 3 == 2 ? 0.1 : 1));
    free(dxi), free(back), free(q);
    sr_data_destroy(d);
    sr_model_destroy(m);
  }
}

TEST(qdot_is_the_rate_of_retract_and_does_not_depend_on_the_length_of_quaternions) {
  Random r = {20};
  for (int k = 0; k < 100; k++) {
    srModel* m = random_tree(&r, &(RandomTree){.nbody = 1 + random_below(&r, 10)});
    srData* d = sr_data_create(m);
    double *qdot = numbers(m->nq), *unit = numbers(m->nq), *q = numbers(m->nq), *dxi = numbers(m->nv),
           *rate = numbers(m->nq);
    random_state(&r, m, d);
    sr_qdot(m, d->q, d->v, qdot);
    memcpy(q, d->q, (size_t)m->nq * sizeof *q);
    sr_normalize(m, q);
    sr_qdot(m, q, d->v, unit);
    for (int i = 0; i < m->nq; i++) ENSURE_NEAR(qdot[i], unit[i], 1e-14);
    for (int side = -1; side <= 1; side += 2) {
      for (int i = 0; i < m->nv; i++) dxi[i] = side * 1e-5 * d->v[i];
      sr_retract(m, d->q, dxi, q);
      for (int i = 0; i < m->nq; i++) rate[i] += side * q[i] / 2e-5;
    }
    for (int i = 0; i < m->nq; i++) ENSURE_NEAR(rate[i], qdot[i], 1e-8);
    free(qdot), free(unit), free(q), free(dxi), free(rate);
    sr_data_destroy(d);
    sr_model_destroy(m);
  }
}

TEST(normalize_gives_unit_quaternions_and_the_same_poses) {
  Random r = {21};
  srModel* m = random_tree(&r, &(RandomTree){.nbody = 20});
  srData* d = sr_data_create(m);
  double *M = numbers(m->nv * m->nv), *N = numbers(m->nv * m->nv);
  random_state(&r, m, d);
  sr_crba(m, d, d->q, M);
  sr_normalize(m, d->q);
  sr_crba(m, d, d->q, N);
  for (int i = 0; i < m->nv * m->nv; i++) ENSURE_NEAR(M[i], N[i], 1e-13 * largest(M, m->nv * m->nv));
  for (int i = 1; i < m->nlink; i++) {
    const double* q = d->q + m->link_q[i] + (m->link_type[i] == SR_LINK_FREE ? 3 : 0);
    if (m->link_type[i] != SR_LINK_BALL && m->link_type[i] != SR_LINK_FREE) continue;
    ENSURE_NEAR(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], 1, 1e-15);
  }
  free(M), free(N);
  sr_data_destroy(d);
  sr_model_destroy(m);
}

// ----------------------------------------------------------------------------------------------------------- refusals
static srModel* one_body(const srJointDef* joint, const srInertialDef* inertial) {
  srSpec* spec = srs_create();
  srMessages* messages = sr_messages_create();
  srModel* m = NULL;
  const int body = srs_add_body(spec, SR_NO_OWNER, &(srBodyDef){.name = sr_text("rotor")});
  srs_add_joint(spec, body, joint);
  srs_add_inertial(spec, body, inertial);
  sr_compile(spec, messages, &m);
  sr_messages_destroy(messages);
  srs_destroy(spec);
  return m;
}

TEST(a_coordinate_that_moves_no_inertia_is_named) {
  // A point mass on the axis of its joint.
  srModel* m = one_body(&(srJointDef){.name = sr_text("spin"), .type = sr_text("revolute")},
                        &(srInertialDef){.mass = sr_number(1), .com = SR_NUMBERS(0, 0, 1)});
  ENSURE(m != NULL);
  srData* d = sr_data_create(m);
  ENSURE(sr_aba(m, d, d->q, d->v, d->tau, d->a) == SR_FAILED);
  ENSURE(strstr(d->error_message, "spin") != NULL && strstr(d->error_message, "rotor") != NULL);
  double M;
  int bad = -1;
  sr_crba(m, d, d->q, &M);
  ENSURE(sr_ltl_factor(m, &M, &bad) == SR_FAILED);
  ENSURE_EQUAL(bad, 0);
  sr_data_destroy(d);
  sr_model_destroy(m);
}

TEST(a_free_point_mass_is_singular_and_named) {
  srModel* m = one_body(&(srJointDef){.type = sr_text("free")},
                        &(srInertialDef){.mass = sr_number(3), .com = SR_NUMBERS(0.1, 0.2, 0.3)});
  ENSURE(m != NULL);
  srData* d = sr_data_create(m);
  ENSURE(sr_aba(m, d, d->q, d->v, d->tau, d->a) == SR_FAILED);
  ENSURE(strstr(d->error_message, "rotor") != NULL);
  sr_data_destroy(d);
  sr_model_destroy(m);
}

TEST(armature_makes_a_massless_coordinate_regular) {
  srModel* m = one_body(&(srJointDef){.type = sr_text("revolute"), .armature = sr_number(2)},
                        &(srInertialDef){.mass = sr_number(1), .com = SR_NUMBERS(0, 0, 1)});
  ENSURE(m != NULL);
  srData* d = sr_data_create(m);
  double a, tau = 3;
  ENSURE(sr_aba_driven(m, d, d->q, d->v, &tau, &a, NULL) == SR_OK);
  ENSURE_NEAR(a, 1.5, 1e-15);
  sr_data_destroy(d);
  sr_model_destroy(m);
}
