// Forward dynamics, inverse dynamics and mass matrix of every model given, by every engine of this build.
//
//   bench-rigid [--quick] [--counts FILE] [--csv FILE] [--note TEXT] [--peer NAME] [--call WORD] MODEL.xml ...
//       nanoseconds per call: the smallest of many windows, the engines taking turns window by window, each call at
//       another of 16 random states. --counts adds the instructions of the file, made from the run below.
//   valgrind --tool=callgrind --collect-atstart=no bench-rigid --count ... MODEL.xml ...
//       the same calls, counted: callgrind dumps one part for every model, call and engine, named by its trigger.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "peers/peer.h"
#ifdef HAVE_CALLGRIND
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_ZERO_STATS
#define CALLGRIND_TOGGLE_COLLECT
#define CALLGRIND_DUMP_STATS_AT(text) (void)(text)
#endif

enum { STATES = 16, ENGINES = 8, CALLS = PEER_EMPTY, COUNT_ROUNDS = 10 };

static const char* const call_word[PEER_CALLS] = {"forward", "inverse", "mass", "empty"};
static const char* const call_title[PEER_CALLS] = {"forward dynamics", "inverse dynamics", "mass matrix", "empty"};

// The best library written by hand that is known, measured elsewhere on other models of the same size: instructions per
// call (callgrind, built for x86-64-v3) and ns on a Zen 4 core.
typedef struct Reference {
  const char* model;
  double instructions[CALLS], ns[CALLS];
  const char* source;
} Reference;
static const Reference references[] = {
    {"arm6", {10600, 4100, 5000}, {872, 388, 313}, "UR5 (6 dof); survey of 2026-11 on a Zen 4 core; x86-64-v3"},
    {"humanoid",
     {64700, 23200, 33800},
     {5575, 2202, 2196},
     "Talos (38 dof); survey of 2026-11 on a Zen 4 core; x86-64-v3"},
};

typedef struct Options {
  bool quick, count;
  const char *counts, *csv, *note, *peer, *call;
  FILE* csv_file;
} Options;

typedef struct Engine {
  const PeerKind* kind;
  void* self;
  double ns[CALLS], instructions[CALLS];
} Engine;

typedef struct Bench {
  char name[64];
  srModel* m;
  Engine engine[ENGINES];
  int n;
} Bench;

static void model_name(const char* path, char* name, size_t size) {
  const char* slash = strrchr(path, '/');
  snprintf(name, size, "%s", slash ? slash + 1 : path);
  char* dot = strrchr(name, '.');
  if (dot) *dot = 0;
}

static void set_states(const srModel* m, Engine* e) {
  double* x = calloc((size_t)(m->nq + 3 * m->nv), sizeof *x);
  double *v = x + m->nq, *a = v + m->nv, *tau = a + m->nv;
  uint64_t seed = 1;  // the same states for every engine
  for (int i = 0; i < STATES; i++) {
    bench_random_state(m, &seed, x, v, a, tau);
    e->kind->set_state(e->self, i, x, v, a, tau);
  }
  free(x);
}

static bool bench_create(Bench* b, const char* path, const Options* o) {
  *b = (Bench){0};
  model_name(path, b->name, sizeof b->name);
  b->m = bench_load(path, NULL, 0, NULL, NULL);
  if (!b->m) return false;
  for (int k = 0; k < peer_kind_count && b->n < ENGINES; k++) {
    char reason[512] = "";
    if (o->peer && strcmp(o->peer, peer_kinds[k]->name) != 0) continue;
    Engine* e = &b->engine[b->n];
    *e = (Engine){.kind = peer_kinds[k], .self = peer_kinds[k]->create(b->m, STATES, reason, sizeof reason)};
    if (!e->self) {
      if (!o->count) fprintf(stderr, "%s: %s left out: %s\n", b->name, peer_kinds[k]->name, reason);
      continue;
    }
    for (int c = 0; c < CALLS; c++) e->ns[c] = e->instructions[c] = NAN;
    set_states(b->m, e);
    b->n++;
  }
  return true;
}

static void bench_destroy(Bench* b) {
  for (int k = 0; k < b->n; k++) b->engine[k].kind->destroy(b->engine[k].self);
  sr_model_destroy(b->m);
}

static void repeat(const Engine* e, PeerCall call, long rounds) {
  for (long r = 0; r < rounds; r++)
    for (int i = 0; i < STATES; i++) e->kind->call(e->self, call, i);
}

static bool wanted(const Options* o, const Engine* e, PeerCall call) {
  if (!e->kind->offers(e->self, call)) return false;
  return call == PEER_EMPTY || !o->call || strcmp(o->call, call_word[call]) == 0;
}

// ------------------------------------------------------------------------------------------------------------- counting
static void count_all(const Bench* b, const Options* o) {
  for (int k = 0; k < b->n; k++)
    for (PeerCall call = 0; call < PEER_CALLS; call++) {
      const Engine* e = &b->engine[k];
      if (!wanted(o, e, call)) continue;
      char label[256];
      snprintf(label, sizeof label, "%s,%s,%s,%d", b->name, call_word[call], e->kind->name, COUNT_ROUNDS * STATES);
      repeat(e, call, 1);  // symbols are bound at the first call
      CALLGRIND_ZERO_STATS;
      CALLGRIND_TOGGLE_COLLECT;
      repeat(e, call, COUNT_ROUNDS);
      CALLGRIND_TOGGLE_COLLECT;
      CALLGRIND_DUMP_STATS_AT(label);
    }
}

// Lines "model,call,engine,calls,instructions"; the empty calls are what is subtracted.
static void read_counts(Bench* b, const char* path) {
  FILE* file = fopen(path, "r");
  if (!file) {
    fprintf(stderr, "%s: cannot be read\n", path);
    return;
  }
  double counted[ENGINES][PEER_CALLS];
  for (int k = 0; k < ENGINES; k++)
    for (int c = 0; c < PEER_CALLS; c++) counted[k][c] = NAN;
  char model[64], call[32], engine[32];
  double calls, instructions;
  while (fscanf(file, " %63[^,],%31[^,],%31[^,],%lf,%lf", model, call, engine, &calls, &instructions) == 5) {
    if (strcmp(model, b->name) != 0) continue;
    for (int k = 0; k < b->n; k++)
      for (int c = 0; c < PEER_CALLS; c++)
        if (strcmp(engine, b->engine[k].kind->name) == 0 && strcmp(call, call_word[c]) == 0)
          counted[k][c] = instructions / calls;
  }
  fclose(file);
  for (int k = 0; k < b->n; k++)
    for (int c = 0; c < CALLS; c++) b->engine[k].instructions[c] = counted[k][c] - counted[k][PEER_EMPTY];
}

// --------------------------------------------------------------------------------------------------------------- timing
static double window(const Engine* e, PeerCall call, long rounds) {  // ns per call
  double t = bench_seconds();
  repeat(e, call, rounds);
  return 1e9 * (bench_seconds() - t) / (double)(rounds * STATES);
}

static void time_call(Bench* b, PeerCall call, const Options* o) {
  const double window_ns = o->quick ? 5e4 : 4e5;
  const int windows = o->quick ? 5 : 150;
  long rounds[ENGINES];
  for (int k = 0; k < b->n; k++) {
    if (!wanted(o, &b->engine[k], call)) continue;
    window(&b->engine[k], call, 1);
    double ns = window(&b->engine[k], call, 1);
    rounds[k] = 1 + (long)(window_ns / (ns * STATES));
    b->engine[k].ns[call] = HUGE_VAL;
  }
  for (int w = 0; w < windows; w++)
    for (int k = 0; k < b->n; k++)
      if (wanted(o, &b->engine[k], call))
        b->engine[k].ns[call] = fmin(b->engine[k].ns[call], window(&b->engine[k], call, rounds[k]));
}

// ------------------------------------------------------------------------------------------------------------- printing
static void print_number(double x, int width, int digits, const char* after) {
  if (isnan(x))
    printf("%*s%s", width, "-", after);
  else
    printf("%*.*f%s", width, digits, x, after);
}

static void csv_number(FILE* file, double x, const char* format) {
  fputc(',', file);
  if (!isnan(x)) fprintf(file, format, x);
}

static void print_row(const Bench* b, PeerCall call, const char* engine, const char* version, double ns,
                      double instructions, const char* source, const Options* o) {
  const double our_ns = b->engine[0].ns[call], our_instructions = b->engine[0].instructions[call];
  printf("%-10s %4d  %-16s  %-12s", b->name, b->m->nv, call_title[call], engine);
  print_number(ns, 9, 0, "");
  print_number(ns / our_ns, 8, 2, "");
  print_number(instructions, 11, 0, "");
  print_number(instructions / our_instructions, 8, 2, "");
  printf("%s%s\n", *source ? "  " : "", source);
  if (!o->csv_file) return;
  fprintf(o->csv_file, "%s,%d,%s,%s,%s", b->name, b->m->nv, call_word[call], engine, version);
  csv_number(o->csv_file, ns, "%.1f");
  csv_number(o->csv_file, ns / our_ns, "%.3f");
  csv_number(o->csv_file, instructions, "%.0f");
  csv_number(o->csv_file, instructions / our_instructions, "%.3f");
  fprintf(o->csv_file, ",%s\n", *source ? source : "this run");
}

static void print_call(const Bench* b, PeerCall call, const Options* o) {
  for (int k = 0; k < b->n; k++) {
    const Engine* e = &b->engine[k];
    if (wanted(o, e, call))
      print_row(b, call, e->kind->name, e->kind->version(), e->ns[call], e->instructions[call], "", o);
  }
  for (size_t r = 0; r < sizeof references / sizeof *references; r++)
    if (strcmp(references[r].model, b->name) == 0)
      print_row(b, call, "best known", "", references[r].ns[call], references[r].instructions[call],
                references[r].source, o);
}

static void measure(Bench* b, const Options* o) {
  if (o->counts) read_counts(b, o->counts);
  for (PeerCall call = 0; call < PEER_EMPTY; call++) {
    if (o->call && strcmp(o->call, call_word[call]) != 0) continue;
    time_call(b, call, o);
    print_call(b, call, o);
  }
}

static int parse(int argc, char** argv, Options* o) {  // index of the first model, 0 when wrong
  const struct {
    const char* word;
    const char** value;
  } texts[] = {
      {"--counts", &o->counts}, {"--csv", &o->csv}, {"--note", &o->note}, {"--peer", &o->peer}, {"--call", &o->call}};
  int i = 1;
  for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
    bool known = false;
    if (strcmp(argv[i], "--quick") == 0) known = o->quick = true;
    if (strcmp(argv[i], "--count") == 0) known = o->count = true;
    for (size_t k = 0; k < sizeof texts / sizeof *texts && !known; k++)
      if (strcmp(argv[i], texts[k].word) == 0 && i + 1 < argc) {
        *texts[k].value = argv[++i];
        known = true;
      }
    if (!known) return 0;
  }
  return i < argc ? i : 0;
}

int main(int argc, char** argv) {
  Options o = {0};
  int first = parse(argc, argv, &o);
  if (!first) {
    fprintf(stderr,
            "usage: bench-rigid [--quick] [--count] [--counts FILE] [--csv FILE] [--note TEXT] [--peer NAME] "
            "[--call forward|inverse|mass] MODEL.xml ...\n");
    return 2;
  }
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);  // messages come where they belong
  if (o.csv && !(o.csv_file = fopen(o.csv, "w"))) {
    fprintf(stderr, "%s: cannot be written\n", o.csv);
    return 2;
  }
  if (o.csv_file)
    fprintf(o.csv_file, "# %s\nmodel,dof,call,engine,version,ns,ns_ratio,instructions,instructions_ratio,source\n",
            o.note ? o.note : "");
  if (!o.count)
    printf("%-10s %4s  %-16s  %-12s%9s%8s%11s%8s\n", "model", "dof", "call", "engine", "ns", "/sarrus", "instr",
           "/sarrus");
  int failed = 0;
  for (int i = first; i < argc; i++) {
    Bench b;
    if (!bench_create(&b, argv[i], &o) || b.n == 0) {
      failed = 1;
      continue;
    }
    if (o.count)
      count_all(&b, &o);
    else
      measure(&b, &o);
    bench_destroy(&b);
  }
  if (o.csv_file) fclose(o.csv_file);
  return failed;
}
