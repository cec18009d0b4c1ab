// Forward dynamics of a chain of N links: cost per body must not grow with N. Also the time to read and to compile.
//
//   bench-chain [--quick] [--csv FILE] [--note TEXT] CHAIN.xml        the model has a parameter N
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

typedef struct Row {
  int n;
  double load_s, compile_s, forward_ns;  // per body
} Row;

static double forward_seconds(const srModel* m, bool quick) {  // smallest of many windows, per call
  srData* d = sr_data_create(m);
  double* x = calloc((size_t)(m->nq + 3 * m->nv), sizeof *x);
  double *q = x, *v = q + m->nq, *a = v + m->nv, *tau = a + m->nv, best = HUGE_VAL;
  uint64_t seed = 1;
  bench_random_state(m, &seed, q, v, a, tau);
  const int calls = 1 + 20000 / m->nv, windows = quick ? 3 : 60;
  for (int w = 0; w < windows; w++) {
    double t = bench_seconds();
    for (int i = 0; i < calls; i++)
      if (sr_aba(m, d, q, v, tau, a) != SR_OK) best = NAN;
    best = fmin(best, (bench_seconds() - t) / calls);
  }
  free(x);
  sr_data_destroy(d);
  return best;
}

static bool measure(const char* path, int n, bool quick, Row* row) {
  char value[32];
  snprintf(value, sizeof value, "%d", n);
  const srSetting setting = {"N", value};
  *row = (Row){.n = n};
  srModel* m = bench_load(path, &setting, 1, &row->load_s, &row->compile_s);
  if (!m) return false;
  row->forward_ns = 1e9 * forward_seconds(m, quick) / m->nbody;
  sr_model_destroy(m);
  return true;
}

int main(int argc, char** argv) {
  const int sizes[] = {100, 300, 1000, 3000, 10000};
  const BenchArguments arguments = bench_arguments(argc, argv);
  const bool quick = arguments.quick;
  const char *csv = arguments.csv, *note = arguments.note, *path = arguments.npath > 0 ? arguments.path[0] : NULL;
  FILE* file = csv ? fopen(csv, "w") : NULL;
  if (!path || (csv && !file)) {
    fprintf(stderr, "usage: bench-chain [--quick] [--csv FILE] [--note TEXT] CHAIN.xml\n");
    return 2;
  }
  if (file) fprintf(file, "# %s\nlinks,read_s,compile_s,forward_ns_per_body\n", note);
  printf("%8s %12s %12s %24s\n", "links", "read ms", "compile ms", "forward ns per body");
  double least = HUGE_VAL, most = 0;
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    Row r;
    if (!measure(path, sizes[k], quick, &r)) return 1;
    printf("%8d %12.2f %12.2f %24.1f\n", r.n, 1e3 * r.load_s, 1e3 * r.compile_s, r.forward_ns);
    if (file) fprintf(file, "%d,%.6f,%.6f,%.2f\n", r.n, r.load_s, r.compile_s, r.forward_ns);
    least = fmin(least, r.forward_ns);
    most = fmax(most, r.forward_ns);
  }
  printf("forward dynamics per body: flat within %.2f times (aim: 2)\n", most / least);
  if (file) fclose(file);
  return 0;
}
