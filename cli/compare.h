// What the parts of `sarrus compare` share: models, and runs, each in a process of its own.
//   cmd_compare.c options and order of work | compare_child.c one run | compare_pool.c processes | compare_reference.c result files |
//   compare_results.c stored results | compare_plot.c SVG. Which runs there are, how they are judged and reported: <sarrus/compare.h>.
#ifndef SARRUS_CLI_COMPARE_H
#define SARRUS_CLI_COMPARE_H

#include "run_options.h"

typedef struct Compare {
  Cli* cli;
  // options
  TextList models;
  Settings settings;
  const char* base;  // URDF: NULL fixed
  TextList packages;
  const char* plugins;
  bool lock;  // --lock-massless
  const char *formulation, *method_list, *reference, *measure, *csv, *svg;
  RunWords words;
  NumberList rtol, atol, step;
  double t_end, alpha, beta, rho, timeout, jobs, repeat, accept, reference_rtol;
  // what they mean
  bool reference_file;
  Model* opened;     // as the models of `all`
  srComparison all;  // models, runs, profile
} Compare;

// The model as it is compared, after it was opened, assembled and formulated.
srComparedModel compared_model(const Model* m);

// compare_child.c: one run; never returns.
_Noreturn void child_run(const Compare* c, const srComparedRun* e, int out);

// compare_pool.c: srExecutor.run, some runs at a time; user is the Compare of which `all` is part.
srStatus pool_run(void* user, srComparison* all, srComparedRun* runs, int n, srRunFilter wanted);

bool read_reference(Compare* c, srComparedModel* s);  // --reference FILE.csv; false: reported in messages

// compare_results.c: stored results instead of models
int compare_results(Cli* cli, const TextList* files);

bool write_figures(const Compare* c);  // compare_plot.c

#endif
