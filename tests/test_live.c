// Tests of src/live: answers are taken apart here by hand, rows are compared with runs of the same model, pulls with closed forms.
#define _DEFAULT_SOURCE
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/team.h"
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

static void close_text(Bench* b) {
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
    if (!ask(c, text)) printf("%s\n", c->json);
    ENSURE(flag(c, "ok"));
  } while (flag(c, "more"));
}

TEST(advance_is_a_run_with_the_same_step_to_the_bit) {
  Client c = begin();
  Bench b = open_text(pendulum, NULL, 0);
  ENSURE(load(&c, pendulum, ""));
  advance_to(&c, 0.5);
  run_to(&b, 0.5, 0);
  ENSURE(real(&c, "q", 0) == b.d->q[0] && real(&c, "v", 0) == b.d->v[0]);
  close_text(&b);
  end(&c);
}

// Rows too: those of a run with the same time between them.
typedef struct Kept {
  int n, columns;
  double* row;
} Kept;

static int keep(void* user, const double* row) {
  Kept* k = user;
  memcpy(k->row + (size_t)k->n++ * (size_t)k->columns, row, (size_t)k->columns * sizeof *row);
  return 0;
}

TEST(rows_of_advance_are_those_of_a_run) {
  Client c = begin();
  Bench b = open_text(pendulum, NULL, 0);
  srColumns* columns = sr_columns_create(b.m);
  Kept k = {.columns = columns->count, .row = calloc(100 * (size_t)columns->count, sizeof(double))};
  srRunOptions o = sr_run_options(b.m);
  srRunResult* result = calloc(1, sizeof *result);
  o.t_end = 0.5;
  o.every = 0.02;
  o.row = keep;
  o.user = &k;
  ENSURE_EQUAL(sr_run(b.m, b.d, &o, NULL, result), SR_OK);
  ENSURE(load(&c, pendulum, ""));
  ENSURE(ask(&c, "{\"do\": \"options\", \"every\": 0.02}"));
  advance_to(&c, 0.5);
  size_t n = 0;
  const float* x = array(&c, "columns", &n);
  const int rows = (int)number(&c, "rows");
  ENSURE_EQUAL(rows, 25);
  ENSURE_EQUAL(k.n, 26);
  ENSURE_EQUAL((long)n, rows * (columns->count - 1));
  for (int i = 0; i < rows; i++) {
    ENSURE_NEAR(real(&c, "t", i), 0.02 * (i + 1), 1e-14);
    for (int j = 1; j < columns->count; j++)  // the residual: rounding of energies of 10 J
      ENSURE_NEAR((double)x[i * (columns->count - 1) + j - 1], k.row[(i + 1) * k.columns + j], 1e-6 * 10);
  }
  free(result);
  free(k.row);
  sr_columns_destroy(columns);
  close_text(&b);
  end(&c);
}

// With a ball that bounces, in steps of impulses: contact forces in rows are those that the step has found.
TEST(rigid_contact_is_stepped_as_in_a_run) {
  static const char text[] =
      "<sarrus version=\"1\" name=\"b\"><body name=\"ball\"><joint type=\"free\" name=\"j\" q=\"0 0 0.3 1 0 0 0\"/>"
      "<inertial mass=\"1\" inertia=\"0.01 0.01 0.01\"/><shape name=\"s\" type=\"sphere\" size=\"0.1\"/></body>"
      "<ground><shape name=\"floor\" type=\"plane\"/></ground>"
      "<contact name=\"c\" a=\"ball/s\" b=\"ground/floor\" K=\"1e6\" friction=\"none\" restitution=\"0.5\"/>"
      "<run t-end=\"1\" contact=\"timestepping\" method=\"moreau\" step=\"0.002\"/></sarrus>";
  Client c = begin();
  if (!load(&c, text, "")) (void)says(&c, "model");
  Bench b = open_text(text, NULL, 0);
  advance_to(&c, 0.8);
  run_to(&b, 0.8, 0);
  for (int i = 0; i < b.m->nq; i++) ENSURE(real(&c, "q", i) == b.d->q[i]);
  for (int i = 0; i < b.m->nv; i++) ENSURE(real(&c, "v", i) == b.d->v[i]);
  ENSURE(says(&c, "\"impact\""));
  close_text(&b);
  end(&c);
}

// ---- history -----------------------------------------------------------------------------------------------------------------
TEST(from_an_earlier_row_the_same_rows_come_again) {
  Client c = begin();
  ENSURE(load(&c, pendulum, ""));
  ENSURE(ask(&c, "{\"do\": \"options\", \"every\": 0.02}"));
  advance_to(&c, 0.4);
  ENSURE_NEAR(number(&c, "serial"), 1, 0);
  const double q = real(&c, "q", 0), v = real(&c, "v", 0), t10 = real(&c, "t", 9);
  ENSURE(ask(&c, "{\"do\": \"back\", \"serial\": 10}"));
  ENSURE_NEAR(number(&c, "serial"), 10, 0);
  ENSURE(real(&c, "t", 0) == t10);
  advance_to(&c, 0.4);
  ENSURE_NEAR(number(&c, "serial"), 11, 0);
  ENSURE_NEAR(number(&c, "rows"), 10, 0);
  ENSURE_NEAR(real(&c, "q", 0), q, 1e-12);  // times of the grid differ by their rounding
  ENSURE_NEAR(real(&c, "v", 0), v, 1e-12);
  ENSURE(!ask(&c, "{\"do\": \"back\", \"serial\": 21}"));
  end(&c);
}

TEST(one_can_go_back_a_thousand_rows_and_no_farther) {
  Client c = begin();
  ENSURE(load(&c, pendulum, ""));
  ENSURE(ask(&c, "{\"do\": \"options\", \"step\": 0.001, \"every\": 0.001}"));
  advance_to(&c, 1.5);
  ENSURE(!ask(&c, "{\"do\": \"back\", \"serial\": 0}"));
  ENSURE(says(&c, "rows 477 to 1500"));
  ENSURE(ask(&c, "{\"do\": \"back\", \"serial\": 900}"));
  ENSURE_NEAR(real(&c, "t", 0), 0.9, 1e-12);
  ENSURE(ask(&c, "{\"do\": \"restart\"}"));
  ENSURE_NEAR(number(&c, "serial"), 0, 0);
  ENSURE(real(&c, "q", 0) == 0.3);
  end(&c);
}

// ---- poses -------------------------------------------------------------------------------------------------------------------
static char* read_model(const char* name) {
  char path[400];
  snprintf(path, sizeof path, "%s/models/%s", SARRUS_SOURCE_DIR, name);
  FILE* f = fopen(path, "rb");
  ENSURE(f != NULL);
  char* text = calloc(1 << 20, 1);
  const size_t n = fread(text, 1, (1 << 20) - 1, f);
  ENSURE(n > 0);
  fclose(f);
  return text;
}

// The largest residual of the loops at the q of the answer.
static double open_by(const Client* c, const Bench* b) {
  double most = 0;
  for (int i = 0; i < b->m->nq; i++) b->d->q[i] = real(c, "q", i);
  ENSURE_EQUAL(sr_evaluate(b->m, b->d, 0, NULL, NULL, NULL, SR_STAGE_POSITION), 0);
  ENSURE_EQUAL(sr_constraints(b->m, b->d), 0);
  for (int i = 0; i < b->m->np; i++) most = fmax(most, fabs(b->d->g[i]));
  return most;
}

// A four-bar without driver: the crank goes around in steps, each held to the digit; then a jump over a radian.
TEST(a_pose_holds_its_coordinate_and_keeps_the_loop_closed) {
  static const char text[] =
      "<sarrus version=\"1\" name=\"f\"><body name=\"crank\"><joint name=\"a\" type=\"revolute\" axis=\"0 1 0\" "
      "q=\"-1.2\"/>"
      "<inertial mass=\"1\" com=\"0.1 0 0\" inertia=\"0.01 0.01 0.01\"/></body>"
      "<body name=\"coupler\" parent=\"crank\"><joint name=\"b\" type=\"revolute\" axis=\"0 1 0\" at=\"0.2 0 0\" "
      "q=\"0.6\"/>"
      "<inertial mass=\"1\" com=\"0.3 0 0\" inertia=\"0.01 0.01 0.01\"/><point name=\"end\" at=\"0.6 0 0\"/></body>"
      "<body name=\"rocker\"><joint name=\"c\" type=\"revolute\" axis=\"0 1 0\" at=\"0.7 0 0\" q=\"-1.5\"/>"
      "<inertial mass=\"1\" com=\"0.2 0 0\" inertia=\"0.01 0.01 0.01\"/><point name=\"end\" at=\"0.45 0 0\"/></body>"
      "<closure name=\"loop\" type=\"ball\" a=\"coupler/end\" b=\"rocker/end\"/>"
      "<run method=\"rk4\" step=\"0.001\"/></sarrus>";
  Client c = begin();
  Bench b = open_text(text, NULL, 0);
  ENSURE(load(&c, text, ""));
  for (int i = 0; i <= 40; i++) {
    const double angle = -1.2 + 0.157 * i;
    char request[100];
    snprintf(request, sizeof request, "{\"do\": \"pose\", \"q\": [[0, %.17g]]}", angle);
    ENSURE(ask(&c, request));
    ENSURE(real(&c, "q", 0) == angle);
    ENSURE_SMALL(open_by(&c, &b), 1e-10);
    ENSURE_NEAR(number(&c, "serial"), 0, 0);  // in place of the last
  }
  // After a turn the rocker is where it was: the loop has kept its branch.
  const double rocker = real(&c, "q", 2);
  ENSURE(ask(&c, "{\"do\": \"pose\", \"q\": [[0, -1.2]]}"));
  ENSURE(ask(&c, "{\"do\": \"restart\"}"));
  ENSURE_NEAR(rocker, real(&c, "q", 2), 0.05);
  // What cannot be is refused, and nothing has moved.
  const double before = real(&c, "q", 1);
  ENSURE(!ask(&c, "{\"do\": \"pose\", \"q\": [[0, 0], [1, 3.14159]]}"));
  ENSURE(says(&c, "cannot be closed"));
  ENSURE(ask(&c, "{\"do\": \"pose\", \"q\": []}"));
  ENSURE_NEAR(real(&c, "q", 1), before, 0);
  close_text(&b);
  end(&c);
}

TEST(poses_of_trees_drivers_and_free_bodies) {
  Client c = begin();
  char* text = read_model("mechanisms/four-bar.xml");
  ENSURE(load(&c, text, ""));
  const bool good = ask(&c, "{\"do\": \"pose\", \"q\": [[0, 1]]}");
  ENSURE(good || says(&c, "driven"));
  free(text);
  text = read_model("free-body.xml");
  ENSURE(load(&c, text, ""));
  ENSURE(ask(&c, "{\"do\": \"pose\", \"q\": [[0, 1.5], [3, 2], [4, 0], [5, 0], [6, 0]]}"));
  ENSURE_NEAR(real(&c, "q", 0), 1.5, 0);
  ENSURE_NEAR(real(&c, "q", 3), 1, 0);  // normalised
  ENSURE(!ask(&c, "{\"do\": \"pose\", \"q\": [[3, 0], [4, 0], [5, 0], [6, 0]]}"));
  ENSURE(says(&c, "no rotation"));
  free(text);
  end(&c);
}

// ---- pulls -------------------------------------------------------------------------------------------------------------------
// A pendulum pulled horizontally far away rests where tan(theta) is about k (X - x)/(m g - ...): the torque of gravity and of the spring are in balance,
//   m g l sin(theta) = k ((X - l sin) l cos + (Z + l cos) l sin)      about y, angle theta positive towards -x
TEST(a_pulled_pendulum_rests_where_the_torques_are_in_balance) {
  static const char text[] =
      "<sarrus version=\"1\" name=\"p\"><body name=\"bob\"><joint type=\"revolute\" name=\"theta\" axis=\"0 1 0\""
      " damping=\"2\"/><inertial mass=\"2\" com=\"0 0 -0.5\"/></body>"
      "<run method=\"rk4\" step=\"0.005\"/></sarrus>";
  static const char* const methods[] = {"rk4", "dopri5", "radau5"};
  const double l = 0.5, m = 2, g = 9.81, k = 30, X = 1.2, Z = 0.4;
  for (int i = 0; i < 3; i++) {
    Client c = begin();
    char request[200];
    ENSURE(load(&c, text, ""));
    snprintf(request, sizeof request, "{\"do\": \"options\", \"method\": \"%s\"}", methods[i]);
    ENSURE(ask(&c, request));
    ENSURE(ask(
        &c, "{\"do\": \"pull\", \"body\": \"bob\", \"at\": [0, 0, -0.5], \"to\": [1.2, 0, 0.4], \"stiffness\": 30}"));
    advance_to(&c, 12);
    const double q = real(&c, "q", 0), x = -l * sin(q), z = -l * cos(q);  // the bob
    ENSURE(fabs(q) > 0.3);
    // Torque about y of a force f at r: z fx - x fz.
    const double torque = z * k * (X - x) - x * (k * (Z - z) - m * g);
    ENSURE_SMALL(torque, 1e-6 * m * g * l);
    ENSURE(ask(&c, "{\"do\": \"release\"}"));
    advance_to(&c, 40);
    ENSURE_SMALL(real(&c, "q", 0), 1e-4);
    end(&c);
  }
}

// Power of the pull: tau . v = f . velocity of the point, for the velocity by differences of its place along v. In a chain of all kinds of joints.
TEST(the_generalized_force_of_a_pull_is_that_of_its_virtual_work) {
  static const char text[] =
      "<sarrus version=\"1\" name=\"c\"><body name=\"a\"><joint type=\"free\" name=\"f\" q=\"0.1 0.2 0.3 0.9 0.1 0.3 "
      "0.2\"/>"
      "<inertial mass=\"1\" com=\"0.1 0 0\" inertia=\"0.1 0.2 0.25\"/></body><body name=\"b\" parent=\"a\"><joint "
      "type=\"ball\" name=\"s\" at=\"0.3 0 0.1\""
      " q=\"0.8 0.2 0.1 0.5\"/><inertial mass=\"0.5\" com=\"0 0.1 0\" inertia=\"0.1 0.1 0.1\"/></body>"
      "<body name=\"d\" parent=\"b\"><joint type=\"prismatic\" name=\"p\" axis=\"1 1 0\" q=\"0.2\"/>"
      "<inertial mass=\"0.5\" inertia=\"0.1 0.1 0.1\"/></body><option gravity=\"0 0 0\"/>"
      "<run method=\"rk4\" step=\"0.0001\"/></sarrus>";
  const double at[3] = {0.2, -0.1, 0.3}, h = 1e-6;
  Client c = begin();
  Bench b = open_text(text, NULL, 0);
  ENSURE(load(&c, text, ""));
  ENSURE(
      ask(&c, "{\"do\": \"pull\", \"body\": \"d\", \"at\": [0.2, -0.1, 0.3], \"to\": [2, 1, -1], \"stiffness\": 5}"));
  double f[3], place[3], virtual_work[16];
  const int list = member(&c, "force");
  for (int i = 0; i < 3; i++) ENSURE(sr_json_node_number(&c.tree.node[list + 1 + i], &f[i]));
  const int body = sr_body_find(b.m, "d");
  sr_normalize(b.m, b.d->q);
  double q0[16], q[16], xi[16];
  memcpy(q0, b.d->q, (size_t)b.m->nq * sizeof *q0);
  for (int k = -1; k < b.m->nv; k++) {
    double where[2][3];
    for (int side = 0; side < 2; side++) {
      srFrameMotion motion;
      memset(xi, 0, sizeof xi);
      if (k >= 0) xi[k] = side ? h : -h;
      sr_retract(b.m, q0, xi, q);
      (void)sr_evaluate(b.m, b.d, 0, q, NULL, NULL, SR_STAGE_POSITION);
      sr_frame_motion(b.m, b.d, body, 0, &motion);
      for (int i = 0; i < 3; i++) {
        where[side][i] = motion.position[i];
        for (int j = 0; j < 3; j++) where[side][i] += motion.rotation[3 * i + j] * at[j];
      }
    }
    if (k < 0) memcpy(place, where[0], sizeof place);
    if (k < 0) continue;
    virtual_work[k] = 0;
    for (int i = 0; i < 3; i++) virtual_work[k] += f[i] * (where[1][i] - where[0][i]) / (2 * h);
  }
  const double to[3] = {2, 1, -1};
  for (int i = 0; i < 3; i++) ENSURE_NEAR(f[i], 5 * (to[i] - place[i]), 1e-9);  // at rest the damper has no force
  // tau is not in an answer: from rest without gravity, a = M^-1 tau, and after a short step v = h a, so that M v/h is tau.
  ENSURE(ask(&c, "{\"do\": \"step\", \"n\": 1}"));
  double v[16], force[16];
  for (int i = 0; i < b.m->nv; i++) v[i] = real(&c, "v", i) / 1e-4;
  sr_mass_times(b.m, b.d, q0, v, force);
  for (int i = 0; i < b.m->nv; i++) ENSURE_NEAR(force[i], virtual_work[i], 2e-3 * (1 + fabs(virtual_work[i])));
  close_text(&b);
  end(&c);
}

TEST(the_pull_that_is_chosen_is_stable_on_light_bodies_and_long_arms) {
  static const char* const at[] = {"0, 0, -0.5", "0, 0, -5", "0.1, 0.2, 0"};
  static const char* const methods[] = {"rk4", "dopri5", "radau5", "genalpha"};
  for (int i = 0; i < 12; i++) {
    Client c = begin();
    char request[300];
    ENSURE(load(&c, pendulum, ""));
    snprintf(request, sizeof request, "{\"do\": \"options\", \"method\": \"%s\", \"step\": %g}", methods[i % 4],
             i % 2 ? 0.01 : 0.001);
    if (!ask(&c, request)) {
      end(&c);
      continue;
    }
    snprintf(request, sizeof request, "{\"do\": \"pull\", \"body\": 1, \"at\": [%s], \"to\": [1, 0.5, -0.2]}",
             at[i / 4]);
    ENSURE(ask(&c, request));
    advance_to(&c, 20);
    ENSURE(fabs(real(&c, "v", 0)) < 1e-3);
    end(&c);
  }
}

// ---- changes -----------------------------------------------------------------------------------------------------------------
TEST(a_parameter_that_is_changed_is_one_that_was_set) {
  static const srSetting set = {"l", "0.4 + 0.1*2"};
  Client c = begin();
  ENSURE(load(&c, pendulum, ""));
  Bench b = open_text(pendulum, &set, 1);
  ENSURE(ask(&c, "{\"do\": \"parameter\", \"name\": \"l\", \"value\": \"0.4 + 0.1*2\"}"));
  ENSURE(says(&c, "0.4 + 0.1*2"));
  ENSURE(flag(&c, "kept"));
  advance_to(&c, 0.5);
  run_to(&b, 0.5, 0);
  ENSURE(real(&c, "q", 0) == b.d->q[0] && real(&c, "v", 0) == b.d->v[0]);
  // Its place in the motion is kept.
  const double q = real(&c, "q", 0), v = real(&c, "v", 0);
  ENSURE(ask(&c, "{\"do\": \"parameter\", \"name\": \"m\", \"value\": \"3\"}"));
  ENSURE(flag(&c, "kept") && real(&c, "q", 0) == q && real(&c, "v", 0) == v && real(&c, "t", 0) == 0.5);
  ENSURE(ask(&c, "{\"do\": \"back\", \"serial\": 3}"));  // and its past
  // A wrong one leaves everything.
  ENSURE(!ask(&c, "{\"do\": \"parameter\", \"name\": \"l\", \"value\": \"1/0\"}"));
  ENSURE(!ask(&c, "{\"do\": \"parameter\", \"name\": \"l\", \"value\": \"no(\"}"));
  if (!ask(&c, "{\"do\": \"step\", \"n\": 1}")) (void)says(&c, "no");
  ENSURE(flag(&c, "ok"));
  close_text(&b);
  end(&c);
}

// Parameters that are made of others follow, and a formula may name those before: as --set, bit by bit.
TEST(a_parameter_carries_those_that_depend_on_it) {
  static const char text[] =
      "<sarrus version=\"1\" name=\"p\"><parameter name=\"a\" value=\"0.5\"/><parameter name=\"b\" value=\"2*a\"/>"
      "<parameter name=\"c\" value=\"a + b\"/>"
      "<body name=\"bob\"><joint type=\"revolute\" name=\"theta\" axis=\"0 1 0\" q=\"0.3\"/>"
      "<inertial mass=\"c\" com=\"0 0 -b\" inertia=\"0.1 0.1 0.1\"/></body><run t-end=\"0.5\"/></sarrus>";
  static const srSetting set[] = {{"a", "0.7"}, {"c", "2*b + a"}};
  Client c = begin();
  ENSURE(load(&c, text, ""));
  ENSURE(ask(&c, "{\"do\": \"parameter\", \"name\": \"a\", \"value\": \"0.7\"}"));
  ENSURE(says(&c, "\"name\": \"b\", \"value\": 1.3999999999999999") && says(&c, "\"formula\": \"2*a\""));
  ENSURE(ask(&c, "{\"do\": \"parameter\", \"name\": \"c\", \"value\": \"2*b + a\"}"));
  ENSURE(says(&c, "\"formula\": \"2*b + a\"") && says(&c, "\"mass\": 3.5"));
  ENSURE(!ask(&c, "{\"do\": \"parameter\", \"name\": \"b\", \"value\": \"c\"}"));
  ENSURE(says(&c, "only parameters defined before can be used"));
  for (int part = 0; part < 2; part++) {
    Bench b = open_text(text, set, 1 + part);
    if (part == 0) ENSURE(load(&c, text, ", \"settings\": {\"a\": \"0.7\"}"));
    if (part == 1) ENSURE(ask(&c, "{\"do\": \"parameter\", \"name\": \"c\", \"value\": \"2*b + a\"}"));
    ENSURE(ask(&c, "{\"do\": \"run\"}"));
    run_to(&b, 0.5, 0);
    ENSURE(real(&c, "q", 0) == b.d->q[0] && real(&c, "v", 0) == b.d->v[0]);
    close_text(&b);
  }
  end(&c);
}

TEST(what_cannot_be_read_leaves_the_model_that_is_there) {
  Client c = begin();
  ENSURE(load(&c, pendulum, ", \"settings\": {\"l\": \"0.7\"}"));
  advance_to(&c, 0.1);
  const double q = real(&c, "q", 0);
  ENSURE(!load(&c, "<sarrus version=\"1\"><body nam=\"a\"/></sarrus>", ""));
  ENSURE(says(&c, "\"line\": 1") && says(&c, "\"file\": \"test.xml\"") && says(&c, "nam"));
  ENSURE(!load(&c, pendulum, ", \"settings\": {\"L\": \"0.7\"}"));
  ENSURE(says(&c, "did you mean 'l'"));
  ENSURE(!load(&c, "<network/>", ""));
  ENSURE(!load(&c, "<sarrus version=\"1\" name=\"a\"><include file=\"/etc/passwd\"/></sarrus>", ""));
  ENSURE(ask(&c,
             "{\"do\": \"check\", \"text\": \"<sarrus version='1' name='x'><body name='b'><inertial "
             "mass='1'/></body></sarrus>\"}"));
  ENSURE(says(&c, "\"element\": \"body\""));
  ENSURE(ask(&c, "{\"do\": \"pose\", \"q\": []}"));
  ENSURE(real(&c, "q", 0) == q);
  end(&c);
}

// ---- runs, reports, modes ------------------------------------------------------------------------------------------------------
TEST(a_whole_run_is_the_run_and_leaves_the_session_where_it_is) {
  Client c = begin();
  Bench b = open_text(pendulum, NULL, 0);
  ENSURE(load(&c, pendulum, ""));
  advance_to(&c, 0.1);
  const double q = real(&c, "q", 0);
  ENSURE(ask(&c, "{\"do\": \"run\", \"every\": 0.05}"));
  ENSURE_NEAR(number(&c, "rows"), 21, 0);
  run_to(&b, 1, 0);
  ENSURE(real(&c, "q", 0) == b.d->q[0]);
  ENSURE(says(&c, "\"method\": \"rk4\"") && says(&c, "\"residual\""));
  ENSURE(ask(&c, "{\"do\": \"report\"}"));
  ENSURE(says(&c, "\"energy\""));
  ENSURE(ask(&c, "{\"do\": \"pose\", \"q\": []}"));
  ENSURE(real(&c, "q", 0) == q);
  ENSURE(!ask(&c, "{\"do\": \"report\"}"));  // nothing was advanced from there
  close_text(&b);
  end(&c);
}

// A compound pendulum of a point mass: omega^2 = g/l.
TEST(modes_are_about_the_state_or_the_equilibrium) {
  Client c = begin();
  ENSURE(load(&c, pendulum, ""));
  ENSURE(!ask(&c, "{\"do\": \"modes\"}"));  // at 0.3 rad it does not rest
  ENSURE(ask(&c, "{\"do\": \"modes\", \"at\": \"equilibrium\", \"count\": 2}"));
  const int modes = member(&c, "modes"), list = sr_json_member(&c.tree, modes, "list");
  double frequency = 0;
  ENSURE(sr_json_node_number(&c.tree.node[sr_json_member(&c.tree, list + 1, "frequency")], &frequency));
  ENSURE_NEAR(frequency, sqrt(9.81 / 0.5) / (2 * acos(-1.0)), 1e-9);
  size_t n = 0;
  const float* shape = array(&c, "shapes", &n);
  ENSURE_EQUAL((long)n, 32 * 7);
  // Phase 0 is the amplitude, 0.1 rad about y: quaternion (cos 0.05, 0, sin 0.05, 0).
  ENSURE_NEAR(fabs((double)shape[5]), sin(0.05), 1e-6);
  const float* rest = array(&c, "rest", &n);  // it hangs: nothing is turned
  ENSURE_EQUAL((long)n, 7);
  ENSURE_NEAR((double)rest[3], 1, 1e-7);
  for (int i = 0; i < 7; i++) ENSURE(i == 3 || fabs((double)rest[i]) < 1e-7);
  end(&c);
}

// ---- a file that is written ------------------------------------------------------------------------------------------------------
typedef struct Folder {
  char path[64], file[80];
} Folder;

static Folder make_folder(const char* text) {
  Folder f = {.path = "/tmp/sarrus-live-XXXXXX"};
  ENSURE(mkdtemp(f.path) != NULL);
  snprintf(f.file, sizeof f.file, "%s/m.xml", f.path);
  FILE* out = fopen(f.file, "wb");
  fputs(text, out);
  fclose(out);
  return f;
}

static void remove_folder(Folder* f) {
  unlink(f->file);
  ENSURE(rmdir(f->path) == 0);  // and nothing else was left in it
}

static bool holds(const Folder* f, const char* text) {
  char bytes[200] = {0};
  FILE* in = fopen(f->file, "rb");
  if (!in) return text == NULL;
  const size_t n = fread(bytes, 1, sizeof bytes - 1, in);
  fclose(in);
  return text != NULL && n == strlen(text) && strcmp(bytes, text) == 0;
}

static Client writer(const Folder* f, const char* writes) {
  Client c = {.live = sr_live_create(&(srLiveOptions){.folder = f->path, .writes = writes})};
  ENSURE(c.live != NULL);
  return c;
}

TEST(a_file_is_written_where_it_is_as_the_client_knows_it) {
  Folder f = make_folder("<a>\r\n\xc3\xa9</a>");
  Client c = writer(&f, "m.xml");
  ENSURE(chmod(f.file, 0640) == 0);
  ENSURE(ask(&c, "{\"do\": \"hello\"}") && says(&c, "\"writes\": \"m.xml\""));
  ENSURE(ask(&c, "{\"do\": \"save\", \"text\": \"<b/>\", \"before\": \"<a>\\r\\n\\u00e9</a>\"}"));
  ENSURE(flag(&c, "saved") && holds(&f, "<b/>"));
  struct stat s;
  ENSURE(stat(f.file, &s) == 0 && (s.st_mode & 0777) == 0640);
  // Somebody else has changed it since: it stays, and the client is told what it is now.
  ENSURE(ask(&c, "{\"do\": \"save\", \"text\": \"<c/>\", \"before\": \"<a/>\"}"));
  ENSURE(!flag(&c, "saved") && says(&c, "\"text\": \"<b/>\"") && holds(&f, "<b/>"));
  ENSURE(ask(&c, "{\"do\": \"save\", \"text\": \"<c/>\"}") && !flag(&c, "saved") && holds(&f, "<b/>"));
  // One that is gone is made where the client knows that it is.
  unlink(f.file);
  ENSURE(ask(&c, "{\"do\": \"save\", \"text\": \"<c/>\", \"before\": \"<b/>\"}"));
  ENSURE(!flag(&c, "saved") && member(&c, "text") < 0 && holds(&f, NULL));
  ENSURE(ask(&c, "{\"do\": \"save\", \"text\": \"\"}") && flag(&c, "saved") && holds(&f, ""));
  ENSURE(ask(&c, "{\"do\": \"save\", \"text\": \"<d/>\", \"before\": \"\"}") && flag(&c, "saved") && holds(&f, "<d/>"));
  end(&c);
  remove_folder(&f);
}

TEST(no_other_file_is_written) {
  static const char save[] = "{\"do\": \"save\", \"text\": \"<b/>\", \"before\": \"<a/>\"}";
  Folder f = make_folder("<a/>"), other = make_folder("<a/>");
  char link[100];
  snprintf(link, sizeof link, "%s/link.xml", f.path);
  Client none = begin(), reads = writer(&f, NULL), out = writer(&f, "link.xml");
  ENSURE(!ask(&none, save) && says(&none, "this session writes no files"));
  ENSURE(!ask(&reads, save) && says(&reads, "this session writes no files"));
  ENSURE(symlink(other.file, link) == 0);
  ENSURE(!ask(&out, save) && says(&out, "leads out of the folder"));
  ENSURE(unlink(link) == 0 && symlink("m.xml", link) == 0);
  ENSURE(ask(&out, save) && flag(&out, "saved") && holds(&f, "<b/>"));  // what the link leads to, and the link stays
  // One that leads to no file would make that file.
  char far[100];
  snprintf(far, sizeof far, "%s/far.xml", other.path);
  ENSURE(unlink(link) == 0 && symlink(far, link) == 0);
  ENSURE(!ask(&out, "{\"do\": \"save\", \"text\": \"<b/>\"}") && says(&out, "leads to no file"));
  ENSURE(access(far, F_OK) != 0);
  ENSURE(unlink(link) == 0);
  ENSURE(!ask(&out, "{\"do\": \"save\", \"text\": \"<b/>\", \"file\": \"m.xml\"}") && says(&out, "has no member"));
  ENSURE(!ask(&out, "{\"do\": \"save\"}") && says(&out, "needs the member"));
  ENSURE(holds(&other, "<a/>"));
  end(&none);
  end(&reads);
  end(&out);
  remove_folder(&f);
  remove_folder(&other);
}

TEST(bytes_that_would_be_lost_are_not_written_over) {
  Folder f = make_folder("<a n='\xe9'/>");  // Latin-1
  Client c = writer(&f, "m.xml");
  ENSURE(!ask(&c, "{\"do\": \"save\", \"text\": \"<b/>\", \"before\": \"<a n='\\ufffd'/>\"}"));
  ENSURE(says(&c, "not UTF-8") && holds(&f, "<a n='\xe9'/>"));
  end(&c);
  remove_folder(&f);
}

// Two sessions count in the file: each writes one more than it has read. What both have written is what the file holds at the end. The number follows blanks, which take their time to be read.
enum { BLANKS = 30000 };
typedef struct Counting {
  const Folder* folder;
  int saved[2];
} Counting;

static void count_in_file(void* user, srTeam* team, int part, int parts) {
  static char request[2][2 * BLANKS + 100];
  Counting* of = user;
  int known = 0;
  Client c = {.live = sr_live_create(&(srLiveOptions){.folder = of->folder->path, .writes = "m.xml"})};
  (void)team, (void)parts;
  for (int k = 0; k < 60; k++) {
    snprintf(request[part], sizeof request[part], "{\"do\": \"save\", \"text\": \"%*d\", \"before\": \"%*d\"}", BLANKS,
             known + 1, BLANKS, known);
    if (!ask(&c, request[part])) continue;  // the other one is writing it
    if (flag(&c, "saved")) {
      of->saved[part]++;
      known++;
    } else {
      known = (int)strtol(c.tree.node[member(&c, "text")].text + 1, NULL, 10);
    }
  }
  end(&c);
}

TEST(no_session_overwrites_what_another_one_has_written_meanwhile) {
  char text[BLANKS + 20];
  snprintf(text, sizeof text, "%*d", BLANKS, 0);
  Folder f = make_folder(text);
  Counting of = {.folder = &f};
  srTeam* team = sr_team_create(2);
  sr_team_run(team, count_in_file, &of);
  FILE* in = fopen(f.file, "rb");
  text[fread(text, 1, sizeof text - 1, in)] = 0;
  fclose(in);
  ENSURE(of.saved[0] + of.saved[1] > 0);
  ENSURE_EQUAL(strtol(text, NULL, 10), of.saved[0] + of.saved[1]);
  sr_team_destroy(team);
  remove_folder(&f);
}
