// Tests of src/page: packed numbers against bytes worked out by hand, the description of models against their files, the file around the
// data, memory that runs out. The page in a browser: tests/check_page.sh.
#define RUNNER_TOGETHER  // they use the same files
#include "page/page.h"

#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "scarce.h"

#define FILE_NAME SARRUS_BINARY_DIR "/test_page.html"
#define FRONT SARRUS_BINARY_DIR "/test_page_front.html"
#define MARK "<!-- sarrus: data -->"

// ---- numbers -----------------------------------------------------------------------------------------------------------------
// 1 3 2: differences 1 2 -1, zigzag 2 4 1. All ones, 0, 256: -1 1 256, zigzag 1 2 512.
TEST(columns_are_packed_as_differences_in_planes_of_bytes) {
  const uint32_t x[3][2] = {{1, 0xffffffffu}, {3, 0}, {2, 256}};
  const unsigned char expected[24] = {2, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0};
  unsigned char out[24];
  sr_pack(x, 3, 2, 4, out);
  for (int i = 0; i < 24; i++) ENSURE_EQUAL(out[i], expected[i]);
}

// 2^40, 0: differences 2^40 and -2^40, zigzag 2^41 and 2^41 - 1.
TEST(doubles_are_packed_in_eight_planes) {
  const uint64_t x[2] = {1ull << 40, 0};
  unsigned char out[16];
  sr_pack(x, 2, 1, 8, out);
  for (int k = 0; k < 8; k++) {
    ENSURE_EQUAL(out[2 * k], k == 5 ? 2 : 0);
    ENSURE_EQUAL(out[2 * k + 1], k < 5 ? 255 : k == 5 ? 1 : 0);
  }
}

// ---- description -------------------------------------------------------------------------------------------------------------
typedef struct Bench {
  srSpec* spec;
  srModel* m;
  srData* d;
} Bench;

static Bench load(const char* text) {
  Bench b = {0};
  ENSURE_EQUAL(sr_load_text(text, strlen(text), "test.xml", NULL, NULL, NULL, &b.spec), SR_OK);
  ENSURE_EQUAL(sr_compile(b.spec, NULL, &b.m), SR_OK);
  b.d = sr_data_create(b.m);
  ENSURE(b.d != NULL);
  return b;
}

static void end(Bench* b) {
  sr_data_destroy(b->d);
  sr_model_destroy(b->m);
  srs_destroy(b->spec);
}

static srText described(const srModel* m, srText* triangles) {
  srText text = {0};
  srJson json = sr_json_begin(&text);
  sr_page_describe(m, &json, triangles);
  sr_json_end(&json);
  ENSURE(!text.failed);
  return text;
}

static void has(const srText* text, const char* part) {
  if (strstr(text->data, part) == NULL) printf("'%s' is not in %s\n", part, text->data);
  ENSURE(strstr(text->data, part) != NULL);
}

static const char arm[] =
    "<sarrus version='1' name='arm'><ground><point name='hook' at='1 2 3'/></ground>"
    "<body name='upper'><joint name='a' type='revolute' axis='0 2 0' at='0 0 1' limits='-1 2'/>"
    "<inertial mass='2' com='0.25 0 0' inertia='0.25 0.3125 0.375 0.015625 0.0078125 0.03125'/><point name='tip' "
    "at='0.5 0 0'/></body>"
    "<body name='fore' parent='upper'><joint name='u' type='universal' axis='0 0 1' axis2='0 1 0' at='0.5 0 0'/>"
    "<inertial mass='1' com='0.1 0 0' inertia='0.1 0.1 0.1'/><point name='end' at='0 0.75 0'/>"
    "<shape name='ball' type='sphere' size='0.125' at='0 0.75 0' color='1 0.5 0.25 1'/></body>"
    "<body name='hand' parent='fore'><joint name='w' type='weld' at='0 0 0.375'/><inertial mass='1' inertia='1 1 "
    "1'/></body>"
    "<spring name='s' a='fore/end' b='ground/hook' stiffness='1' length='1'/>"
    "<closure name='rod' type='rod' a='upper/tip' b='ground/hook' length='2'/></sarrus>";

TEST(a_page_describes_bodies_joints_and_what_is_between_them) {
  Bench b = load(arm);
  srText triangles = {0}, text = described(b.m, &triangles);
  has(&text, "\"name\": \"upper\", \"parent\": 0, \"joint\": 0, \"mass\": 2, \"com\": [0.25, 0, 0]");
  has(&text, "\"inertia\": [0.25, 0.3125, 0.375, 0.015625, 0.0078125, 0.03125]");
  has(&text,
      "\"limits\": [-1, 2], \"seat\": [0, 0, 1], \"axes\": [{\"kind\": \"turn\", \"body\": 1, \"at\": [0, 0, 0], "
      "\"axis\": [0, 1, 0]}]");
  has(&text,
      "\"seat\": [0.5, 0, 0], \"axes\": [{\"kind\": \"turn\", \"body\": 1, \"at\": [0.5, 0, 0], \"axis\": [0, 0, 1]}, "
      "{\"kind\": \"turn\", \"body\": 2, \"at\": [0, 0, 0], \"axis\": [0, 1, 0]}]");
  has(&text, "\"seat\": [0, 0, 0.375], \"axes\": []");
  has(&text,
      "\"name\": \"ball\", \"body\": 2, \"type\": \"sphere\", \"size\": [0.125, 0, 0], \"at\": [0, 0.75, 0], \"turn\": "
      "[1, 0, 0, 0]");
  has(&text, "\"color\": [1, 0.5, 0.25, 1]");
  has(&text,
      "\"name\": \"s\", \"law\": \"distance-spring\", \"port\": \"distance\", \"a\": {\"body\": 2, \"at\": [0, 0.75, "
      "0], \"turn\": "
      "[1, 0, 0, 0]}, \"b\": {\"body\": 0, \"at\": [1, 2, 3]");
  has(&text, "\"name\": \"rod\", \"type\": \"rod\", \"a\": {\"body\": 1, \"at\": [0.5, 0, 0]");
  ENSURE(triangles.n == 0);
  sr_text_free(&text);
  end(&b);
}

TEST(a_contact_names_its_shapes_and_a_height_field_becomes_triangles) {
  Bench b = load(
      "<sarrus version='1' name='c'><ground><shape name='land' type='heightfield' size='2 4' heights='0 1 2 3 4 5' "
      "columns='2'/></ground>"
      "<body name='b'><joint type='free'/><inertial mass='1' inertia='1 1 1'/><shape type='box' size='1 1 1' "
      "use='visual'/>"
      "<shape name='s' type='sphere' size='0.5'/></body><contact name='k' a='land' b='b/s' K='1e4' "
      "restitution='0.5' friction='none'/></sarrus>");
  srText triangles = {0}, text = described(b.m, &triangles);
  has(&text, "\"contacts\": [{\"name\": \"k\", \"a\": 0, \"b\": 2}]");
  has(&text, "\"triangles\": {\"vertices\": 6, \"faces\": 4, \"vertex\": 0, \"face\": 72}");
  float x[18];
  uint32_t t[12];
  ENSURE(triangles.n == sizeof x + sizeof t);
  memcpy(x, triangles.data, sizeof x);
  memcpy(t, triangles.data + sizeof x, sizeof t);
  // Rows along x from the least y on, in a field of 2 m x 4 m about the centre.
  const float expected[18] = {-1, -2, 0, 1, -2, 1, -1, 0, 2, 1, 0, 3, -1, 2, 4, 1, 2, 5};
  for (int i = 0; i < 18; i++) ENSURE_NEAR((double)x[i], (double)expected[i], 0);
  for (int i = 0; i < 4; i++) {  // seen from above they are counterclockwise
    const float *p = x + 3 * t[3 * i], *q = x + 3 * t[3 * i + 1], *r = x + 3 * t[3 * i + 2];
    ENSURE((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]) > 0);
  }
  sr_text_free(&text);
  sr_text_free(&triangles);
  end(&b);
}

// ---- file --------------------------------------------------------------------------------------------------------------------
static void write_front(const char* text) {
  FILE* file = fopen(FRONT, "w");
  ENSURE(file != NULL && fputs(text, file) >= 0);
  fclose(file);
}

typedef struct Rows {
  srPage* page;
  srData* d;
} Rows;

static int take(void* user, const double* row) {
  const Rows* r = user;
  return sr_page_row(r->page, r->d, row) != SR_OK;
}

static srPage* page_of_run(Bench* b, double t_end) {
  Rows rows = {.d = b->d};
  ENSURE_EQUAL(sr_page_create(b->m, (const char*[]){"a.a"}, 1, NULL, &rows.page), SR_OK);
  srRunOptions options = sr_run_options(b->m);
  srRunResult result;
  options.t_end = t_end;
  options.every = 0.1;
  options.record = sr_page_record(rows.page, &options.nrecord);
  ENSURE_EQUAL(options.nrecord, 2);  // that of the user, then the force of the spring
  ENSURE_TEXT(options.record[0], "a.a");
  ENSURE_TEXT(options.record[1], "force(s).f");
  options.row = take;
  options.user = &rows;
  ENSURE_EQUAL(sr_run(b->m, b->d, &options, NULL, &result), SR_OK);
  return rows.page;
}

static char* read_file(const char* path) {
  FILE* file = fopen(path, "rb");
  ENSURE(file != NULL);
  char* text = calloc(1, 1 << 20);
  const size_t n = fread(text, 1, (1 << 20) - 1, file);
  fclose(file);
  text[n] = 0;
  return text;
}

static const char small_arm[] =
    "<sarrus version='1' name='small'><ground><point name='hook' at='1 0 0'/></ground>"
    "<body name='upper'><joint name='a' type='revolute' axis='0 1 0'/><inertial mass='2' com='0.25 0 0' inertia='0.1 "
    "0.2 0.3'/></body>"
    "<spring name='s' a='upper' b='ground/hook' stiffness='1' length='1'/></sarrus>";

TEST(a_page_is_the_front_end_with_blocks_of_data_in_its_place) {
  static const char* const blocks[] = {"model", "triangles", "report", "times", "columns", "poses"};
  Bench b = load(small_arm);
  srPage* page = page_of_run(&b, 0.5);
  size_t size = 0;
  write_front("HEAD " MARK " TAIL");
  ENSURE_EQUAL(
      sr_page_write(page, &(srPageDef){.front = FRONT, .report = "{\"a\": \"</script>\"}"}, FILE_NAME, NULL, &size),
      SR_OK);
  char* file = read_file(FILE_NAME);
  ENSURE(size == strlen(file));
  ENSURE(strncmp(file, "HEAD <script", 12) == 0 && strcmp(file + size - 5, " TAIL") == 0);
  const char* at = file;
  for (int i = 0; i < 6; i++) {
    char start[64];
    snprintf(start, sizeof start, "<script type=\"text/plain\" id=\"sarrus-%s\">", blocks[i]);
    at = strstr(at, start);
    ENSURE(at != NULL);
    at += strlen(start);
    const size_t n = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=");
    ENSURE(n % 4 == 0 && strncmp(at + n, "</script>", 9) == 0);
  }
  free(file);
  sr_page_destroy(page);
  end(&b);
  remove(FILE_NAME);
  remove(FRONT);
}

TEST(a_front_end_without_a_place_for_the_data_is_refused) {
  Bench b = load(arm);
  srPage* page = NULL;
  srMessages* messages = sr_messages_create();
  ENSURE_EQUAL(sr_page_create(b.m, (const char*[]){"nothing.has.this"}, 1, NULL, &page), SR_INPUT);
  ENSURE(page == NULL);
  ENSURE_EQUAL(sr_page_create(b.m, NULL, 0, NULL, &page), SR_OK);
  write_front("no place");
  ENSURE_EQUAL(sr_page_write(page, &(srPageDef){.front = FRONT}, FILE_NAME, messages, NULL), SR_INPUT);
  ENSURE(strstr(sr_messages_get(messages, 0)->text, "is not the front end of pages") != NULL);
  remove(FRONT);
  ENSURE_EQUAL(sr_page_write(page, &(srPageDef){.front = FRONT}, FILE_NAME, messages, NULL), SR_IO);
  ENSURE(fopen(FILE_NAME, "r") == NULL);
  sr_messages_destroy(messages);
  sr_page_destroy(page);
  end(&b);
}

// A pendulum about its lowest position: f = sqrt(m g c/J)/(2 pi), and its body turns by A cos(2 pi k/32) about y.
TEST(a_page_of_modes_has_poses_of_each_phase_and_the_numbers_of_the_mode) {
  const double A = 0.125, whole = 2 * acos(-1.0);
  Bench b = load(
      "<sarrus version='1' name='p'><body name='b'><joint name='a' type='revolute' axis='0 1 0'/><inertial mass='2' "
      "com='0 0 -0.5' inertia='0.1 0.1 0.1'/></body></sarrus>");
  srLinear* linear = NULL;
  srModes* modes = NULL;
  srPage* page = NULL;
  srData* d = sr_data_create(b.m);
  ENSURE_EQUAL(sr_linearize(b.m, b.d, NULL, &linear), SR_OK);
  ENSURE_EQUAL(sr_modes_create(linear, NULL, &modes), SR_OK);
  ENSURE_EQUAL(sr_page_create(b.m, NULL, 0, NULL, &page), SR_OK);
  const int k = modes->mode[0].im > 0 ? 0 : 1;
  ENSURE_EQUAL(sr_page_mode(page, &modes->mode[k], k, A), SR_OK);
  for (int i = 0; i < SR_PAGE_PHASES; i++) {
    ENSURE_EQUAL(sr_mode_state(linear, &modes->mode[k], b.d, A, whole * i / SR_PAGE_PHASES, NULL, d), SR_OK);
    ENSURE_EQUAL(sr_page_phase(page, d), SR_OK);
    const float* x = sr_page_phases(page) + 7 * i;
    const double half = A * cos(whole * i / SR_PAGE_PHASES) / 2;
    const double expected[7] = {0, 0, 0, cos(half), 0, sin(half), 0};
    for (int j = 0; j < 7; j++) ENSURE_NEAR((double)x[j], expected[j], 1e-7);  // single precision
  }
  srText text = {0};
  srJson json = sr_json_begin(&text);
  sr_page_put_modes(&json, page, "marginal");
  sr_json_end(&json);
  char frequency[64];
  snprintf(frequency, sizeof frequency, "\"frequency\": %.10f", sqrt(2 * 9.81 * 0.5 / 0.6) / whole);
  has(&text, "\"phases\": 32, \"stability\": \"marginal\"");
  has(&text, "\"amplitude\": 0.125, \"largest\": \"a\"");
  has(&text, frequency);
  sr_text_free(&text);
  sr_page_destroy(page);
  sr_modes_destroy(modes);
  sr_linear_destroy(linear);
  sr_data_destroy(d);
  end(&b);
}

// ---- glTF --------------------------------------------------------------------------------------------------------------------
// Volume within a closed surface: a sixth of the sum of a.(b x c) over its triangles, if they are counterclockwise from outside.
static double volume(const srPageSolid* s) {
  const float* x = (const float*)(const void*)s->vertex.data;
  const uint32_t* t = (const uint32_t*)(const void*)s->face.data;
  double sum = 0;
  for (int i = 0; i < s->ntriangle; i++) {
    double p[3][3];
    for (int k = 0; k < 9; k++) p[k / 3][k % 3] = (double)x[3 * t[3 * i + k / 3] + (uint32_t)(k % 3)];
    for (int k = 0; k < 3; k++)
      sum += p[0][k] * (p[1][(k + 1) % 3] * p[2][(k + 2) % 3] - p[1][(k + 2) % 3] * p[2][(k + 1) % 3]) / 6;
  }
  return sum;
}

TEST(surfaces_of_shapes_are_closed_and_enclose_their_volume) {
  static const struct {
    const char *type, *size;
    double over_pi;  // volume, of the box the volume itself
    bool round;
  } cases[] = {{"sphere", "0.5", 4. / 3 * 0.125, true},   {"sphere", "-0.5", 4. / 3 * 0.125, true},
               {"ellipsoid", "0.5 1 2", 4. / 3, true},    {"box", "1 2 4", 8, false},
               {"cylinder", "0.5 3", 0.75, true},         {"cone", "0.5 3", 0.25, true},
               {"capsule", "0.5 3", 0.75 + 0.5 / 3, true}};
  for (int i = 0; i < 7; i++) {
    char text[400];
    snprintf(text, sizeof text,
             "<sarrus version='1' name='s'><body name='b'><joint type='free'/><inertial mass='1' inertia='1 1 1'/>"
             "<shape type='%s' size='%s'/></body></sarrus>",
             cases[i].type, cases[i].size);
    Bench b = load(text);
    srPageSolid solid = {0};
    sr_page_solid_of_shape(b.m, 0, &solid);
    const double exact = cases[i].over_pi * (cases[i].round ? acos(-1.0) : 1), found = volume(&solid);
    ENSURE(found <= exact * (1 + 1e-6));  // corners are on the surface: a round one holds more
    ENSURE_NEAR(found, exact, cases[i].round ? 0.02 * exact : 1e-6);
    sr_page_solid_free(&solid);
    end(&b);
  }
}

TEST(a_page_without_memory_fails_and_leaks_nothing) {
  Bench b = load(arm);
  write_front(MARK);
  double row[64] = {0};
  ENSURE_EQUAL(sr_evaluate(b.m, b.d, 0, NULL, NULL, NULL, SR_STAGE_POSITION), 0);
  int good = 0;
  for (int n = 0; n < 4000 && !good; n++) {
    srPage* page = NULL;
    sr_set_allocator(scarce, NULL);
    scarce_live = 0;
    scarce_left = n;
    srStatus status = sr_page_create(b.m, NULL, 0, NULL, &page);
    if (status == SR_OK) status = sr_page_row(page, b.d, row);
    if (status == SR_OK) status = sr_page_write(page, &(srPageDef){.front = FRONT}, FILE_NAME, NULL, NULL);
    if (status == SR_OK) status = sr_page_write_glb(page, NULL, FILE_NAME, NULL, NULL);
    good = status == SR_OK;
    sr_page_destroy(page);
    sr_set_allocator(NULL, NULL);
    ENSURE_EQUAL(scarce_live, 0);
  }
  ENSURE(good);
  end(&b);
  remove(FILE_NAME);
  remove(FRONT);
}
