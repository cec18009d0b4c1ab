// Soft closures: position equations of joints and closures as springs and dampers (penalty formulation; Kikuuwe and Yamamoto, section IV.C,
// simulation III, whose joints are stiff impedances between rigid bodies).
//
//   lambda_i = -k_i (g_i + T g_i'),   wrench = sum lambda_i W_i,   V = 1/2 sum k_i g_i^2,   dissipation sum k_i T g_i'^2
//
// k is the stiffness against displacement where the equation holds a displacement, else the one against rotation. W is the exact
// gradient of g, so the springs conserve energy at any deflection.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dynamics/link.h"
#include "force/force.h"
#include "force/ports.h"
#include "math/pose.h"
#include "model/closure.h"

static void see(const srModel* m, const srData* d, const srClosure* c, srClosureIn* in) {
  srFrameMotion b, a;
  const bool both = c->kind->observer == SR_OBSERVER_COMMON;
  sr_frame_motion(m, d, c->point[1], both ? c->common : c->point[0], &b);
  memcpy(in->R, b.rotation, sizeof in->R);
  memcpy(in->d, b.position, sizeof in->d);
  memcpy(in->w, b.angular_velocity, sizeof in->w);
  memcpy(in->u, b.velocity, sizeof in->u);
  if (!both) return;
  sr_frame_motion(m, d, c->point[0], c->common, &a);
  for (int i = 0; i < 3; ++i) {
    in->d[i] -= a.position[i];
    in->w[i] -= a.angular_velocity[i];
    in->u[i] -= a.velocity[i];
  }
}

static double stiffness_of(const srModel* m, const double* W) {
  const bool rotation = W[3] == 0.0 && W[4] == 0.0 && W[5] == 0.0;
  return rotation ? m->run_penalty_rotation : m->run_penalty_stiffness;
}

int sr_soft_closure(const srModel* m, srData* d, const srClosure* c, srSoft* out) {
  srClosureIn in = {.t = d->t};
  srClosureOut rows;
  const char* reason = "";
  memset(out, 0, sizeof *out);
  memset(&rows, 0, sizeof rows);
  see(m, d, c, &in);
  const int answer = c->kind->evaluate(c, &in, &rows, &reason);
  if (answer != 0) {
    (void)snprintf(d->error_message, sizeof d->error_message, "'%s' has no constraint equations here: %s", c->name,
                   reason);
    return answer;
  }
  for (int i = 0; i < c->np; ++i) {
    const double k = stiffness_of(m, rows.W[i]);
    const double rate = srm_dot3(rows.W[i], in.w) + srm_dot3(rows.W[i] + 3, in.u) + rows.b[i];
    out->lambda[i] = -k * (rows.g[i] + m->run_penalty_damping * rate);
    out->energy += 0.5 * k * rows.g[i] * rows.g[i];
    out->dissipation += k * m->run_penalty_damping * rate * rate;
    out->gap = fmax(out->gap, fabs(rows.g[i]));
    for (int j = 0; j < 6; ++j) out->wrench[j] += out->lambda[i] * rows.W[i][j];
  }
  return 0;
}

// The wrench on the bodies of both frames, in the observer's axes; it acts at the origin of the observed frame, except for a
// ball, whose force has its own point on each.
static void apply(const srModel* m, srData* d, const srClosure* c, const srSoft* soft) {
  const bool both = c->kind->observer == SR_OBSERVER_COMMON;
  double frame[16], at[2][16], moment[3], force[3];
  sr_point_frame(m, d, both ? c->common : c->point[0], frame);
  for (int i = 0; i < 2; ++i) sr_point_frame(m, d, c->point[i], at[i]);
  srm_pose_rotate(frame, soft->wrench, moment);
  srm_pose_rotate(frame, soft->wrench + 3, force);
  sr_port_wrench(m, d, c->point[1], at[1] + 12, moment, force, 1.0);
  sr_port_wrench(m, d, c->point[0], (both ? at[0] : at[1]) + 12, moment, force, -1.0);
}

int sr_soft_closures(const srModel* m, srData* d) {
  d->soft_energy = 0.0;
  for (int i = 0; i < m->nclosure; ++i) {
    srSoft soft;
    if (!m->closure[i].soft) continue;
    const int answer = sr_soft_closure(m, d, &m->closure[i], &soft);
    if (answer != 0) return answer;
    apply(m, d, &m->closure[i], &soft);
    memcpy(d->soft_lambda + 6 * i, soft.lambda, sizeof soft.lambda);
    d->soft_energy += soft.energy;
    d->power[SR_ACCOUNT_DISSIPATED] -= soft.dissipation;
  }
  return 0;
}
