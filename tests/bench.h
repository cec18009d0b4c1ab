// A model from its text in a formulation, assembled, with what is said on the way.
#ifndef SR_TEST_BENCH_H
#define SR_TEST_BENCH_H

#include <sarrus/sarrus.h>
#include <stdio.h>
#include <string.h>

#include "messages.h"
#include "runner.h"

typedef struct Bench {
  srSpec* spec;
  srModel* m;
  srData* d;
} Bench;

static char said[4096];  // all messages of the last text that was opened

static inline srStatus open_text(const char* text, srFormulation formulation, Bench* b) {
  srMessages* messages = sr_messages_create();
  *b = (Bench){0};
  srStatus status = sr_load_text(text, strlen(text), "test", NULL, NULL, messages, &b->spec);
  if (status == SR_OK) status = sr_compile(b->spec, messages, &b->m);
  if (status == SR_OK) b->d = sr_data_create(b->m);
  if (status == SR_OK) status = sr_assemble(b->m, b->d, messages, NULL);
  if (status == SR_OK && formulation != SR_FORMULATION_RELATIVE) {
    srModel* m = NULL;
    srData* d = NULL;
    status = sr_formulate(b->spec, b->m, b->d, formulation, messages, &m, &d);
    if (status == SR_OK) {
      sr_data_destroy(b->d);
      sr_model_destroy(b->m);
      b->m = m, b->d = d;
    }
  }
  messages_keep(messages, said, sizeof said);
  sr_messages_destroy(messages);
  return status;
}

static inline void unload(Bench* b) {
  sr_data_destroy(b->d);
  sr_model_destroy(b->m);
  srs_destroy(b->spec);
}

static inline Bench load(const char* text, srFormulation formulation) {
  Bench b;
  const srStatus status = open_text(text, formulation, &b);
  if (status != SR_OK) printf("%s", said);
  ENSURE_EQUAL(status, SR_OK);
  return b;
}

#define BOTH(formulation)                                                                                              \
  for (srFormulation formulation = SR_FORMULATION_RELATIVE; formulation <= SR_FORMULATION_ABSOLUTE; formulation++)

static inline double q_of(const Bench* b, const char* joint) {
  return b->d->jq[b->m->joint_q[sr_joint_find(b->m, joint)]];
}

static inline double v_of(const Bench* b, const char* joint) {
  return b->d->jv[b->m->joint_v[sr_joint_find(b->m, joint)]];
}

#endif
