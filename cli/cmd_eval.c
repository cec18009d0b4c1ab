// sarrus eval: everything at one state, with  M a + c = f + G^T lambda  in the numbers that are printed.
//   c = RNEA(q, v, 0), gravity included;  f = tau and all laws;  G picks the driven coordinates
//   --bare: the rigid tree alone, f = tau, without laws, stops, armature and drivers
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct Evaluation {
  double *M, *c, *G, *g, *gv;  // nv x nv, nv, ndriver x nv, ndriver, ndriver
  int ng;                      // rows: ndriver, or 0 for the bare tree
  double kinetic, potential;
  double* memory;
} Evaluation;

static bool allocate(const srModel* m, Evaluation* e) {
  const size_t nv = (size_t)m->nv, ng = (size_t)m->ndriver;
  e->memory = calloc(nv * nv + nv + ng * nv + 2 * ng + 1, sizeof *e->memory);
  e->M = e->memory;
  e->c = e->M + nv * nv;
  e->G = e->c + nv;
  e->g = e->G + ng * nv;
  e->gv = e->g + ng;
  return e->memory != NULL;
}

// M and c by the recursions that know nothing of laws. They use work memory of their own: d keeps its kinematics.
static void equations(const srModel* m, const srData* d, srData* work, Evaluation* e) {
  double* zero = work->tau;
  memset(zero, 0, (size_t)m->nv * sizeof *zero);
  sr_rnea(m, work, d->q, d->v, zero, e->c);
  sr_crba(m, work, d->q, e->M);
}

static void constraints(const srModel* m, const srData* d, Evaluation* e) {
  e->ng = m->ndriver;
  for (int i = 0; i < m->ndriver; i++) {
    const srDriver* driver = &m->driver[i];
    e->G[i * m->nv + driver->dof] = 1;
    e->g[i] = d->q[driver->qdof] - d->motion[3 * i];
    e->gv[i] = d->v[driver->dof] - d->motion[3 * i + 1];
  }
}

static int evaluate_all(const srModel* m, srData* d, srData* work, Evaluation* e) {
  if (sr_forward(m, d, SR_TAU_ELEMENT) != 0) return EXIT_FAILED;
  sr_acceleration(m, d);
  sr_energy(m, d, &e->kinetic, &e->potential);
  equations(m, d, work, e);
  for (int i = 0; i < m->nv; i++) e->M[i * m->nv + i] += m->dof_armature[i];
  constraints(m, d, e);
  return EXIT_DONE;
}

static int evaluate_bare(const srModel* m, srData* d, srData* work, Evaluation* e) {
  sr_kinematics(m, d);
  sr_velocity(m, d);
  (void)sr_forces(m, d, SR_TAU_ELEMENT);  // for the formula sensors alone
  memcpy(d->f, d->tau, (size_t)m->nv * sizeof *d->f);
  if (sr_aba(m, work, d->q, d->v, d->tau, d->a) != SR_OK) {
    memcpy(d->trouble, work->trouble, sizeof d->trouble);
    return EXIT_FAILED;
  }
  sr_acceleration(m, d);
  equations(m, d, work, e);
  double momentum[8], mass, com[4];
  sr_momentum(m, d, momentum, &mass, com);
  for (int k = 0; k < 3; k++) e->potential -= mass * m->gravity[k] * com[k];
  for (int i = 0; i < m->nv; i++)
    for (int j = 0; j < m->nv; j++) e->kinetic += 0.5 * d->v[i] * e->M[i * m->nv + j] * d->v[j];
  return EXIT_DONE;
}

static void print_json(const srModel* m, srData* d, const Evaluation* e) {
  Json json = json_begin(stdout);
  json_number(&json, "t", d->t);
  json_numbers(&json, "q", d->q, m->nq);
  json_numbers(&json, "v", d->v, m->nv);
  json_numbers(&json, "y", d->y, m->ny);
  json_matrix(&json, "M", e->M, m->nv, m->nv);
  json_numbers(&json, "c", e->c, m->nv);
  json_numbers(&json, "f", d->f, m->nv);
  json_numbers(&json, "a", d->a, m->nv);
  json_numbers(&json, "ydot", d->ydot, m->ny);
  json_numbers(&json, "lambda", d->lambda, e->ng);
  json_matrix(&json, "G", e->G, e->ng, m->nv);
  json_numbers(&json, "g", e->g, e->ng);
  json_numbers(&json, "gv", e->gv, e->ng);
  json_object(&json, "energy");
  json_number(&json, "kinetic", e->kinetic);
  json_number(&json, "potential", e->potential);
  json_object_end(&json);
  put_sensors(&json, m, d, true);
  put_joints(&json, m);
  json_end(&json);
}

static void print_table(const srModel* m, const srData* d, const Evaluation* e, bool bare) {
  report_heading("model %s at t = %.9g s%s", m->name, d->t, bare ? ", the rigid tree alone" : "");
  report_values("positions q", m->q_name, m->q_unit, d->q, m->nq);
  report_values("velocities v", m->v_name, m->v_unit, d->v, m->nv);
  report_values("accelerations a = dv/dt", m->v_name, NULL, d->a, m->nv);
  report_values("bias c (gravity included)", m->v_name, NULL, e->c, m->nv);
  report_values("forces f (tau and all laws)", m->v_name, NULL, d->f, m->nv);
  if (e->ng > 0) printf("driving forces lambda\n");
  for (int i = 0; i < e->ng; i++) report_line(m->driver[i].name, "%16.9g", d->lambda[i]);
  report_values("states y", m->y_name, NULL, d->y, m->ny);
  report_matrix("mass matrix M", e->M, m->nv, m->nv);
  printf("energy\n");
  report_line("kinetic", "%16.9g J", e->kinetic);
  report_line("potential", "%16.9g J", e->potential);
  report_sensors(m, d);
}

static int evaluate(Cli* cli, const Model* m, bool bare) {
  Evaluation e = {0};
  srData* work = sr_data_create(m->model);
  int status = EXIT_FAILED;
  if (!work || !allocate(m->model, &e)) {
    cli_error(cli, "out of memory");
  } else {
    status = bare ? evaluate_bare(m->model, m->data, work, &e) : evaluate_all(m->model, m->data, work, &e);
    if (status != EXIT_DONE) cli_error(cli, "no accelerations at this state: %s", m->data->trouble);
  }
  cli_show(cli);
  if (status != EXIT_DONE)
    cli_refuse(cli, status);
  else if (cli->json)
    print_json(m->model, m->data, &e);
  else
    print_table(m->model, m->data, &e, bare);
  free(e.memory);
  sr_data_destroy(work);
  return status;
}

int cmd_eval(Cli* cli, const Verb* verb, int argc, char** argv) {
  Model m = {0};
  State state = state_none();
  bool bare = false;
  int status = EXIT_DONE;
  const Option options[] = {
      STATE_OPTIONS(&state),
      {"--bare", OPTION_FLAG, &bare, NULL, "the rigid tree alone: no laws, stops, armature, drivers"},
      MODEL_OPTIONS(cli, &m)};
  if (verb_options(cli, verb, options, sizeof options / sizeof options[0], argc, argv, &m.path, &status) == 0) {
    status = model_open(cli, &m);
    if (status == EXIT_DONE)
      status = state_apply(cli, &state, m.model, m.data) ? evaluate(cli, &m, bare) : cli_refuse(cli, EXIT_INPUT);
  }
  state_free(&state);
  model_close(&m);
  return status;
}
