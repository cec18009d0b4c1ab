// Tests of src/live: answers are taken apart here by hand, rows are compared with runs of the same model, pulls with closed forms.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

// ---- a client ----------------------------------------------------------------------------------------------------------------
typedef struct Client {
  srLive* live;
  srText answer;
  srJsonTree tree;
  const char* json;
  size_t njson;
} Client;

static Client begin(void) {
  Client c = {.live = sr_live_create(&(srLiveOptions){0})};
  ENSURE(c.live != NULL);
  return c;
}

static void end(Client* c) {
  sr_json_tree_free(&c->tree);
  sr_text_free(&c->answer);
  sr_live_destroy(c->live);
}

static int member(const Client* c, const char* key) { return sr_json_member(&c->tree, 0, key); }

static bool flag(const Client* c, const char* key) {
  const int at = member(c, key);
  return at >= 0 && c->tree.node[at].text[0] == 't';
}

static double number(const Client* c, const char* key) {
  double x = NAN;
  const int at = member(c, key);
  if (at >= 0 && !sr_json_node_number(&c->tree.node[at], &x)) return NAN;
  return x;
}

// Sends a request, and takes the frame apart. Returns its ok.
static bool ask(Client* c, const char* request) {
  sr_text_free(&c->answer);
  ENSURE_EQUAL(sr_live_request(c->live, request, strlen(request), &c->answer), SR_OK);
  const unsigned char* b = (const unsigned char*)c->answer.data;
  ENSURE(c->answer.n >= 4 && c->answer.n % 8 == 0);
  c->njson = b[0] | (size_t)b[1] << 8 | (size_t)b[2] << 16 | (size_t)b[3] << 24;
  c->json = c->answer.data + 4;
  ENSURE(4 + c->njson <= c->answer.n);
  srJsonError wrong;
  ENSURE(sr_json_read(c->json, c->njson, &c->tree, &wrong));
  return flag(c, "ok");
}

// An array of the answer: its first byte and count. NULL: it is not there.
static const void* array(const Client* c, const char* name, size_t* n) {
  const int list = member(c, "arrays"), at = list >= 0 ? sr_json_member(&c->tree, list, name) : -1;
  double from = 0, count = 0;
  if (at < 0) return NULL;
  ENSURE(sr_json_node_number(&c->tree.node[sr_json_member(&c->tree, at, "at")], &from));
  ENSURE(sr_json_node_number(&c->tree.node[sr_json_member(&c->tree, at, "n")], &count));
  if (n) *n = (size_t)count;
  return c->answer.data + (4 + c->njson + 7) / 8 * 8 + (size_t)from;
}

static double real(const Client* c, const char* name, int i) {
  size_t n = 0;
  double x;
  const char* p = array(c, name, &n);
  ENSURE(p != NULL && (size_t)i < n);
  memcpy(&x, p + (size_t)i * sizeof x, sizeof x);
  return x;
}

static bool says(const Client* c, const char* words) {
  char* copy = calloc(c->njson + 1, 1);
  memcpy(copy, c->json, c->njson);
  const bool found = strstr(copy, words) != NULL;
  if (!found) printf("%s\n", copy);
  free(copy);
  return found;
}

static void put_quoted(srText* out, const char* text) {
  for (; *text; text++)
    if (*text == '"' || *text == '\\')
      sr_text_print(out, "\\%c", *text);
    else if (*text == '\n')
      sr_text_print(out, "\\n");
    else
      sr_text_add(out, text, 1);
}

static bool load(Client* c, const char* text, const char* more) {
  srText request = {0};
  sr_text_print(&request, "{\"id\": 1, \"do\": \"load\", \"file\": \"test.xml\"%s, \"text\": \"", more);
  put_quoted(&request, text);
  sr_text_print(&request, "\"}");
  const bool good = ask(c, request.data);
  sr_text_free(&request);
  return good;
}

static const char pendulum[] =
    "<sarrus version=\"1\" name=\"p\"><parameter name=\"m\" value=\"2\"/><parameter name=\"l\" value=\"0.5\"/>\n"
    "<body name=\"bob\"><joint type=\"revolute\" name=\"theta\" axis=\"0 1 0\" q=\"0.3\"/>\n"
    "<inertial mass=\"m\" com=\"0 0 -l\"/></body><run t-end=\"1\" method=\"rk4\" step=\"0.005\"/></sarrus>";

// ---- frames ------------------------------------------------------------------------------------------------------------------
TEST(an_answer_has_the_id_of_its_request) {
  Client c = begin();
  ENSURE(ask(&c, "{\"id\": 7, \"do\": \"hello\"}"));
  ENSURE_NEAR(number(&c, "id"), 7, 0);
  ENSURE(says(&c, "\"engine\": \"native\""));
  ENSURE(!ask(&c, "{\"id\": \"a\\u00e9\", \"do\": \"advance\", \"to\": 1}"));
  ENSURE(says(&c, "\"id\": \"a\xc3\xa9\""));
  ENSURE(says(&c, "load one first"));
  end(&c);
}

TEST(a_request_that_is_wrong_is_answered_by_a_sentence) {
  static const char* const list[][2] = {
      {"", "no JSON"},
      {"{", "no JSON"},
      {"[1]", "a request is an object"},
      {"{}", "needs the member \\\"do\\\""},
      {"{\"do\": 3}", "must be a text"},
      {"{\"do\": \"advnce\"}", "did you mean 'advance'"},
      {"{\"do\": \"advance\"}", "needs the member \\\"to\\\""},
      {"{\"do\": \"advance\", \"to\": NaN}", "no JSON"},
      {"{\"do\": \"advance\", \"to\": 1e999}", "no JSON"},
      {"{\"do\": \"advance\", \"to\": 1e300}", "must be from"},
      {"{\"do\": \"advance\", \"to\": \"1\"}", "must be a number"},
      {"{\"do\": \"advance\", \"to\": 1, \"to\": 2}", "given twice"},
      {"{\"do\": \"advance\", \"to\": 1, \"too\": 2}", "has no member \\\"too\\\""},
      {"{\"do\": \"step\", \"n\": 0.5}", "must be"},
      {"{\"do\": \"step\", \"n\": 1.5}", "whole number"},
      {"{\"do\": \"step\", \"n\": 1e18}", "must be from"},
      {"{\"do\": \"back\", \"serial\": 5}", "not kept"},
      {"{\"do\": \"back\", \"serial\": -1}", "must be from"},
      {"{\"do\": \"pose\"}", "needs \\\"q\\\""},
      {"{\"do\": \"pose\", \"q\": [[1, 0]]}", "no coordinate 1"},
      {"{\"do\": \"pose\", \"q\": [[-1, 0]]}", "no coordinate -1"},
      {"{\"do\": \"pose\", \"q\": [[0]]}", "needs \\\"q\\\""},
      {"{\"do\": \"pose\", \"q\": [[0, 1, 2]]}", "needs \\\"q\\\""},
      {"{\"do\": \"pose\", \"q\": [[0, 1e300]]}", "cannot be 1e+300"},
      {"{\"do\": \"pull\", \"body\": 2, \"at\": [0,0,0], \"to\": [0,0,0]}", "must be from 1 to 1"},
      {"{\"do\": \"pull\", \"body\": \"arm\", \"at\": [0,0,0], \"to\": [0,0,0]}", "no body 'arm'"},
      {"{\"do\": \"pull\", \"body\": 1, \"at\": [0,0], \"to\": [0,0,0]}", "three numbers"},
      {"{\"do\": \"pull\", \"body\": 1, \"at\": [0,0,0,0], \"to\": [0,0,0]}", "three numbers"},
      {"{\"do\": \"pull\", \"body\": 1, \"at\": [0,0,-1], \"to\": [0,0,0], \"stiffness\": 1e14}", "too stiff"},
      {"{\"do\": \"pull\", \"body\": 1, \"at\": [0,0,0], \"to\": [0,0,0]}", "nothing can move it"},
      {"{\"do\": \"options\", \"method\": \"rk5\"}", "cannot be 'rk5'"},
      {"{\"do\": \"options\", \"step\": 0}", "must be from"},
      {"{\"do\": \"parameter\", \"name\": \"x\", \"value\": \"1\"}", "no parameter 'x'"},
      {"{\"do\": \"parameter\", \"name\": \"m\", \"value\": \"2*\"}", "error"},
      {"{\"do\": \"parameter\", \"name\": \"m\", \"value\": 2}", "must be a text"},
      {"{\"do\": \"load\"}", "either \\\"text\\\" or \\\"path\\\""},
      {"{\"do\": \"load\", \"text\": \"a\", \"path\": \"b\"}", "either \\\"text\\\" or \\\"path\\\""},
      {"{\"do\": \"load\", \"path\": \"/etc/passwd\"}", "reads no files"},
      {"{\"do\": \"load\", \"text\": \"\\u0000\"}", "without zeros"},
      {"{\"do\": \"load\", \"text\": \"\"}", "error"},
      {"{\"do\": \"load\", \"text\": \"<sarrus>\", \"settings\": {\"a\": 1}}", "must be a text"},
      {"{\"do\": \"load\", \"text\": \"<sarrus/>\", \"settings\": []}", "must be an object"}};
  Client c = begin();
  ENSURE(load(&c, pendulum, ""));
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    if (ask(&c, list[i][0]) || !says(&c, list[i][1])) {
      printf("%s: expected %s\n", list[i][0], list[i][1]);
      ENSURE(false);
    }
  }
  ENSURE(ask(&c, "{\"do\": \"advance\", \"to\": 0.01}"));  // and the session goes on
  end(&c);
}

// ---- steps -------------------------------------------------------------------------------------------------------------------
typedef struct Bench {
  srSpec* spec;
  srModel* m;
  srData* d;
} Bench;

static Bench open_text(const char* text, const srSetting* setting, int n) {
  Bench b = {0};
  const srLoadOptions how = {.settings = setting, .nsetting = n};
  ENSURE_EQUAL(sr_load_text(text, strlen(text), "test.xml", NULL, &how, NULL, &b.spec), SR_OK);
  ENSURE_EQUAL(sr_compile(b.spec, NULL, &b.m), SR_OK);
  b.d = sr_data_create(b.m);
  ENSURE(b.d != NULL);
  return b;
}

static void close(Bench* b) {
  sr_data_destroy(b->d);
  sr_model_destroy(b->m);
  srs_destroy(b->spec);
}

static void run_to(Bench* b, double t, double step) {
  srRunOptions o = sr_run_options(b->m);
  srRunResult* result = calloc(1, sizeof *result);
  o.t_end = t;
  if (step > 0) o.step = step;
  ENSURE_EQUAL(sr_run(b->m, b->d, &o, NULL, result), SR_OK);
  free(result);
}

// Until the session is there.
static void advance_to(Client* c, double t) {
  do {
    char text[100];
    snprintf(text, sizeof text, "{\"do\": \"advance\", \"to\": %.17g, \"budget\": 10000}", t);
    ENSURE(ask(c, text));
  } while (flag(c, "more"));
}

TEST(advance_is_a_run_with_the_same_step_to_the_bit) {
  Client c = begin();
  Bench b = open_text(pendulum, NULL, 0);
  ENSURE(load(&c, pendulum, ""));
  advance_to(&c, 0.5);
  run_to(&b, 0.5, 0);
  ENSURE(real(&c, "q", 0) == b.d->q[0] && real(&c, "v", 0) == b.d->v[0]);
  close(&b);
  end(&c);
}
