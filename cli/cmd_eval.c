// sarrus eval: everything at one state, with  M a + c = f + G^T lambda  in the numbers that are printed.
//   c = RNEA(q, v, 0), gravity included;  f = tau and all laws;  G the rows of loops, couplings, formulas and drivers
//   --bare: the rigid tree alone, f = tau, without laws, stops, armature and drivers
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct Evaluation {
  double *M, *c, *G, *gv;  // nv x nv, nv, ng x nv, ng
  double* a;               // njv: accelerations of joint coordinates
  double* reaction;        // njoint x 6
  int ng, np;              // rows, or 0 for the bare tree
  unsigned char* unique;   // ng + njoint: multipliers, then reactions, that are the only ones possible
  int rank;
  bool has_reactions;
  double kinetic, potential;
  double* memory;
} Evaluation;

static bool allocate(const srModel* m, Evaluation* e) {
  const size_t nv = (size_t)m->nv, ng = (size_t)m->ng, nj = (size_t)m->njoint;
  e->memory = calloc(nv * nv + nv + ng * nv + ng + 6 * nj + nv + 1, sizeof *e->memory);
  e->unique = calloc(ng + nj + 1, 1);
  if (!e->memory || !e->unique) return false;
  e->M = e->memory;
  e->c = e->M + nv * nv;
  e->G = e->c + nv;
  e->gv = e->G + ng * nv;
  e->reaction = e->gv + ng;
  e->a = e->reaction + 6 * nj;  // njv <= nv
  return true;
}

// M and c by the recursions that know nothing of laws. They use work memory of their own: d keeps its kinematics.
static void equations(const srModel* m, const srData* d, srData* work, Evaluation* e) {
  double* zero = work->a;
  memset(zero, 0, (size_t)m->nv * sizeof *zero);
  sr_rnea(m, work, d->q, d->v, zero, e->c);
  sr_crba(m, work, d->q, e->M);
}

// The same of free bodies, as they stand in the equations: armature ties them.
static void free_equations(const srModel* m, const srData* d, Evaluation* e) {
  for (int i = 0; i < m->nv; i++) {
    e->c[i] = d->bias[i];
    for (int k = m->M_row[i]; k < m->M_row[i + 1]; k++)
      e->M[(size_t)i * (size_t)m->nv + (size_t)m->M_column[k]] = d->M[k];
  }
}

// Rows and reactions; what is unique among them comes from the rank at this position.
static int constraints(const srModel* m, srData* d, Evaluation* e) {
  srRank* rank = NULL;
  e->ng = m->ng;
  e->np = m->np;
  if (sr_constraints(m, d) != 0) return EXIT_FAILED;  // of a tree: the drivers
  sr_constraint_matrix(m, d, e->G);
  sr_constraint_velocity(m, d, d->v, e->gv);
  if (sr_reactions(m, d, e->reaction) != 0) return EXIT_FAILED;
  const srStage stage = d->stage;
  if (sr_rank_create(m, d, &rank) != SR_OK) return EXIT_FAILED;
  memcpy(e->unique, rank->unique, (size_t)m->ng);
  sr_reactions_unique(m, d, rank, e->unique + m->ng);
  e->rank = rank->rank;
  e->has_reactions = true;
  sr_rank_destroy(rank);
  d->stage = stage;  // the same position: velocities and accelerations of links are there still
  return EXIT_DONE;
}

static int evaluate_all(const srModel* m, srData* d, srData* work, Evaluation* e) {
  if (sr_forward(m, d, SR_TAU_ELEMENT) != 0) return EXIT_FAILED;
  sr_acceleration(m, d);
  sr_energy(m, d, &e->kinetic, &e->potential);
  sr_joint_accelerations(m, d, e->a);
  if (m->gauged) {
    free_equations(m, d, e);
  } else {
    equations(m, d, work, e);
    for (int i = 0; i < m->nv; i++) e->M[i * m->nv + i] += m->joint_armature[i];
  }
  const int status = constraints(m, d, e);
  for (int i = 0; i < m->nv; i++)
    if (m->dof_massless[i]) d->a[i] = e->a[i] = NAN;
  return status;
}

static int evaluate_bare(const srModel* m, srData* d, srData* work, Evaluation* e) {
  sr_kinematics(m, d);
  sr_velocity(m, d);
  (void)sr_forces(m, d, SR_TAU_ELEMENT);  // for the formula sensors alone
  memcpy(d->f, d->tau, (size_t)m->nv * sizeof *d->f);
  const bool found = sr_aba(m, work, d->q, d->v, d->tau, d->a) == SR_OK;
  for (int i = 0; i < m->nv && !found && m->nmassless > 0; i++) d->a[i] = NAN;
  if (!found && m->nmassless == 0) {
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

// Names of the rows, which multipliers are unique, reactions of the joints.
static void put_rows(Json* json, const srModel* m, const Evaluation* e) {
  json_int(json, "rank", e->rank);
  json_array(json, "rows");
  for (int i = 0; i < e->ng; i++) json_text(json, NULL, m->row[i].name);
  json_array_end(json);
  json_array(json, "unique");
  for (int i = 0; i < e->ng; i++) json_bool(json, NULL, e->unique[i]);
  json_array_end(json);
  json_object(json, "reactions");
  for (int j = 0; j < m->njoint && e->has_reactions; j++) {
    json_object(json, m->joint_name[j]);
    json_numbers(json, "moment", e->reaction + 6 * j, 3);
    json_numbers(json, "force", e->reaction + 6 * j + 3, 3);
    json_bool(json, "unique", e->unique[e->ng + j]);
    json_object_end(json);
  }
  json_object_end(json);
}

// Over the coordinates of the equations: of free bodies theirs.
static void put_equations(Json* json, const srModel* m, const srData* d, const Evaluation* e) {
  json_matrix(json, "M", e->M, m->nv, m->nv);
  json_numbers(json, "c", e->c, m->nv);
  json_numbers(json, "f", d->f, m->nv);
  json_numbers(json, "a", d->a, m->nv);
  json_matrix(json, "G", e->G, e->ng, m->nv);
}

static void print_json(const srModel* m, srData* d, const Evaluation* e) {
  Json json = json_begin(stdout);
  json_number(&json, "t", d->t);
  json_text(&json, "formulation", sr_formulation_word(m->formulation));
  json_numbers(&json, "q", d->jq, m->njq);
  json_numbers(&json, "v", d->jv, m->njv);
  json_numbers(&json, "y", d->y, m->ny);
  if (m->gauged) {
    json_numbers(&json, "a", e->a, m->njv);
    json_object(&json, "bodies");
    json_numbers(&json, "q", d->q, m->nq);
    json_numbers(&json, "v", d->v, m->nv);
  }
  put_equations(&json, m, d, e);
  if (m->gauged) json_object_end(&json);
  json_numbers(&json, "ydot", d->ydot, m->ny);
  json_numbers(&json, "lambda", d->lambda, e->ng);
  json_numbers(&json, "g", d->g, e->np);
  json_numbers(&json, "gv", e->gv, e->ng);
  put_rows(&json, m, e);
  json_object(&json, "energy");
  json_number(&json, "kinetic", e->kinetic);
  json_number(&json, "potential", e->potential);
  json_object_end(&json);
  put_sensors(&json, m, d, true);
  put_joints(&json, m);
  json_end(&json);
}

static void print_rows(const srModel* m, const srData* d, const Evaluation* e) {
  enum { SHOWN = 60 };
  if (e->ng > 0) printf("constraints: residual, its rate, multiplier (* not unique); rank %d of %d\n", e->rank, e->ng);
  for (int i = 0; i < e->ng && i < SHOWN; i++) {
    printf("  %-46s", m->row[i].name);
    if (i < e->np)
      printf(" %11.3g", d->g[i]);
    else
      printf(" %11s", "");
    printf(" %11.3g %16.9g%s\n", e->gv[i], d->lambda[i], e->unique[i] ? "" : " *");
  }
  if (e->has_reactions && m->njoint <= SHOWN) printf("reactions of joints: moment, force on the body, in its axes\n");
  for (int j = 0; j < m->njoint && e->has_reactions && m->njoint <= SHOWN; j++) {
    const double* r = e->reaction + 6 * j;
    printf("  %-22s %11.5g %11.5g %11.5g Nm %11.5g %11.5g %11.5g N%s\n", m->joint_name[j], r[0], r[1], r[2], r[3], r[4],
           r[5], e->unique[e->ng + j] ? "" : " *");
  }
}

static void print_table(const srModel* m, const srData* d, const Evaluation* e, bool bare) {
  report_heading("model %s at t = %.9g s%s", m->name, d->t, bare ? ", the rigid tree alone" : "");
  report_values("positions q", m->q_name, m->q_unit, d->jq, m->njq);
  report_values("velocities v", m->v_name, m->v_unit, d->jv, m->njv);
  report_values("accelerations a = dv/dt", m->v_name, NULL, bare ? d->a : e->a, m->njv);
  if (!m->gauged) {
    report_values("bias c (gravity included)", m->v_name, NULL, e->c, m->nv);
    report_values("forces f (tau and all laws)", m->v_name, NULL, d->f, m->nv);
  }
  print_rows(m, d, e);
  report_values("states y", m->y_name, NULL, d->y, m->ny);
  if (!m->gauged) report_matrix("mass matrix M", e->M, m->nv, m->nv);
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
  if (status == EXIT_DONE && !bare) warn_sensors(cli, m->model, m->data);
  cli_show(cli);
  if (status != EXIT_DONE)
    cli_refuse(cli, status);
  else if (cli->json)
    print_json(m->model, m->data, &e);
  else
    print_table(m->model, m->data, &e, bare);
  free(e.memory);
  free(e.unique);
  sr_data_destroy(work);
  return status;
}

// The state asked for; the initial one at its time, with its loops closed.
static int start_state(Cli* cli, State* state, const Model* m, bool bare) {
  if (!state_apply(cli, state, m->model, m->data)) return cli_refuse(cli, EXIT_INPUT);
  return bare ? EXIT_DONE : state_at_time(cli, state, m);
}

static int formulate(Cli* cli, Model* m, bool bare) {
  if (!bare || model_is_relative(m)) return model_formulate(cli, m);
  cli_error(cli, "--bare is the rigid tree alone: it has no formulation but the relative one");
  return cli_refuse(cli, EXIT_INPUT);
}

int cmd_eval(Cli* cli, const Verb* verb, int argc, char** argv) {
  Model m = {.at_rest = true};
  State state = state_none();
  bool bare = false;
  int status = EXIT_DONE;
  const Option options[] = {
      STATE_OPTIONS(&state),
      {"--bare", OPTION_FLAG, &bare, NULL, "the rigid tree alone: no laws, stops, armature, drivers"},
      FORMULATION_OPTION(&m),
      MODEL_OPTIONS(cli, &m)};
  if (verb_options(cli, verb, options, sizeof options / sizeof options[0], argc, argv, &m.path, &status) == 0) {
    status = model_open(cli, &m);
    if (status == EXIT_DONE) status = start_state(cli, &state, &m, bare);
    if (status == EXIT_DONE) status = formulate(cli, &m, bare);
    if (status == EXIT_DONE) status = evaluate(cli, &m, bare);
  }
  state_free(&state);
  model_close(&m);
  return status;
}
