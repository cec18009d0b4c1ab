// Islands of time-stepping that sleep (src/integrate/sleep.h): what falls asleep, what wakes it, and that the motion is that without sleep.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "loading.h"

#define HEAD "<sarrus version='1'><material name='m' restitution='0' mu-k='0.5'/>"
#define FLOOR "<ground><shape name='floor' type='plane' group='all' material='m'/></ground>"
#define BOX(name, at)                                                                                                  \
  "<body name='" name "'><joint name='" name "' type='free' q='" at                                                    \
  " 1 0 0 0'/><inertial mass='1' inertia='0.002 0.002 0.002'/>"                                                        \
  "<shape name='box' type='box' size='0.1 0.1 0.1' group='all' material='m'/></body>"
#define CONTACT "<contact a='all' b='all' most='40' K='1e6' friction='threlfall' v0='0.01'/>"
#define TAIL "</sarrus>"

typedef struct Asked {
  double t_end, step, sleep, speed;
  int threads;
  srContactMode contact;
} Asked;

static void run(Loaded* x, Asked a) {
  srRunOptions o = sr_run_options(x->m);
  o.contact = a.contact == SR_CONTACT_CONTINUOUS ? SR_CONTACT_TIMESTEPPING : a.contact;
  if (o.contact == SR_CONTACT_TIMESTEPPING) o.method = "moreau";
  o.t_end = a.t_end;
  o.step = a.step;
  o.sleep = a.sleep;
  if (a.speed > 0) o.sleep_speed = a.speed;
  o.threads = a.threads;
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_run(x->m, x->d, &o, messages, &x->result);
  loading_print(messages);
  sr_messages_destroy(messages);
  ENSURE_EQUAL(status, SR_OK);
}

static const srRunEvent* find_event(const Loaded* x, const char* kind, int which) {
  for (int i = 0; i < x->result.nevent; ++i) {
    if (strcmp(x->result.event[i].kind, kind) == 0 && which-- == 0) return &x->result.event[i];
  }
  return NULL;
}

static int count_events(const Loaded* x, const char* kind) {
  int n = 0;
  while (find_event(x, kind, n) != NULL) ++n;
  return n;
}

static const double* body(const Loaded* x, const char* name) {
  for (int i = 1; i <= x->m->nbody; ++i) {
    if (strcmp(x->m->body_name[i], name) == 0) return x->d->q + x->m->joint_q[x->m->link_joint[x->m->body_link[i]]];
  }
  ENSURE(false);
  return NULL;
}

static double apart(const Loaded* x, const Loaded* y) {
  double most = 0;
  for (int i = 0; i < x->m->nq; ++i) most = fmax(most, fabs(x->d->q[i] - y->d->q[i]));
  return most;
}

// ---- falling asleep ---------------------------------------------------------------------------------------------------

// 27 balls: all sleep after some seconds, and from then on there are no contacts to solve.
TEST(a_heap_falls_asleep_and_its_contacts_are_not_solved_any_more) {
  Loaded x = open_model("contact/heap-of-balls", "N=27 side=3"), y = open_model("contact/heap-of-balls", "N=27 side=3");
  Loaded z = open_model("contact/heap-of-balls", "N=27 side=3");
  run(&x, (Asked){.t_end = 8, .step = 1.0 / 240, .sleep = 0.5, .speed = 0.1});
  run(&y, (Asked){.t_end = 8, .step = 1.0 / 240});
  run(&z, (Asked){.t_end = 12, .step = 1.0 / 240, .sleep = 0.5, .speed = 0.1});
  ENSURE_EQUAL(x.result.asleep, 27);
  ENSURE_EQUAL(y.result.asleep, 0);
  ENSURE(x.result.contacts_solved < y.result.contacts_solved / 2);
  ENSURE_EQUAL(z.result.contacts_solved, x.result.contacts_solved);
  for (int i = 0; i < x.m->nv; ++i) ENSURE(x.d->v[i] == 0);
  ENSURE(memcmp(x.d->q, z.d->q, (size_t)x.m->nq * sizeof *x.d->q) == 0);
  for (int i = 0; i < x.m->nq; ++i) {
    if (i % 7 < 3) ENSURE_NEAR(x.d->q[i], y.d->q[i], 0.05);  // a ball that rolls on slowly is stopped
  }
  ENSURE_SMALL(energy_residual(&z), 1e-4);
  close_model(&x);
  close_model(&y);
  close_model(&z);
}

TEST(sleep_has_the_same_bits_for_any_number_of_threads) {
  Loaded x = open_model("contact/heap-of-balls", ""), y = open_model("contact/heap-of-balls", "");
  run(&x, (Asked){.t_end = 3, .step = 1.0 / 240, .sleep = 0.1, .speed = 0.2, .threads = 1});
  run(&y, (Asked){.t_end = 3, .step = 1.0 / 240, .sleep = 0.1, .speed = 0.2, .threads = 2});
  ENSURE(count_events(&x, "sleep") > 0);
  ENSURE_EQUAL(x.result.event_count, y.result.event_count);
  ENSURE_EQUAL(x.result.asleep, y.result.asleep);
  ENSURE(memcmp(x.d->q, y.d->q, (size_t)x.m->nq * sizeof *x.d->q) == 0);
  close_model(&x);
  close_model(&y);
}

// tan(0.4) = 0.42 < mu = 0.5 < tan(0.5): one stays where it was, to the bit, the other one never sleeps and slides as far as without.
TEST(a_block_sleeps_on_a_slope_below_the_angle_of_friction_alone) {
  const char* text = HEAD
      "<parameter name='s' value='%s'/><ground><shape name='floor' type='plane' rpy='0 s 0' group='all' material='m'/>"
      "</ground><body name='box'><joint name='box' type='free' q='0.05*sin(s) 0 0.05*cos(s) cos(s/2) 0 sin(s/2) 0'/>"
      "<inertial mass='1' inertia='0.002 0.002 0.002'/>"
      "<shape name='box' type='box' size='0.1 0.1 0.1' group='all' material='m'/></body>" CONTACT TAIL;
  char own[2000];
  double start[7];
  snprintf(own, sizeof own, text, "0.4");
  Loaded x = open_text(own);
  memcpy(start, x.d->q, sizeof start);
  run(&x, (Asked){.t_end = 100, .step = 1e-3, .sleep = 0.5});
  ENSURE_EQUAL(x.result.asleep, 1);
  ENSURE_EQUAL(count_events(&x, "wake"), 0);
  for (int i = 0; i < 7; ++i) ENSURE_NEAR(x.d->q[i], start[i], 1e-6);
  ENSURE(x.result.contacts_solved < 4 * 510);
  close_model(&x);
  snprintf(own, sizeof own, text, "0.5");
  Loaded y = open_text(own), z = open_text(own);
  run(&y, (Asked){.t_end = 2, .step = 1e-3, .sleep = 0.5});
  run(&z, (Asked){.t_end = 2, .step = 1e-3});
  ENSURE_EQUAL(y.result.asleep, 0);
  ENSURE(apart(&y, &z) == 0);
  close_model(&y);
  close_model(&z);
}

// Speeds are below 0.01 m/s for 2*0.01/(A w^2) = 8 ms at a turning point. The blocks beside it, which rest, sleep.
TEST(a_block_on_a_spring_does_not_sleep_where_it_turns_back) {
  const char* text =
      "<sarrus version='1'><material name='m' restitution='0' mu-k='0'/>"
      "<ground><shape name='floor' type='plane' group='all' material='m'/><point name='wall' at='0 0 "
      "0.05'/></ground>" BOX("box", "0.6 0 0.05") BOX("other", "0 1 0.05") BOX("c", "0 2 0.05") BOX("d", "0 3 0.05")
          BOX("e", "0 4 0.05") CONTACT "<spring a='ground/wall' b='box' stiffness='25' length='0.5'/>" TAIL;
  Loaded x = open_text(text), y = open_text(text);
  run(&x, (Asked){.t_end = 10, .step = 1e-3, .sleep = 0.05});
  run(&y, (Asked){.t_end = 10, .step = 1e-3});
  ENSURE_EQUAL(x.result.asleep, 4);
  ENSURE_EQUAL(count_events(&x, "sleep"), 4);
  ENSURE_TEXT(find_event(&x, "sleep", 0)->a, "other");
  ENSURE_SMALL(apart(&x, &y), 1e-9);
  close_model(&x);
  close_model(&y);
}

// What nothing holds may fly, however slowly.
TEST(what_floats_does_not_sleep) {
  Loaded x = open_text(HEAD "<option gravity='0 0 0'/>" FLOOR BOX("box", "0 0 1") CONTACT TAIL);
  x.d->v[3] = 0.005;
  run(&x, (Asked){.t_end = 10, .step = 0.01, .sleep = 0.5});
  ENSURE_EQUAL(x.result.asleep, 0);
  ENSURE_NEAR(x.d->q[0], 0.05, 1e-9);
  close_model(&x);
}

// ---- waking -----------------------------------------------------------------------------------------------------------

// Two stacks of two boxes; a box falls on the first one, from 20 m: it lands after 2 s. A ball flies past the second one, 5 mm beside it.
TEST(what_is_struck_wakes_and_nothing_else) {
  Loaded
      x = open_text(HEAD FLOOR BOX("a", "0 0 0.05") BOX("b", "0 0 0.15") BOX("c", "2 0 0.05") BOX("d", "2 0 0.15") BOX(
          "falls",
          "0 0 20.2") "<body name='ball'><joint name='ball' type='free' q='2.105 -10 1 1 0 0 "
                      "0' v='0 0 0 0 10 0'/><inertial mass='1' "
                      "inertia='0.001 0.001 0.001'/><shape name='ball' type='sphere' "
                      "size='0.05' group='all' material='m'/></body>"
                      "<force body='ball' f='0 0 9.81'/>" CONTACT TAIL);
  Loaded y = open_text(HEAD FLOOR BOX("c", "2 0 0.05") BOX("d", "2 0 0.15") CONTACT TAIL);
  run(&x, (Asked){.t_end = 4, .step = 1e-3, .sleep = 0.5});
  run(&y, (Asked){.t_end = 4, .step = 1e-3, .sleep = 0.5});
  ENSURE_EQUAL(count_events(&x, "wake"), 1);
  const srRunEvent* wake = find_event(&x, "wake", 0);
  ENSURE_NEAR(wake->t, sqrt(2 * 19.95 / 9.81), 2e-3);
  ENSURE_TEXT(wake->a, "b/box");
  ENSURE_TEXT(wake->b, "falls/box");
  ENSURE_EQUAL(x.result.asleep, 5);
  ENSURE_EQUAL(count_events(&x, "sleep"), 3);
  ENSURE_NEAR(body(&x, "falls")[2], 0.25, 1e-4);
  for (int i = 0; i < 7; ++i) ENSURE_NEAR(body(&x, "d")[i], body(&y, "d")[i], 1e-9);
  ENSURE_SMALL(energy_residual(&x), 2e-3);
  close_model(&x);
  close_model(&y);
}

// The table falls away by 1 m in 0.2 s, without a corner of its motion: the stack on it falls and lands on the table, asleep again at the end.
TEST(a_stack_wakes_where_its_table_is_taken_away) {
  const char* text = HEAD
      "<body name='table'><joint name='table' type='prismatic' axis='0 0 1'/><inertial mass='1' inertia='1 1 1'/>"
      "<shape name='top' type='box' size='1 1 0.1' at='0 0 -0.05' group='all' material='m'/></body>" BOX(
          "a", "0 0 0.05") BOX("b", "0 0 0.15") CONTACT
      "<driver joint='table' motion='-1/(1 + exp(-(t - 3)/0.05))'/>" TAIL;
  Loaded x = open_text(text), y = open_text(text);
  run(&x, (Asked){.t_end = 6, .step = 1e-3, .sleep = 0.5});
  run(&y, (Asked){.t_end = 6, .step = 1e-3});
  ENSURE_EQUAL(count_events(&x, "wake"), 1);
  const srRunEvent* wake = find_event(&x, "wake", 0);
  ENSURE(wake->t > 1.5 && wake->t < 2.5);
  ENSURE(strstr(wake->reason, "driver") != NULL);
  ENSURE_NEAR(body(&x, "b")[2], -0.85, 1e-4);
  ENSURE_EQUAL(x.result.asleep, 3);
  ENSURE_SMALL(apart(&x, &y), 1e-6);
  close_model(&x);
  close_model(&y);
}

// A push of 10 N exp(-((t - 3)/0.1)^2) beyond friction, 4.9 N: it slides as far as without sleep.
TEST(a_load_that_grows_wakes_a_block) {
  const char* text = HEAD FLOOR BOX("a", "0 0 0.05")
      BOX("b", "0 1 0.05") "<force body='a' f='10*exp(-((t - 3)/0.1)^2) 0 0'/>" CONTACT TAIL;
  Loaded x = open_text(text), y = open_text(text);
  run(&x, (Asked){.t_end = 5, .step = 1e-3, .sleep = 0.5});
  run(&y, (Asked){.t_end = 5, .step = 1e-3});
  const srRunEvent* wake = find_event(&x, "wake", 0);
  ENSURE(wake != NULL);
  ENSURE_TEXT(wake->a, "a");
  ENSURE(strstr(wake->reason, "forces") != NULL);
  ENSURE(body(&x, "a")[0] > 0.02);
  ENSURE_SMALL(apart(&x, &y), 1e-6);
  ENSURE_EQUAL(x.result.asleep, 2);
  for (int i = 0; i < x.result.nevent; ++i) {
    if (strcmp(x.result.event[i].kind, "wake") == 0) ENSURE_TEXT(x.result.event[i].a, "a");
  }
  close_model(&x);
  close_model(&y);
}

// An event changes a parameter at 2 s: the motion restarts, and all that sleeps is awake.
TEST(an_event_wakes_all) {
  Loaded x = open_text(HEAD FLOOR BOX("a", "0 0 0.05") BOX(
      "b", "0 1 0.05") "<parameter name='F' value='0'/><event name='push' when='t - 2' do='F = 8'/>"
                       "<force body='a' f='F 0 0'/>" CONTACT TAIL);
  run(&x, (Asked){.t_end = 2.5, .step = 1e-3, .sleep = 0.3});
  ENSURE(count_events(&x, "wake") > 0);
  ENSURE_NEAR(find_event(&x, "wake", 0)->t, 2, 1e-12);
  ENSURE(strstr(find_event(&x, "wake", 0)->reason, "restarts") != NULL);
  ENSURE_NEAR(body(&x, "a")[0], 0.5 * (8 - 0.5 * 9.81) * 0.25, 5e-3);
  close_model(&x);
}

// The surface of the floor begins to move at about 2 s: it carries the box along.
TEST(a_belt_that_starts_wakes_what_lies_on_it) {
  const char* text = HEAD
      "<ground><shape name='floor' type='plane' group='all' material='m' "
      "surface-velocity='1/(1 + exp(-(t - 2.5)/0.1)) 0 0'/></ground>" BOX("a", "0 0 0.05") CONTACT TAIL;
  Loaded x = open_text(text), y = open_text(text);
  run(&x, (Asked){.t_end = 4, .step = 1e-3, .sleep = 0.2});
  run(&y, (Asked){.t_end = 4, .step = 1e-3});
  ENSURE_EQUAL(count_events(&x, "sleep"), 1);
  ENSURE_EQUAL(count_events(&x, "wake"), 1);
  ENSURE(body(&y, "a")[0] > 1);
  ENSURE_SMALL(apart(&x, &y), 1e-5);
  close_model(&x);
  close_model(&y);
}

// ---- what is reported -------------------------------------------------------------------------------------------------

typedef struct Rows {
  int column;
  double last[4];
} Rows;

static int take_row(void* user, const double* row) {
  Rows* x = user;
  memcpy(x->last, row + x->column, sizeof x->last);
  return 0;
}

// Weight and friction of a box on a slope, and its acceleration, while it sleeps.
TEST(forces_of_what_sleeps_are_those_that_it_had) {
  Loaded x = open_text(
      HEAD
      "<parameter name='s' value='0.4'/><ground><shape name='floor' type='plane' rpy='0 s 0' material='m'/></ground>"
      "<body name='a'><joint name='a' type='free' q='0.05*sin(s) 0 0.05*cos(s) cos(s/2) 0 sin(s/2) 0'/>"
      "<inertial mass='1' inertia='0.002 0.002 0.002'/><shape name='box' type='box' size='0.1 0.1 0.1' "
      "material='m'/></body>"
      "<contact name='c' a='floor' b='a/box' K='1e6' friction='coulomb'/><sensor name='a' point='a'/>" TAIL);
  const char* const record[] = {"contact(c).n", "contact(c).fx", "contact(c).fz", "a.az"};
  srColumns* columns = NULL;
  srMessages* messages = sr_messages_create();
  ENSURE_EQUAL(sr_record_columns_create(x.m, record, 4, messages, &columns), SR_OK);
  Rows rows = {.column = columns->count - 4};
  srRunOptions o = sr_run_options(x.m);
  o.contact = SR_CONTACT_TIMESTEPPING;
  o.method = "moreau";
  o.t_end = 2.0005;  // the last step is half as long
  o.step = 1e-3;
  o.sleep = 0.5;
  o.every = 0.1;
  o.record = record;
  o.nrecord = 4;
  o.row = take_row;
  o.user = &rows;
  ENSURE_EQUAL(sr_run(x.m, x.d, &o, messages, &x.result), SR_OK);
  ENSURE_EQUAL(x.result.asleep, 1);
  ENSURE_NEAR(rows.last[0], 9.81 * cos(0.4), 1e-6);
  ENSURE_NEAR(rows.last[1], -9.81 * sin(0.4) * cos(0.4), 1e-6);
  ENSURE_NEAR(rows.last[2], 9.81 * sin(0.4) * sin(0.4), 1e-6);
  ENSURE_SMALL(rows.last[3], 1e-5);
  sr_columns_destroy(columns);
  sr_messages_destroy(messages);
  close_model(&x);
}

// Two boxes with a rod between them by a closure, which is a constraint equation: one island, which sleeps as a whole.
TEST(a_mechanism_with_joints_sleeps_as_a_whole) {
  const char* text = HEAD FLOOR BOX("a", "0 0 0.05") BOX("b", "0.5 0 0.05") CONTACT
      "<closure type='rod' a='a' b='b' length='0.5'/>" TAIL;
  Loaded x = open_text(text);
  run(&x, (Asked){.t_end = 3, .step = 1e-3, .sleep = 0.5});
  ENSURE_EQUAL(x.result.asleep, 2);
  ENSURE_EQUAL(count_events(&x, "sleep"), 1);
  ENSURE_NEAR(body(&x, "b")[0], 0.5, 1e-6);
  close_model(&x);
}

// A stepper goes on asleep, and a force that the caller sets wakes it.
TEST(a_force_between_two_steps_wakes_what_sleeps) {
  Loaded x = open_text(HEAD
                       "<ground><shape name='floor' type='plane' group='all' material='m'/></ground>"
                       "<body name='a'><joint name='x' type='prismatic' axis='1 0 0'/><inertial mass='1'/></body>"
                       "<friction joint='x' law='coulomb' F='2'/>" TAIL);
  srRunOptions o = sr_run_options(x.m);
  o.contact = SR_CONTACT_TIMESTEPPING;
  o.method = "moreau";
  o.step = 1e-3;
  o.sleep = 0.1;
  srMessages* messages = sr_messages_create();
  srStepper* stepper = NULL;
  ENSURE_EQUAL(sr_stepper_create(x.m, &o, messages, &stepper), SR_OK);
  ENSURE_EQUAL(sr_step(stepper, x.d, 200, messages), SR_OK);
  ENSURE_EQUAL(sr_step_result(stepper)->asleep, 1);
  x.d->tau[0] = 1;
  ENSURE_EQUAL(sr_step(stepper, x.d, 50, messages), SR_OK);
  ENSURE_EQUAL(sr_step_result(stepper)->asleep, 0);
  ENSURE_SMALL(x.d->q[0], 1e-12);
  x.d->tau[0] = 3;
  ENSURE_EQUAL(sr_step(stepper, x.d, 100, messages), SR_OK);
  ENSURE_NEAR(x.d->v[0], 0.1, 2e-3);
  sr_stepper_destroy(stepper);
  sr_messages_destroy(messages);
  close_model(&x);
}

// A wall of 24 contacts that sleeps is as many closed contacts: events do not take it over.
TEST(hybrid_contact_counts_what_sleeps) {
  Loaded x = open_text(HEAD FLOOR BOX("a", "0 0 0.05") BOX("b", "0 0 0.15") BOX("c", "0 0 0.25") BOX("d", "0 0 0.35")
                           BOX("e", "0 0 0.45") BOX("f", "0 0 0.551") CONTACT TAIL);
  run(&x, (Asked){.t_end = 4, .step = 1e-3, .sleep = 0.2, .contact = SR_CONTACT_HYBRID});
  const srRunEvent* sleep = find_event(&x, "sleep", 0);
  ENSURE(sleep == NULL || find_event(&x, "event-driven", 0) == NULL || find_event(&x, "event-driven", 0)->t < sleep->t);
  ENSURE_NEAR(body(&x, "f")[2], 0.55, 1e-4);
  close_model(&x);
}

// A ball that rolls with 0.5 m/s is stopped where that counts as rest: its energy, (1 + 0.4)/2 m v^2 = 0.175 J, is in the balance as friction.
TEST(the_energy_of_what_falls_asleep_is_in_the_balance) {
  Loaded x = open_text(
      HEAD FLOOR
      "<body name='a'><joint name='a' type='free' q='0 0 0.05 1 0 0 0' v='0 10 0 0.5 0 0'/><inertial mass='1' "
      "inertia='0.001 0.001 0.001'/><shape name='s' type='sphere' size='0.05' group='all' "
      "material='m'/></body>" CONTACT TAIL);
  run(&x, (Asked){.t_end = 1, .step = 1e-3, .sleep = 0.2, .speed = 0.6});
  ENSURE_EQUAL(x.result.asleep, 1);
  ENSURE_NEAR(x.d->q[0], 0.1, 2e-3);
  ENSURE_NEAR(x.result.energy.work[SR_ACCOUNT_FRICTION], -0.175, 1e-6);
  ENSURE_SMALL(energy_residual(&x), 1e-6);
  close_model(&x);
}
