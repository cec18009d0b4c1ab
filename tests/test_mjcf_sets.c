// Many pairs of geoms of MJCF: contact sets with MuJoCo's filters and mixed numbers. What is expected is worked out here from the rules of MuJoCo's
// documentation, pair by pair.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "loading.h"
#include "messages.h"
#include "model/spec.h"

static char said[16384];

static srSpec* read_text(const char* text) {
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  (void)sr_load_text(text, strlen(text), "m", NULL, &(srLoadOptions){0}, messages, &spec);
  messages_keep(messages, said, sizeof said);
  sr_messages_destroy(messages);
  if (!spec) printf("%s", said);
  ENSURE(spec != NULL);
  return spec;
}

static Loaded compiled(srSpec* spec) {
  Loaded x = {0};
  srMessages* messages = sr_messages_create();
  ENSURE_EQUAL(sr_compile(spec, messages, &x.m), SR_OK);
  loading_print(messages);
  sr_messages_destroy(messages);
  x.d = sr_data_create(x.m);
  return x;
}

// ------------------------------------------------------------------------------------------------- what is expected
// A geom, and a body with up to four of them. Body i hangs on `parent` by a joint, or is welded to it; -1: the world.
typedef struct Geom {
  int contype, conaffinity, condim, priority;
  double mu, tc;
} Geom;
#define BODIES 24
#define GEOMS 2

typedef struct Scene {
  int parent[BODIES];
  bool welded[BODIES];
  Geom geom[BODIES][GEOMS];
  int exclude[4][2];
  int pair[3][4];  // body, geom, body, geom
  bool parents_touch;
} Scene;

static unsigned random_state;
static int random_below(int n) {
  random_state = random_state * 1664525u + 1013904223u;
  return (int)((random_state >> 8) % (unsigned)n);
}

static Scene make_scene(unsigned seed, int numbers) {
  Scene s = {0};
  random_state = seed;
  for (int i = 0; i < BODIES; i++) {
    s.parent[i] = random_below(i + 1) - 1;
    s.welded[i] = s.parent[i] >= 0 && random_below(4) == 0;
    for (int k = 0; k < GEOMS; k++)
      s.geom[i][k] = (Geom){.contype = 1 + random_below(3),
                            .conaffinity = random_below(4),
                            .condim = random_below(2) ? 3 : 4,
                            .priority = random_below(numbers) == 0,
                            .mu = 0.5 + 0.25 * random_below(numbers),
                            .tc = 0.02 + 0.01 * random_below(numbers)};
  }
  for (int i = 0; i < 4; i++) {
    s.exclude[i][0] = random_below(BODIES);
    s.exclude[i][1] = random_below(BODIES);
  }
  for (int i = 0; i < 3; i++) {
    const int one = random_below(BODIES);
    s.pair[i][0] = one;
    s.pair[i][1] = random_below(GEOMS);
    s.pair[i][2] = (one + 1 + random_below(BODIES - 1)) % BODIES;
    s.pair[i][3] = random_below(GEOMS);
  }
  for (int i = 0; i < BODIES; i++) {  // the first pair is one of a body and its parent
    if (s.parent[i] < 0 || s.welded[i]) continue;
    s.pair[0][0] = i;
    s.pair[0][2] = s.parent[i];
  }
  return s;
}

static int weld_of(const Scene* s, int body) {
  while (body >= 0 && s->welded[body]) body = s->parent[body];
  return body;
}

static int tree_of(const Scene* s, int body) {
  while (s->parent[body] >= 0) body = s->parent[body];
  return body;
}

static double tree_mass(const Scene* s, int body) {
  double sum = 0;
  for (int i = 0; i < BODIES; i++)
    if (tree_of(s, i) == tree_of(s, body)) sum += i + 1;
  return sum;
}

static bool is_excluded(const Scene* s, int a, int b) {
  for (int i = 0; i < 4; i++)
    if ((s->exclude[i][0] == a && s->exclude[i][1] == b) || (s->exclude[i][0] == b && s->exclude[i][1] == a))
      return true;
  return false;
}

static int pair_of(const Scene* s, int a, int ga, int b, int gb) {
  for (int i = 0; i < 3; i++) {
    const int* p = s->pair[i];
    if (p[0] == a && p[1] == ga && p[2] == b && p[3] == gb) return i;
    if (p[0] == b && p[1] == gb && p[2] == a && p[3] == ga) return i;
  }
  return -1;
}

// The stiffness and friction of two geoms; 0: they do not touch.
static double expected(const Scene* s, int a, int ga, int b, int gb, double* mu) {
  const Geom *x = &s->geom[a][ga], *y = &s->geom[b][gb];
  const int one = weld_of(s, a), two = weld_of(s, b);
  const double M = 1 / (1 / tree_mass(s, a) + 1 / tree_mass(s, b));
  *mu = 0;
  if (one == two) return 0;
  if (pair_of(s, a, ga, b, gb) >= 0) {
    *mu = 1;
    return M / (0.02 * 0.02);
  }
  if (!(x->contype & y->conaffinity) && !(y->contype & x->conaffinity)) return 0;
  if (weld_of(s, s->parent[one]) == two && two >= 0) return 0;
  if (weld_of(s, s->parent[two]) == one && one >= 0) return 0;
  if (is_excluded(s, a, b)) return 0;
  const Geom* first = x->priority > y->priority ? x : y;
  const bool equal = x->priority == y->priority;
  *mu = equal ? fmax(x->mu, y->mu) : first->mu;
  const double tc = equal ? 0.5 * (x->tc + y->tc) : first->tc;
  return M / (tc * tc);
}

// -------------------------------------------------------------------------------------------------------- what is read
static int text_of(const Scene* s, int body, char* out, int room) {
  int n = snprintf(out, (size_t)room, "<body name='b%d' pos='%d 0 0'>", body, 3 * body);
  if (!s->welded[body]) n += snprintf(out + n, (size_t)(room - n), "<joint type='slide' axis='1 0 0'/>");
  n += snprintf(out + n, (size_t)(room - n), "<inertial mass='%d' pos='0 0 0' diaginertia='1 1 1'/>", body + 1);
  for (int k = 0; k < GEOMS; k++) {
    const Geom* g = &s->geom[body][k];
    n +=
        snprintf(out + n, (size_t)(room - n),
                 "<geom name='g%d_%d' type='%s' size='0.1 0.1 0.1' contype='%d' conaffinity='%d' condim='%d' "
                 "priority='%d' friction='%g' solref='%g 1'/>",
                 body, k, k == 0 ? "box" : "capsule", g->contype, g->conaffinity, g->condim, g->priority, g->mu, g->tc);
  }
  for (int i = 0; i < BODIES; i++)
    if (s->parent[i] == body) n += text_of(s, i, out + n, room - n);
  return n + snprintf(out + n, (size_t)(room - n), "</body>");
}

static srSpec* read_scene(const Scene* s) {
  static char text[40000];
  const int room = (int)sizeof text;
  int n = snprintf(text, sizeof text, "<mujoco><worldbody>");
  for (int i = 0; i < BODIES; i++)
    if (s->parent[i] < 0) n += text_of(s, i, text + n, room - n);
  n += snprintf(text + n, (size_t)(room - n), "</worldbody><contact>");
  for (int i = 0; i < 4; i++)
    n += snprintf(text + n, (size_t)(room - n), "<exclude body1='b%d' body2='b%d'/>", s->exclude[i][0],
                  s->exclude[i][1]);
  for (int i = 0; i < 3; i++)
    n += snprintf(text + n, (size_t)(room - n), "<pair geom1='g%d_%d' geom2='g%d_%d'/>", s->pair[i][0], s->pair[i][1],
                  s->pair[i][2], s->pair[i][3]);
  n += snprintf(text + n, (size_t)(room - n), "</contact></mujoco>");
  ENSURE(n < room);
  return read_text(text);
}

static bool is_meant(const srSpec* spec, int shape, int body, const char* word) {
  const srShapeDef* def = srs_get(spec, SR_ELEMENT_SHAPE, shape);
  char own[64], its[32];
  snprintf(its, sizeof its, "b%d", body);
  snprintf(own, sizeof own, "%s/%s", its, def->name.text);
  return strcmp(word, own) == 0 || strcmp(word, its) == 0 || (def->group.text && strcmp(word, def->group.text) == 0);
}

static int shape_of(const srSpec* spec, int body, int geom) {
  char name[32];
  snprintf(name, sizeof name, "g%d_%d", body, geom);
  for (int i = 0; i < srs_count(spec, SR_ELEMENT_SHAPE); i++) {
    const srShapeDef* def = srs_get(spec, SR_ELEMENT_SHAPE, i);
    if (def->name.text && strcmp(def->name.text, name) == 0) return i;
  }
  return -1;
}

// Does an element with the attributes a, b hold for both?
static bool holds(const srSpec* spec, const srAttr* a, const srAttr* b, int i, int one, int k, int two) {
  return (is_meant(spec, i, one, a->text) && is_meant(spec, k, two, b->text)) ||
         (is_meant(spec, k, two, a->text) && is_meant(spec, i, one, b->text));
}

// The contact of two geoms in what was read; their number.
static int found(const srSpec* spec, int a, int ga, int b, int gb, const srContactDef** out) {
  const int i = shape_of(spec, a, ga), k = shape_of(spec, b, gb);
  int n = 0;
  for (int x = 0; x < srs_count(spec, SR_ELEMENT_EXCLUDE); x++) {
    const srExcludeDef* def = srs_get(spec, SR_ELEMENT_EXCLUDE, x);
    if (holds(spec, &def->a, &def->b, i, a, k, b)) return 0;
  }
  for (int x = 0; x < srs_count(spec, SR_ELEMENT_CONTACT); x++) {
    const srContactDef* def = srs_get(spec, SR_ELEMENT_CONTACT, x);
    if (!holds(spec, &def->a, &def->b, i, a, k, b)) continue;
    *out = def;
    n++;
  }
  return n;
}

// numbers: of different frictions and time constants
static void check_scene(unsigned seed, int numbers) {
  const Scene s = make_scene(seed, numbers);
  srSpec* spec = read_scene(&s);
  int pairs = 0;
  for (int a = 0; a < BODIES; a++) {
    for (int b = a + 1; b < BODIES; b++) {
      if (weld_of(&s, a) == weld_of(&s, b)) continue;  // the compiler leaves them out of whatever contact
      for (int k = 0; k < GEOMS * GEOMS; k++) {
        double mu;
        const double K = expected(&s, a, k / GEOMS, b, k % GEOMS, &mu);
        const srContactDef* def = NULL;
        ENSURE_EQUAL(found(spec, a, k / GEOMS, b, k % GEOMS, &def), K > 0);
        pairs += K > 0;
        if (K > 0) ENSURE_NEAR(def->K.number, K, 1e-12 * K);
        if (K > 0) ENSURE_NEAR(def->mu_k.number, mu, 1e-12);
      }
    }
  }
  ENSURE(pairs > 200);
  ENSURE(strstr(said, "left out") == NULL);
  Loaded x = compiled(spec);
  ENSURE_EQUAL(x.m->ncontact, pairs);
  ENSURE(x.m->ninstance > 0);
  srs_destroy(spec);
  close_model(&x);
}

TEST(many_pairs_of_geoms_touch_with_mujocos_filters_and_numbers) {
  for (unsigned seed = 1; seed <= 6; seed++) check_scene(seed, seed % 2 ? 1 : 3);
}

// Written as MJCF and read again, the same pairs touch: what is excluded of a set is not written.
TEST(pairs_of_a_set_are_those_of_mjcf_again) {
  const Scene s = make_scene(2, 3);
  srSpec* spec = read_scene(&s);
  Loaded x = compiled(spec);
  srMessages* messages = sr_messages_create();
  srConversion* c = NULL;
  ENSURE_EQUAL(sr_convert(spec, "mjcf", NULL, messages, &c), SR_OK);
  sr_messages_destroy(messages);
  for (int i = 0; i < c->nlost; i++) ENSURE(c->lost[i].effect != SR_LOSS_MOTION);
  srSpec* again = read_text(c->text);
  Loaded y = compiled(again);
  ENSURE_EQUAL(y.m->ncontact, x.m->ncontact);
  sr_conversion_destroy(c);
  srs_destroy(spec);
  srs_destroy(again);
  close_model(&x);
  close_model(&y);
}

// Fifteen boxes, of which a small one stands on another: 105 pairs.
static srSpec* read_boxes(double mass) {
  char many[8000];
  int used = snprintf(many, sizeof many, "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1'/>");
  for (int i = 0; i < 15; i++) {
    const double half = i == 1 ? 0.05 : 0.1;
    used += snprintf(many + used, sizeof many - (size_t)used,
                     "<body name='b%d' pos='%d 0 0'><freejoint/><geom type='box' size='%g %g %g' mass='%g'/></body>", i,
                     i < 2 ? 0 : i, half, half, half, mass);
  }
  snprintf(many + used, sizeof many - (size_t)used, "</worldbody></mujoco>");
  return read_text(many);
}

// m g = K d with K = (m/2)/tc^2 between two boxes, K = m/tc^2 on the floor, where the lower one has the weight of both.
TEST(boxes_of_a_set_rest_on_each_other_at_the_depth_of_their_stiffness) {
  srSpec* spec = read_boxes(3);
  ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_CONTACT), 16);  // of each with the floor, and one of all
  Loaded x = compiled(spec);
  ENSURE_EQUAL(x.m->ncontact, 15 + 105);
  const double depth = 9.81 * 0.02 * 0.02;
  for (int i = 0; i < 15; i++) {
    const double floor = i == 0 ? 2 * depth : depth;
    x.d->q[7 * i + 2] = i == 1 ? 0.25 - 2 * depth - 2 * depth : 0.1 - floor;
  }
  ENSURE_EQUAL(sr_forward(x.m, x.d, SR_TAU_ELEMENT), 0);
  for (int i = 0; i < 6 * 15; i++) ENSURE_NEAR(x.d->a[i], 0, 1e-9 * 9.81);
  srs_destroy(spec);
  close_model(&x);
}

// 40 balls whose masses all differ: those of the trees are rounded, and nothing is left out.
TEST(many_different_masses_make_few_sets) {
  static char many[12000];
  int used = snprintf(many, sizeof many, "<mujoco><worldbody>");
  for (int i = 0; i < 40; i++)
    used += snprintf(many + used, sizeof many - (size_t)used,
                     "<body pos='%d 0 0'><freejoint/><geom size='0.1' mass='%g'/></body>", i, 1 + 0.1 * i);
  snprintf(many + used, sizeof many - (size_t)used, "</worldbody></mujoco>");
  srSpec* spec = read_text(many);
  ENSURE(strstr(said, "masses rounded to powers of 2"));
  // 1 to 4.9 kg: 1, 2, 4
  ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_CONTACT), 6);
  for (int i = 0; i < 6; i++) {
    const srContactDef* def = srs_get(spec, SR_ELEMENT_CONTACT, i);
    const double M = def->K.number * 0.02 * 0.02;
    bool known = false;
    for (int a = 1; a <= 4; a *= 2)
      for (int b = 1; b <= 4; b *= 2) known |= fabs(M - 1 / (1.0 / a + 1.0 / b)) < 1e-12;
    ENSURE(known);
  }
  Loaded x = compiled(spec);
  ENSURE_EQUAL(x.m->ncontact, 40 * 39 / 2);
  srs_destroy(spec);
  close_model(&x);
}

// A tetrahedron of the vertices of a mesh, on the floor: MuJoCo takes the hull of a mesh, inner vertices do not matter.
TEST(a_mesh_touches_as_its_convex_hull) {
  srSpec* spec = read_text(
      "<mujoco><asset><mesh name='t' vertex='0 0 0 1 0 0 0 1 0 0 0 1 0.1 0.1 0.1'/></asset><worldbody>"
      "<geom name='floor' type='plane' size='1 1 1'/><body name='b' pos='0 0 0.5'><freejoint/>"
      "<geom name='solid' type='mesh' mesh='t'/><geom name='seen' type='mesh' mesh='t' contype='0' conaffinity='0'/>"
      "</body></worldbody></mujoco>");
  ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_CONTACT), 1);
  for (int i = 0; i < srs_count(spec, SR_ELEMENT_SHAPE); i++) {
    const srShapeDef* def = srs_get(spec, SR_ELEMENT_SHAPE, i);
    if (strcmp(def->name.text, "solid") == 0) ENSURE_TEXT(def->type.text, "hull");
    if (strcmp(def->name.text, "seen") == 0) ENSURE_TEXT(def->type.text, "mesh");
  }
  Loaded x = compiled(spec);
  ENSURE_EQUAL(x.m->ncontact, 1);
  srs_destroy(spec);
  close_model(&x);
}

// Points on a sphere, by the golden angle: a hull with 2 n - 4 faces.
static int write_points(int n, char* out, size_t room) {
  int used = 0;
  for (int i = 0; i < n; i++) {
    const double z = 1 - (2.0 * i + 1) / n, r = sqrt(1 - z * z), a = 2.399963229728653 * i;
    used += snprintf(out + used, room - (size_t)used, "%g %g %g ", 0.1 * r * cos(a), 0.1 * r * sin(a), 0.1 * z);
  }
  return used;
}

// Hulls of few and of many faces in one set touch in different ways: a patch, or a point between two of many faces.
TEST(hulls_of_few_and_of_many_faces_are_in_one_set) {
  static char text[16000];
  int n = snprintf(text, sizeof text, "<mujoco><asset><mesh name='few' vertex='");
  n += write_points(12, text + n, sizeof text - (size_t)n);
  n += snprintf(text + n, sizeof text - (size_t)n, "'/><mesh name='many' vertex='");
  n += write_points(100, text + n, sizeof text - (size_t)n);
  n += snprintf(text + n, sizeof text - (size_t)n, "'/></asset><worldbody>");
  for (int i = 0; i < 16; i++)  // the first few overlap with their neighbours
    n += snprintf(text + n, sizeof text - (size_t)n,
                  "<body pos='%g 0 0'><freejoint/><geom type='mesh' mesh='%s' mass='1'/></body>",
                  i < 4 ? 0.15 * i : 2.0 * i, i < 2 ? "few" : "many");
  snprintf(text + n, sizeof text - (size_t)n, "</worldbody></mujoco>");
  srSpec* spec = read_text(text);
  ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_CONTACT), 1);
  Loaded x = compiled(spec);
  ENSURE_EQUAL(sr_forward(x.m, x.d, SR_TAU_ELEMENT), 0);
  ENSURE(x.d->a[3] < -0.1 && x.d->a[6 * 3 + 3] > 0.1);  // the two ends are pushed apart
  srs_destroy(spec);
  close_model(&x);
}
