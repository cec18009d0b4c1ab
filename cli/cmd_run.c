// sarrus run: simulates, writes the result table, and closes with a report on the physics: energy ledger, violations,
// steps, cost. A run that cannot go on still prints what it has.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_options.h"

#define MOST_MISSING 1e-2  // part of the largest energy that the ledger may miss without a word

typedef struct Run {
  Cli* cli;
  Model m;
  State state;
  srRunOptions options;
  const char *method, *contact, *out, *start;
  RunWords words;
  double t_end, step, rtol, atol, every, alpha, beta, rho;  // or NOT_GIVEN
  srTableWriter* table;
  int columns;
  Progress progress;
  bool write_failed;
  Assembly assembly;
  srRunResult result;
} Run;

// ------------------------------------------------------------------------------------------------------------ options
enum { METHODS = 32 };  // room for their names

// Names of the methods that are there: all, or those that are adaptive (1) or not (0).
enum { FIXED = 0, ADAPTIVE = 1, ALL = 2 };
static int method_names(const char** names, int which) {
  int n = 0;
  for (int i = 0; i < sri_method_count() && n < METHODS; i++)
    if (which == ALL || sri_method(i)->adaptive == (which == ADAPTIVE)) names[n++] = sri_method(i)->name;
  return n;
}

static bool method_exists(Cli* cli, const char* word) {
  static const char* const planned[] = {
      "phem56", "genalpha-index3", "genalpha-index2", "genalpha-ggl", "radau5", "cvode", "ida", "moreau"};
  enum { PLANNED = sizeof planned / sizeof planned[0] };
  const char* words[METHODS + PLANNED];
  const int built = method_names(words, ALL);
  int n = built;
  for (int i = 0; i < PLANNED; i++)
    if (!sri_method_find(planned[i])) words[n++] = planned[i];
  return word_exists(cli, "--method", word, words, n, built);
}

// The others keep the constraints in a way of their own; auto does so unless a stabilization is named that only explicit methods know.
static bool method_is_stabilized(const srRunOptions* o) {
  const srMethod* method = sri_method_find(o->method);
  const srStabilization s = o->stabilization;
  if (method == NULL || method->index == 0) return true;
  return method->switches && s != SR_STABILIZATION_NONE && s != SR_STABILIZATION_PROJECTION;
}

static bool words_exist(Run* r) {
  static const char* const contacts[] = {"continuous", "event", "timestepping", "hybrid"};
  bool good = word_exists(r->cli, "--contact", r->contact, contacts, COUNT(contacts), 1);
  good = run_words_exist(r->cli, &r->words) && good;
  good = start_exists(r->cli, r->start) && good;
  return (!r->method || method_exists(r->cli, r->method)) && good;
}

// Does the error choose the steps?
static bool is_adaptive(const srRunOptions* o) {
  const srMethod* method = sri_method_find(o->method);
  return method && method->adaptive && o->control != SR_CONTROL_FIXED;
}

// Overrides *target when the number was given and is in range.
static bool take(Cli* cli, const char* option, double given, double* target, bool zero_allowed) {
  if (isnan(given)) return true;
  *target = given;
  if (given > 0 || (zero_allowed && given == 0)) return true;
  cli_error(cli, "%s must be greater than zero, not %g", option, given);
  return false;
}

// Tolerances and steps that the method does not use.
static void warn_accuracy(Run* r) {
  Cli* cli = r->cli;
  const srRunOptions* o = &r->options;
  const srMethod* method = sri_method_find(o->method);
  if (!method) return;
  const bool adaptive = is_adaptive(o);
  if (adaptive && o->rtol + o->atol < 1e-15)
    cli_warning(cli, "rtol %g and atol %g are below what numbers of 16 digits hold: steps will be very small", o->rtol,
                o->atol);
  if (adaptive && !isnan(r->step))
    cli_warning(cli, "--step is for methods of fixed step and for --control fixed; %s chooses its own", o->method);
  // Implicit methods solve their equations to a part of the tolerances, with a fixed step too.
  if (!adaptive && !method->implicit && (!isnan(r->rtol) || !isnan(r->atol)))
    cli_warning(cli, "--rtol and --atol are for adaptive methods; %s has a fixed step of %g s", o->method, o->step);
  if (!method->adaptive && r->words.control && o->control != SR_CONTROL_FIXED)
    cli_warning(cli, "--control is for adaptive methods; %s has a fixed step of %g s", o->method, o->step);
}

// Options of implicit methods.
static void warn_implicit(Run* r) {
  const srMethod* method = sri_method_find(r->options.method);
  if (!method) return;
  const bool alpha = strncmp(method->name, "genalpha", 8) == 0;
  if (!alpha && (!isnan(r->rho) || r->words.family))
    cli_warning(r->cli, "--rho and --family are for the genalpha methods; %s has no such parameters", method->name);
  if (!method->implicit && !method->switches && r->words.tangent)
    cli_warning(r->cli, "--tangent is for implicit methods; %s solves no equations with it", method->name);
}

// Options for the constraints that have no effect on this run, of the model in its formulation.
static void warn_constraints(Run* r) {
  Cli* cli = r->cli;
  const srRunOptions* o = &r->options;
  const bool weights = !isnan(r->alpha) || !isnan(r->beta), own = !method_is_stabilized(o);
  const srStabilization s = o->stabilization;
  if (!r->m.model->looped) {
    if (r->words.stabilization || weights || r->words.metric)
      cli_warning(cli, "--stabilization, --alpha, --beta and --metric are for closed loops; the equations have none");
    return;
  }
  if (own && r->words.stabilization && s != SR_STABILIZATION_NONE)
    cli_warning(cli, "--stabilization %s is for explicit methods; %s keeps the constraints in its own way",
                stabilization_word(s), o->method);
  if (weights && (own || (s != SR_STABILIZATION_BAUMGARTE && s != SR_STABILIZATION_AUGMENTED)))
    cli_warning(cli, "--alpha and --beta are for --stabilization baumgarte and augmented; this run has %s",
                own ? o->method : stabilization_word(s));
  if (r->words.metric && !own && s != SR_STABILIZATION_PROJECTION)
    cli_warning(cli, "--metric is for projections; this run has --stabilization %s", stabilization_word(s));
}

static bool settle_numbers(Run* r) {
  Cli* cli = r->cli;
  srRunOptions* o = &r->options;
  bool good = take(cli, "--t-end", r->t_end, &o->t_end, true);
  if (good && o->t_end < r->m.data->t) {
    cli_error(cli, "the end of the run, %g s, lies before its start at %g s", o->t_end, r->m.data->t);
    good = false;
  }
  good = take(cli, "--step", r->step, &o->step, false) && good;
  good = take(cli, "--rtol", r->rtol, &o->rtol, true) && good;
  good = take(cli, "--atol", r->atol, &o->atol, true) && good;
  good = take(cli, "--rho", r->rho, &o->rho, true) && good;
  if (o->rho > 1) good = (cli_error(cli, "--rho must be from 0 to 1, not %g", o->rho), false);
  good = take(cli, "--alpha", r->alpha, &o->alpha, true) && good;
  good = take(cli, "--beta", r->beta, &o->beta, true) && good;
  if (!isnan(r->every))
    good = take(cli, "--every", r->every, &o->every, false) && good;
  else if (r->m.model->run_every <= 0)
    o->every = (o->t_end - r->m.data->t) / 1000;
  return good;
}

static void settle_words(Run* r) {
  srRunOptions* o = &r->options;
  run_words_settle(&r->words, o);
  if (r->words.control && o->control == SR_CONTROL_POSITIONS) {
    const srIntegratorOptions table = sri_positions_options();
    o->rtol = table.rtol;
    o->atol = table.atol;
  }
}

static bool settle(Run* r) {
  srRunOptions* o = &r->options;
  *o = sr_run_options(r->m.model);
  if (r->method) o->method = r->method;
  settle_words(r);
  const bool good = settle_numbers(r);
  warn_accuracy(r);
  warn_implicit(r);
  return good;
}

// ------------------------------------------------------------------------------------------------------ result table
static int on_row(void* user, const double* row) {
  Run* r = user;
  if (sr_table_row(r->table, row) == SR_OK) return 0;
  r->write_failed = true;
  return 1;
}

static int on_progress(void* user, double t, double t_end) {
  return progress_update(&((Run*)user)->progress, t, t_end);
}

static const char* method_settings(const srRunOptions* o, char* text, size_t size) {
  if (is_adaptive(o))
    snprintf(text, size, "rtol %g, atol %g%s", o->rtol, o->atol,
             o->control == SR_CONTROL_POSITIONS ? ", control positions" : "");
  else
    snprintf(text, size, "step %g s", o->step);
  return text;
}

static bool open_table(Run* r) {
  const srModel* m = r->m.model;
  char line[2048], settings[96];
  const srRunOptions* o = &r->options;
  int used = snprintf(line, sizeof line, "sarrus %s; model %s (%s); %s; %s; t-end %g s, every %g s", sr_version(),
                      m->name, r->m.path, o->method, method_settings(o, settings, sizeof settings), o->t_end, o->every);
  if (m->gauged && used > 0 && used < (int)sizeof line)
    used += snprintf(line + used, sizeof line - (size_t)used, "; %s", sr_formulation_word(m->formulation));
  for (int i = 0; i < r->m.settings.n && used > 0 && used < (int)sizeof line; i++)
    used += snprintf(line + used, sizeof line - (size_t)used, "%s %s=%s", i ? "," : "; set", r->m.settings.item[i].name,
                     r->m.settings.item[i].value);
  srColumns* columns = sr_columns_create(m);
  if (!columns) return cli_error(r->cli, "out of memory"), false;
  r->columns = columns->count;
  const srStatus status =
      sr_table_create(r->out, line, columns->count, columns->names, columns->units, r->cli->messages, &r->table);
  sr_columns_destroy(columns);
  return status == SR_OK;
}

static bool close_table(Run* r) {
  if (!r->table) return true;
  const srStatus status = sr_table_close(r->table, r->cli->messages);
  r->table = NULL;
  return status == SR_OK && !r->write_failed;
}

// ------------------------------------------------------------------------------------------------------------ results
static void put_energy(Json* json, const srEnergy* e) {
  static const char* const words[] = {
#define WORD(NAME, word) word,
      SR_ACCOUNT_LIST(WORD)
#undef WORD
  };
  json_object(json, "energy");
  json_number(json, "kinetic", e->kinetic);
  json_number(json, "potential", e->potential);
  json_number(json, "kinetic0", e->kinetic0);
  json_number(json, "potential0", e->potential0);
  json_object(json, "work");
  for (int i = 0; i < SR_ACCOUNTS; i++)
    if (i < SR_ACCOUNT_FRICTION) json_number(json, words[i], e->work[i]);
  json_object_end(json);
  const double rubbed = 0 - e->work[SR_ACCOUNT_FRICTION], pressed = 0 - e->work[SR_ACCOUNT_CONTACT];
  json_number(json, "dissipated", rubbed + pressed - e->work[SR_ACCOUNT_DISSIPATED]);  // all heat, >= 0
  json_object(json, "heat");                                                           // parts of it
  json_number(json, "friction", rubbed);
  json_number(json, "contact", pressed);
  json_object_end(json);
  json_number(json, "residual", e->residual);
  json_number(json, "scale", e->scale);
  json_object_end(json);
}

static void put_events(Json* json, const srRunResult* x) {
  json_array(json, "events");
  for (int i = 0; i < x->nevent; i++) {
    json_object(json, NULL);
    json_number(json, "t", x->event[i].t);
    json_text(json, "kind", x->event[i].kind);
    json_text(json, "a", x->event[i].a);
    json_text(json, "b", x->event[i].b);
    json_text(json, "why", x->event[i].why);
    json_object_end(json);
  }
  json_array_end(json);
  json_int(json, "event_count", x->event_count);
}

static void put_switches(Json* json, const srRunResult* x) {
  json_array(json, "switches");
  for (int i = 0; i < x->nswitch; i++) {
    json_object(json, NULL);
    json_number(json, "t", x->switches[i].t);
    json_text(json, "from", x->switches[i].from);
    json_text(json, "to", x->switches[i].to);
    json_text(json, "why", x->switches[i].why);
    json_object_end(json);
  }
  json_array_end(json);
  json_int(json, "switch_count", x->stats.switches);
}

static const char* stabilization_of(const srRunOptions* o) {
  const bool named = method_is_stabilized(o) || o->stabilization == SR_STABILIZATION_NONE;
  return named ? stabilization_word(o->stabilization) : "own";
}

// Speeds at first touch of the contacts, 0: open. With q, v, y all that a run goes on from.
static void put_touch(Json* json, const srModel* m, const srData* d) {
  bool any = false;
  for (int i = 0; i < m->nforce; i++) {
    if (m->force[i].z < 0) continue;
    if (!any) json_array(json, "touch");
    any = true;
    const double* z = d->z + m->force[i].z;
    json_number(json, NULL, z[SR_Z_CLOSED] != 0 ? z[SR_Z_SPEED] : 0);
  }
  if (any) json_array_end(json);
}

static void print_json(Run* r, const char* trouble) {
  const srModel* m = r->m.model;
  srData* d = r->m.data;
  const srRunResult* x = &r->result;
  Json json = json_begin(stdout);
  json_text(&json, "method", r->options.method);
  if (r->options.control != SR_CONTROL_DEFAULT) json_text(&json, "control", control_word(r->options.control));
  json_text(&json, "formulation", sr_formulation_word(m->formulation));
  json_text(&json, "contact", r->contact);
  if (r->start) json_text(&json, "start", r->start);
  json_number(&json, "t", x->t);
  json_numbers(&json, "q", d->jq, m->njq);
  json_numbers(&json, "v", d->jv, m->njv);
  if (m->gauged) put_bodies(&json, m, d);
  json_numbers(&json, "y", d->y, m->ny);
  put_touch(&json, m, d);
  json_numbers(&json, "lambda", d->lambda, m->ng);
  if (m->looped) {
    json_text(&json, "stabilization", stabilization_of(&r->options));
    json_int(&json, "rank", d->rank);
  }
  put_assembly(&json, m, &r->assembly);
  put_sensors(&json, m, d, false);
  json_int(&json, "steps", x->stats.steps);
  json_int(&json, "rejected", x->stats.rejected);
  json_int(&json, "evaluations", x->stats.evaluations);
  if (sri_method_find(r->options.method)->switches) put_switches(&json, x);
  put_events(&json, x);
  json_object(&json, "violation");
  json_number(&json, "position", x->violation_position);
  json_number(&json, "velocity", x->violation_velocity);
  json_number(&json, "acceleration", x->violation_acceleration);
  json_object_end(&json);
  put_energy(&json, &x->energy);
  json_int(&json, "impacts", x->impacts);
  json_int(&json, "clamps", x->clamps);
  json_int(&json, "limits_passed", x->limits_passed);
  json_number(&json, "seconds", x->seconds);
  if (r->out) json_text(&json, "out", r->out);
  put_warnings(&json, r->cli);
  if (trouble) json_text(&json, "trouble", trouble);
  put_joints(&json, m);
  json_end(&json);
}

static void print_energy(const srEnergy* e) {
  static const char* const labels[SR_ACCOUNTS] = {"work of applied forces",  "work of joint laws", "work of links",
                                                  "work of external forces", "work of user laws",  "work of drivers",
                                                  "heat of friction",        "heat of contacts",   "dissipated"};
  printf("energy                          start              end           change   J\n");
  printf("  %-22s %14.7g   %14.7g   %14.7g\n", "kinetic", e->kinetic0, e->kinetic, e->kinetic - e->kinetic0);
  printf("  %-22s %14.7g   %14.7g   %14.7g\n", "potential", e->potential0, e->potential, e->potential - e->potential0);
  for (int i = 0; i < SR_ACCOUNTS; i++)
    if (e->work[i] != 0) printf("  %-22s %48.7g\n", labels[i], e->work[i]);
  printf("  %-22s %48.3g   (%.1e of the largest energy)\n", "residual", e->residual,
         e->scale > 0 ? fabs(e->residual) / e->scale : 0.0);
}

static void print_switches(const srRunResult* x) {
  enum { SHOWN = 6 };
  for (int i = 0; i < x->nswitch && i < SHOWN; i++) {
    const srSwitch* s = &x->switches[i];
    report_line("", "%s from t = %.6g s on: %s", s->to, s->t, s->why);
  }
  if (x->stats.switches > SHOWN) report_line("", "%ld changes of method in all, see --json", x->stats.switches);
}

static void print_report(const Run* r, const char* trouble) {
  const srModel* m = r->m.model;
  const srRunResult* x = &r->result;
  char settings[96];
  report_heading("model %s, %s", m->name, r->m.path);
  if (m->gauged) report_line("formulation", "%s", sr_formulation_word(m->formulation));
  report_line("method", "%s, %s", r->options.method, method_settings(&r->options, settings, sizeof settings));
  print_switches(x);
  if (m->looped) report_line("stabilization", "%s", stabilization_of(&r->options));
  report_assembly(m, &r->assembly);
  report_line("time reached", "%.9g s of %.9g s", x->t, r->options.t_end);
  report_line("steps", "%ld accepted, %ld rejected", x->stats.steps, x->stats.rejected);
  if (x->stats.steps > 0) report_line("step length", "%.3g to %.3g s", x->stats.step_smallest, x->stats.step_largest);
  report_line("cost", "%ld evaluations, %.3g s", x->stats.evaluations, x->seconds);
  if (m->ncontact > 0)
    report_line("contacts", "%ld impacts, in %ld of them a law would have pulled", x->impacts, x->clamps);
  if (x->limits_passed > 0) report_line("joint limits", "passed in %ld steps", x->limits_passed);
  print_energy(&x->energy);
  if (m->ng > 0 || m->gauged) {
    printf("largest violation of the %s\n", m->looped ? "constraints" : "driven coordinates");
    report_line("position", "%.3g", x->violation_position);
    report_line("velocity", "%.3g", x->violation_velocity);
    report_line("acceleration", "%.3g", x->violation_acceleration);
  }
  for (int i = 0; i < x->nevent && i < 10; i++) {
    report_line(i == 0 ? "events" : "", "at t = %.9g: %s", x->event[i].t, x->event[i].why);
  }
  if (x->event_count > 10) report_line("", "%ld events in all, see --json", x->event_count);
  enum { SHOWN = 24 };
  if (m->njq <= SHOWN) report_values("at the end: positions q", m->q_name, m->q_unit, r->m.data->jq, m->njq);
  if (m->njv <= SHOWN) report_values("velocities v", m->v_name, m->v_unit, r->m.data->jv, m->njv);
  report_values("states y", m->y_name, NULL, r->m.data->y, m->ny);
  report_sensors(m, r->m.data);
  if (r->out) printf("results: %s (%ld rows, %d columns)\n", r->out, x->rows, r->columns);
  if (trouble) printf("THE RUN STOPPED EARLY: %s\n", trouble);
}

// A ledger that does not close is the surest sign of steps that are too long for the model.
static void warn_ledger(Run* r) {
  const srEnergy* e = &r->result.energy;
  // Where the books explain no energy at all, all of it is missing.
  const double missing = e->scale > 0 ? fabs(e->residual) / e->scale : e->residual != 0;
  if (missing < MOST_MISSING) return;
  cli_warning(
      r->cli, "the energy ledger misses %.2g J, %.2g of the largest energy: take a smaller %s", e->residual, missing,
      r->options.control == SR_CONTROL_FIXED || !sri_method_find(r->options.method)->adaptive ? "step"
                                                                                              : "rtol and atol");
}

static int simulate(Run* r) {
  r->options.user = r;
  r->options.progress = on_progress;
  if (r->out) {
    if (!open_table(r)) return cli_refuse(r->cli, EXIT_INPUT);
    r->options.row = on_row;
  }
  r->progress = progress_begin();
  const srStatus status = sr_run(r->m.model, r->m.data, &r->options, r->cli->messages, &r->result);
  progress_end(&r->progress);
  if (status != SR_OK && status != SR_FAILED) {
    sr_table_discard(r->table);
    return cli_refuse(r->cli, cli_status(status));
  }
  const bool written = close_table(r);

  warn_ledger(r);
  const char* trouble = status == SR_OK ? NULL : r->result.trouble;
  if (r->progress.stopped) trouble = "stopped by the user";
  if (trouble)
    cli_error(r->cli, "%s", *trouble ? trouble : "the run stopped early");
  else if (!written)
    trouble = "the result file could not be written to its end";
  if (r->m.data->stage >= SR_STAGE_VELOCITY) sr_acceleration(r->m.model, r->m.data);  // for the sensors
  if (!r->out) warn_sensors(r->cli, r->m.model, r->m.data);                           // of a table the run tells it
  cli_show(r->cli);
  if (r->cli->json)
    print_json(r, trouble);
  else
    print_report(r, trouble);
  return trouble ? EXIT_FAILED : EXIT_DONE;
}

// The start in the coordinates of the file: given, at its time, moved as asked for.
static int place_start(Run* r) {
  const bool given = r->state.q.x || r->state.v.x;
  if (given || r->m.data->t != 0) {
    const int status = state_at_time(r->cli, &r->state, &r->m);
    if (status != EXIT_DONE) return status;
  }
  const srStatus moved = sr_start(r->m.model, r->m.data, start_of(r->start), r->cli->messages);
  return moved == SR_OK ? EXIT_DONE : cli_refuse(r->cli, cli_status(moved));
}

// The loops are closed in the coordinates of the file; another formulation starts from there.
static int assemble(Run* r) {
  srRank* rank = NULL;
  int status = place_start(r);
  if (status == EXIT_DONE) status = model_assemble(r->cli, &r->m, &r->assembly);
  // A state of a file goes on with a run, which may rest on a stop.
  if (status == EXIT_DONE && !r->state.file) (void)sr_start_outside(r->m.model, r->m.data, r->cli->messages);
  const srModel* m = r->m.model;
  const bool small = (double)m->ng * m->nv <= 1e5;  // the cost of the rank is cubic, and `check` tells of large ones
  if (status == EXIT_DONE && m->looped && small && sr_rank_create(m, r->m.data, &rank) == SR_OK)
    warn_rank(r->cli, r->m.model, rank);
  sr_rank_destroy(rank);
  if (status == EXIT_DONE) status = model_formulate(r->cli, &r->m);
  if (status == EXIT_DONE) warn_constraints(r);
  return status;
}

static int prepare_and_simulate(Run* r) {
  if (!words_exist(r) || !output_is_free(r->cli, r->out, r->m.path) || !output_is_free(r->cli, r->out, r->state.file))
    return cli_refuse(r->cli, EXIT_INPUT);
  int status = model_open(r->cli, &r->m);
  if (status != EXIT_DONE) return status;
  if (!state_apply(r->cli, &r->state, r->m.model, r->m.data) || !settle(r)) return cli_refuse(r->cli, EXIT_INPUT);
  status = assemble(r);
  if (status != EXIT_DONE) return status;
  cli_show(r->cli);
  return simulate(r);
}

// Lines of the help that name words.
typedef struct Help {
  char method[256], step[256], rtol[256], atol[256];
  RunHelp words;
} Help;

static void help_methods(char* text, size_t size, const char* what, int which) {
  const char* names[METHODS];
  char list[200];
  snprintf(text, size, "%s: %s", what, words_join(names, method_names(names, which), list, sizeof list));
}

static Help help_of_words(void) {
  Help h;
  help_methods(h.method, sizeof h.method, "integrator", ALL);
  help_methods(h.step, sizeof h.step, "step of --control fixed, and of methods with a fixed one", FIXED);
  help_methods(h.rtol, sizeof h.rtol, "relative tolerance of adaptive methods", ADAPTIVE);
  help_methods(h.atol, sizeof h.atol, "absolute tolerance of adaptive methods", ADAPTIVE);
  h.words = run_words_help();
  return h;
}

int cmd_run(Cli* cli, const Verb* verb, int argc, char** argv) {
  Run r = {.cli = cli,
           .state = state_none(),
           .contact = "continuous",
           .t_end = NOT_GIVEN,
           .step = NOT_GIVEN,
           .rtol = NOT_GIVEN,
           .atol = NOT_GIVEN,
           .every = NOT_GIVEN,
           .alpha = NOT_GIVEN,
           .beta = NOT_GIVEN,
           .rho = NOT_GIVEN};
  int status = EXIT_DONE;
  const Help help = help_of_words();
  const Option options[] = {
      {"--t-end", OPTION_NUMBER, &r.t_end, "SECONDS", "end of the simulation"},
      {"--method", OPTION_TEXT, &r.method, "NAME", help.method},
      {"--step", OPTION_NUMBER, &r.step, "SECONDS", help.step},
      {"--rtol", OPTION_NUMBER, &r.rtol, "NUMBER", help.rtol},
      {"--atol", OPTION_NUMBER, &r.atol, "NUMBER", help.atol},
      RUN_OPTIONS(&r, &help.words),
      FORMULATION_OPTION(&r.m),
      {"--contact", OPTION_TEXT, &r.contact, "NAME", "continuous"},
      {"--out", OPTION_TEXT, &r.out, "FILE", "write the result table: CSV, or HDF5 where the name ends in .h5"},
      {"--every", OPTION_NUMBER, &r.every, "SECONDS", "time between its rows (default: a thousandth of the time)"},
      STATE_OPTIONS(&r.state),
      {"--start", OPTION_TEXT, &r.start, "NAME",
       "given, or inside-limits: the nearest start inside of the joint limits"},
      MODEL_OPTIONS(cli, &r.m)};
  if (verb_options(cli, verb, options, sizeof options / sizeof options[0], argc, argv, &r.m.path, &status) == 0)
    status = prepare_and_simulate(&r);
  assembly_free(&r.assembly);
  state_free(&r.state);
  model_close(&r.m);
  return status;
}
