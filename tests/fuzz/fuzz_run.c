// Fuzzer of a whole run: a model file, compiled, assembled and simulated for a moment with any method, formulation and
// tolerance. The first bytes choose those; the rest is the file. Whatever its content, the run ends: done, or with a message. A
// state that is not finite is never called done.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_EVALUATIONS 3000
#define MOST_BYTES 8000
#define MOST_COORDINATES 60  // beyond that an evaluation under the sanitizers takes too long,
#define MOST_STATES 40       // and a factorization of an implicit method

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

// Counted, not timed: a run that is stiff for its method is stopped.
static int count_down(void* user) {
  long* left = user;
  return --*left <= 0;
}

static void fail(const char* reason, const srRunResult* result) {
  fprintf(stderr, "%s: %s (t = %g)\n", reason, result->error_message, result->t);
  abort();
}

static void run(const srModel* m, srData* d, const uint8_t* choice) {
  static const double tolerances[] = {1e-2, 1e-4, 1e-6, 1e-8};
  long left = MOST_EVALUATIONS;
  srRunResult* result = calloc(1, sizeof *result);
  srRunOptions options = sr_run_options(m);
  srMessages* messages = sr_messages_create();
  options.method = sri_method(choice[0] % sri_method_count())->name;
  options.rtol = tolerances[choice[2] % 4];
  options.atol = 1e-2 * options.rtol;
  options.t_end = d->t + 0.05;
  d->stop = count_down;
  d->stop_user = &left;
  const srStatus status = sr_run(m, d, &options, messages, result);
  for (int i = 0; status == SR_OK && i < m->nq; i++)
    if (!isfinite(d->q[i])) fail("done, and q is not finite", result);
  for (int i = 0; status == SR_OK && i < m->nv; i++)
    if (!isfinite(d->v[i])) fail("done, and v is not finite", result);
  if (status != SR_OK && sr_messages_errors(messages) == 0 && result->error_message[0] == 0)
    fail("no sentence", result);
  sr_messages_destroy(messages);
  free(result);
}

static void formulate_and_run(const srSpec* spec, const srModel* m, srData* d, const uint8_t* choice) {
  static const srFormulation formulations[] = {SR_FORMULATION_RELATIVE, SR_FORMULATION_ABSOLUTE,
                                               SR_FORMULATION_PENALTY};
  const srFormulation formulation = formulations[choice[1] % 3];
  srModel* other = NULL;
  srData* other_d = NULL;
  if (formulation == SR_FORMULATION_RELATIVE) {
    run(m, d, choice);
  } else if (sr_formulate(spec, m, d, formulation, NULL, &other, &other_d) == SR_OK) {
    run(other, other_d, choice);
  }
  sr_data_destroy(other_d);
  sr_model_destroy(other);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  srSpec* spec = NULL;
  srModel* m = NULL;
  if (size < 4 || size > MOST_BYTES) return 0;
  if (sr_load_text((const char*)data + 3, size - 3, "fuzz", NULL, NULL, NULL, &spec) != SR_OK) return 0;
  const bool plugin = srs_count(spec, SR_ELEMENT_PLUGIN) > 0;  // no library is loaded here
  if (!plugin && sr_compile(spec, NULL, &m) == SR_OK && m->nv <= MOST_COORDINATES && m->ny <= MOST_STATES) {
    long left = MOST_EVALUATIONS;
    srData* d = sr_data_create(m);
    d->stop = count_down;
    d->stop_user = &left;
    if (sr_assemble(m, d, NULL, NULL) == SR_OK) formulate_and_run(spec, m, d, data);
    sr_data_destroy(d);
  }
  sr_model_destroy(m);
  srs_destroy(spec);
  return 0;
}
