// Models in equilibrium: options and search.
#include "balance.h"

bool balance_given(const Balance* b) {
  return b->exchange.n + b->speed.n + b->equation.n + b->unknown.n > 0 || b->steady;
}

// The model with the parameters that were found takes the place of the given one.
static void take(Model* m, srEquilibrium* e) {
  srSpec* spec;
  srModel* model;
  srData* data;
  if (!sr_equilibrium_take(e, &spec, &model, &data)) return;
  m->given_spec = m->spec;
  m->given = m->model;
  m->given_data = m->data;
  m->spec = spec;
  m->model = model;
  m->data = data;
}

int balance_find(Cli* cli, const Balance* b, Model* m, srEquilibrium** out) {
  const srEquilibriumOptions options = {.exchange = b->exchange.item,
                                        .nexchange = b->exchange.n,
                                        .speed = b->speed.item,
                                        .nspeed = b->speed.n,
                                        .equation = b->equation.item,
                                        .nequation = b->equation.n,
                                        .unknown = b->unknown.item,
                                        .nunknown = b->unknown.n,
                                        .steady = b->steady,
                                        .spec = m->spec};
  srEquilibrium* e = NULL;
  srStatus status = SR_OK;
  if (balance_given(b) && model_formulation(m) == SR_FORMULATION_PENALTY) {
    cli_error(cli,
              "exchanges, equations and steady motions are for --formulation relative and absolute: springs in "
              "the place of joints have an equilibrium of their own");
    status = SR_INPUT;
  }
  // Assembly may move any coordinate: where some keep their values, loops are closed by the others alone.
  if (status == SR_OK && b->exchange.n == 0) status = sr_assemble(m->model, m->data, cli->messages, NULL);
  if (status == SR_OK) status = sr_equilibrium_create(m->model, m->data, &options, cli->messages, &e);
  if (status != SR_OK) return cli_refuse(cli, cli_status(status));
  take(m, e);
  if (out)
    *out = e;
  else
    sr_equilibrium_destroy(e);
  return EXIT_DONE;
}

void balance_free(Balance* b) {
  settings_free(&b->exchange);
  settings_free(&b->speed);
  texts_free(&b->equation);
  texts_free(&b->unknown);
}
