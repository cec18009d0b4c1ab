// Tests of coordinate roles: hints which coordinates of a loop are independent, for coordinate partitioning and the
// assembly.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <string.h>

#include "runner.h"

enum { N = 3 };

// A four-bar whose joints have these roles: 'i', 'd', or '-' for none.
static srModel* four_bar(const char roles[N + 1]) {
  char text[2000], hint[N][40];
  for (int i = 0; i < N; i++)
    snprintf(hint[i], sizeof hint[i], "%s",
             roles[i] == 'i'   ? "role='independent'"
             : roles[i] == 'd' ? "role='dependent'"
                               : "");
  snprintf(text, sizeof text,
           "<sarrus version='1'><body name='crank'><joint type='revolute' axis='0 1 0' q='-1.2' v='2' %s/>"
           "<inertial mass='1.5' com='0.15 0 0' inertia='1e-4 0.0113 0.0113'/></body>"
           "<body name='coupler' parent='crank'><joint type='revolute' axis='0 1 0' at='0.3 0 0' q='1' %s/>"
           "<inertial mass='2' com='0.4 0 0.02' inertia='0.001 0.11 0.11'/><point name='tip' at='0.8 0 0'/></body>"
           "<body name='rocker'><joint type='revolute' axis='0 1 0' at='0.9 0 0.1' q='-1.7' %s/>"
           "<inertial mass='1' com='0.25 0 0' inertia='0.001 0.021 0.021'/><point name='tip' at='0.5 0 0'/></body>"
           "<closure type='ball' a='coupler/tip' b='rocker/tip' normal='0 1 0'/></sarrus>",
           hint[0], hint[1], hint[2]);
  srSpec* spec = NULL;
  srModel* m = NULL;
  if (sr_load_text(text, strlen(text), "m", NULL, NULL, NULL, &spec) == SR_OK) sr_compile(spec, NULL, &m);
  srs_destroy(spec);
  return m;
}

// The coordinate that is independent at the start; *warnings: hints that were not followed.
static int independent(const char* roles, int* warnings) {
  srAssembly assembly;
  srModel* m = four_bar(roles);
  ENSURE(m != NULL);
  srData* d = sr_data_create(m);
  ENSURE(sr_assemble(m, d, NULL, &assembly) == SR_OK);
  srModelSystem user = {.m = m, .d = d};
  const srSystem system = sr_system(&user);
  srIntegratorOptions choice = sri_default_options();
  srIntegrator* integrator = NULL;
  choice.partition = true;
  ENSURE_EQUAL(sri_create("dopri5", &system, &choice, NULL, &integrator), SR_OK);
  ENSURE_EQUAL(sri_start(integrator, 0, d->q, d->v, d->y), SR_OK);
  const unsigned char* dependent = sri_dependent(integrator);
  ENSURE(dependent != NULL);
  ENSURE_EQUAL(dependent[0] + dependent[1] + dependent[2], 2);
  const int left = dependent[0] == 0 ? 0 : dependent[1] == 0 ? 1 : 2;
  sri_destroy(integrator);
  srRunOptions options = sr_run_options(m);
  srMessages* messages = sr_messages_create();
  static srRunResult result;
  options.t_end = 0;
  options.stabilization = SR_STABILIZATION_PARTITION;
  ENSURE_EQUAL(sr_run(m, d, &options, messages, &result), SR_OK);
  *warnings = sr_messages_count(messages);
  sr_messages_destroy(messages);
  sr_data_destroy(d);
  sr_model_destroy(m);
  return left;
}

TEST(role_the_independent_coordinate_is_the_hinted_one) {
  int warnings;
  for (int i = 0; i < N; i++) {
    char hints[N + 1] = "---";
    hints[i] = 'i';
    ENSURE_EQUAL(independent(hints, &warnings), i);
    ENSURE_EQUAL(warnings, 0);
    memcpy(hints, "ddd", N);
    hints[i] = '-';
    ENSURE_EQUAL(independent(hints, &warnings), i);
    ENSURE_EQUAL(warnings, 0);
  }
}

TEST(role_hints_that_cannot_be_followed_are_reported) {
  int warnings;
  independent("iii", &warnings);
  ENSURE_EQUAL(warnings, 2);
  independent("ddd", &warnings);
  ENSURE_EQUAL(warnings, 1);
  ENSURE_EQUAL(independent("dii", &warnings) == 0, 0);
  ENSURE_EQUAL(warnings, 1);
}

TEST(role_independent_joints_stay_where_they_are_when_the_loop_is_closed) {
  for (int i = 0; i < N; i++) {
    srAssembly assembly;
    char hints[N + 1] = "ddd";
    const double start[N] = {-1.2, 1, -1.7};
    hints[i] = 'i';
    srModel* m = four_bar(hints);
    srData* d = sr_data_create(m);
    ENSURE(sr_assemble(m, d, NULL, &assembly) == SR_OK);
    for (int k = 0; k < N; k++) ENSURE((d->q[k] == start[k]) == (k == i));
    sr_data_destroy(d);
    sr_model_destroy(m);
  }
}

// Whatever is hinted, the motion is the same: within what the tolerance leaves after 2 s.
TEST(role_changes_no_motion) {
  double crank[4];
  static const char* const hints[] = {"---", "i--", "-i-", "--i"};
  for (int k = 0; k < 4; k++) {
    srModel* m = four_bar(hints[k]);
    srModel* plain = four_bar("i--");  // assembled alike
    srData *d = sr_data_create(m), *start = sr_data_create(plain);
    srAssembly assembly;
    static srRunResult result;
    ENSURE(sr_assemble(plain, start, NULL, &assembly) == SR_OK);
    memcpy(d->q, start->q, N * sizeof(double));
    memcpy(d->v, start->v, N * sizeof(double));
    srRunOptions options = sr_run_options(m);
    options.t_end = 2;
    options.rtol = 1e-10;
    options.atol = 1e-12;
    options.stabilization = SR_STABILIZATION_PARTITION;
    ENSURE(sr_run(m, d, &options, NULL, &result) == SR_OK);
    ENSURE(result.violation_position < 1e-12);
    crank[k] = d->q[0];
    ENSURE_NEAR(crank[k], crank[0], 1e-7);
    sr_data_destroy(d), sr_data_destroy(start);
    sr_model_destroy(m), sr_model_destroy(plain);
  }
}
