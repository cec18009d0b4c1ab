// Energy of passive scenes with contact: it never grows beyond the error of the integration. All shipped models that nothing drives, and every two shapes dropped
// on a plane and on a box at random poses.
#include <glob.h>
#include <math.h>
#include <stdlib.h>

#include "loading.h"

// Largest rise of kinetic and potential energy above its least value so far; contacts and bristles are part of it.
typedef struct Watch {
  int kinetic, potential;  // columns
  double least, first, rise, change;
  bool any;
} Watch;

static int watch_row(void* user, const double* row) {
  Watch* w = user;
  const double energy = row[w->kinetic] + row[w->potential];
  if (!w->any) w->least = w->first = energy;
  w->any = true;
  w->rise = fmax(w->rise, energy - w->least);
  w->change = fmax(w->change, fabs(energy - w->first));
  w->least = fmin(w->least, energy);
  return 0;
}

static int column(const srColumns* columns, const char* name) {
  for (int i = 0; i < columns->count; i++) {
    if (strcmp(columns->names[i], name) == 0) return i;
  }
  return -1;
}

// Steps with the relative tolerance rtol have energies to this many times rtol: a few hundred steps, and interpolation between them.
// In a second without dissipation, ten times as much: two spheres on a plane have 150 by their closed forms, round faces across edges 700.
#define LIMIT 100
#define LIMIT_ELASTIC (runner_long() ? 1000 : 100)

static srStatus watch(Loaded* x, double t_end, double rtol, Watch* out) {
  srRunOptions options = sr_run_options(x->m);
  srColumns* columns = sr_columns_create(x->m);
  *out = (Watch){.kinetic = column(columns, "kinetic"), .potential = column(columns, "potential")};
  sr_columns_destroy(columns);
  ENSURE(out->kinetic >= 0 && out->potential >= 0);
  options.t_end = t_end;
  options.method = "auto";  // some models have fixed steps, which no tolerance governs
  options.every = t_end / 200;
  options.rtol = rtol;
  options.atol = 1e-3 * rtol;
  options.row = watch_row;
  options.user = out;
  return sr_run(x->m, x->d, &options, NULL, &x->result);
}

// ---- shipped models -----------------------------------------------------------------------------------------------------

// Nothing drives it: no driver, and no account of power has work that does not dissipate (motors, external forces, laws of the time, belts).
static bool is_passive(const Loaded* x) {
  static const srAccount active[] = {SR_ACCOUNT_APPLIED, SR_ACCOUNT_TORQUE, SR_ACCOUNT_DISTANCE,
                                     SR_ACCOUNT_FORCE,   SR_ACCOUNT_USER,   SR_ACCOUNT_DRIVER};
  for (size_t i = 0; i < sizeof active / sizeof *active; i++) {
    if (x->result.energy.work[active[i]] != 0) return false;
  }
  return x->m->ndriver == 0;
}

// 1: passive and right, 0: not passive, or without contact, -1: its energy grows.
static int check_model(const char* path, double t_end, double rtol) {
  srSpec* spec = NULL;
  Loaded x = {0};
  Watch w;
  int answer = 0;
  const bool good = sr_load(path, NULL, NULL, &spec) == SR_OK && sr_compile(spec, NULL, &x.m) == SR_OK;
  srs_destroy(spec);
  if (!good) return 0;  // a part of another file
  // Scenes of rigid contact have tests of their own.
  const bool continuous = sr_run_settings(x.m)->contact == SR_CONTACT_CONTINUOUS;
  if ((x.m->ncontact > 0 || x.m->nset > 0) && x.m->ndriver == 0 && continuous) {
    x.d = sr_data_create(x.m);
    const srStatus status = watch(&x, fmin(t_end, sr_run_settings(x.m)->t_end), rtol, &w);
    if (is_passive(&x)) {
      answer = status == SR_OK && w.rise <= LIMIT * rtol * x.result.energy.scale ? 1 : -1;
      if (answer < 0)
        printf("  %s: energy rises by %.2g of %.3g J %s\n", path, w.rise, x.result.energy.scale,
               x.result.error_message);
    }
    sr_data_destroy(x.d);
  }
  sr_model_destroy(x.m);
  return answer;
}

TEST(energy_of_shipped_passive_scenes_never_grows) {
  static const char* const patterns[] = {"*.xml", "*/*.xml"};
  glob_t found = {0};
  int passive = 0, bad = 0;
  for (int i = 0; i < 2; i++) {
    char pattern[512];
    snprintf(pattern, sizeof pattern, "%s/models/%s", SARRUS_SOURCE_DIR, patterns[i]);
    ENSURE_EQUAL(glob(pattern, i > 0 ? GLOB_APPEND : 0, NULL, &found), 0);
  }
  for (size_t i = 0; i < found.gl_pathc; i++) {
    const int answer = check_model(found.gl_pathv[i], runner_long() ? 5 : 0.1, runner_long() ? 1e-8 : 1e-6);
    passive += answer == 1;
    bad += answer == -1;
  }
  globfree(&found);
  ENSURE_EQUAL(bad, 0);
  ENSURE(passive >= 4);
}

// ---- every two shapes ---------------------------------------------------------------------------------------------------

#define SHAPES 7
static const char* const shape[SHAPES] = {"type='sphere' size='0.05'",
                                          "type='box' size='0.12 0.08 0.06'",
                                          "type='capsule' size='0.03 0.1'",
                                          "type='cylinder' size='0.04 0.1'",
                                          "type='cone' size='0.05 0.12'",
                                          "type='ellipsoid' size='0.07 0.05 0.03'",
                                          "type='hull' mesh='m'"};
static const char* const word[SHAPES] = {"sphere", "box", "capsule", "cylinder", "cone", "ellipsoid", "hull"};
#define FLOORS 2
static const char* const floors[FLOORS] = {"type='plane'", "type='box' size='0.3 0.24 0.1' at='0 0 -0.05'"};

static unsigned seed;
static double uniform(double low, double high) {
  seed = seed * 1664525u + 1013904223u;
  return low + (high - low) * (double)(seed >> 8) / 0x1000000;
}

// One above the other (second < 0: alone), at random poses.
static void make_scene(char* text, size_t room, int ground, int first, int second, const char* law) {
  int used = snprintf(text, room,
                      "<sarrus version='1'><mesh name='m' vertices='-0.05 -0.05 -0.03 0.06 -0.05 -0.03 0.05 0.06 -0.04 "
                      "-0.06 0.05 -0.03 0 0 "
                      "0.06 0.02 0.03 0.05'/><ground><shape name='floor' %s/></ground>",
                      floors[ground]);
  for (int k = 0; k < (second < 0 ? 1 : 2); k++) {
    used += snprintf(
        text + used, room - (size_t)used,
        "<body name='b%d'><joint type='free' q='%.9g %.9g %.9g 1 %.9g %.9g %.9g'/><inertial mass='0.5' inertia='6e-4 "
        "7e-4 8e-4'/><shape %s/></body>",
        k, uniform(-0.02, 0.02), uniform(-0.02, 0.02), 0.085 + 0.15 * k, uniform(-1, 1), uniform(-1, 1), uniform(-1, 1),
        shape[k == 0 ? first : second]);
  }
  snprintf(text + used, room - (size_t)used, "<contact default='all' %s/></sarrus>", law);
}

#define ELASTIC "normal='hooke' K='2e4' friction='none'"
#define LOSSY "normal='kelvin-voigt' K='2e4' D='10' mu-k='0.4' bristle-K='2e4' bristle-B='10' mu-roll='1e-3'"

static bool drop(int ground, int first, int second, bool elastic, double t_end, double rtol) {
  char text[3000];
  Watch w;
  make_scene(text, sizeof text, ground, first, second, elastic ? ELASTIC : LOSSY);
  Loaded x = open_text(text);
  const srStatus status = watch(&x, t_end, rtol, &w);
  const double scale = x.result.energy.scale, error = (elastic ? w.change : w.rise) / scale;
  const bool good = status == SR_OK && error <= (elastic ? LIMIT_ELASTIC : LIMIT) * rtol;
  if (!good)
    printf("  %s on %s on %s, %s: %s rise %.2g, change %.2g of %.3g J, %lld steps\n", second < 0 ? "" : word[second],
           word[first], ground == 0 ? "plane" : "box", elastic ? "elastic" : "lossy", x.result.error_message,
           w.rise / scale, w.change / scale, scale, (long long)x.result.stats.steps);
  close_model(&x);
  return good;
}

TEST(energy_of_any_two_shapes_that_are_dropped_never_grows) {
  int bad = 0;
  seed = 1;
  for (int ground = 0; ground < FLOORS; ground++) {
    for (int first = 0; first < SHAPES; first++) {
      for (int second = -1; second < SHAPES; second++) {
        if (!runner_long() && second >= 0) continue;
        for (int elastic = 0; elastic < 2; elastic++)
          bad += !drop(ground, first, second, elastic, runner_long() ? 1 : 0.2, 1e-7);
      }
    }
  }
  ENSURE_EQUAL(bad, 0);
}
