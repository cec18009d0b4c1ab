// sarrus contact: reads a contact problem, solves it by one method or by all, and reports error, iterations and time.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "run_options.h"

typedef struct Contact {
  Cli* cli;
  const char *path, *solver, *law, *friction, *order, *out;
  // As an impact: what the words stand for.
  srImpactRule rule;
  srImpactFrictionRule friction_rule;
  srImpactOrder impact_order;
  double tolerance, iterations;
  bool cold;
  srContactProblem* p;
  srContactSolver* memory;
  int n;            // rows of the problem
  double* impulse;  // (n) of the run just solved
  double* best;     // (n) of the one with the smallest residual
  double best_error;
  bool solved;  // at least one
} Contact;

// One run of one method.
typedef struct Run {
  const srContactMethod* method;
  srStatus status;
  srContactResult result;
  srImpactResult impact;
  double seconds;
} Run;

static double seconds(void) {
  struct timespec now;
  (void)timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// -------------------------------------------------------------------------------------------------------------- options
static bool method_exists(Contact* c) {
  const char* words[16] = {"all"};
  int n = 1;
  while (n < 16 && sr_contact_method(n - 1)) words[n] = sr_contact_method(n - 1)->name, n++;
  return !c->solver || word_exists(c->cli, "--solver", c->solver, words, n, n);
}

// Law, friction and order of an impact, in the words of `run`; auto is a choice by friction of all contacts, so the law has no such word here.
#define WORD(NAME, word) word,
static const char* const laws[] = {SR_IMPACT_RULE_LIST(WORD)};
static const char* const frictions[] = {SR_IMPACT_FRICTION_LIST(WORD)};
static const char* const orders[] = {SR_IMPACT_ORDER_LIST(WORD)};
#undef WORD

static bool impact_fits(Contact* c) {
  if (!c->law && (c->friction || c->order)) {
    cli_error(c->cli, "%s is for an impact: take it with --impact LAW",
              c->friction ? "--impact-friction" : "--impact-order");
    return false;
  }
  const int n = COUNT(laws) - 1;
  bool good = !c->law || word_exists(c->cli, "--impact", c->law, laws + 1, n, n);
  if (c->friction)
    good = word_exists(c->cli, "--impact-friction", c->friction, frictions, COUNT(frictions), COUNT(frictions)) && good;
  if (c->order) good = word_exists(c->cli, "--impact-order", c->order, orders, COUNT(orders), COUNT(orders)) && good;
  if (!good || !c->law) return good;
  c->rule = (srImpactRule)word_index(c->law, laws, COUNT(laws), 0);
  c->friction_rule = (srImpactFrictionRule)word_index(c->friction, frictions, COUNT(frictions), 0);
  c->impact_order = (srImpactOrder)word_index(c->order, orders, COUNT(orders), 0);
  const char* sentence = sri_impact_settle(c->rule, &c->friction_rule, &c->impact_order);
  if (sentence) cli_error(c->cli, "%s", sentence);
  return !sentence;
}

static bool options_fit(Contact* c) {
  bool good = method_exists(c);
  good = impact_fits(c) && good;
  if (!isnan(c->tolerance) && !(c->tolerance > 0))
    cli_error(c->cli, "--tolerance must be greater than zero, not %g", c->tolerance), good = false;
  if (!(c->iterations >= 1 && c->iterations <= 1e9))
    cli_error(c->cli, "--iterations must be a number from 1 to 1e9, not %g", c->iterations), good = false;
  good = output_begin(c->cli, "--out", &c->out, SR_CONTENT_MODEL) && good;
  return output_is_free(c->cli, c->out, c->path) && good;
}

// --------------------------------------------------------------------------------------------------------------- solving
static void strike(Contact* c, const srContactOptions* o, Run* r) {
  const srImpactLaw law = (srImpactLaw)(c->rule - SR_IMPACT_RULE_NEWTON);
  const srImpactFriction friction =
      c->friction_rule == SR_IMPACT_FRICTION_SHOCK ? SR_IMPACT_SHOCK : SR_IMPACT_ALGEBRAIC;
  if (c->impact_order == SR_IMPACT_ORDER_SEQUENTIAL)
    r->status = sr_contact_sequence(c->memory, c->p, law, friction, o, c->impulse, &r->impact);
  else
    r->status = sr_contact_impact(c->memory, c->p, law, o, c->impulse, &r->impact);
  r->result = r->impact.solve;
}

static void solve(Contact* c, Run* r) {
  srContactOptions o = sr_contact_options();
  o.method = r->method;
  o.tolerance = c->tolerance;
  o.iterations = (int)c->iterations;
  if (c->cold)
    memset(c->impulse, 0, (size_t)c->n * sizeof *c->impulse);
  else
    memcpy(c->impulse, c->p->start, (size_t)c->n * sizeof *c->impulse);
  const double start = seconds();
  if (c->law) {
    strike(c, &o, r);
  } else {
    r->status = sr_contact_solve(c->memory, c->p, &o, c->impulse, &r->result);
  }
  r->seconds = seconds() - start;
  if (r->status != SR_OK) return;
  c->solved = c->solved || r->result.solved;
  const double error = fmax(r->result.error.residual, r->result.error.bilateral);
  if (!(error < c->best_error)) return;
  c->best_error = error;
  memcpy(c->best, c->impulse, (size_t)c->n * sizeof *c->best);
}

// --------------------------------------------------------------------------------------------------------------- reports
// The impulses that a file has as its solution, by the measure of all solvers.
static bool stored_error(const Contact* c, srContactError* e) {
  if (!c->p->has_solution || c->law) return false;
  *e = sr_contact_error(c->memory, c->p, c->p->solution);
  return true;
}

static void json_error(srJson* json, const srContactError* e) {
  sr_json_number(json, "residual", e->residual);
  sr_json_number(json, "bilateral", e->bilateral);
  sr_json_number(json, "penetration", e->penetration);
  sr_json_number(json, "cone", e->cone);
  sr_json_number(json, "complementarity", e->complementarity);
  sr_json_int(json, "worst", e->worst);
}

static void json_run(const Contact* c, srJson* json, const Run* r) {
  sr_json_object(json, NULL);
  sr_json_text(json, "solver", r->method->name);
  sr_json_bool(json, "refused", r->status != SR_OK);
  if (r->status == SR_OK) {
    sr_json_bool(json, "solved", r->result.solved);
    json_error(json, &r->result.error);
    sr_json_int(json, "iterations", r->result.iterations);
    sr_json_int(json, "islands", r->result.islands);
    sr_json_number(json, "seconds", r->seconds);
    if (c->law) {
      sr_json_number(json, "energy", r->impact.energy);
      sr_json_number(json, "alpha", r->impact.alpha);
      sr_json_bool(json, "gained", r->impact.gained);
      sr_json_number(json, "normal", r->impact.normal);
      sr_json_int(json, "collisions", r->impact.collisions);
    }
    sr_json_numbers(json, "impulse", c->impulse, c->n);
  }
  sr_json_object_end(json);
}

static void json_problem(const Contact* c, srJson* json) {
  sr_json_text(json, "problem", c->path);
  sr_json_int(json, "bodies", c->p->nbody);
  sr_json_int(json, "contacts", c->p->ncontact);
  sr_json_int(json, "equations", c->p->nequation);
  sr_json_int(json, "rows", c->n);
  sr_json_number(json, "compliance", c->p->compliance);
  sr_json_number(json, "tolerance", c->tolerance);
  if (c->law) {
    sr_json_text(json, "impact", c->law);
    sr_json_text(json, "impact_friction", frictions[c->friction_rule]);
    sr_json_text(json, "impact_order", orders[c->impact_order]);
  }
  srContactError e;
  if (!stored_error(c, &e)) return;
  sr_json_object(json, "stored");
  json_error(json, &e);
  sr_json_object_end(json);
}

static void text_problem(const Contact* c, srText* text) {
  sr_text_print(text, "%s: ", c->path);
  if (c->p->W)
    sr_text_print(text, "a matrix of %d rows, ", c->n);
  else
    sr_text_print(text, "%d bodies, ", c->p->nbody);
  sr_text_print(text, "%d contacts, %d equations; residual wanted: %g m/s\n\n", c->p->ncontact, c->p->nequation,
                c->tolerance);
  if (c->law)
    sr_text_print(text, "  impact: %s, friction %s, %s\n\n", c->law, frictions[c->friction_rule],
                  orders[c->impact_order]);
  sr_text_print(text, "  %-8s %12s %12s %10s %10s  %s\n", "solver", "residual m/s", "bilateral", "iterations",
                "seconds", "");
  srContactError e;
  if (stored_error(c, &e))
    sr_text_print(text, "  %-8s %12.3g %12.3g %10s %10s  solution of the file\n", "-", e.residual, e.bilateral, "-",
                  "-");
}

static void text_run(const Contact* c, const Run* r, srText* text) {
  if (r->status != SR_OK) {
    sr_text_print(text, "  %-8s does not take this problem: %s\n", r->method->name, r->method->about);
    return;
  }
  sr_text_print(text, "  %-8s %12.3g %12.3g %10d %10.3g  %s", r->method->name, r->result.error.residual,
                r->result.error.bilateral, r->result.iterations, r->seconds,
                r->result.solved ? "solved" : "NOT SOLVED");
  if (!r->result.solved) sr_text_print(text, ", contact %d is the worst", r->result.error.worst);
  if (c->law) sr_text_print(text, "; energy %+.6g J", r->impact.energy);
  if (c->law && r->impact.alpha < 1) sr_text_print(text, ", restitution times %.6g", r->impact.alpha);
  sr_text_print(text, "\n");
}

static void run_method(Contact* c, const srContactMethod* method, srJson* json, srText* text) {
  Run r = {.method = method};
  solve(c, &r);
  if (json)
    json_run(c, json, &r);
  else
    text_run(c, &r, text);
}

// Every method that was asked for, one line or object each. A sequence of impacts of one contact each needs none.
static void run_methods(Contact* c, srJson* json, srText* text) {
  static const srContactMethod sequence = {"sequence", "one contact after the other, as one dense matrix"};
  const bool all = c->solver && strcmp(c->solver, "all") == 0;
  if (c->law && c->impact_order == SR_IMPACT_ORDER_SEQUENTIAL) {
    run_method(c, &sequence, json, text);
    return;
  }
  for (int i = 0; i < sr_contact_method_count(); i++) {
    const srContactMethod* method = sr_contact_method(i);
    if (all || strcmp(method->name, c->solver ? c->solver : "auto") == 0) run_method(c, method, json, text);
  }
}

static int report(Contact* c) {
  srText text = {0};
  if (c->cli->json) {
    srJson json = sr_json_begin(&text);
    json_problem(c, &json);
    sr_json_array(&json, "results");
    run_methods(c, &json, &text);
    sr_json_array_end(&json);
    sr_json_warnings(&json, c->cli->messages);
    sr_json_end(&json);
  } else {
    text_problem(c, &text);
    run_methods(c, NULL, &text);
  }
  return cli_print(c->cli, &text);
}

// The problem again, with the best impulses as its start.
static int write_solution(Contact* c) {
  srText text = {0};
  srOutput* output = NULL;
  if (!isfinite(c->best_error)) return EXIT_DONE;
  memcpy(c->p->start, c->best, (size_t)c->n * sizeof *c->best);
  sr_contact_problem_text(c->p, &text);
  srStatus status = text.failed ? SR_MEMORY : sr_output_create(c->out, c->cli->messages, &output);
  if (status == SR_OK) {
    (void)fwrite(text.data, 1, text.n, sr_output_stream(output));  // the stream keeps the error
    status = sr_output_close(output, c->cli->messages);
  }
  sr_text_free(&text);
  return status == SR_OK ? EXIT_DONE : cli_refuse(c->cli, cli_status(status));
}

// ------------------------------------------------------------------------------------------------------------------ verb
static bool take_memory(Contact* c) {
  const srContactSize size = sr_contact_size(c->p);
  c->n = sr_contact_rows(c->p);
  c->memory = sr_contact_solver_create(&size);
  c->impulse = calloc((size_t)c->n + 1, sizeof *c->impulse);
  c->best = calloc((size_t)c->n + 1, sizeof *c->best);
  c->best_error = (double)INFINITY;
  if (c->memory && c->impulse && c->best) return true;
  cli_error(c->cli, "out of memory");
  return false;
}

static int contact(Contact* c) {
  if (!options_fit(c)) return cli_refuse(c->cli, EXIT_INPUT);
  const srStatus status = sr_contact_problem_load(c->path, c->cli->messages, &c->p);
  if (status != SR_OK) return cli_refuse(c->cli, status == SR_IO ? EXIT_INPUT : cli_status(status));
  if (isnan(c->tolerance)) c->tolerance = c->p->tolerance > 0 ? c->p->tolerance : sr_contact_options().tolerance;
  if (!take_memory(c)) return cli_refuse(c->cli, EXIT_FAILED);
  cli_show(c->cli);
  const int printed = report(c);
  if (printed != EXIT_DONE) return printed;
  if (c->out && write_solution(c) != EXIT_DONE) return EXIT_FAILED;
  return c->solved ? EXIT_DONE : EXIT_FAILED;
}

int cmd_contact(Cli* cli, const Verb* verb, int argc, char** argv) {
  Contact c = {.cli = cli, .tolerance = NOT_GIVEN, .iterations = sr_contact_options().iterations};
  int status = EXIT_DONE;
  const Option options[] = {
      {"--solver", OPTION_TEXT, &c.solver, "NAME", "auto (default), nsgs, nncg, newton, lemke; all: each of them"},
      {"--tolerance", OPTION_NUMBER, &c.tolerance, "M/S", "of the residual (default: of the file, else 1e-9)"},
      {"--iterations", OPTION_NUMBER, &c.iterations, "N", "sweeps, Newton steps or pivots at the most (default 10000)"},
      {"--impact", OPTION_TEXT, &c.law, "LAW",
       "as an impact with the restitution of the contacts: newton, poisson or stronge"},
      {"--impact-friction", OPTION_TEXT, &c.friction, "NAME",
       "of an impact: against the slip after each phase (algebraic) or at every moment (shock)"},
      {"--impact-order", OPTION_TEXT, &c.order, "NAME", "of an impact: simultaneous or sequential"},
      {"--cold", OPTION_FLAG, &c.cold, NULL, "start from 0, not from the impulses of the file"},
      OUT_OPTIONS(&c.out, "FILE", "write the problem with the best impulses as its start; - is standard output"),
      VERBOSE_OPTION(cli),
      {"--json", OPTION_FLAG, &cli->json, NULL, "print one JSON object on standard output"}};
  if (verb_options(cli, verb, options, sizeof options / sizeof options[0], argc, argv, &c.path, &status) == 0)
    status = contact(&c);
  sr_contact_solver_destroy(c.memory);
  sr_contact_problem_destroy(c.p);
  free(c.impulse);
  free(c.best);
  return status;
}
