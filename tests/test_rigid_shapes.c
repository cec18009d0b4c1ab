// Rigid contact of shapes with faces and edges in time-stepping: several points of a pair. Expected values are closed forms; the method is of order 1.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "loading.h"

#define LAW " normal='hunt-crossley' K='1e6' friction='threlfall' v0='0.01'"

typedef struct Rows {
  int n;
  double first, highest, last;  // mechanical energy: at the start, the largest, the latest
  double rise;                  // largest rise between two rows
  int kinetic;                  // column
} Rows;

static int watch(void* user, const double* row) {
  Rows* x = user;
  const double energy = row[x->kinetic] + row[x->kinetic + 1];
  if (x->n++ == 0) x->first = x->highest = x->last = energy;
  x->highest = fmax(x->highest, energy);
  x->rise = fmax(x->rise, energy - x->last);
  x->last = energy;
  return 0;
}

static Rows run(Loaded* x, double t_end, double step) {
  Rows rows = {.kinetic = 1 + x->m->nq + x->m->nv + x->m->ny};
  srRunOptions o = sr_run_options(x->m);
  o.contact = SR_CONTACT_TIMESTEPPING;
  o.method = "moreau";
  o.t_end = t_end;
  o.step = o.every = step;
  o.row = watch;
  o.user = &rows;
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_run(x->m, x->d, &o, messages, &x->result);
  loading_print(messages);
  const int said = sr_messages_count(messages);
  sr_messages_destroy(messages);
  ENSURE_EQUAL(status, SR_OK);
  ENSURE_EQUAL(said, 0);  // every contact problem was solved
  return rows;
}

// A body of mass 2 on the plane z = 0, and the same on a box whose top is z = 0.
static Loaded open_scene(const char* shape, const char* inertia, const char* q, const char* v, double mu, double e,
                         bool on_box, bool as_set) {
  char text[1500];
  snprintf(text, sizeof text,
           "<sarrus version='1'><option gravity='0 0 -9.81'/><ground><shape name='floor' %s/></ground><body name='b'>"
           "<joint name='b' type='free' q='%s' v='%s'/><inertial mass='2' com='0 0 0' inertia='%s'/>"
           "<shape name='s' %s/></body><contact a='floor' b='s' restitution='%g' mu-k='%g'" LAW " %s/></sarrus>",
           on_box ? "type='box' size='4 3 0.2' at='0.1 0.2 -0.1'" : "type='plane'", q, v, inertia, shape, e, mu,
           as_set ? "most='4'" : "");
  return open_text(text);
}

#define BOX "type='box' size='0.2 0.3 0.1'"
#define BOX_INERTIA "0.0166667 0.0083333 0.0216667"

TEST(a_box_rests_on_a_plane_and_on_a_box) {
  for (int k = 0; k < 4; k++) {
    Loaded x = open_scene(BOX, BOX_INERTIA, "0 0 0.05 1 0 0 0", "0 0 0 0 0 0", 0.5, 0.3, k % 2 == 1, k >= 2);
    run(&x, 10, 1e-2);
    for (int i = 0; i < 6; i++) ENSURE_SMALL(x.d->v[i], 1e-8);
    ENSURE_SMALL(x.d->q[0], 1e-8);
    ENSURE_SMALL(x.d->q[1], 1e-8);
    ENSURE_NEAR(x.d->q[2], 0.05, 1e-6);
    ENSURE_NEAR(x.d->q[3], 1, 1e-9);
    for (int i = 0; i < 6; i++) ENSURE_SMALL(x.d->a[i], 1e-4);  // with the impulses of the last step
    ENSURE_EQUAL(x.result.impacts, 0);
    close_model(&x);
  }
}

// a = mu g, the box does not tip over (mu < 0.2/0.1) and does not turn: v = v0 - mu g t, way v0^2/(2 mu g).
TEST(a_box_slides_and_stops_where_coulomb_says) {
  for (int k = 0; k < 2; k++) {
    Loaded x = open_scene(BOX, BOX_INERTIA, "0 0 0.05 1 0 0 0", "0 0 0 0.8 0.6 0", 0.5, 0, k == 1, false);
    run(&x, 0.1, 1e-3);
    ENSURE_NEAR(x.d->v[3], 0.8 * (1 - 0.5 * 9.81 * 0.1), 1e-6);
    ENSURE_NEAR(x.d->v[4], 0.6 * (1 - 0.5 * 9.81 * 0.1), 1e-6);
    run(&x, 1, 1e-3);
    const double way = 1 / (2 * 0.5 * 9.81);
    for (int i = 0; i < 6; i++) ENSURE_SMALL(x.d->v[i], 1e-8);
    ENSURE_NEAR(x.d->q[0], 0.8 * way, 0.8e-3);  // h v0
    ENSURE_NEAR(x.d->q[1], 0.6 * way, 0.6e-3);
    ENSURE_NEAR(x.d->q[6], 0, 1e-7);
    close_model(&x);
  }
}

// A block that turns about one edge of its base, a moment before the other one strikes.
static Loaded open_rocking(double width, double height, double angle, double speed) {
  char text[1500];
  snprintf(text, sizeof text,
           "<sarrus version='1'><parameter name='w' value='%.17g'/><parameter name='l' value='%.17g'/>"
           "<parameter name='th' value='%.17g'/><parameter name='om' value='%.17g'/>"
           "<parameter name='R' value='sqrt(w^2+l^2)/2'/><parameter name='al' value='atan(w/l)'/>"
           "<option gravity='0 0 -9.81'/><ground><shape name='floor' type='plane'/></ground><body name='b'>"
           "<joint name='b' type='free' q='-R*sin(al-th) 0 R*cos(al-th) cos(th/2) 0 sin(th/2) 0' "
           "v='0 om 0 om*R*cos(al) 0 om*R*sin(al)'/>"
           "<inertial mass='2' com='0 0 0' inertia='(0.09+l^2)/6 (w^2+l^2)/6 (w^2+0.09)/6'/>"
           "<shape name='s' type='box' size='w 0.3 l'/></body>"
           "<contact a='floor' b='s' restitution='0' mu-k='1.2'" LAW "/></sarrus>",
           width, height, angle, speed);
  return open_text(text);
}

// Housner (1963): the impulse acts at the edge that strikes, r = (1 - 3/2 sin^2 alpha)^2 of the energy remains, alpha the angle of the diagonal.
TEST(a_rocking_block_loses_energy_as_housner_says) {
  const double width[3] = {0.2, 0.1, 0.3}, height[3] = {0.5, 0.6, 0.5};
  for (int k = 0; k < 3; k++) {
    const double alpha = atan(width[k] / height[k]), r = 1 - 1.5 * sin(alpha) * sin(alpha);
    Loaded x = open_rocking(width[k], height[k], 1e-6, -1);
    const Rows rows = run(&x, 3e-6, 1e-8);  // it strikes after 1 us
    const double level = 2 * 9.81 * height[k] / 2;
    ENSURE_EQUAL(x.result.impacts, 1);
    ENSURE_NEAR((rows.last - level) / (rows.first - level), r * r, 1e-6);
    ENSURE(x.d->v[1] < 0);             // it goes on about the other edge
    ENSURE_NEAR(x.d->v[1], -r, 2e-5);  // gravity changes it by 1.5e-5 in 3 us
    close_model(&x);
  }
}

// The same through several impacts: the height of each swing, with the step going to 0.
static double rocking_energy(double step, double t_end) {
  Loaded x = open_rocking(0.2, 0.5, 0.1, 0);
  const Rows rows = run(&x, t_end, step);
  close_model(&x);
  return (rows.last - 2 * 9.81 * 0.25) / (rows.first - 2 * 9.81 * 0.25);
}

TEST(a_rocking_block_has_order_one) {
  const double alpha = atan(0.4), r = 1 - 1.5 * sin(alpha) * sin(alpha), expected = r * r * r * r;  // after two impacts
  const double coarse = rocking_energy(4e-4, 0.45) - expected, fine = rocking_energy(5e-5, 0.45) - expected;
  ENSURE_SMALL(coarse, 30 * 4e-4);
  ENSURE_SMALL(fine, 30 * 5e-5);
}

// The velocity of a free joint is in axes that rotate with it: however far they rotate in a step, momentum is kept.
TEST(what_spins_flies_straight_and_rolls_on_at_any_step) {
  const char* ball = "type='sphere' size='0.1'";
  Loaded x = open_scene(ball, "0.008 0.008 0.008", "0 0 100 1 0 0 0", "30 55 -12 1.2 0.3 7", 0, 0, false, false);
  run(&x, 1, 0.02);  // 1.3 rad a step
  ENSURE_NEAR(x.d->q[0], 1.2, 1e-12);
  ENSURE_NEAR(x.d->q[1], 0.3, 1e-12);
  ENSURE_NEAR(x.d->q[2], 100 + 7 - 9.81 / 2 * (1 + 0.02), 1e-11);  // velocities at the end of the step: g h t/2 more
  close_model(&x);
  x = open_scene(ball, "0.008 0.008 0.008", "0 0 0.1 1 0 0 0", "0 60 3 6 0 0", 0.5, 0, false, false);
  const Rows rows = run(&x, 5, 0.01);  // 0.6 rad a step
  ENSURE_NEAR(x.d->q[0], 30, 1e-6);    // 1e-9 m/s, the tolerance of a contact problem, in 500 steps
  ENSURE_SMALL(x.d->q[1], 1e-6);
  ENSURE_NEAR(rows.last, rows.first, 1e-6);
  ENSURE_SMALL(rows.rise, 1e-7);
  close_model(&x);
}

// Friction takes mu m g s over the slip s, whatever the axes of the body do: 0.5 s at |s| = 12 m/s less 3.5 mu g t.
TEST(the_account_of_friction_is_that_of_the_slip_of_a_spinning_ball) {
  Loaded x = open_scene("type='sphere' size='0.1'", "0.008 0.008 0.008", "0 0 0.1 1 0 0 0", "0 -60 0 6 0 0", 0.1, 0,
                        false, false);
  run(&x, 0.5, 1e-2);
  const double g = 9.81, slip = 12 * 0.5 - 3.5 * 0.1 * g * 0.125;
  ENSURE_NEAR(x.result.energy.work[SR_ACCOUNT_FRICTION], -0.1 * 2 * g * slip, 1e-6);
  ENSURE_SMALL(x.result.energy.residual, 1e-6);
  close_model(&x);
}

// A free body on a pin: a step projects the velocity on the direction across the arm, which has turned by w h since the last one, and loses (w h)^2/2 of the part m r^2 of
// its inertia: w' = -c h w^3/2, c = m r^2/(m r^2 + J). Of order 1, and never a gain.
TEST(a_free_body_on_a_pin_turns_uniformly_as_the_step_goes_to_0) {
  const double c = 0.25 / (0.25 + 0.1);
  for (int k = 0; k < 2; k++) {
    const double h = k == 0 ? 1e-2 : 1e-3;
    Loaded x = open_text(
        "<sarrus version='1'><option gravity='0 0 0'/><ground><point name='pin'/></ground><body name='b'>"
        "<joint name='b' type='free' q='0.5 0 0 1 0 0 0' v='0 0 10 0 5 0'/><inertial mass='1' inertia='0.1 0.1 0.1'/>"
        "<point name='pin' at='-0.5 0 0'/></body><closure type='ball' a='b/pin' b='ground/pin'/></sarrus>");
    run(&x, 1, h);
    ENSURE_NEAR(x.d->v[2], 10 / sqrt(1 + 100 * c * h), 2 * h);
    ENSURE_NEAR(hypot(x.d->q[0], x.d->q[1]), 0.5, 1e-9);
    close_model(&x);
  }
}

// A spring anywhere in the model makes the forces of a step implicit; gyroscopic forces of the others are none of its matrix.
TEST(a_ball_rolls_on_beside_a_spring) {
  Loaded x = open_text(
      "<sarrus version='1'><ground><shape name='floor' type='plane'/></ground><body name='b'>"
      "<joint name='b' type='free' q='0 0 0.03 1 0 0 0' v='0 10/0.03 0 10 0 0'/>"
      "<inertial mass='0.17' inertia='6.12e-5 6.12e-5 6.12e-5'/><shape name='s' type='sphere' size='0.03'/></body>"
      "<body name='o'><joint name='o' type='prismatic' axis='1 0 0' q='0.1' stiffness='100'/><inertial "
      "mass='1'/></body>"
      "<contact a='floor' b='s' restitution='0' mu-k='0.2'" LAW "/></sarrus>");
  run(&x, 1, 1e-3);  // h v/R = 1/3
  ENSURE_NEAR(x.d->q[0], 10, 1e-6);
  ENSURE_SMALL(x.d->q[1], 1e-6);
  ENSURE_NEAR(x.d->q[7], 0.1 * cos(10), 1e-2);  // order 1
  close_model(&x);
}

// Whatever tumbles with e = 0 loses energy. Explicit forces add O(h) in a step, which goes with the step.
TEST(cylinders_and_capsules_dropped_on_a_table_lose_energy_only) {
  const char* const shape[] = {"type='cylinder' size='0.1 0.3'", "type='capsule' size='0.1 0.3'",
                               "type='cone' size='0.1 0.3'", BOX};
  for (int k = 0; k < 8; k++) {
    double rise[2], above[2];
    for (int i = 0; i < 2; i++) {
      Loaded x = open_scene(shape[k / 2], "0.02 0.02 0.01", "0 0 0.5 0.9 0.1 0.3 0.2", "1 2 -1 1 0 0", 0.5, 0,
                            k % 2 == 1, false);
      const Rows rows = run(&x, 0.6, i == 0 ? 2e-3 : 5e-4);
      rise[i] = rows.rise;
      above[i] = rows.highest - rows.first;
      ENSURE(rows.last < 0.5 * rows.first);
      close_model(&x);
    }
    ENSURE_SMALL(above[0], 1e-12);
    ENSURE_SMALL(above[1], 1e-12);
    ENSURE_SMALL(rise[0], 4e-3);  // J in a step, of 10.9 J
    ENSURE_SMALL(rise[1], 3e-4);
  }
}

// Boxes dropped on each other stand: the gaps are closed, and nothing moves.
TEST(a_tower_of_boxes_stands) {
  for (int k = 0; k < 2; k++) {
    char text[1200];
    snprintf(text, sizeof text,
             "<sarrus version='1'><option gravity='0 0 -9.81'/><ground><shape name='floor' type='plane'/></ground>"
             "<repeat count='5' index='i'><body name='b{i}'>"
             "<joint name='b{i}' type='free' q='0.01*sin(7*i) 0 0.1*(i+0.5)+0.002*i 1 0 0 0'/>"
             "<inertial mass='1' com='0 0 0' inertia='0.0016667 0.0016667 0.0016667'/>"
             "<shape name='s{i}' type='box' size='0.1 0.1 0.1' group='boxes'/></body></repeat>"
             "<contact a='floor' b='boxes' restitution='0.2' mu-k='0.5'" LAW
             " %s/>"
             "<contact a='boxes' b='boxes' restitution='0.2' mu-k='0.5'" LAW " %s/></sarrus>",
             k == 0 ? "" : "most='20'", k == 0 ? "" : "most='20'");
    Loaded x = open_text(text);
    run(&x, 0.5, 2e-3);
    for (int i = 0; i < x.m->nv; i++) ENSURE_SMALL(x.d->v[i], 1e-7);
    ENSURE(x.result.impacts >= 4 && x.result.impacts < 20);  // what lies on something that lies does not strike it
    for (int i = 0; i < 5; i++) {
      ENSURE_NEAR(x.d->q[7 * i], 0.01 * sin(7 * i), 1e-4);
      ENSURE_NEAR(x.d->q[7 * i + 2], 0.1 * (i + 0.5), 2e-6 * (i + 1));
    }
    close_model(&x);
  }
}

// Nine boxes stand apart, 36 contacts whose pairs are listed one by one; the first slides until friction stops it, v^2/(2 mu g), and the others do not move.
TEST(boxes_that_stand_apart_do_not_move_each_other) {
  Loaded x = open_text(
      "<sarrus version='1'><option gravity='0 0 -9.81'/><ground><shape name='floor' type='plane'/></ground>"
      "<repeat count='9' index='i'><body name='b{i}'><joint name='b{i}' type='free' q='0 0.5*i 0.05 1 0 0 0' "
      "v='0 0 0 if(i==0, 1, 0) 0 0'/><inertial mass='1+0.1*i' inertia='2e-3 2e-3 2e-3'/>"
      "<shape name='s' type='box' size='0.1 0.1 0.1' group='boxes'/></body></repeat>"
      "<contact a='floor' b='boxes' restitution='0' mu-k='0.5'" LAW "/></sarrus>");
  ENSURE_EQUAL(x.m->nv, 54);
  const double h = 1e-3;
  (void)run(&x, 0.3, h);
  ENSURE_NEAR(x.d->q[0], 1 / (2 * 0.5 * 9.81), h);             // v_0 h/2 is the error of the method
  for (int i = 0; i < 54; ++i) ENSURE_SMALL(x.d->v[i], 1e-7);  // residual 1e-9 m/s over 0.05 m, and some
  for (int i = 1; i < 9; ++i) ENSURE_SMALL(x.d->q[7 * i], 1e-7);
  close_model(&x);
}

// The first domino has more than the energy that it needs to tip over; each of the next is struck in its turn, and all fall.
TEST(dominoes_fall_one_after_the_other) {
  Loaded x = open_text(
      "<sarrus version='1'><parameter name='w' value='0.01'/><parameter name='l' value='0.05'/>"
      "<option gravity='0 0 -9.81'/><ground><shape name='floor' type='plane'/></ground>"
      "<repeat count='4' index='i'><body name='d{i}'><joint name='d{i}' type='free' q='0.03*i 0 l/2 1 0 0 0' "
      "v='0 if(i&lt;0.5, 5, 0) 0 if(i&lt;0.5, 5*l/2, 0) 0 if(i&lt;0.5, 5*w/2, 0)'/>"
      "<inertial mass='0.01' com='0 0 0' inertia='0.01*(0.025^2+l^2)/12 0.01*(w^2+l^2)/12 0.01*(w^2+0.025^2)/12'/>"
      "<shape name='s{i}' type='box' size='w 0.025 l' group='dominoes'/></body></repeat>"
      "<contact a='floor' b='dominoes' restitution='0' mu-k='0.5'" LAW
      "/><contact a='dominoes' b='dominoes' restitution='0' mu-k='0.2'" LAW "/></sarrus>");
  const Rows rows = run(&x, 0.6, 1e-3);
  ENSURE_SMALL(rows.rise, 1e-3 * rows.first);
  int next = 0;
  for (int i = 0; i < x.result.nevent; i++) {
    char name[32];
    snprintf(name, sizeof name, "d%d/s%d", next, next);
    next += strcmp(x.result.event[i].a, name) == 0;
  }
  ENSURE_EQUAL(next, 3);
  for (int i = 0; i < 4; i++) {
    const double* q = x.d->q + 7 * i;
    ENSURE(2 * asin(q[5]) > 0.9);  // about y
    ENSURE_SMALL(q[1], 1e-6);
  }
  ENSURE_NEAR(x.d->q[7 * 3 + 2], 0.005, 1e-6);  // the last one lies flat
  close_model(&x);
}

// A stiff servo of a light arm at 1 ms: h^2 kp/I = 60. It stands where the servo carries the weight, kp (0.5 - q) = m g l cos q.
TEST(a_stiff_servo_holds_an_arm_in_time_steps_of_a_millisecond) {
  for (int k = 0; k < 2; k++) {
    Loaded x = open_text(
        "<sarrus version='1'><option gravity='0 0 -9.81'/><ground><shape name='floor' type='plane' at='0 0 "
        "-1'/></ground>"
        "<body name='arm'><joint name='j' type='revolute' axis='0 -1 0' q='0.1'/>"
        "<inertial mass='0.1' com='0.3 0 0' inertia='1e-4 1e-4 1e-4'/><shape name='tip' type='sphere' size='0.02' "
        "at='0.3 0 0'/></body><torque joint='j' law='6e5*(0.5 - q(j)) - 20*v(j)'/>"
        "<contact a='floor' b='tip' restitution='0' mu-k='0.5'" LAW "/></sarrus>");
    if (k == 1) x.d->q[0] = -1.2;  // further away, at rest
    run(&x, 0.5, 1e-3);
    double q = 0.5;
    for (int i = 0; i < 20; i++) q = 0.5 - 0.1 * 9.81 * 0.3 * cos(q) / 6e5;
    ENSURE_NEAR(x.d->q[0], q, 1e-9);
    ENSURE_SMALL(x.d->v[0], 1e-6);
    close_model(&x);
  }
}

static void count_warnings(const char* contact, const char* text, int expected) {
  char all[1200];
  srMessages* messages = sr_messages_create();
  srRunResult result;
  int n = 0;
  snprintf(all, sizeof all,
           "<sarrus version='1'><option gravity='0 0 -9.81'/><ground><shape name='floor' type='plane'/></ground>"
           "<body name='b'><joint name='b' type='free' q='0 0 0.05 1 0 0 0'/><inertial mass='2' com='0 0 0' "
           "inertia='1 1 1'/><shape name='s' type='sphere' size='0.05'/></body>"
           "<contact a='floor' b='s' restitution='0'" LAW " %s/></sarrus>",
           contact);
  Loaded x = open_text(all);
  srRunOptions o = sr_run_options(x.m);
  o.contact = SR_CONTACT_TIMESTEPPING;
  o.method = "moreau";
  o.t_end = o.step = 1e-3;
  ENSURE_EQUAL(sr_run(x.m, x.d, &o, messages, &result), SR_OK);
  for (int i = 0; i < sr_messages_count(messages); i++) n += strstr(sr_messages_get(messages, i)->text, text) != NULL;
  ENSURE_EQUAL(n, expected);
  sr_messages_destroy(messages);
  close_model(&x);
}

// The walls of the mug have edges, which lie along the faces of the pads: each pad holds it at two points. With one, it would turn between the pads and slip.
TEST(a_gripper_holds_a_mug_by_its_edges) {
  for (int slides = 0; slides < 2; slides++) {
    Loaded x = open_model("contact/gripper-mug", slides ? "F=2" : "");
    srRunOptions o = sr_run_options(x.m);
    srMessages* messages = sr_messages_create();
    double from[3], z = 0;
    o.contact = SR_CONTACT_TIMESTEPPING;
    o.method = "moreau";
    o.step = 1e-3;
    o.t_end = 0.1;
    ENSURE_EQUAL(sr_run(x.m, x.d, &o, messages, &x.result), SR_OK);
    memcpy(from, x.d->q + 2, sizeof from);
    z = x.d->v[7];
    o.t_end = slides ? 0.13 : 2;
    ENSURE_EQUAL(sr_run(x.m, x.d, &o, messages, &x.result), SR_OK);
    if (slides) {
      ENSURE_NEAR((x.d->v[7] - z) / 0.03, -(9.81 - 2 * 0.6 * 2 / 0.3), 0.01);
    } else {
      for (int k = 0; k < 3; k++) ENSURE_NEAR(x.d->q[2 + k], from[k], 1e-8);
      for (int k = 2; k < 8; k++) ENSURE_SMALL(x.d->v[k], 3e-8);  // the residual over the radius
    }
    sr_messages_destroy(messages);
    close_model(&x);
  }
}

TEST(what_rigid_contact_ignores_is_reported) {
  const char* const end[] = {"", " most='1'"};
  for (int k = 0; k < 2; k++) {
    char contact[100];
    snprintf(contact, sizeof contact, "mu-k='0.3'%s", end[k]);
    count_warnings(contact, "ignored", 0);
    snprintf(contact, sizeof contact, "mu-k='0.3' mu-s='0.5'%s", end[k]);
    count_warnings(contact, "the static coefficient of friction is ignored", 1);
    snprintf(contact, sizeof contact, "mu-k='0.3' mu-roll='0.01'%s", end[k]);
    count_warnings(contact, "rolling and spinning friction are ignored", 1);
    snprintf(contact, sizeof contact, "mu-k='0.3' mu-spin='0.01'%s", end[k]);
    count_warnings(contact, "rolling and spinning friction are ignored", 1);
  }
}

// A ball that starts in the floor: the report says how deep.
TEST(penetration_of_rigid_contacts_is_reported) {
  Loaded x = open_scene("type='sphere' size='0.05'", "1 1 1", "0 0 0.048 1 0 0 0", "0 0 0 0 0 0", 0.3, 0, false, false);
  run(&x, 0.01, 1e-3);
  ENSURE_NEAR(x.result.penetration, 0.002, 1e-12);
  close_model(&x);
}

// A force elsewhere makes the step implicit: what overlaps is pushed out the same, for its force law has no part in it.
TEST(force_laws_of_rigid_contacts_have_no_stiffness) {
  double z[2];
  for (int k = 0; k < 2; k++) {
    char text[1200];
    snprintf(text, sizeof text,
             "<sarrus version='1'><option gravity='0 0 -9.81'/><ground><shape name='floor' type='plane'/></ground>"
             "<body name='b'><joint name='b' type='free' q='0 0 0.048 1 0 0 0'/><inertial mass='2' com='0 0 0' "
             "inertia='1 1 1'/><shape name='s' type='sphere' size='0.05'/></body><body name='far'><joint name='far' "
             "type='prismatic' axis='1 0 0'/><inertial mass='1' com='0 0 0' inertia='1 1 1'/></body>"
             "<contact a='floor' b='s' restitution='0' mu-k='0.3'" LAW "/>%s</sarrus>",
             k == 0 ? "" : "<torque joint='far' law='1 - 100*v(far)'/>");
    Loaded x = open_text(text);
    run(&x, 0.01, 1e-3);
    z[k] = x.d->q[2];
    close_model(&x);
  }
  ENSURE(z[0] > 0.0485);
  ENSURE_NEAR(z[1], z[0], 1e-14);
}
