// A model in equilibrium by options as on the command line, for tests.
#ifndef SR_TEST_BALANCED_H
#define SR_TEST_BALANCED_H

#include <math.h>

#include "loading.h"
#include "messages.h"

typedef struct Balanced {
  srSpec* spec;
  srModel* m;
  srData* d;
  srEquilibrium* e;
  srStatus status;
  char said[3000];
} Balanced;

// The text of a model, or models/NAME.xml; settings as of open_model.
static inline Balanced balanced_open(const char* text, const char* settings) {
  Balanced x = {0};
  char path[512], words[512];
  srSetting items[8];
  snprintf(words, sizeof words, "%s", settings);
  const srLoadOptions how = {.settings = items, .nsetting = loading_settings(words, items, 8)};
  srMessages* messages = sr_messages_create();
  snprintf(path, sizeof path, "%s/models/%s.xml", SARRUS_SOURCE_DIR, text);
  srStatus status = text[0] == '<' ? sr_load_text(text, strlen(text), "test", NULL, &how, messages, &x.spec)
                                   : sr_load(path, &how, messages, &x.spec);
  if (status == SR_OK) status = sr_compile(x.spec, messages, &x.m);
  loading_print(messages);
  sr_messages_destroy(messages);
  ENSURE_EQUAL(status, SR_OK);
  x.d = sr_data_create(x.m);
  return x;
}

// Finds it from x->d's state; where parameters are found, x has the model with them.
static inline void balanced_find(Balanced* x, srEquilibriumOptions options) {
  srMessages* messages = sr_messages_create();
  srSpec* spec;
  srModel* m;
  srData* d;
  options.spec = x->spec;
  sr_equilibrium_destroy(x->e);
  x->status = sr_equilibrium_create(x->m, x->d, &options, messages, &x->e);
  messages_keep(messages, x->said, sizeof x->said);
  sr_messages_destroy(messages);
  if (x->status != SR_OK || !sr_equilibrium_take(x->e, &spec, &m, &d)) return;
  sr_data_destroy(x->d);
  sr_model_destroy(x->m);
  srs_destroy(x->spec);
  x->spec = spec;
  x->m = m;
  x->d = d;
}

static inline void balanced_close(Balanced* x) {
  sr_equilibrium_destroy(x->e);
  sr_data_destroy(x->d);
  sr_model_destroy(x->m);
  srs_destroy(x->spec);
}

// Value of a formula sensor.
static inline double balanced_sensor(const Balanced* x, const char* name) {
  const int i = sr_sensor_find(x->m, name);
  ENSURE(i >= 0 && x->m->sensor[i].formula >= 0);
  return x->d->formula[x->m->sensor[i].formula];
}

// "stable", "unstable" or "marginal".
static inline const char* balanced_stability(const Balanced* x) {
  srMessages* messages = sr_messages_create();
  srLinear* l = NULL;
  srModes* modes = NULL;
  srStatus status = sr_linearize(x->m, x->d, messages, &l);
  if (status == SR_OK) status = sr_modes_create(l, messages, &modes);
  loading_print(messages);
  sr_messages_destroy(messages);
  ENSURE_EQUAL(status, SR_OK);
  const char* word = sr_stability_word(sr_modes_stability(modes));
  sr_modes_destroy(modes);
  sr_linear_destroy(l);
  return word;
}

#define EXCHANGE(...)                                                                                                  \
  .exchange = (const srSetting[]){__VA_ARGS__},                                                                        \
  .nexchange = (int)(sizeof((const srSetting[]){__VA_ARGS__}) / sizeof(srSetting))
#define SPEED(...)                                                                                                     \
  .speed = (const srSetting[]){__VA_ARGS__},                                                                           \
  .nspeed = (int)(sizeof((const srSetting[]){__VA_ARGS__}) / sizeof(srSetting))
#define EQUATION(text, name)                                                                                           \
  .equation = (const char* const[]){text}, .nequation = 1, .unknown = (const char* const[]){name}, .nunknown = 1

#endif
