// Steps one by one: the states of a run bit by bit, changed forces, moved states, events, no allocation, failures, live parameters.
#include <math.h>
#include <sarrus/sarrus.h>
#include <string.h>

#include "heap.h"
#include "loading.h"
#include "runner.h"

static int refuse_row(void* user, const double* row) { return (void)user, (void)row, 1; }

static srStepper* stepper_of(const Loaded* x, const char* method, double step) {
  srRunOptions options = sr_run_options(x->m);
  options.method = method;
  options.step = step;
  options.control = sri_method_find(method)->adaptive ? SR_CONTROL_FIXED : SR_CONTROL_DEFAULT;
  options.row = refuse_row;  // callbacks of a run are not used
  srMessages* messages = sr_messages_create();
  srStepper* out = NULL;
  const srStatus status = sr_stepper_create(x->m, &options, messages, &out);
  loading_print(messages);
  sr_messages_destroy(messages);
  ENSURE_EQUAL(status, SR_OK);
  return out;
}

static void run_to(Loaded* x, const char* method, double step, double t_end) {
  srRunOptions options = sr_run_options(x->m);
  options.method = method;
  options.step = step;
  options.control = sri_method_find(method)->adaptive ? SR_CONTROL_FIXED : SR_CONTROL_DEFAULT;
  options.t_end = t_end;
  ENSURE_EQUAL(sr_run(x->m, x->d, &options, NULL, &x->result), SR_OK);
}

// A run evaluates its last state, which normalises quaternions once more.
static bool same_state(const srModel* m, const srData* a, srData* b) {
  sr_normalize(m, b->q);
  return a->t == b->t && memcmp(a->q, b->q, (size_t)m->nq * sizeof(double)) == 0 &&
         memcmp(a->v, b->v, (size_t)m->nv * sizeof(double)) == 0 &&
         memcmp(a->y, b->y, (size_t)m->ny * sizeof(double)) == 0;
}

// ---- as a run ---------------------------------------------------------------------------------------------------------

static const struct {
  const char *model, *method;
  double step;
} same_cases[] = {{"robots/arm-seven", "rk4", 1e-3},      // dry friction, stops
                  {"mechanisms/four-bar", "rk4", 1e-3},   // a loop, with projection
                  {"mechanisms/four-bar", "hem5", 2e-3},  // of its own constraint solver
                  {"mechanisms/sarrus-linkage", "dopri5", 1e-3},
                  {"mechanisms/double-wishbone", "genalpha-ggl", 1e-3},
                  {"free-body", "rk4", 1e-2},               // quaternions
                  {"contact/block-on-slope", "rk4", 1e-3},  // contact with friction
                  {"dc-motor", "radau5", 1e-3}};

TEST(fixed_steps_one_by_one_are_those_of_a_run_bit_by_bit) {
  enum { STEPS = 40 };
  for (size_t i = 0; i < sizeof same_cases / sizeof same_cases[0]; ++i) {
    Loaded x = open_model(same_cases[i].model, ""), y = open_model(same_cases[i].model, "");
    const double h = same_cases[i].step;
    srStepper* stepper = stepper_of(&y, same_cases[i].method, h);
    run_to(&x, same_cases[i].method, h, STEPS * h);
    for (int k = 0; k < STEPS / 2; ++k) ENSURE_EQUAL(sr_step(stepper, y.d, 1, NULL), SR_OK);
    ENSURE_EQUAL(sr_step(stepper, y.d, STEPS / 2, NULL), SR_OK);
    if (!same_state(x.m, x.d, y.d)) printf("  %s by %s\n", same_cases[i].model, same_cases[i].method);
    ENSURE(same_state(x.m, x.d, y.d));
    ENSURE_EQUAL(sr_step_result(stepper)->stats.steps, x.result.stats.steps);
    sr_stepper_destroy(stepper);
    close_model(&x);
    close_model(&y);
  }
}

// ---- changed between steps --------------------------------------------------------------------------------------------

// Two rods; tau of the second one is the caller's.
static const char* const rods =
    "<sarrus version='1'>"
    "<parameter name='k' value='3' live='yes'/>"
    "<body name='a'><joint name='p' type='revolute' axis='0 1 0' q='0.5'/>"
    "<inertial mass='1' com='0 0 -0.5' inertia='0.1 0.1 0.01'/></body>"
    "<body name='b' parent='a'><joint name='r' type='revolute' axis='0 1 0' at='0 0 -1'/>"
    "<inertial mass='1' com='0 0 -0.5' inertia='0.1 0.1 0.01'/></body>"
    "<torque joint='p' law='-k*q(p)'/></sarrus>";

TEST(a_changed_force_or_parameter_holds_from_the_next_step_on) {
  Loaded x = open_text(rods), y = open_text(rods);
  const int k = sr_parameter_find(x.m, "k");
  ENSURE_EQUAL(k, 0);
  ENSURE_EQUAL(sr_parameter_find(x.m, "p"), -1);
  ENSURE_NEAR(y.d->y[k], 3, 0);
  srStepper* stepper = stepper_of(&y, "rk4", 0.01);
  ENSURE_EQUAL(sr_step(stepper, y.d, 20, NULL), SR_OK);
  for (int i = 0; i < 2; ++i) {
    if (i == 0) y.d->tau[1] = 2;
    if (i == 1) y.d->y[k] = 50;
    // A run that starts there with the same forces takes the same steps.
    sr_data_copy(x.m, y.d, x.d);
    const double t0 = x.d->t;
    ENSURE_EQUAL(sr_step(stepper, y.d, 15, NULL), SR_OK);
    run_to(&x, "rk4", 0.01, t0 + 15 * 0.01);
    ENSURE(memcmp(x.d->q, y.d->q, 2 * sizeof(double)) == 0 && memcmp(x.d->v, y.d->v, 2 * sizeof(double)) == 0);
  }
  ENSURE_NEAR(y.d->t, 0.5, 1e-15);
  ENSURE_EQUAL(sr_step_result(stepper)->stats.steps, 50);  // one motion: it was not started again
  sr_stepper_destroy(stepper);
  close_model(&x);
  close_model(&y);
}

TEST(a_moved_state_starts_a_new_motion) {
  Loaded x = open_text(rods), y = open_text(rods);
  char method[] = "rk4";
  srStepper* stepper = stepper_of(&y, method, 0.01);
  method[0] = 'x';  // the caller's text is not needed any more
  ENSURE_EQUAL(sr_step(stepper, y.d, 20, NULL), SR_OK);
  y.d->v[0] += 1e-3;
  sr_data_copy(x.m, y.d, x.d);
  ENSURE_EQUAL(sr_step(stepper, y.d, 3, NULL), SR_OK);
  ENSURE_EQUAL(sr_step_result(stepper)->stats.steps, 3);
  run_to(&x, "rk4", 0.01, x.d->t + 3 * 0.01);
  ENSURE(same_state(x.m, x.d, y.d));
  sr_data_reset(y.m, y.d);
  ENSURE_EQUAL(sr_step(stepper, y.d, 1, NULL), SR_OK);
  ENSURE_NEAR(y.d->t, 0.01, 0);
  sr_stepper_destroy(stepper);
  close_model(&x);
  close_model(&y);
}

static long allocations(srStepper* stepper, srData* d) {
  Heap heap = {0};
  sr_set_allocator(heap_allocator, &heap);
  for (int i = 0; i < 10; ++i) {
    d->tau[0] = 0.1 * i;
    ENSURE_EQUAL(sr_step(stepper, d, 2, NULL), SR_OK);
  }
  sr_set_allocator(NULL, NULL);
  return heap.calls;
}

TEST(stepping_allocates_nothing_even_where_forces_change) {
  static const char* const models[] = {"robots/arm-seven", "mechanisms/four-bar", "contact/bouncing-ball"};
  for (size_t i = 0; i < sizeof models / sizeof models[0]; ++i) {
    Loaded x = open_model(models[i], "");
    srStepper* stepper = stepper_of(&x, "rk4", 1e-3);
    ENSURE_EQUAL(sr_step(stepper, x.d, 1, NULL), SR_OK);
    ENSURE_EQUAL(allocations(stepper, x.d), 0);
    sr_stepper_destroy(stepper);
    close_model(&x);
  }
}

// ---- events -----------------------------------------------------------------------------------------------------------

// Free fall from 1 m with g = 10 m/s^2: at the floor after sqrt(0.2) s; reflected with 0.8 of its speed.
static const char* const ball =
    "<sarrus version='1'><option gravity='0 0 -10'/>"
    "<parameter name='level' value='0' live='yes'/>"
    "<body name='b'><joint name='z' type='prismatic' axis='0 0 1' q='1'/><inertial mass='1'/></body>"
    "<event name='hit' when='q(z) - level' direction='falling' do='v(z) = -0.8*v(z)'/>"
    "<event name='high' when='t - 0.6' stop='yes'/></sarrus>";

TEST(an_event_splits_a_step_and_the_grid_goes_on) {
  Loaded x = open_text(ball);
  srStepper* stepper = stepper_of(&x, "rk4", 0.05);
  ENSURE_EQUAL(sr_step(stepper, x.d, 9, NULL), SR_OK);
  const double hit = sqrt(0.2), v = 0.8 * sqrt(20.0), s = 0.45 - hit;
  ENSURE_NEAR(x.d->t, 0.45, 1e-15);
  ENSURE_NEAR(x.d->q[0], v * s - 5 * s * s, 1e-13);
  ENSURE_NEAR(x.d->v[0], v - 10 * s, 1e-13);
  ENSURE(!sr_step_ended(stepper));
  ENSURE_EQUAL(sr_step(stepper, x.d, 9, NULL), SR_OK);  // up to 0.9 s, but for the stop
  ENSURE(sr_step_ended(stepper));
  ENSURE_NEAR(x.d->t, 0.6, 1e-12);
  ENSURE_EQUAL(sr_step(stepper, x.d, 1, NULL), SR_OK);  // goes on where it is asked to
  ENSURE(!sr_step_ended(stepper));
  ENSURE(x.d->t > 0.6 + 1e-3);
  sr_stepper_destroy(stepper);
  close_model(&x);
}

// The floor is lifted above the ball, which falls: it is hit at once, at its present speed.
TEST(an_event_that_a_changed_parameter_triggers_happens_before_the_step) {
  Loaded x = open_text(ball);
  srStepper* stepper = stepper_of(&x, "rk4", 0.05);
  ENSURE_EQUAL(sr_step(stepper, x.d, 4, NULL), SR_OK);
  ENSURE_NEAR(x.d->v[0], -2, 1e-14);
  x.d->y[0] = 0.9;
  const double t = x.d->t;
  ENSURE_EQUAL(sr_step(stepper, x.d, 1, NULL), SR_OK);
  ENSURE_NEAR(sr_step_result(stepper)->event[0].t, t, 0);
  ENSURE_NEAR(x.d->v[0], 1.6 - 0.5, 1e-14);
  ENSURE_EQUAL(sr_step_result(stepper)->event_count, 1);
  sr_stepper_destroy(stepper);
  close_model(&x);
}

// While a step is taken a law holds its branch; between steps the caller's data sees the law as it is.
TEST(the_callers_data_is_not_held_on_a_branch) {
  Loaded x = open_text(
      "<sarrus version='1'><option gravity='0 0 0'/><body name='b'><joint name='x' type='prismatic' axis='1 0 0'/>"
      "<inertial mass='1'/></body><torque joint='x' law='if(q(x) &lt; 1, 3, -7)'/></sarrus>");
  srStepper* stepper = stepper_of(&x, "rk4", 0.1);
  ENSURE_EQUAL(sr_step(stepper, x.d, 1, NULL), SR_OK);
  srData* other = sr_data_create(x.m);
  sr_data_copy(x.m, x.d, other);
  x.d->q[0] = 2;
  ENSURE_EQUAL(sr_evaluate(x.m, x.d, x.d->t, NULL, NULL, NULL, SR_STAGE_ACCELERATION), 0);
  ENSURE_NEAR(x.d->a[0], -7, 0);
  sr_data_copy(x.m, other, x.d);
  ENSURE_EQUAL(sr_step(stepper, x.d, 19, NULL), SR_OK);
  // 3 m/s^2 up to x = 1 at sqrt(2/3) s, then -7 m/s^2 for 0.367 s, back to x = 1 at 1.516 s, and 3 m/s^2 again.
  ENSURE_EQUAL(sr_step_result(stepper)->jumps, 2);
  const double t1 = sqrt(2.0 / 3), v1 = 3 * t1, s = 2.0 - t1 - 2 * v1 / 7;
  ENSURE_NEAR(x.d->q[0], 1 - v1 * s + 1.5 * s * s, 1e-12);
  sr_data_destroy(other);
  sr_stepper_destroy(stepper);
  close_model(&x);
}

// ---- refused, failed, stopped -----------------------------------------------------------------------------------------

static int stop_now(void* user) { return *(int*)user; }

TEST(a_stop_request_leaves_the_last_state_and_the_next_step_goes_on) {
  Loaded x = open_text(rods);
  srStepper* stepper = stepper_of(&x, "rk4", 0.01);
  int stop = 0;
  x.d->stop = stop_now;
  x.d->stop_user = &stop;
  ENSURE_EQUAL(sr_step(stepper, x.d, 2, NULL), SR_OK);
  stop = 1;
  ENSURE_EQUAL(sr_step(stepper, x.d, 2, NULL), SR_OK);
  ENSURE_NEAR(x.d->t, 0.02, 0);
  stop = 0;
  ENSURE_EQUAL(sr_step(stepper, x.d, 1, NULL), SR_OK);
  ENSURE_NEAR(x.d->t, 0.03, 1e-17);
  sr_stepper_destroy(stepper);
  close_model(&x);
}

TEST(steps_that_cannot_be_taken_name_the_reason) {
  Loaded x = open_text(
      "<sarrus version='1'><body name='b'><joint name='x' type='prismatic' axis='1 0 0' q='1' v='-1'/><inertial "
      "mass='1'/>"
      "</body><torque joint='x' law='sqrt(q(x))'/></sarrus>");
  srStepper* stepper = stepper_of(&x, "rk4", 0.4);
  srStatus status = SR_OK;
  for (int i = 0; i < 50 && status == SR_OK; ++i) {
    x.d->tau[0] = -5;
    status = sr_step(stepper, x.d, 1, NULL);
  }
  ENSURE_EQUAL(status, SR_FAILED);
  ENSURE(strstr(sr_step_result(stepper)->error_message, "joint 'x'") != NULL);
  ENSURE(isfinite(x.d->q[0]) && x.d->q[0] > 0);  // the last good state
  sr_stepper_destroy(stepper);

  srRunOptions options = sr_run_options(x.m);
  srMessages* messages = sr_messages_create();
  options.step = -1;
  ENSURE_EQUAL(sr_stepper_create(x.m, &options, messages, &stepper), SR_INPUT);
  options.step = 1e-3;
  options.method = "rk5";
  ENSURE_EQUAL(sr_stepper_create(x.m, &options, messages, &stepper), SR_INPUT);
  ENSURE(stepper == NULL);
  ENSURE_EQUAL(sr_messages_count(messages), 2);
  ENSURE(strstr(sr_messages_get(messages, 1)->text, "did you mean 'rk4'") != NULL);
  sr_messages_destroy(messages);
  close_model(&x);
}

TEST(a_motion_that_blows_up_ends_at_its_last_good_state) {
  Loaded x = open_text(
      "<sarrus version='1'><body name='b'><joint name='x' type='prismatic' axis='1 0 0' q='1'/><inertial "
      "mass='1'/></body>"
      "<torque joint='x' law='1e3*q(x)^3'/></sarrus>");
  srStepper* stepper = stepper_of(&x, "rk4", 0.1);
  ENSURE_EQUAL(sr_step(stepper, x.d, 1000, NULL), SR_FAILED);
  ENSURE(strstr(sr_step_result(stepper)->error_message, "blown up") != NULL);
  ENSURE(fabs(x.d->q[0]) < 1e15 && fabs(x.d->v[0]) < 1e15);
  sr_stepper_destroy(stepper);
  close_model(&x);
}

TEST(a_live_parameter_is_refused_where_a_number_is_fixed) {
  const char* const text =
      "<sarrus version='1'><parameter name='m' value='1' live='yes'/><body name='b'><inertial "
      "mass='m'/></body></sarrus>";
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  srModel* m = NULL;
  ENSURE_EQUAL(sr_load_text(text, strlen(text), "test", NULL, NULL, messages, &spec), SR_OK);
  ENSURE_EQUAL(sr_compile(spec, messages, &m), SR_INPUT);
  ENSURE(strstr(sr_messages_get(messages, 0)->text, "the parameter 'm' is live") != NULL);
  ENSURE_EQUAL(sr_messages_get(messages, 0)->place.line, 1);
  srs_destroy(spec);
  sr_messages_destroy(messages);
}
