// What the parts of `sarrus compare` share: models, entries (one run each, in a process of its own), and their results.
//   cmd_compare.c options and order of work | compare_jobs.c which runs | compare_child.c one run | compare_pool.c processes |
//   compare_judge.c references, errors, profile | compare_table.c for people, CSV | compare_json.c | compare_plot.c SVG
#ifndef SARRUS_CLI_COMPARE_H
#define SARRUS_CLI_COMPARE_H

#include "run_options.h"

enum { METHODS = 32, SAMPLES = 101 };  // room for methods; samples of a run unless a reference file has others

// What a child tells of its run; the samples follow it through the pipe.
typedef struct Record {
  bool done;       // reached the end
  bool timed_out;  // stopped by --timeout
  double t;        // reached
  double seconds;  // of a run, the least of `timed` ones; NaN where none was timed
  int timed;
  long steps, rejected, evaluations;
  double violation[3];  // position, velocity, acceleration
  int samples;          // rows of numbers that follow
  char why[640];        // of a run that is not done
} Record;

// One run: a model, a method, and how fine.
typedef struct Entry {
  int model, method;  // method: index of sri_method
  double rtol, atol;  // NaN for a fixed step
  double step;        // NaN for an adaptive one
  double of_rtol;     // the tolerance that a step was derived for, or rtol; NaN: none
  bool reference;     // sampled only, not timed
  Record record;
  srTrajectory* samples;  // NULL where there are none
  srTrajectoryError error;
  bool solved;  // done, and accurate enough for its tolerance; false where nobody knows: is_judged
} Entry;

typedef struct Subject {  // a model
  Model m;
  char name[80];  // its name, made unique, fit for a file name
  srRunOptions options;
  double t0;
  int samples;
  srTrajectory* reference;            // NULL: there is none
  srTrajectoryError reference_error;  // of the reference itself; NaN: not known
  char reference_of[2][96];           // methods that it was made with, or the file; "": none
  char reference_why[640];            // why there is none
} Subject;

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
  int method[METHODS], nmethod;
  int reference_method;  // -1: chosen by itself
  bool reference_file, by_evaluations;
  Subject* subject;
  int nsubject;
  Entry* entry;  // by model, method, fineness
  int nentry;
  bool interrupted;
  int done, total;  // runs, for the progress
  // profile
  int* judged;  // models with a reference
  int njudged;
  int nproblem;   // a model with a reference at a tolerance
  double* ratio;  // nproblem x nmethod
} Compare;

bool is_adaptive(const Subject* s, int method);  // takes tolerances in this comparison

// compare_jobs.c: lists of entries. False: out of memory.
bool list_runs(Compare* c);  // c->entry
int list_references(const Compare* c, Entry** out);
// Steps of the methods with a fixed one, where none were given: after the adaptive runs.
void derive_steps(Compare* c);

// compare_child.c: the run of an entry; never returns.
_Noreturn void child_run(const Compare* c, const Entry* e, int out);

// compare_pool.c: runs those of the n entries that `wanted` chooses, some at a time, and fills record and samples.
bool pool_run(Compare* c, Entry* entries, int n, bool (*wanted)(const Compare* c, const Entry* e));

// compare_judge.c
bool read_reference(Compare* c, Subject* s);  // --reference FILE.csv; false: messages say why
// The pair of candidates that agrees best; reference_error is how well. The reference itself is taken the last time.
void choose_reference(Compare* c, int subject, Entry* candidates, int n, bool last);
void judge(Compare* c);                                                     // errors, solved
bool is_judged(const Compare* c, const Entry* e);                           // there is a reference
bool make_profile(Compare* c);                                              // c->judged, c->ratio
bool profile_ratios(const Compare* c, bool by_evaluations, double* ratio);  // false: out of memory
const char* problem_name(const Compare* c, int p, char* text, size_t size);

// compare_results.c: stored results instead of models
int compare_results(Cli* cli, const TextList* files);

// compare_table.c, compare_json.c, compare_plot.c
void print_tables(const Compare* c);
bool write_csv(const Compare* c);
void print_compare_json(const Compare* c);
bool write_figures(const Compare* c);

#endif
