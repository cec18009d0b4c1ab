// An evaluation of models with constraint equations, interpreted and by generated code: the five-rod suspension and CHARMIE (the accelerations that satisfy their equations), and the humanoid with 12 mimic joints (as bench-coupled has it).
//
//   bench-generated [--quick] [--counts FILE] [--csv FILE] [--note TEXT] FIVE-ROD.xml CHARMIE.xml HUMANOID.xml
//       ns of processor time per evaluation: the smallest of many windows, the two taking turns, each evaluation at another of 16 states. --counts
//       adds the instructions of the file, made from the run below. Fails where generated code is not 3 times as fast, by either (--quick: by instructions), or has
//       other accelerations.
//   valgrind --tool=callgrind --collect-atstart=no bench-generated --count ... (the same models)
//       the same evaluations, counted: callgrind dumps one part for each, named by its trigger.
//
// Interpreted: the rates of explicit methods where couplings are eliminated, else an evaluation up to accelerations, less one up to forces: kinematics,
// which the equations need as well, are not charged to it. Generated, with those forces: `accel` (with limbs in lanes where that is shorter) or
// `accelred`, compiled as `run --generated` does: for this processor, for x86-64-v3 where instructions are counted. States are those of a run; of the humanoid they are random.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "common.h"
#ifdef HAVE_CALLGRIND
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_ZERO_STATS
#define CALLGRIND_TOGGLE_COLLECT
#define CALLGRIND_DUMP_STATS_AT(text) (void)(text)
#endif

enum { STATES = 16, COUNT_ROUNDS = 10, MODELS = 3, WAYS = 3 };
enum { INTERPRETED, FORCES, GENERATED };
#define LEAST_RATIO 3.0
#define MOST_DISTANCE 1e-9
static const char* const word[WAYS] = {"interpreted", "forces", "generated"};

typedef void (*Accel)(const double* q, const double* v, const double* tau, double* a);
typedef void (*AccelRed)(const double* t, const double* q, const double* v, const double* tau, double* a);

typedef struct Bench {
  char name[64];
  srModel* m;
  srModelSystem user;
  srSystem system;
  BenchCode code;
  Accel accel;
  AccelRed accelred;
  int lanes, nstate;
  double *t, *q, *v, *f;  // of all states; f: forces on the coordinates
  double *rate, *a;
  double ns[WAYS], instructions[WAYS], distance;
} Bench;

static int keep_state(void* user, const double* row) {
  Bench* b = user;
  const srData* d = b->user.d;
  (void)row;
  if (b->nstate == STATES) return 0;
  b->t[b->nstate] = d->t;
  memcpy(b->q + b->nstate * b->m->nq, d->q, (size_t)b->m->nq * sizeof *d->q);
  memcpy(b->v + b->nstate * b->m->nv, d->v, (size_t)b->m->nv * sizeof *d->v);
  b->nstate++;
  return 0;
}

static bool make_states(Bench* b) {
  const srModel* m = b->m;
  uint64_t seed = 1;
  if (!b->system.rates || m->elimination == NULL) {
    srRunOptions o = sr_run_options(m);
    srRunResult result = {0};
    o.t_end = 0.3, o.every = 0.3 / STATES, o.row = keep_state, o.user = b;
    const srStatus status = sr_run(m, b->user.d, &o, NULL, &result);
    return status == SR_OK && b->nstate == STATES;
  }
  for (; b->nstate < STATES; b->nstate++)
    bench_random_state(m, &seed, b->q + b->nstate * m->nq, b->v + b->nstate * m->nv, b->a, b->a);
  return true;
}

static bool open_code(Bench* b, const char* march) {
  const srModel* m = b->m;
  const bool coupled = m->elimination != NULL;
  srMessages* messages = sr_messages_create();
  srGenerated* g = NULL;
  char reason[512] = "no code is generated for this model", name[32];
  const char* what = coupled ? "accel" : "accelred";
  bool good = sr_generate(m, &(srGenerateOptions){.what = what, .limbs = SR_LIMBS_FEWEST}, messages, &g) == SR_OK &&
              bench_code_load(g, march, &b->code, reason, sizeof reason);
  if (good) {
    b->lanes = g->function[0].lanes;
    snprintf(name, sizeof name, b->lanes > 0 ? "%s_lanes%d" : "%s", what, b->lanes);
    good = bench_code_find(&b->code, name, coupled ? (void*)&b->accel : (void*)&b->accelred);
  } else {
    fprintf(stderr, "%s: %s\n", b->name, sr_messages_count(messages) > 0 ? sr_messages_get(messages, 0)->text : reason);
  }
  sr_generated_destroy(g);
  sr_messages_destroy(messages);
  return good;
}

static bool create(const char* path, bool fingers, const char* march, Bench* b) {
  const char* slash = strrchr(path, '/');
  srSpec* spec = NULL;
  *b = (Bench){.instructions = {NAN, NAN, NAN}};
  snprintf(b->name, sizeof b->name, "%s", slash ? slash + 1 : path);
  if (strrchr(b->name, '.')) *strrchr(b->name, '.') = 0;
  if (sr_load(path, NULL, NULL, &spec) != SR_OK) return false;
  if (fingers) bench_add_fingers(spec, true);
  b->m = bench_compile(spec);
  if (!b->m) return false;
  const srModel* m = b->m;
  const size_t nq = (size_t)m->nq, nv = (size_t)m->nv;
  b->user = (srModelSystem){.m = m, .d = sr_data_create(m)};
  b->system = sr_system(&b->user);
  b->t = calloc(STATES * (1 + nq + 2 * nv) + nq + 2 * nv + (size_t)m->ny + SR_ACCOUNTS, sizeof *b->t);
  b->q = b->t + STATES, b->v = b->q + STATES * nq, b->f = b->v + STATES * nv, b->a = b->f + STATES * nv,
  b->rate = b->a + nv;
  return make_states(b) && open_code(b, march);
}

static void destroy(Bench* b) {
  bench_code_close(&b->code);
  sr_data_destroy(b->user.d);
  sr_model_destroy(b->m);
  free(b->t);
}

// The accelerations, in b->rate or in d->a.
static const double* interpreted(const Bench* b, int i, srStage stage) {
  const srModel* m = b->m;
  const double *q = b->q + i * m->nq, *v = b->v + i * m->nv;
  double *vdot = b->rate + m->nq, *ydot = vdot + m->nv;
  if (m->elimination != NULL) {
    b->system.rates(b->system.user, b->t[i], q, v, m->y0, SR_TAU_ELEMENT, b->rate, vdot, ydot, ydot + m->ny);
    return vdot;
  }
  srData* d = b->user.d;
  (void)sr_evaluate(m, d, b->t[i], q, v, m->y0, stage);
  return d->a;
}

static const double* generated(const Bench* b, int i) {
  const srModel* m = b->m;
  const double *q = b->q + i * m->nq, *v = b->v + i * m->nv, *f = b->f + i * m->nv;
  if (b->accel) b->accel(q, v, f, b->a);
  if (b->accelred) b->accelred(&b->t[i], q, v, f, b->a);
  return b->a;
}

static void repeat(const Bench* b, int which, long rounds) {
  for (long r = 0; r < rounds * STATES; r++) {
    if (which == GENERATED)
      (void)generated(b, (int)(r % STATES));
    else
      (void)interpreted(b, (int)(r % STATES), which == FORCES ? SR_STAGE_FORCE : SR_STAGE_ACCELERATION);
  }
}

// Rates have no frames where no force needs them.
static bool has_way(const Bench* b, int which) { return which != FORCES || b->m->elimination == NULL; }

// Of the largest acceleration. Coupled coordinates that do not lead are put by the interpreted evaluation: both have its state, and its forces.
static double distance(Bench* b) {
  const srModel* m = b->m;
  double worst = 0;
  for (int i = 0; i < STATES; i++) {
    const double* expected = interpreted(b, i, SR_STAGE_ACCELERATION);
    double largest = 0, off = 0;
    memcpy(b->q + i * m->nq, b->user.d->q, (size_t)m->nq * sizeof *b->q);
    memcpy(b->v + i * m->nv, b->user.d->v, (size_t)m->nv * sizeof *b->v);
    memcpy(b->f + i * m->nv, b->user.d->f, (size_t)m->nv * sizeof *b->f);
    const double* a = generated(b, i);
    for (int k = 0; k < m->nv; k++) {
      largest = fmax(largest, fabs(expected[k]));
      off = fmax(off, fabs(a[k] - expected[k]));
    }
    worst = fmax(worst, isfinite(off) ? off / largest : HUGE_VAL);
  }
  return worst;
}

static void count(const Bench* b, int which) {
  char label[128];
  snprintf(label, sizeof label, "%s,%s", b->name, word[which]);
  repeat(b, which, 1);  // symbols are bound at the first call
  CALLGRIND_ZERO_STATS;
  CALLGRIND_TOGGLE_COLLECT;
  repeat(b, which, COUNT_ROUNDS);
  CALLGRIND_TOGGLE_COLLECT;
  CALLGRIND_DUMP_STATS_AT(label);
}

static void read_counts(const char* path, Bench* b) {
  FILE* file = fopen(path, "r");
  char name[64], label[32];
  double instructions;
  if (!file) return;
  while (fscanf(file, " %63[^,],%31[^,],%lf", name, label, &instructions) == 3) {
    for (int k = 0; k < WAYS; k++) {
      if (strcmp(name, b->name) == 0 && strcmp(label, word[k]) == 0)
        b->instructions[k] = instructions / (COUNT_ROUNDS * STATES);
    }
  }
  fclose(file);
}

static void measure(Bench* b, bool quick) {
  const int windows = quick ? 5 : 200;
  for (int k = 0; k < WAYS; k++) b->ns[k] = has_way(b, k) ? HUGE_VAL : 0;
  for (int w = 0; w < windows; w++) {
    for (int k = 0; k < WAYS; k++) {
      if (!has_way(b, k)) continue;
      const double t = bench_cpu_seconds();
      repeat(b, k, 2);
      b->ns[k] = fmin(b->ns[k], 1e9 * (bench_cpu_seconds() - t) / (2 * STATES));
    }
  }
}

static bool report(const Bench* b, bool quick, FILE* csv) {
  const double instructions = b->instructions[INTERPRETED] - b->instructions[FORCES],
               ns = b->ns[INTERPRETED] - b->ns[FORCES], by_time = ns / b->ns[GENERATED],
               by_count = instructions / b->instructions[GENERATED];
  char lanes[32] = "";
  if (b->lanes > 0) snprintf(lanes, sizeof lanes, " with limbs in %d lanes", b->lanes);
  printf(
      "%-20s %3d coordinates  interpreted %9.0f ns %9.0f instructions, generated%s %7.0f ns %7.0f instructions: %.1f "
      "and %.1f times; "
      "accelerations differ by %.1e\n",
      b->name, b->m->nv, ns, instructions, lanes, b->ns[GENERATED], b->instructions[GENERATED], by_time, by_count,
      b->distance);
  if (csv)
    fprintf(csv, "%s,%d,%d,%.1f,%.1f,%.2f,%.0f,%.0f,%.2f,%.1e\n", b->name, b->m->nv, b->lanes, ns, b->ns[GENERATED],
            by_time, instructions, b->instructions[GENERATED], by_count, b->distance);
  return (quick || !(by_time < LEAST_RATIO)) && !(by_count < LEAST_RATIO) && b->distance < MOST_DISTANCE;
}

int main(int argc, char** argv) {
  const char *counts = NULL, *csv = NULL, *note = "", *path[MODELS] = {NULL};
  bool quick = false, counting = false, good = true;
  int n = 0;
  for (int i = 1; i < argc; i++) {
    const char** value = strcmp(argv[i], "--counts") == 0 ? &counts
                         : strcmp(argv[i], "--csv") == 0  ? &csv
                         : strcmp(argv[i], "--note") == 0 ? &note
                                                          : NULL;
    if (value && i + 1 < argc) {
      *value = argv[++i];
    } else if (strcmp(argv[i], "--quick") == 0) {
      quick = true;
    } else if (strcmp(argv[i], "--count") == 0) {
      counting = true;
    } else if (n < MODELS) {
      path[n++] = argv[i];
    }
  }
  if (n < MODELS) {
    fprintf(stderr,
            "usage: bench-generated [--quick] [--count] [--counts FILE] [--csv FILE] [--note TEXT] FIVE-ROD.xml "
            "CHARMIE.xml HUMANOID.xml\n");
    return 2;
  }
  FILE* file = csv ? fopen(csv, "w") : NULL;
  if (file)
    fprintf(file,
            "# "
            "%s\nmodel,coordinates,lanes,interpreted_ns,generated_ns,ratio,interpreted_instructions,generated_"
            "instructions,instructions_ratio,distance\n",
            note);
  for (int i = 0; i < MODELS; i++) {
    Bench b;
    if (!create(path[i], i == 2, counting ? "x86-64-v3" : "native", &b)) return 2;
    b.distance = distance(&b);
    if (counting) {
      for (int k = 0; k < WAYS; k++) {
        if (has_way(&b, k)) count(&b, k);
      }
    } else {
      if (counts) b.instructions[FORCES] = 0, read_counts(counts, &b);
      measure(&b, quick);
      good = report(&b, quick, file) && good;
    }
    destroy(&b);
  }
  if (file) fclose(file);
  if (!good) printf("generated code is not %.0f times as fast, or has other accelerations\n", LEAST_RATIO);
  return good ? 0 : 1;
}
