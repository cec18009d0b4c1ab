// The quadruped of models/robots/quadruped-stairs.xml: all collision shapes of a URDF touch. Expected are its weight, and the places that its gait was made
// for (tools/stairs-gait): treads of 0.25 m and 0.05 m, each foot one tread further in a cycle.
#include <math.h>
#include <string.h>

#include "loading.h"

static void run_to(Loaded* x, double t_end) {
  srMessages* messages = sr_messages_create();
  srRunOptions options = sr_run_options(x->m);
  options.t_end = t_end;
  ENSURE_EQUAL(sr_run(x->m, x->d, &options, messages, &x->result), SR_OK);
  sr_messages_destroy(messages);
}

static int body_of(const srModel* m, const char* name) {
  for (int b = 0; b <= m->nbody; b++)
    if (strcmp(m->body_name[b], name) == 0) return b;
  return -1;
}

// 17 links, of which those of one leg and the trunk touch each other but across a joint; 5 shapes of the ground with everything.
TEST(links_of_a_urdf_touch_the_stairs_and_each_other_but_not_across_a_joint) {
  Loaded x = open_model("robots/quadruped-stairs", "");
  ENSURE_EQUAL(sr_evaluate(x.m, x.d, 0, NULL, NULL, NULL, SR_STAGE_POSITION), 0);
  // trunk with 4 hips is a joint, with thighs, shins, feet is not; hip-thigh and thigh-shin (and its foot) are; shin and foot are welded
  const int own = 4 * 3 + 4 * 2;                   // trunk with thigh, shin, foot; hip with shin, foot
  const int between = 6 * 4 * 4, ground = 5 * 17;  // two legs of four shapes each; floor and four steps
  ENSURE_EQUAL(x.m->ncontact, own + between + ground);
  close_model(&x);
}

// At the start four springs carry the weight: nothing accelerates but by the motion of the joints, which rest for 0.2 s.
TEST(a_quadruped_stands_before_the_stairs) {
  Loaded x = open_model("robots/quadruped-stairs", "");
  ENSURE_EQUAL(sr_state_at_time(x.m, x.d, false, false, NULL, NULL), SR_OK);
  const double z = x.d->q[2];
  run_to(&x, 0.15);
  ENSURE_NEAR(x.d->q[2], z, 2e-5);
  ENSURE_NEAR(x.d->q[0], 0, 6.3e-4);  // the depth of the springs
  ENSURE_NEAR(x.d->q[1], 0, 6.3e-4);
  close_model(&x);
}

TEST(a_quadruped_climbs_stairs) {
  if (!runner_long()) return;
  Loaded x = open_model("robots/quadruped-stairs", "");
  ENSURE_EQUAL(sr_state_at_time(x.m, x.d, false, false, NULL, NULL), SR_OK);
  run_to(&x, 11.5);
  static const struct {
    const char* foot;
    double x, y, height;  // of the tread under it
  } feet[] = {{"fl_foot", 0.95, 0.17, 0.15},
              {"fr_foot", 0.95, -0.17, 0.15},
              {"rl_foot", 0.55, 0.17, 0.05},
              {"rr_foot", 0.55, -0.17, 0.05}};
  for (int i = 0; i < 4; i++) {
    srFrameMotion at;
    sr_frame_motion(x.m, x.d, body_of(x.m, feet[i].foot), 0, &at);
    ENSURE_NEAR(at.position[0], feet[i].x, 0.015);  // the feet slip and roll by a few mm
    ENSURE_NEAR(at.position[1], feet[i].y, 0.015);
    ENSURE_NEAR(at.position[2], feet[i].height + 0.025, 1e-3);  // its radius, less the depth
  }
  ENSURE_NEAR(x.d->q[2], 0.31 + 0.025 + 0.1, 2e-3);  // above the mean of the feet
  close_model(&x);
}
