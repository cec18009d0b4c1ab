// A ball that cannot rotate, on a floor: two prismatic joints x and y, a third one z at rest. Its friction is that of a block without tilting.
#ifndef SR_TEST_SURFACE_SCENE_H
#define SR_TEST_SURFACE_SCENE_H

#include "loading.h"

// floor, ball: attributes of the two shapes; law: of the contact; x, y: of the joints.
static inline Loaded open_scene_under(const char* gravity, const char* floor, const char* ball, const char* law,
                                      const char* x, const char* y) {
  char text[3000];
  double g[3];
  ENSURE_EQUAL(sscanf(gravity, "%lf %lf %lf", &g[0], &g[1], &g[2]), 3);
  snprintf(text, sizeof text,
           "<sarrus version='1'><option gravity='%s'/><ground><shape name='floor' type='plane' %s/></ground>"
           "<body name='x'><joint name='x' type='prismatic' axis='1 0 0' %s/></body>"
           "<body name='y' parent='x'><joint name='y' type='prismatic' axis='0 1 0' %s/></body>"
           "<body name='b' parent='y'><joint name='z' type='prismatic' axis='0 0 1' q='0.1+%.17g'/>"
           "<inertial mass='1'/><shape type='sphere' size='0.1' %s/></body>"
           "<contact a='floor' b='b' normal='kelvin-voigt' K='1e5' D='600' %s/>"
           "<run rtol='1e-8' atol='1e-10'/></sarrus>",
           gravity, floor, x, y, g[2] / 1e5, ball, law);
  return open_text(text);
}

static inline Loaded open_scene(const char* floor, const char* ball, const char* law, const char* x, const char* y) {
  return open_scene_under("0 0 -9.81", floor, ball, law, x, y);
}

static inline Loaded open_absolute(const char* text) {
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  Loaded x = {0}, y = {0};
  ENSURE_EQUAL(sr_load_text(text, strlen(text), "test", NULL, NULL, messages, &spec), SR_OK);
  ENSURE_EQUAL(sr_compile(spec, messages, &x.m), SR_OK);
  x.d = sr_data_create(x.m);
  ENSURE_EQUAL(sr_formulate(spec, x.m, x.d, SR_FORMULATION_ABSOLUTE, messages, &y.m, &y.d), SR_OK);
  srs_destroy(spec);
  sr_messages_destroy(messages);
  close_model(&x);
  return y;
}

static inline void run_scene(Loaded* x, double t_end) {
  srRunOptions options = sr_run_options(x->m);
  options.t_end = t_end;
  options.every = t_end;
  const srStatus status = sr_run(x->m, x->d, &options, NULL, &x->result);
  if (status != SR_OK) printf("  %s\n", x->result.error_message);
  ENSURE_EQUAL(status, SR_OK);
}

// The text does not compile, and a message has these words.
static inline void ensure_refused(const char* text, const char* expected) {
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  srModel* m = NULL;
  char line[500] = "";
  ENSURE_EQUAL(sr_load_text(text, strlen(text), "test", NULL, NULL, messages, &spec), SR_OK);
  ENSURE_EQUAL(sr_compile(spec, messages, &m), SR_INPUT);
  for (int i = 0; i < sr_messages_count(messages) && !strstr(line, expected); i++)
    sr_message_format(sr_messages_get(messages, i), line, sizeof line);
  if (!strstr(line, expected)) printf("  expected '%s' in: %s\n", expected, line);
  ENSURE(strstr(line, expected) != NULL);
  srs_destroy(spec);
  sr_messages_destroy(messages);
}

#endif
