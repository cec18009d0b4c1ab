// sarrus equilibrium: positions, velocities and states where all forces are in balance, and whether they are stable.
#include <stdlib.h>
#include <string.h>

#include "balance.h"

typedef struct Call {
  Cli* cli;
  Model m;
  State state;
  Balance balance;
  RestContact contact;
} Call;

static const char* word_of(const srModel* m, srData* d, const srRest* rest, srMessages* messages) {
  srLinear* linear = NULL;
  srModes* modes = NULL;
  const char* word = NULL;
  if (sr_linearize_rest(m, d, rest, messages, &linear) == SR_OK && sr_modes_create(linear, messages, &modes) == SR_OK)
    word = sr_stability_word(sr_modes_stability(modes));
  sr_modes_destroy(modes);
  sr_linear_destroy(linear);
  return word;
}

// Word of the stability; NULL, with a warning: there are no linear equations. In absolute coordinates those of a motion may not be constant: then relative ones are used.
static const char* stability_of(Cli* cli, const Model* m, const srRest* rest) {
  srMessages* quiet = sr_messages_create();
  const char* word = quiet ? word_of(m->model, m->data, rest, quiet) : NULL;
  if (!word && !rest && quiet && m->relative) word = word_of(m->relative, m->relative_data, NULL, quiet);
  if (!word && quiet && sr_messages_count(quiet) > 0)
    cli_warning(cli, "the stability is not known: %s", sr_messages_get(quiet, sr_messages_count(quiet) - 1)->text);
  sr_messages_destroy(quiet);
  return word;
}

// In absolute coordinates too, no joint may accelerate.
static int confirm(Call* x) {
  const srModel* m = x->m.model;
  double *a = calloc((size_t)m->njv + 1, sizeof *a), most = 0, g = 0;
  if (!a) return cli_refuse(x->cli, cli_status(SR_MEMORY));
  const bool good = sr_evaluate(m, x->m.data, x->m.data->t, NULL, NULL, NULL, SR_STAGE_ACCELERATION) == 0;
  if (good) sr_joint_accelerations(m, x->m.data, a);
  for (int i = 0; i < m->njv; i++) most = fmax(most, fabs(a[i]));
  for (int i = 0; i < 3; i++) g = fmax(g, fabs(m->gravity[i]));
  free(a);
  if (good && most <= 1e-6 * fmax(1, g)) return EXIT_DONE;
  cli_error(x->cli, "no steady motion in absolute coordinates: the largest acceleration of a joint is %.3g", most);
  return cli_refuse(x->cli, EXIT_FAILED);
}

// found: with the parameters that were found; numbers: in the requested formulation.
static int find(Call* x, srEquilibrium** found, srEquilibrium** numbers) {
  Cli* cli = x->cli;
  const bool relative = model_is_relative(&x->m), given = balance_given(&x->balance);
  int status = EXIT_DONE;
  if (relative || given) status = balance_find(cli, &x->balance, &x->m, found);
  if (status == EXIT_DONE) status = model_formulate(cli, &x->m);
  if (status != EXIT_DONE || relative) return status;
  if (*found && (*found)->steady) return confirm(x);
  const srStatus again = sr_equilibrium_create(x->m.model, x->m.data, NULL, cli->messages, numbers);
  return again == SR_OK ? EXIT_DONE : cli_refuse(cli, cli_status(again));
}

// NULL, with a warning: out of memory.
static srRest* rest_of(Call* x) {
  srRest* rest = NULL;
  if (sr_rest_create(x->m.model, x->m.data, &rest) != SR_OK)
    cli_warning(x->cli, "the forces of contacts cannot be listed");
  return rest;
}

// Velocities are constant: accelerations of sensors follow. `confirm` has found those of a motion in absolute coordinates.
static void put_accelerations(const Model* m) {
  srData* d = m->data;
  if (d->stage >= SR_STAGE_ACCELERATION || sr_evaluate(m->model, d, d->t, NULL, NULL, NULL, SR_STAGE_VELOCITY) != 0)
    return;
  memset(d->a, 0, (size_t)m->model->nv * sizeof *d->a);
  sr_acceleration(m->model, d);
  d->stage = SR_STAGE_FRAMES;
}

static int report(Call* x) {
  srEquilibrium *found = NULL, *numbers = NULL;
  int status = find(x, &found, &numbers);
  if (status == EXIT_DONE) {
    const srEquilibriumReport r = {.m = x->m.model,
                                   .d = x->m.data,
                                   .equilibrium = numbers ? numbers : found,
                                   .found = found ? found : numbers,
                                   .stability = stability_of(x->cli, &x->m, NULL),
                                   .rest = rest_of(x),
                                   .messages = x->cli->messages};
    srText text = {0};
    put_accelerations(&x->m);
    cli_show(x->cli);
    sr_report_equilibrium(&r, cli_form(x->cli), &text);
    sr_rest_destroy((srRest*)r.rest);
    status = cli_print(x->cli, &text);
  }
  sr_equilibrium_destroy(found);
  sr_equilibrium_destroy(numbers);
  return status;
}

// With rigid contacts.
static int report_rigid(Call* x) {
  srRest* rest = NULL;
  const int formulated = model_formulate(x->cli, &x->m);
  if (formulated != EXIT_DONE) return formulated;
  const srStatus status = sr_rest_rigid_create(x->m.model, x->m.data, x->contact.gap, x->cli->messages, &rest);
  if (status != SR_OK) return cli_refuse(x->cli, cli_status(status));
  const srEquilibrium e = {.iterations = rest->iterations, .residual = rest->residual};
  const srEquilibriumReport r = {.m = x->m.model,
                                 .d = x->m.data,
                                 .equilibrium = &e,
                                 .found = &e,
                                 .stability = stability_of(x->cli, &x->m, rest),
                                 .rest = rest,
                                 .messages = x->cli->messages};
  srText text = {0};
  put_accelerations(&x->m);
  cli_show(x->cli);
  sr_report_equilibrium(&r, cli_form(x->cli), &text);
  sr_rest_destroy(rest);
  return cli_print(x->cli, &text);
}

int cmd_equilibrium(Cli* cli, const Verb* verb, int argc, char** argv) {
  Call x = {.cli = cli, .m = {.at_rest = true}, .state = state_none(), .contact = rest_contact_none()};
  int status = EXIT_DONE;
  const Option options[] = {BALANCE_OPTIONS(&x.balance), REST_CONTACT_OPTIONS(&x.contact), STATE_OPTIONS(&x.state),
                            FORMULATION_OPTION(&x.m), MODEL_OPTIONS(cli, &x.m)};
  if (verb_options(cli, verb, options, sizeof options / sizeof options[0], argc, argv, &x.m.path, &status) == 0) {
    const bool good = rest_contact_check(cli, &x.contact, balance_given(&x.balance));
    status = good ? model_open(cli, &x.m) : cli_refuse(cli, EXIT_INPUT);
    if (status == EXIT_DONE && !state_apply(cli, &x.state, x.m.model, x.m.data)) status = cli_refuse(cli, EXIT_INPUT);
    if (status == EXIT_DONE) status = state_at_time(cli, &x.state, &x.m);
    if (status == EXIT_DONE) status = x.contact.rigid ? report_rigid(&x) : report(&x);
  }
  balance_free(&x.balance);
  state_free(&x.state);
  model_close(&x.m);
  return status;
}
