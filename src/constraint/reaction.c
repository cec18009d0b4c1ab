// Reactions of all joints: Newton-Euler for every body, with all external wrenches, from the tips to the ground.
//
//   reaction_b = (inertia, gravity included) - force elements - closures - formulas, on b and on everything beyond it
//
// Over bodies, not links: a weld transmits a wrench too. All wrenches are about the ground's origin in inertial axes until the
// end. Forces on joint coordinates (drives, springs, couplings) act inside the joint and are part of its reaction.
#include "constraint/reaction.h"

#include <math.h>
#include <string.h>

#include "dynamics/link.h"
#include "dynamics/measurement.h"
#include "force/force.h"
#include "math/pose.h"
#include "model/closure.h"

// Moment and force at a point, on a body.
static void add_wrench(double* wrench, int body, const double* at, const double* moment, const double* force,
                       double sign) {
  double turn[3];
  srm_cross3(at, force, turn);
  double* sum = wrench + 6 * body;
  for (int i = 0; i < 3; i++) {
    sum[i] += sign * (moment[i] + turn[i]);
    sum[3 + i] += sign * force[i];
  }
}

void sr_pair_wrench(const srModel* m, const srData* d, int point, int observer, int common, const double w[6],
                    double* wrench) {
  double a[16], b[16], c[16], moment[3], force[3], opposite[3], arm[3];
  sr_point_frame(m, d, point, b);
  sr_point_frame(m, d, observer, a);
  sr_point_frame(m, d, common >= 0 ? common : observer, c);
  srm_pose_rotate(c, w, moment);
  srm_pose_rotate(c, w + 3, force);
  add_wrench(wrench, m->point_body[point], b + 12, moment, force, 1);
  if (common < 0) {
    add_wrench(wrench, m->point_body[observer], b + 12, moment, force, -1);
    return;
  }
  // The observer's axes rotate with the common ancestor: the remaining couple acts there.
  const double none[3] = {0};
  add_wrench(wrench, m->point_body[observer], a + 12, moment, force, -1);
  for (int i = 0; i < 3; i++) arm[i] = a[12 + i] - b[12 + i];
  srm_cross3(arm, force, opposite);
  add_wrench(wrench, m->point_body[common], none, opposite, none, 1);
}

// Moment and force of a closure on its observed frame, in the axes of its equations. The position equations of a soft one are springs.
static int closure_wrench(const srModel* m, srData* d, int i, const double* lambda, double w[6]) {
  const srClosure* c = &m->closure[i];
  srClosureOut out;
  const int answer = sr_closure_evaluate(m, d, c, &out);
  if (answer != 0) return answer;
  memset(w, 0, 6 * sizeof *w);
  for (int k = 0; k < c->np + c->nvel; k++) {
    const double multiplier = k >= c->np ? lambda[c->vrow + k - c->np]
                              : c->soft  ? d->soft_lambda[6 * i + k]
                                         : lambda[c->row + k];
    for (int j = 0; j < 6; j++) w[j] += multiplier * out.W[k][j];
  }
  return 0;
}

static void closure_wrenches(const srModel* m, srData* d, const double* lambda, double* wrench) {
  for (int i = 0; i < m->nclosure; i++) {
    const srClosure* c = &m->closure[i];
    double w[6];
    if (closure_wrench(m, d, i, lambda, w) != 0) continue;
    const bool both = c->kind->observer == SR_OBSERVER_COMMON;
    sr_pair_wrench(m, d, c->point[1], c->point[0], both ? c->common : -1, w, wrench);
  }
}

// The wrench that moves a body as it moves: inertia and weight.
static void inertia_wrench(const srModel* m, const srData* d, int body, double* wrench) {
  srFrameMotion x;
  sr_frame_motion(m, d, body, 0, &x);
  double pose[16], J[9], arm[3], at[3], Jw[3], Jwd[3], gyro[3], turn[3], twice[3], force[3], moment[3];
  sr_point_frame(m, d, body, pose);
  srm_pose_rotate(pose, m->body_com + 4 * body, arm);
  srm_pose_rotate_tensor(pose, m->body_inertia + 9 * body, J);
  for (int i = 0; i < 3; i++) {
    at[i] = pose[12 + i] + arm[i];
    Jw[i] = srm_dot3(J + 3 * i, x.angular_velocity);
    Jwd[i] = srm_dot3(J + 3 * i, x.angular_acceleration);
  }
  srm_cross3(x.angular_velocity, Jw, gyro);
  srm_cross3(x.angular_velocity, arm, turn);
  srm_cross3(x.angular_velocity, turn, twice);
  srm_cross3(x.angular_acceleration, arm, turn);
  for (int i = 0; i < 3; i++) {
    force[i] = m->body_mass[body] * (x.acceleration[i] + turn[i] + twice[i] - m->gravity[i]);
    moment[i] = Jwd[i] + gyro[i];
  }
  add_wrench(wrench, body, at, moment, force, 1);
}

// Sums from the tips to the ground, then to the frame of each body.
static void transmit(const srModel* m, const srData* d, double* wrench, double* reaction) {
  for (int body = m->nbody; body > 0; body--) {
    double* own = wrench + 6 * body;
    double* parent = wrench + 6 * m->body_parent[body];
    double pose[16], turn[3];
    for (int i = 0; i < 6; i++) parent[i] += own[i];
    sr_point_frame(m, d, body, pose);
    srm_cross3(pose + 12, own + 3, turn);
    double* out = reaction + 6 * m->body_joint[body];
    for (int i = 0; i < 3; i++) {
      const double moment[3] = {own[0] - turn[0], own[1] - turn[1], own[2] - turn[2]};
      out[i] = srm_dot3(pose + 4 * i, moment);
      out[3 + i] = srm_dot3(pose + 4 * i, own + 3);
    }
  }
}

static void subtract_constraints(const srModel* m, srData* d, const double* lambda, double* wrench) {
  const int n = 6 * (m->nbody + 1);
  for (int i = 0; i < n; i++) wrench[i] = -wrench[i];
  closure_wrenches(m, d, lambda, wrench);
  if (m->nformula_row > 0) sr_formula_wrenches(m, d, lambda, wrench);
  for (int i = 0; i < n; i++) wrench[i] = -wrench[i];
}

// ---- free bodies ---------------------------------------------------------------------------------------------------------
//
//   reaction of a joint = equations of its closure times their multipliers (penalty: its springs) + J^T (force laws, drivers, couplings,
//                         formulas on its coordinates - armature jv')         all over the velocities of its body: that is
//                         a wrench about the origin of the body's frame, in its axes

// Adds the contribution of joint closures, with these multipliers.
static void closure_reactions(const srModel* m, const srData* d, const double* lambda, double* reaction) {
  for (int i = 0; i < m->nclosure; i++) {
    const srClosure* c = &m->closure[i];
    if (c->joint < 0 || c->soft) continue;
    const int first = m->link_v[m->body_link[m->joint_body[c->joint]]];
    for (int row = c->row; row < c->row + c->np; row++) {
      for (int k = m->G_start[row]; k < m->G_start[row + 1]; k++) {
        const int at = m->G_index[k] - first;
        if (at >= 0 && at < 6) reaction[6 * c->joint + at] += lambda[row] * d->G[k];
      }
    }
  }
}

static int soft_reactions(const srModel* m, srData* d, double* reaction) {
  for (int i = 0; i < m->nclosure; i++) {
    const srClosure* c = &m->closure[i];
    srSoft soft;
    if (c->joint < 0 || !c->soft) continue;
    const int answer = sr_soft_closure(m, d, c, &soft);
    if (answer != 0) return answer;
    double axes[16], own[16], moment[3], force[3];
    sr_point_frame(m, d, c->kind->observer == SR_OBSERVER_COMMON ? c->common : c->point[0], axes);
    sr_point_frame(m, d, c->point[1], own);
    srm_pose_rotate(axes, soft.wrench, moment);
    srm_pose_rotate(axes, soft.wrench + 3, force);
    for (int k = 0; k < 3; k++) {
      reaction[6 * c->joint + k] += srm_dot3(own + 4 * k, moment);
      reaction[6 * c->joint + 3 + k] += srm_dot3(own + 4 * k, force);
    }
  }
  return 0;
}

// Forces of couplings, drivers and formulas on joint coordinates.
static void row_joint_forces(const srModel* m, srData* d, const double* lambda, double* out) {
  for (int i = 0; i < m->ncoupling; i++) {
    const srCoupling* c = &m->coupling[i];
    for (int k = 0; k < c->n; k++) out[c->dof[k]] += c->factor[k] * lambda[c->row];
  }
  for (int i = 0; i < m->ndriver; i++) out[m->driver[i].dof] += lambda[m->row_driver + i];
  if (m->nformula_row > 0) sr_formula_joint_forces(m, d, lambda, out);
}

static void add_joint_forces(const srModel* m, const srData* d, const double* f, double* reaction) {
  for (int k = 0; k < m->njv; k++) {
    double* out = reaction + 6 * m->jv_joint[k];
    for (int i = 0; i < 6; i++) out[i] += f[k] * d->jJ[12 * k + 6 + i];
  }
}

static int free_reactions(const srModel* m, srData* d, double* reaction) {
  double* f = d->work;
  memset(reaction, 0, 6 * (size_t)m->njoint * sizeof *reaction);
  for (int k = 0; k < m->njv; k++) {
    f[k] = d->jf[k] - m->joint_armature[k] * sr_measurement_acceleration(m, d, k, d->a);
  }
  row_joint_forces(m, d, d->lambda, f);
  add_joint_forces(m, d, f, reaction);
  closure_reactions(m, d, d->lambda, reaction);
  sr_acceleration(m, d);
  return soft_reactions(m, d, reaction);
}

// From multipliers only.
static void row_reactions(const srModel* m, srData* d, const double* lambda, double* reaction) {
  double* wrench = d->work;
  if (!m->absolute) {
    memset(wrench, 0, 6 * (size_t)(m->nbody + 1) * sizeof *wrench);
    subtract_constraints(m, d, lambda, wrench);
    transmit(m, d, wrench, reaction);
    return;
  }
  memset(reaction, 0, 6 * (size_t)m->njoint * sizeof *reaction);
  memset(wrench, 0, (size_t)m->njv * sizeof *wrench);
  row_joint_forces(m, d, lambda, wrench);
  add_joint_forces(m, d, wrench, reaction);
  closure_reactions(m, d, lambda, reaction);
}

// ---- all -----------------------------------------------------------------------------------------------------------------

int sr_reactions(const srModel* m, srData* d, double* reaction) {
  double* wrench = d->work;
  if (d->stage < SR_STAGE_VELOCITY) return 1;
  if (m->absolute) return free_reactions(m, d, reaction);
  sr_acceleration(m, d);
  memset(wrench, 0, 6 * (size_t)(m->nbody + 1) * sizeof *wrench);
  const int answer = sr_body_forces(m, d, wrench);
  for (int i = 0; i < 6 * (m->nbody + 1); i++) wrench[i] = -wrench[i];
  for (int body = 1; body <= m->nbody; body++) inertia_wrench(m, d, body, wrench);
  if (m->constrained) subtract_constraints(m, d, d->lambda, wrench);
  transmit(m, d, wrench, reaction);
  return answer;
}

int sr_closure_reaction(const srModel* m, srData* d, int closure, double reaction[6]) {
  const srClosure* c = &m->closure[closure];
  double w[6], axes[16];
  if (d->stage < SR_STAGE_ACCELERATION) return 1;
  const int answer = closure_wrench(m, d, closure, d->lambda, w);
  if (answer != 0) return answer;
  sr_point_frame(m, d, c->kind->observer == SR_OBSERVER_COMMON ? c->common : c->point[0], axes);
  srm_pose_rotate(axes, w, reaction);
  srm_pose_rotate(axes, w + 3, reaction + 3);
  return 0;
}

int sr_joint_reaction(const srModel* m, srData* d, int joint, double reaction[6]) {
  double* all = d->work + 6 * (m->nbody + 1);
  const int answer = sr_reactions(m, d, all);
  memcpy(reaction, all + 6 * joint, 6 * sizeof *reaction);
  return answer;
}

void sr_reactions_unique(const srModel* m, srData* d, const srRank* rank, unsigned char* unique) {
  double *reaction = d->work + 6 * (m->nbody + 1), *lambda = d->row_work;
  memset(unique, 1, (size_t)m->njoint);
  for (int s = 0; s < rank->nredundant && m->constrained; s++) {
    double size = 0;
    memset(lambda, 0, (size_t)m->ng * sizeof *lambda);
    for (int k = rank->set_start[s]; k < rank->set_start[s + 1]; k++) {
      lambda[rank->set[k]] = rank->coefficient[k];
      size = fmax(size, fabs(rank->coefficient[k]));
    }
    row_reactions(m, d, lambda, reaction);
    for (int j = 0; j < m->njoint; j++) {
      for (int i = 0; i < 6; i++) {
        if (fabs(reaction[6 * j + i]) > 1e-6 * size) unique[j] = 0;
      }
    }
  }
}
