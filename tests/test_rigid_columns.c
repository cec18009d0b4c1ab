// Columns of contacts in runs with rigid contact: statics of a box on a slope, Coulomb's law while it slides, Newton's law for what lies on a table that turns, by events (with the accelerations of the
// row) and by time-stepping (with differences of velocities); contacts by name and of sets; relative and absolute coordinates.
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "loading.h"
#include "messages.h"

#define LAW " normal='hunt-crossley' K='1e6' friction='threlfall' v0='0.01'"

typedef struct Table {
  srColumns* columns;
  double* rows;
  int nrow;
} Table;

static char said[2048];
static double switched;  // time at which hybrid contact begins to step

static int keep(void* user, const double* row) {
  Table* t = user;
  const size_t n = (size_t)t->columns->count;
  t->rows = realloc(t->rows, (size_t)(t->nrow + 1) * n * sizeof *row);
  memcpy(t->rows + (size_t)t->nrow++ * n, row, n * sizeof *row);
  return 0;
}

typedef struct Case {
  bool steps;  // time-stepping, of every row; else events
  bool absolute;
  double t_end, every;
  const char* const* record;
  int nrecord, hybrid;
} Case;

static Table run_sleeping(const char* text, Case c, double sleep) {
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  srModel *m = NULL, *other = NULL;
  srData *d = NULL, *moved = NULL;
  Table t = {0};
  srRunResult result;
  ENSURE_EQUAL(sr_load_text(text, strlen(text), "test", NULL, NULL, messages, &spec), SR_OK);
  ENSURE_EQUAL(sr_compile(spec, messages, &m), SR_OK);
  d = sr_data_create(m);
  if (c.absolute) ENSURE_EQUAL(sr_formulate(spec, m, d, SR_FORMULATION_ABSOLUTE, messages, &other, &moved), SR_OK);
  srModel* used = c.absolute ? other : m;
  srRunOptions o = sr_run_options(used);
  o.contact = c.steps ? SR_CONTACT_TIMESTEPPING : SR_CONTACT_EVENT;
  o.method = c.steps ? "moreau" : "mdop5";
  if (c.hybrid) o.contact = SR_CONTACT_HYBRID;
  o.step = o.every = c.every;
  if (c.hybrid) o.step = 0.1 * c.every;
  if (c.hybrid) o.tol_hop = 1e-30;  // impacts accumulate without end: time-stepping ends them
  o.sleep = sleep;
  o.t_end = c.t_end;
  o.rtol = 1e-10;
  o.atol = 1e-12;
  o.record = c.record;
  o.nrecord = c.nrecord;
  o.row = keep;
  o.user = &t;
  ENSURE_EQUAL(sr_record_columns_create(used, c.record, c.nrecord, messages, &t.columns), SR_OK);
  const srStatus status = sr_run(used, c.absolute ? moved : d, &o, messages, &result);
  switched = NAN;
  for (int i = 0; i < result.nevent; ++i) {
    if (strcmp(result.event[i].kind, "time-stepping") == 0) switched = result.event[i].t;
  }
  messages_keep(messages, said, sizeof said);
  if (status != SR_OK) printf("%s\n", result.error_message);
  ENSURE_EQUAL(status, SR_OK);
  sr_messages_destroy(messages);
  sr_data_destroy(d);
  sr_data_destroy(moved);
  sr_model_destroy(m);
  sr_model_destroy(other);
  srs_destroy(spec);
  return t;
}

static void drop(Table* t) {
  sr_columns_destroy(t->columns);
  free(t->rows);
}

static Table run(const char* text, Case c) { return run_sleeping(text, c, 0); }

static double at(const Table* t, int row, const char* name) {
  for (int i = 0; i < t->columns->count; i++) {
    if (strcmp(t->columns->names[i], name) == 0) return t->rows[row * t->columns->count + i];
  }
  printf("no column '%s'\n", name);
  ENSURE(false);
  return NAN;
}

static void vector(const Table* t, int row, const char* object, double out[3]) {
  for (int k = 0; k < 3; k++) {
    char name[100];
    snprintf(name, sizeof name, "%s%c", object, "xyz"[k]);
    out[k] = at(t, row, name);
  }
}

// ---- a box of 2 kg on a slope: gravity (3, 0, -9) m/s^2 -----------------------------------------------------------------------

static const char* slope(const char* contact) {
  static char text[1600];
  snprintf(text, sizeof text,
           "<sarrus version='1'><option gravity='3 0 -9'/><ground><shape name='floor' type='plane' "
           "group='floors'/></ground><body "
           "name='b'><joint name='b' type='free' q='0 0 0.05 1 0 0 0'/><inertial mass='2' inertia='0.02 0.01 "
           "0.02'/><shape name='s' type='box' size='0.2 0.3 0.1' group='boxes'/></body>%s</sarrus>",
           contact);
  return text;
}

// Contact force along x or z in row i: by events that of statics or of Coulomb's law; in a step also what has changed the velocity, of corners that sink by 1e-7 m/s (their forces are
// redundant and have a compliance). Velocities are in axes that have turned by 1e-8.
static double expected(const Table* t, int i, bool steps, const char* velocity, double force) {
  return force + (steps ? 2 * (at(t, i, velocity) - at(t, i - 1, velocity)) / 0.01 : 0);
}

#define SINGLE "<contact name='c' a='floor' b='s' restitution='0' mu-k='%s'" LAW "/>"
// With a second box.
#define MANY                                                                                                           \
  "<body name='b2'><joint name='b2' type='free' q='1 0 0.05 1 0 0 0'/><inertial mass='2' inertia='0.02 0.01 "          \
  "0.02'/><shape name='s2' type='box' size='0.2 0.3 0.1' group='boxes'/></body><contact name='c' a='floors' "          \
  "b='boxes' most='4' restitution='0' mu-k='%s'" LAW "/>"

TEST(columns_of_a_box_that_sticks_on_a_slope_are_its_weight_in_parts) {
  static const char* const record[] = {"contact(c).*"};
  char contact[600];
  for (int k = 0; k < 4; k++) {
    snprintf(contact, sizeof contact, SINGLE, "0.5");
    Table t = run(slope(contact), (Case){k % 2 != 0, k / 2 != 0, 0.1, 0.01, record, 1, 0});
    ENSURE(strstr(said, "contact(NAME).work") != NULL);
    for (int i = 0; i < t.nrow; i++) {
      double f[3];
      vector(&t, i, "contact(c).f", f);
      ENSURE(isnan(at(&t, i, "contact(c).work")));
      ENSURE(at(&t, i, "contact(c).energy") == 0);
      if (k % 2 != 0 && i == 0) {  // no step was made
        ENSURE(at(&t, i, "contact(c).n") == 0 && f[0] == 0 && at(&t, i, "contact(c).state") == 0);
        continue;
      }
      ENSURE_NEAR(at(&t, i, "contact(c).n"), expected(&t, i, k % 2 != 0, "v.b.vz", 18), 1e-7);
      ENSURE_NEAR(f[0], expected(&t, i, k % 2 != 0, "v.b.vx", -6), 1e-7);
      ENSURE_NEAR(at(&t, i, "contact(c).n"), 18, k % 2 != 0 ? 5e-5 : 1e-12);
      ENSURE_NEAR(f[0], -6, k % 2 != 0 ? 5e-5 : 1e-12);
      ENSURE_SMALL(f[1], 1e-12);
      ENSURE_SMALL(f[2], 1e-12);
      ENSURE(at(&t, i, "contact(c).state") == 1);
      ENSURE_SMALL(at(&t, i, "contact(c).power"), k % 2 != 0 ? 1e-5 : 1e-12);
      ENSURE_SMALL(at(&t, i, "contact(c).gap"), 1e-7);
    }
    drop(&t);
  }
}

// a = 3 - 0.2 9 m/s^2; power and heat are those of the friction.
TEST(columns_of_a_box_that_slides_are_coulomb_s) {
  static const char* const record[] = {"contact(c).*"};
  char contact[600];
  for (int k = 0; k < 4; k++) {
    snprintf(contact, sizeof contact, SINGLE, "0.2");
    Table t = run(slope(contact), (Case){k % 2 != 0, k / 2 != 0, 0.1, 0.01, record, 1, 0});
    for (int i = 1; i < t.nrow; i++) {
      const double v = 1.2 * 0.01 * i;
      ENSURE_NEAR(at(&t, i, "contact(c).n"), 18, k % 2 != 0 ? 5e-5 : 1e-10);
      ENSURE_NEAR(at(&t, i, "contact(c).fx"), -3.6, k % 2 != 0 ? 5e-5 : 1e-10);
      ENSURE_NEAR(at(&t, i, "contact(c).n"), expected(&t, i, k % 2 != 0, "v.b.vz", 18), 1e-7);
      ENSURE_NEAR(at(&t, i, "contact(c).sx"), v, 1e-6);
      ENSURE_NEAR(at(&t, i, "contact(c).power"), -3.6 * v, 1e-5);
      ENSURE_NEAR(at(&t, i, "contact(c).dissipation"), 3.6 * v, 1e-5);
      ENSURE(at(&t, i, "contact(c).state") == 2);
    }
    drop(&t);
  }
}

// Two coefficients of friction, of a ball of 1 kg that cannot rotate: by Newton's law its friction is what the change of its velocity leaves of the pull; with rollers it is across them alone.
TEST(columns_of_a_block_with_two_coefficients_are_the_forces_that_move_it) {
  static const char* const record[] = {"contact(c).*"};
  static const char* const mu2[] = {"0.1", "0"};
  char text[1200];
  for (int k = 0; k < 4; k++) {
    snprintf(text, sizeof text,
             "<sarrus version='1'><option gravity='3 -5 -9'/><ground><shape name='floor' type='plane' "
             "friction-direction='0.6 0.8 0'/></ground><body name='x'><joint name='x' type='prismatic' axis='1 0 0'/>"
             "</body><body name='y' parent='x'><joint name='y' type='prismatic' axis='0 1 0'/></body><body name='b' "
             "parent='y'><joint name='z' type='prismatic' axis='0 0 1' q='0.1'/><inertial mass='1'/><shape name='s' "
             "type='sphere' size='0.1'/></body><contact name='c' a='floor' b='s' restitution='0' mu-k='0.3' "
             "mu2='%s'" LAW "/></sarrus>",
             mu2[k / 2]);
    Table t = run(text, (Case){k % 2 != 0, false, 0.1, 0.01, record, 1, 0});
    for (int i = 1; i < t.nrow; i++) {
      const double v[2] = {at(&t, i, "v.x"), at(&t, i, "v.y")};
      const double f[2] = {(v[0] - at(&t, i - 1, "v.x")) / 0.01 - 3, (v[1] - at(&t, i - 1, "v.y")) / 0.01 + 5};
      ENSURE_NEAR(at(&t, i, "contact(c).fx"), f[0], 1e-7);
      ENSURE_NEAR(at(&t, i, "contact(c).fy"), f[1], 1e-7);
      ENSURE_NEAR(at(&t, i, "contact(c).power"), f[0] * v[0] + f[1] * v[1], 1e-7);
      ENSURE_NEAR(at(&t, i, "contact(c).dissipation"), -f[0] * v[0] - f[1] * v[1], 1e-7);
      ENSURE_NEAR(at(&t, i, "contact(c).n"), 9, 1e-8);
      ENSURE(hypot(f[0], f[1]) > 0.5);
      if (k / 2 == 1) ENSURE_SMALL(0.6 * f[0] + 0.8 * f[1], 1e-9);
    }
    drop(&t);
  }
}

// The same of two boxes as a set: count, sums, and the force on each shape. Its bodies are free: time-stepping has points in place of rows.
TEST(columns_of_contact_sets_are_sums_over_their_points) {
  static const char* const record[] = {"contact(c).*", "contact(c/*).*"};
  char contact[600];
  for (int k = 0; k < 4; k++) {
    snprintf(contact, sizeof contact, MANY, "0.2");
    Table t = run(slope(contact), (Case){k % 2 != 0, k / 2 != 0, 0.1, 0.01, record, 2, 0});
    for (int i = 1; i < t.nrow; i++) {
      const double v = 1.2 * 0.01 * i, tolerance = k % 2 != 0 ? 5e-5 : 1e-10;
      double on[3], back[3];
      ENSURE(at(&t, i, "contact(c).count") == 8);
      ENSURE_NEAR(at(&t, i, "contact(c).n"), 36, 2 * tolerance);
      ENSURE_NEAR(at(&t, i, "contact(c).dissipation"), 7.2 * v, 1e-5);
      vector(&t, i, "contact(c/b/s).f", on);
      vector(&t, i, "contact(c/ground/floor).f", back);
      ENSURE_NEAR(on[0], -3.6, tolerance);
      ENSURE_NEAR(on[2], 18, tolerance);
      for (int l = 0; l < 3; l++) ENSURE_SMALL(2 * on[l] + back[l], 1e-9);
    }
    drop(&t);
  }
}

// ---- a ball on a table that turns and carries it ------------------------------------------------------------------------------

// The table turns about y by 0.25 + 0.1 sin 4t rad and moves along x; a belt runs along it. Newton: f + n = m (a - g), in all directions, while the ball slides and rolls.
static const char table[] =
    "<sarrus version='1'><option gravity='0 0 -9.81'/><body name='cart'><joint name='x' type='prismatic' axis='1 0 0' "
    "v='0.3'/><inertial mass='3'/></body><body name='top' parent='cart'><joint name='turn' type='revolute' axis='0 1 "
    "0'/><inertial mass='1' inertia='0.1 0.1 0.1'/><shape name='plane' type='plane'/></body><driver joint='turn' "
    "motion='0.25 + 0.1*sin(4*t)'/><body name='ball'><joint name='ball' type='free' q='0 0 0.10320846 1 0 0 0' v='0 0 "
    "0 "
    "0.3 0.2 0'/><inertial mass='0.5' inertia='0.002 0.002 0.002'/><shape name='s' type='sphere' size='0.1'/></body>"
    "<contact name='c' a='plane' b='s' restitution='0' mu-k='0.12'" LAW "/></sarrus>";

TEST(forces_in_columns_are_those_that_move_a_ball_on_a_table) {
  static const char* const record[] = {"contact(c).*", "point(ball).a*", "point(ball).v*"};
  const double m = 0.5, weight = 0.5 * 9.81;
  for (int k = 0; k < 4; k++) {
    const bool steps = k % 2 != 0;
    const double h = steps ? 1e-3 : 0.02;
    Table t = run(table, (Case){steps, k / 2 != 0, 0.4, h, record, 3, 0});
    int slid = 0;
    for (int i = steps ? 2 : 0; i < t.nrow; i++) {
      double f[3], n[3], a[3], before[3], now[3];
      vector(&t, i, "contact(c).f", f);
      vector(&t, i, "contact(c).n", n);
      vector(&t, i, "point(ball).a", a);
      vector(&t, i - (steps ? 1 : 0), "point(ball).v", before);
      vector(&t, i, "point(ball).v", now);
      const double N = at(&t, i, "contact(c).n");
      ENSURE(N > 3);
      for (int l = 0; l < 3; l++) {
        const double change = steps ? m * (now[l] - before[l]) / h : m * a[l];
        // In a step the normal turns by 4e-4 at most.
        ENSURE_NEAR(N * n[l] + f[l], change + (l == 2 ? weight : 0), steps ? 5e-4 * N : 1e-9);
      }
      ENSURE(hypot(hypot(f[0], f[1]), f[2]) <= 0.12 * N * (1 + 1e-8));
      slid += at(&t, i, "contact(c).state") == 2;
    }
    ENSURE(slid > t.nrow / 4);
    drop(&t);
  }
}

// ---- hybrid -------------------------------------------------------------------------------------------------------------

// A ball of 2 kg bounces to rest beside 17 that lie. Its impacts are without end by events; time-stepping ends them, and keeps so many contacts. No force in flight, then its weight; what lies has its weight on both sides.
TEST(columns_of_hybrid_contact_are_those_of_the_side_that_is_taken) {
  static const char* const record[] = {"contact(c).*", "contact(r0).*"};
  const double t0 = sqrt(2 * 1e-3 / 9.81), rest = t0 * (1 + 0.99) / (1 - 0.99);
  Table t = run(
      "<sarrus version='1'><option gravity='0 0 -9.81'/><ground><shape name='floor' type='plane'/></ground><body "
      "name='b'><joint name='z' type='prismatic' axis='0 0 1' q='0.101'/><inertial mass='2'/><shape name='s' "
      "type='sphere' size='0.1'/></body><contact name='c' a='floor' b='s' restitution='0.99' mu-k='0'" LAW
      "/><repeat count='17' index='i'><body name='r{i}'><joint name='r{i}' type='prismatic' axis='0 0 1' q='0.1'/>"
      "<inertial mass='3'/><shape name='l{i}' type='sphere' size='0.1'/></body><contact name='r{i}' a='floor' b='l{i}' "
      "restitution='0' mu-k='0'" LAW "/></repeat></sarrus>",
      (Case){.hybrid = 1, .t_end = 4, .every = 0.01, .record = record, .nrecord = 2});
  int rests = 0;
  ENSURE(switched > rest - 1 && switched < rest + 0.1);
  for (int i = 0; i < t.nrow; ++i) {
    const double time = at(&t, i, "t");
    ENSURE_NEAR(at(&t, i, "contact(r0).n"), 3 * 9.81, 1e-6);
    if (time < t0) ENSURE(at(&t, i, "contact(c).n") == 0);
    if (time < rest + 0.1) continue;
    ENSURE_NEAR(at(&t, i, "contact(c).n"), 2 * 9.81, 1e-6);
    ++rests;
  }
  ENSURE(rests > 50);
  drop(&t);
}

// ---- free bodies, whose contacts have points instead of rows -------------------------------------------------------------------

#define BALL(name, at, v)                                                                                              \
  "<body name='" name "'><joint name='" name "' type='free' q='" at " 1 0 0 0' v='" v                                  \
  "'/><inertial mass='0.5' inertia='5e-4 5e-4 5e-4'/><shape name='s-" name                                             \
  "' type='sphere' size='0.05' group='g'/></body>"

// A ball that spins and slides down another one, which spins on the floor. Newton in every step: the force of their contact is what changes the velocity of the upper one.
TEST(forces_between_balls_are_those_that_move_them) {
  static const char* const record[] = {"contact(c).*", "point(up).a*", "point(up).v*"};
  const double h = 1e-3;
  Table t = run(
      "<sarrus version='1'><option gravity='0 0 -9.81'/><ground><shape name='floor' type='plane'/></ground>" BALL(
          "low", "0 0 0.05", "3 -7 5 0 0 0")
          BALL("up", "0.03 0.02 0.14327",
               "-4 2 9 0.1 0 0") "<contact a='floor' b='g' most='9' restitution='0' mu-k='0.3'" LAW
                                 "/><contact name='c' a='s-low' b='s-up' restitution='0' mu-k='0.4'" LAW "/></sarrus>",
      (Case){true, false, 0.05, h, record, 3, 0});
  int pushed = 0;
  for (int i = 2; i < t.nrow - 1; i++) {
    double f[3], n[3], a[3], before[3], now[3];
    vector(&t, i, "contact(c).f", f);
    vector(&t, i, "contact(c).n", n);
    vector(&t, i, "point(up).a", a);
    vector(&t, i - 1, "point(up).v", before);
    vector(&t, i, "point(up).v", now);
    const double N = at(&t, i, "contact(c).n");
    for (int l = 0; l < 3; l++) {
      const double change = (now[l] - before[l]) / h;
      // The normal turns by 0.5 m/s h/0.1 m, and the axes of the forces by 0.01 rad.
      ENSURE_NEAR(N * n[l] + f[l], 0.5 * (change + (l == 2 ? 9.81 : 0)), 5e-3 * N + 1e-9);
      ENSURE_NEAR(a[l], change, 0.02 * 2 * N + 1e-9);
    }
    pushed += N > 1;
  }
  ENSURE(pushed > 10);
  drop(&t);
}

// 41 balls in a row on the floor, the first of which pushes the others, which hold: more contacts than a matrix takes. Awake, and asleep from 0.05 s on.
TEST(accelerations_in_rows_of_large_islands_have_their_contact_forces) {
  static const char* const record[] = {"point(b3).a*", "point(b3).v*", "point(b40).az"};
  const double h = 1e-3;
  for (int k = 0; k < 2; k++) {
    Table t = run_sleeping(
        "<sarrus version='1'><option gravity='0 0 -9.81'/><ground><shape name='floor' type='plane' group='f'/></ground>"
        "<repeat count='41' index='i'><body name='b{i}'><joint name='b{i}' type='free' q='0.1*i 0 0.05 1 0 0 0'/>"
        "<inertial mass='0.5' inertia='5e-4 5e-4 5e-4'/><shape name='s{i}' type='sphere' size='0.05' group='g'/></body>"
        "</repeat><contact a='f' b='g' most='99' restitution='0' mu-k='0.3'" LAW
        "/><contact a='g' b='g' most='99' restitution='0' mu-k='0.3'" LAW
        "/><force body='b0' at='0 0 0' f='40 0 0'/></sarrus>",
        (Case){true, false, 0.2, h, record, 3, 0}, k == 0 ? 0 : 0.05);
    for (int i = 2; i < t.nrow; i++) {
      double a[3], before[3], now[3];
      vector(&t, i, "point(b3).a", a);
      vector(&t, i - 1, "point(b3).v", before);
      vector(&t, i, "point(b3).v", now);
      for (int l = 0; l < 3; l++) ENSURE_NEAR(a[l], (now[l] - before[l]) / h, 0.2);
      ENSURE_SMALL(at(&t, i, "point(b40).az"), 0.2);
    }
    drop(&t);
  }
}
