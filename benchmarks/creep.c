// Does it hold? A block on a slope and a ball pinched between two pads, each held by friction alone under a load of
// (0.67 + 0.29 sin 100t) of the limit, for 1000 s: what they have moved after t = 10 s, at equal phases of the load.
// With every friction law of Sarrus, and in MuJoCo with several settings, its best among them.
//
//   bench-creep [--quick] [--csv FILE] [--note TEXT] BLOCK-ON-SLOPE.xml PINCHED.xml
//
// Exit status 1: a row that must hold was 1e-9 m or more away at some of these phases. Every run is a process of its own,
// as many at a time as there are processors; the seconds are those of the processor.
#define _DEFAULT_SOURCE
#include "creep.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

enum { SCENES = 2, CASES_MOST = 96 };
// What creeps has shown its rate soon; what holds must hold long.
enum { LONG = 15916, MIDDLE = 796, QUICK = 320 };  // periods: 1000, 50 and 20 s
#define HOLDS 1e-9                                 // m

typedef struct Way {
  const char *law, *method;
  int steps;    // of a period, 0: the method chooses its steps
  double rtol;  // then
  int periods;
  bool must_hold;
} Way;

// Fixed steps divide the period, so that their rows fall on ends of steps and are not interpolated.
// clang-format off
static const Way ways[] = {
    {"kikuuwe", "rk4", 63, 0, LONG, true},
    {"kikuuwe", "dopri5", 0, 1e-6, LONG, true},
    {"kikuuwe", "genalpha-ggl", 126, 0, LONG, true},
    {"kikuuwe", "genalpha-ggl", 0, 1e-6, LONG, true},
    {"iwan", "dopri5", 0, 1e-6, MIDDLE, false},
    {"lugre", "rk4", 63, 0, MIDDLE, false},
    {"lugre", "dopri5", 0, 1e-6, MIDDLE, false},
    {"dahl", "dopri5", 0, 1e-6, MIDDLE, false},
    {"threlfall", "dopri5", 0, 1e-6, MIDDLE, false},
    {"bengisu-akay", "dopri5", 0, 1e-6, MIDDLE, false},
    {"ambrosio", "dopri5", 0, 1e-6, MIDDLE, false},
};
// clang-format on

#ifdef HAVE_MUJOCO
// A contact as stiff as MuJoCo lets it be.
#define STIFFEST .solref = 2, .solimp = 0.9999
static const CreepMujoco peers[] = {
    {"defaults", .steps = 31},
    {"elliptic", .steps = 63, .elliptic = true},
    {"elliptic, impratio 10", .steps = 63, .elliptic = true, .impratio = 10},
    {"elliptic, impratio 100", .steps = 63, .elliptic = true, .impratio = 100},
    {"pyramidal, noslip 10", .steps = 63, .noslip = 10},
    {"pyramidal, stiffest, impratio 100", .steps = 63, .impratio = 100, STIFFEST},
    {"elliptic, stiffest, impratio 100", .steps = 63, .elliptic = true, .impratio = 100, STIFFEST},
    {"elliptic, stiffest, impratio 100", .steps = 628, .elliptic = true, .impratio = 100, STIFFEST},
    {"elliptic, stiffest, noslip 50", .steps = 63, .elliptic = true, .noslip = 50, STIFFEST},
    {"elliptic, noslip 10", .steps = 63, .elliptic = true, .noslip = 10},
    {"elliptic, impratio 100, noslip 10", .steps = 63, .elliptic = true, .impratio = 100, .noslip = 10},
    {"elliptic, impratio 100, noslip 50", .steps = 63, .elliptic = true, .impratio = 100, .noslip = 50, .whole = true},
};
#endif

typedef struct Case {
  CreepScene* scene;
  const char* path;
  const Way* way;           // of Sarrus, or ...
  const CreepMujoco* peer;  // ... of MuJoCo
  int periods;
  CreepResult* result;
  bool* good;
  pid_t child;
} Case;

// -------------------------------------------------------------------------------------------------------------- Sarrus
// The model with one friction law in all of its contacts, whatever the file chooses.
static srModel* model_with(const char* path, const char* law, double normal_force) {
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  char value[32];
  snprintf(value, sizeof value, "%.17g", normal_force);
  const srSetting setting = {"normal_force", value};
  const srStatus status =
      sr_load(path, &(srLoadOptions){.settings = &setting, .nsetting = normal_force > 0}, messages, &spec);
  sr_messages_destroy(messages);
  if (status != SR_OK) {
    fprintf(stderr, "%s cannot be read\n", path);
    srs_destroy(spec);
    return NULL;
  }
  for (int i = 0; i < srs_count(spec, SR_ELEMENT_CONTACT); i++) {
    srs_set(spec, SR_ELEMENT_CONTACT, i, offsetof(srContactDef, friction) / sizeof(srAttr), sr_text(law));
    srs_set(spec, SR_ELEMENT_CONTACT, i, offsetof(srContactDef, friction_choice) / sizeof(srAttr), sr_number(0));
  }
  return bench_compile(spec);
}

typedef struct Monitor {
  const CreepScene* scene;
  CreepResult* out;
  int row;
} Monitor;

static int monitor_row(void* user, const double* row) {
  Monitor* w = user;
  const double *x = row + 1 + w->scene->m->link_q[w->scene->body], *down = w->scene->down;
  creep_sample(w->out, w->row++, x[0] * down[0] + x[1] * down[1] + x[2] * down[2]);
  return 0;
}

static bool run_sarrus(const Case* c, CreepResult* out) {
  CreepScene scene = *c->scene;
  srModel* m = model_with(c->path, c->way->law, scene.normal_force);
  if (!m) return false;
  scene.m = m;
  Monitor monitor = {&scene, out, 0};
  srData* d = sr_data_create(m);
  srMessages* messages = sr_messages_create();
  srRunOptions options = sr_run_options(m);
  options.method = c->way->method;
  options.t_end = c->periods * CREEP_PERIOD;
  options.every = CREEP_PERIOD;
  if (c->way->steps > 0) {
    options.step = CREEP_PERIOD / c->way->steps;
    options.control = SR_CONTROL_FIXED;
  } else {
    options.rtol = c->way->rtol;
  }
  options.row = monitor_row;
  options.progress = NULL;
  options.user = &monitor;
  srRunResult result;
  const double t = bench_cpu_seconds();
  const srStatus status = sr_run(m, d, &options, messages, &result);
  out->seconds = bench_cpu_seconds() - t;
  out->steps = result.stats.steps;
  if (status != SR_OK) snprintf(out->reason, sizeof out->reason, "%.250s", result.error_message);
  sr_messages_destroy(messages);
  sr_data_destroy(d);
  sr_model_destroy(m);
  return status == SR_OK;
}

// -------------------------------------------------------------------------------------------------------------- scenes
// Normal force and limit from the numbers of the model; the file's own load is the same share of them.
static bool scene_of(CreepScene* s, const char* name, const char* path, double normal_force) {
  *s = (CreepScene){.name = name, .m = model_with(path, "kikuuwe", normal_force), .normal_force = normal_force};
  if (!s->m) return false;
  const srForceElement* contact = NULL;
  for (int i = 0; i < s->m->nforce && !contact; i++)
    if (s->m->force[i].contact) contact = &s->m->force[i];
  for (int i = 1; i < s->m->nlink; i++) {
    if (s->m->link_type[i] == SR_LINK_FREE) s->body = i;
    if (s->m->link_type[i] == SR_LINK_PRISMATIC) s->pad = i;
  }
  if (!contact || !s->body) {
    fprintf(stderr, "%s: a free body with contacts was expected\n", path);
    return false;
  }
  const double *g = s->m->gravity, *normal = s->m->point_pose + 16 * contact->point[0] + 8;
  const double across = g[0] * normal[0] + g[1] * normal[1] + g[2] * normal[2];
  const double mass = s->m->link_inertia[16 * s->body + 15], mu = contact->contact->slip.k;
  double length = 0;
  for (int k = 0; k < 3; k++) s->down[k] = g[k] - across * normal[k];
  for (int k = 0; k < 3; k++) length += s->down[k] * s->down[k];
  for (int k = 0; k < 3; k++) s->down[k] /= sqrt(length);
  s->load = 0.29 * mu * (s->pad ? 2 * normal_force : -mass * across);
  // The block's force acts where its feet touch, the ball's at its centre.
  for (int k = 0; k < 3; k++) s->lever[k] = s->pad ? 0 : -contact->contact->radius[1] * normal[k];
  return true;
}

// ----------------------------------------------------------------------------------------------------------- processes
static void start_case(Case* c) {
  fflush(NULL);
  c->child = fork();
  if (c->child != 0) return;
#ifdef HAVE_MUJOCO
  *c->good = c->way ? run_sarrus(c, c->result) : creep_mujoco(c->peer, c->scene, c->periods, c->result);
#else
  *c->good = run_sarrus(c, c->result);
#endif
  _exit(0);
}

static void run_cases(Case* cases, int n) {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  int running = 0;
  for (int i = 0; i < n || running > 0;) {
    if (i < n && running < processors) {
      start_case(&cases[i++]);
      running++;
    } else {
      wait(NULL);
      running--;
    }
  }
}

static int choose_cases(Case* cases, CreepScene* scenes, const char* const* paths, bool quick) {
  int n = 0;
  for (int s = 0; s < SCENES; s++) {
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
      cases[n++] = (Case){.scene = &scenes[s], .path = paths[s], .way = &ways[i], .periods = ways[i].periods};
#ifdef HAVE_MUJOCO
    for (size_t i = 0; i < sizeof peers / sizeof *peers; i++)
      cases[n++] = (Case){.scene = &scenes[s], .peer = &peers[i], .periods = peers[i].whole ? LONG : MIDDLE};
#endif
  }
  for (int i = 0; i < n && quick; i++) cases[i].periods = QUICK;
  return n;
}

// ------------------------------------------------------------------------------------------------------------- results
static void name_step(const Case* c, char* text, size_t size) {
  const int steps = c->way ? c->way->steps : c->peer->steps;
  if (steps > 0)
    snprintf(text, size, "%.2g ms", 1e3 * CREEP_PERIOD / steps);
  else
    snprintf(text, size, "rtol %.0e", c->way->rtol);
}

// false: it must hold and does not.
static bool print_case(const Case* c, FILE* csv) {
  const CreepResult* r = c->result;
  const char *engine = c->way ? "sarrus" : "mujoco", *law = c->way ? c->way->law : "soft";
  const char* method = c->way ? c->way->method : c->peer->name;
  const bool hold = c->way && c->way->must_hold;
  char step[32];
  name_step(c, step, sizeof step);
  printf("%-15s %-7s %-13s %-34s %-11s ", c->scene->name, engine, law, method, step);
  if (csv) fprintf(csv, "%s,%s,%s,\"%s\",%s,", c->scene->name, engine, law, method, step);
  if (!*c->good) {
    printf("failed: %s\n", *r->reason ? r->reason : "its process ended");
    if (csv) fprintf(csv, "%.6g,,,,,\n", r->t);
    return !hold;
  }
  const double drift = r->last - r->first, rate = drift / (r->t - CREEP_FIRST * CREEP_PERIOD);
  printf("%7.0f %11.2e %11.2e %11.2e %9ld %11.5f%s\n", r->t, rate, drift, r->most, r->steps, r->seconds / r->t,
         hold && r->most >= HOLDS ? "  moves" : "");
  if (csv) fprintf(csv, "%.6f,%.6e,%.6e,%.6e,%ld,%.6e\n", r->t, rate, drift, r->most, r->steps, r->seconds / r->t);
  return !hold || r->most < HOLDS;
}

int main(int argc, char** argv) {
  const BenchArguments a = bench_arguments(argc, argv);
  FILE* csv = a.csv ? fopen(a.csv, "w") : NULL;
  if (a.npath != SCENES || (a.csv && !csv)) {
    fprintf(stderr, "usage: bench-creep [--quick] [--csv FILE] [--note TEXT] BLOCK-ON-SLOPE.xml PINCHED.xml\n");
    return 2;
  }
  static CreepScene scenes[SCENES];
  static Case cases[CASES_MOST];
  if (!scene_of(&scenes[0], "block-on-slope", a.path[0], 0)) return 1;
  if (!scene_of(&scenes[1], "pinched", a.path[1], 20)) return 1;
  const int n = choose_cases(cases, scenes, a.path, a.quick);
  typedef struct Shared {
    CreepResult result;
    bool good;
  } Shared;
  Shared* shared = mmap(NULL, CASES_MOST * sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 1;
  for (int i = 0; i < n; i++) {
    cases[i].result = &shared[i].result;
    cases[i].good = &shared[i].good;
  }
  run_cases(cases, n);
  if (csv)
    fprintf(csv, "# %s\nscene,engine,law,method,step,t_s,rate_m_per_s,drift_m,most_m,steps,seconds_per_second\n",
            a.note);
  printf("%-15s %-7s %-13s %-34s %-11s %7s %11s %11s %11s %9s %11s\n", "scene", "engine", "law", "method", "step", "t",
         "m/s", "drift m", "most m", "steps", "cpu s/s");
  bool good = true;
  for (int i = 0; i < n; i++) good &= print_case(&cases[i], csv);
#ifndef HAVE_MUJOCO
  printf("MuJoCo is not installed: skipped (tools/setup --peers)\n");
#endif
  if (csv) fclose(csv);
  return good ? 0 : 1;
}
