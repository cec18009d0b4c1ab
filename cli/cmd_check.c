// sarrus check: reads and compiles a model, tells topology and freedoms.
#include <stdio.h>

#include "cli.h"

// ------------------------------------------------------------------------------------------------- loops and their rank
typedef struct Loops {
  Assembly assembly;
  srRank* rank;
} Loops;

// Closes the loops and finds the rank; 0 or an exit status.
static int close_loops(Cli* cli, Model* m, Loops* loops) {
  int answer = model_assemble(cli, m, &loops->assembly);
  if (answer == EXIT_DONE) (void)sr_start_outside(m->model, m->data, cli->messages);
  if (answer == EXIT_DONE) answer = model_formulate(cli, m);
  if (answer != EXIT_DONE) return answer;
  if (!model_is_relative(m)) sr_kinematics(m->model, m->data);
  const srStatus status = sr_rank_create(m->model, m->data, &loops->rank);
  if (status == SR_FAILED) cli_error(cli, "%s", m->data->trouble);
  if (status != SR_OK) return cli_refuse(cli, cli_status(status));
  warn_rank(cli, m->model, loops->rank);
  // What a run would stumble over: no inertia behind a joint, the ends of a link in one place.
  if (sr_forward(m->model, m->data, SR_TAU_ELEMENT) != 0)
    cli_warning(cli, "no accelerations at the initial state: %s", m->data->trouble);
  return EXIT_DONE;
}

static int dof_of(const srModel* m, const Loops* loops) { return m->nv - loops->rank->rank; }

static void put_rank(Json* json, const srModel* m, const Loops* loops) {
  const srRank* r = loops->rank;
  json_int(json, "nconstraint", m->ng - m->ndriver);
  json_int(json, "rank", r->rank_undriven);
  json_int(json, "dof", dof_of(m, loops));
  json_int(json, "driven", m->ndriver);
  json_array(json, "redundant");
  for (int i = 0; i < r->nredundant; i++) {
    json_object(json, NULL);
    json_text(json, "row", m->row[r->redundant[i]].name);
    json_array(json, "set");
    for (int k = r->set_start[i]; k < r->set_start[i + 1]; k++) json_text(json, NULL, m->row[r->set[k]].name);
    json_array_end(json);
    json_object_end(json);
  }
  json_array_end(json);
}

static void put_rows(Json* json, const srModel* m) {
  json_array(json, "rows");
  for (int i = 0; i < m->ng; i++) json_text(json, NULL, m->row[i].name);
  json_array_end(json);
}

static void put_shapes(Json* json, const srModel* m) {
  json_int(json, "shapes", m->nshape);
  json_array(json, "meshes");
  for (int i = 0; i < m->nmesh; i++) {
    json_object(json, NULL);
    json_text(json, "name", m->mesh[i].name);
    json_text(json, "file", m->mesh[i].file ? m->mesh[i].file : "");
    json_int(json, "vertices", m->mesh[i].nvertex);
    json_int(json, "triangles", m->mesh[i].ntriangle);
    json_object_end(json);
  }
  json_array_end(json);
}

static void report_shapes(const srModel* m) {
  long long triangles = 0;
  for (int i = 0; i < m->nmesh; i++) triangles += m->mesh[i].ntriangle;
  if (m->nmesh > 0)
    report_line("shapes", "%d; %d mesh%s, %lld triangles", m->nshape, m->nmesh, m->nmesh == 1 ? "" : "es", triangles);
  else if (m->nshape > 0)
    report_line("shapes", "%d", m->nshape);
}

static void print_json(const Cli* cli, const srModel* m, const Loops* loops) {
  Json json = json_begin(stdout);
  json_text(&json, "name", m->name);
  json_int(&json, "nbody", m->nbody);
  json_int(&json, "njoint", m->njoint_given);
  json_array(&json, "inbody");
  for (int i = 1; i <= m->nbody; i++) json_int(&json, NULL, m->body_parent[i]);
  json_array_end(&json);
  json_text(&json, "formulation", sr_formulation_word(m->formulation));
  json_int(&json, "nq", m->njq);
  json_int(&json, "nv", m->njv);
  json_int(&json, "ny", m->ny);
  put_rank(&json, m, loops);  // drivers are counted in `driven`
  json_int(&json, "contacts", m->ncontact);
  put_shapes(&json, m);
  put_assembly(&json, m, &loops->assembly);
  put_rows(&json, m);
  json_array(&json, "massless");
  for (int i = 0; i < m->nv; i++)
    if (m->dof_massless[i]) json_text(&json, NULL, m->v_name[i]);
  json_array_end(&json);
  put_warnings(&json, cli);
  json_array(&json, "bodies");
  for (int i = 1; i <= m->nbody; i++) json_text(&json, NULL, m->body_name[i]);
  json_array_end(&json);
  put_joints(&json, m);
  json_end(&json);
}

static void print_redundant(const srModel* m, const srRank* r) {
  enum { SHOWN = 20 };
  for (int i = 0; i < r->nredundant && i < SHOWN; i++) {
    printf("  redundant: %s", m->row[r->redundant[i]].name);
    for (int k = r->set_start[i] + 1; k < r->set_start[i + 1]; k++) {
      printf("%s%s", k == r->set_start[i] + 1 ? ", with " : "; ", m->row[r->set[k]].name);
    }
    putchar('\n');
  }
  if (r->nredundant > SHOWN) printf("  redundant: %d more, see --json\n", r->nredundant - SHOWN);
}

static void print_table(const srModel* m, const Loops* loops) {
  double mass = 0;
  for (int i = 1; i <= m->nbody; i++) mass += m->body_mass[i];
  report_heading("model %s", m->name);
  report_line("bodies", "%d, %.9g kg", m->nbody, mass);
  report_line("joints", "%d", m->njoint_given);
  report_line("coordinates", "%d positions, %d velocities, %d states", m->njq, m->njv, m->ny);
  if (m->gauged) report_line("formulation", "%s, %d free bodies", sr_formulation_word(m->formulation), m->nbody);
  if (m->looped) {
    report_line("constraints", "%d rows, rank %d", m->ng - m->ndriver, loops->rank->rank_undriven);
    print_redundant(m, loops->rank);
  }
  report_assembly(m, &loops->assembly);
  report_line("freedoms", "%d (%d driven)", dof_of(m, loops), m->ndriver);
  report_line("force elements", "%d", m->nforce);
  report_line("sensors", "%d", m->nsensor);
  report_shapes(m);
  printf("\n  %-16s %-16s %-16s %-12s %6s %4s %4s\n", "body", "parent", "joint", "type", "q", "nq", "nv");
  for (int j = 0; j < m->njoint; j++) {
    const int body = m->joint_body[j];
    printf("  %-16s %-16s %-16s %-12s %6d %4d %4d\n", m->body_name[body], m->body_name[m->body_parent[body]],
           m->joint_name[j], sr_joint_word((srJointType)m->joint_type[j]), m->joint_q[j], m->joint_nq[j],
           m->joint_nv[j]);
  }
}

int cmd_check(Cli* cli, const Verb* verb, int argc, char** argv) {
  Model m = {.at_rest = true};
  Loops loops = {0};
  int status = EXIT_DONE;
  const Option options[] = {FORMULATION_OPTION(&m), MODEL_OPTIONS(cli, &m)};
  if (verb_options(cli, verb, options, sizeof options / sizeof options[0], argc, argv, &m.path, &status) == 0) {
    status = model_open(cli, &m);
    if (status == EXIT_DONE) status = close_loops(cli, &m, &loops);
    cli_show(cli);
    if (status == EXIT_DONE) {
      if (cli->json)
        print_json(cli, m.model, &loops);
      else
        print_table(m.model, &loops);
    }
  }
  sr_rank_destroy(loops.rank);
  assembly_free(&loops.assembly);
  model_close(&m);
  return status;
}
