// A program on the core alone: a pendulum made in C, compiled, checked, run and reported, without a file. It runs as well in
// WebAssembly. A point mass on a massless rod, released from the horizontal, is back after 2.3678419475762 s (IFToMM benchmark
// A01, by the complete elliptic integral).
#include <math.h>
#include <sarrus/report.h>
#include <sarrus/simulate.h>
#include <sarrus/spec.h>
#include <stdio.h>
#include <string.h>

#define PERIOD 2.3678419475762
#define QUARTER 1.5707963267948966

static srSpec* pendulum(void) {
  static const double axis[] = {0, 1, 0}, com[] = {0, 0, -1};
  srSpec* spec = srs_create();
  const int rod = srs_add_body(spec, SR_NO_OWNER, &(srBodyDef){.name = sr_text("rod")});
  srs_add_joint(
      spec, rod,
      &(srJointDef){
          .name = sr_text("theta"), .type = sr_text("revolute"), .axis = sr_numbers(axis, 3), .q = sr_text("pi/2")});
  srs_add_inertial(spec, rod, &(srInertialDef){.mass = sr_number(1), .com = sr_numbers(com, 3)});
  return spec;
}

// Checks and runs the model; the number of faults.
static int use(const srSpec* spec, const srModel* m, srMessages* messages) {
  srData* d = sr_data_create(m);
  srCheck* check = NULL;
  srText text = {0};
  if (sr_check_create(spec, m, d, SR_FORMULATION_RELATIVE, messages, &check) != SR_OK) return 1;
  sr_report_check(check, messages, SR_REPORT_JSON, &text);
  const int faults = text.failed || !strstr(text.data, "\"dof\": 1,");
  sr_text_free(&text);
  sr_check_destroy(check);
  srRunOptions o = sr_run_options(m);
  srRunResult result;
  o.t_end = PERIOD;
  o.rtol = o.atol = 1e-10;
  const srStatus status = sr_run(m, d, &o, messages, &result);
  const double off = fabs(d->q[0] - QUARTER);
  printf("%s: %.1e rad off after one period\n", sr_status_text(status), off);
  sr_data_destroy(d);
  return faults + (status != SR_OK) + !(off < 1e-6);
}

int main(void) {
  srMessages* messages = sr_messages_create();
  srSpec* spec = pendulum();
  srModel* m = NULL;
  int faults = sr_compile(spec, messages, &m) != SR_OK;
  if (!faults) faults = use(spec, m, messages);
  for (int i = 0; i < sr_messages_count(messages); i++) printf("%s\n", sr_messages_get(messages, i)->text);
  sr_model_destroy(m);
  srs_destroy(spec);
  sr_messages_destroy(messages);
  return faults;
}
