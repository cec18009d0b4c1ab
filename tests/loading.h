// Opens shipped models for tests: without messages of any kind, else the test fails and prints them.
#ifndef SR_TEST_LOADING_H
#define SR_TEST_LOADING_H

#include <sarrus/sarrus.h>
#include <stdio.h>
#include <string.h>

#include "runner.h"

typedef struct Loaded {
  srModel* m;
  srData* d;
  srRunResult result;
} Loaded;

// Splits "NAME=VALUE NAME=VALUE ..." in place; returns how many there are.
static inline int loading_settings(char* text, srSetting* items, int room) {
  int n = 0;
  for (char* word = strtok(text, " "); word && n < room; word = strtok(NULL, " ")) {
    char* equals = strchr(word, '=');
    ENSURE(equals != NULL);
    *equals = 0;
    items[n++] = (srSetting){word, equals + 1};
  }
  return n;
}

static inline void loading_print(const srMessages* messages) {
  for (int i = 0; i < sr_messages_count(messages); i++) {
    char line[400];
    sr_message_format(sr_messages_get(messages, i), line, sizeof line);
    printf("%s\n", line);
  }
}

// Opens models/FILE.xml with settings "NAME=VALUE NAME=VALUE ..." (or ""). To be closed with close_model.
static inline Loaded open_model(const char* file, const char* settings) {
  char path[512], text[256];
  srSetting items[8];
  snprintf(path, sizeof path, "%s/models/%s.xml", SARRUS_SOURCE_DIR, file);
  snprintf(text, sizeof text, "%s", settings);
  const int n = loading_settings(text, items, 8);
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  Loaded x = {0};
  srStatus status = sr_load(path, &(srLoadOptions){.settings = items, .nsetting = n}, messages, &spec);
  if (status == SR_OK) status = sr_compile(spec, messages, &x.m);
  loading_print(messages);
  srs_destroy(spec);
  const int said = sr_messages_count(messages);
  sr_messages_destroy(messages);
  ENSURE_EQUAL(status, SR_OK);
  ENSURE_EQUAL(said, 0);  // no warnings either
  x.d = sr_data_create(x.m);
  return x;
}

// The same from the text of a model.
static inline Loaded open_text(const char* text) {
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  Loaded x = {0};
  srStatus status = sr_load_text(text, strlen(text), "test", NULL, NULL, messages, &spec);
  if (status == SR_OK) status = sr_compile(spec, messages, &x.m);
  loading_print(messages);
  srs_destroy(spec);
  sr_messages_destroy(messages);
  ENSURE_EQUAL(status, SR_OK);
  x.d = sr_data_create(x.m);
  return x;
}

static inline void close_model(Loaded* x) {
  sr_data_destroy(x->d);
  sr_model_destroy(x->m);
}

static inline srFrameMotion sensor(const Loaded* x, const char* name) {
  srFrameMotion motion;
  const int i = sr_sensor_find(x->m, name);
  ENSURE(i >= 0);
  sr_frame_motion(x->m, x->d, x->m->sensor[i].point, x->m->sensor[i].relative_to, &motion);
  return motion;
}

// What the energy balance misses, relative to the largest energy met.
static inline double energy_residual(const Loaded* x) { return x->result.energy.residual / x->result.energy.scale; }

#endif
