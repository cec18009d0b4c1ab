// What couplings of constant ratio (mimic joints, gears) add to an evaluation: the humanoid with two fingers of three joints on each hand, which all
// follow its gripper, and the same tree without the couplings; by the rates that explicit methods take.
//
//   bench-coupled [--quick] [--counts FILE] [--csv FILE] [--note TEXT] HUMANOID.xml
//       ns per evaluation: the smallest of many windows, the two taking turns, each evaluation at another of 16 random states. --counts adds the
//       instructions of the file, made from the run below.
//   valgrind --tool=callgrind --collect-atstart=no bench-coupled --count HUMANOID.xml
//       the same evaluations, counted: callgrind dumps one part for each of the two, named by its trigger.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#ifdef HAVE_CALLGRIND
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_ZERO_STATS
#define CALLGRIND_TOGGLE_COLLECT
#define CALLGRIND_DUMP_STATS_AT(text) (void)(text)
#endif

enum { STATES = 16, COUNT_ROUNDS = 10 };
static const char* const word[2] = {"free", "coupled"};
#define MOST_RATIO 1.3  // of the instructions

typedef struct Bench {
  srModel* m;
  srModelSystem user;
  srSystem system;
  double *q, *v;  // of all states
  double* rate;
  double ns, instructions;
} Bench;

static bool create(const char* path, bool tied, Bench* b) {
  srSpec* spec = NULL;
  *b = (Bench){.ns = HUGE_VAL, .instructions = NAN};
  if (sr_load(path, NULL, NULL, &spec) != SR_OK) {
    fprintf(stderr, "%s: cannot be read\n", path);
    return false;
  }
  bench_add_fingers(spec, tied);
  b->m = bench_compile(spec);
  if (!b->m) return false;
  const srModel* m = b->m;
  b->user = (srModelSystem){.m = m, .d = sr_data_create(m)};
  b->system = sr_system(&b->user);
  if (!b->system.rates) {
    fprintf(stderr, "%s: its couplings are not eliminated\n", path);
    return false;
  }
  const size_t nq = (size_t)m->nq, nv = (size_t)m->nv;
  b->q = calloc(STATES * (nq + nv) + nq + 3 * nv + (size_t)m->ny + SR_ACCOUNTS, sizeof *b->q);
  b->v = b->q + STATES * nq;
  b->rate = b->v + STATES * nv;
  uint64_t seed = 1;
  double *a = b->rate, *tau = a + nv;
  for (size_t i = 0; i < STATES; i++) bench_random_state(m, &seed, b->q + i * nq, b->v + i * nv, a, tau);
  return true;
}

static void destroy(Bench* b) {
  sr_data_destroy(b->user.d);
  sr_model_destroy(b->m);
  free(b->q);
}

static void repeat(const Bench* b, long rounds) {
  const srModel* m = b->m;
  double *vdot = b->rate + m->nq, *ydot = vdot + m->nv, *wdot = ydot + m->ny;
  for (long r = 0; r < rounds * STATES; r++) {
    const long i = r % STATES;
    b->system.rates(b->system.user, 0, b->q + i * m->nq, b->v + i * m->nv, m->y0, SR_TAU_ELEMENT, b->rate, vdot, ydot,
                    wdot);
  }
}

static void count(const Bench* b, const char* label) {
  repeat(b, 1);  // symbols are bound at the first call
  CALLGRIND_ZERO_STATS;
  CALLGRIND_TOGGLE_COLLECT;
  repeat(b, COUNT_ROUNDS);
  CALLGRIND_TOGGLE_COLLECT;
  CALLGRIND_DUMP_STATS_AT(label);
}

static void read_counts(const char* path, Bench* b) {
  FILE* file = fopen(path, "r");
  char label[32];
  double instructions;
  if (!file) {
    fprintf(stderr, "%s: cannot be read\n", path);
    return;
  }
  while (fscanf(file, " %31[^,],%lf", label, &instructions) == 2) {
    for (int k = 0; k < 2; k++) {
      if (strcmp(label, word[k]) == 0) b[k].instructions = instructions / (COUNT_ROUNDS * STATES);
    }
  }
  fclose(file);
}

static void measure(Bench* b, bool quick) {
  const int windows = quick ? 5 : 300;
  for (int w = 0; w < windows; w++) {
    for (int k = 0; k < 2; k++) {
      const double t = bench_seconds();
      repeat(&b[k], 2);
      b[k].ns = fmin(b[k].ns, 1e9 * (bench_seconds() - t) / (2 * STATES));
    }
  }
}

static void print(const Bench* b, const char* csv, const char* note) {
  FILE* file = csv ? fopen(csv, "w") : NULL;
  if (file) fprintf(file, "# %s\ntree,coordinates,couplings,ns,ns_ratio,instructions,instructions_ratio\n", note);
  for (int k = 0; k < 2; k++) {
    const double ns = b[k].ns / b[0].ns, instructions = b[k].instructions / b[0].instructions;
    printf("%-8s %3d coordinates %3d couplings %9.0f ns %6.2f %9.0f instructions %6.2f\n", word[k], b[k].m->nv,
           b[k].m->ncoupling, b[k].ns, ns, b[k].instructions, instructions);
    if (file) {
      fprintf(file, "%s,%d,%d,%.1f,%.3f,%.0f,%.3f\n", word[k], b[k].m->nv, b[k].m->ncoupling, b[k].ns, ns,
              b[k].instructions, instructions);
    }
  }
  if (file) fclose(file);
}

int main(int argc, char** argv) {
  const char *counts = NULL, *csv = NULL, *note = "", *path = NULL;
  bool quick = false, counting = false;
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
    } else {
      path = argv[i];
    }
  }
  Bench b[2];
  if (!path || !create(path, false, &b[0]) || !create(path, true, &b[1])) return 2;
  if (counting) {
    for (int k = 0; k < 2; k++) count(&b[k], word[k]);
  } else {
    if (counts) read_counts(counts, b);
    measure(b, quick);
    print(b, csv, note);
  }
  const bool good = !(b[1].instructions > MOST_RATIO * b[0].instructions);
  if (!good) printf("couplings cost more than %.1f times\n", MOST_RATIO);
  for (int k = 0; k < 2; k++) destroy(&b[k]);
  return good ? 0 : 1;
}
