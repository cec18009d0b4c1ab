// sarrus check: reads and compiles a model, tells topology and freedoms.
#include <stdio.h>

#include "cli.h"

static void print_json(const Cli* cli, const srModel* m) {
  Json json = json_begin(stdout);
  json_text(&json, "name", m->name);
  json_int(&json, "nbody", m->nbody);
  json_int(&json, "njoint", m->njoint_given);
  json_array(&json, "inbody");
  for (int i = 1; i <= m->nbody; i++) json_int(&json, NULL, m->body_parent[i]);
  json_array_end(&json);
  json_int(&json, "nq", m->nq);
  json_int(&json, "nv", m->nv);
  json_int(&json, "ny", m->ny);
  // A tree has no closures; drivers are counted in `driven`.
  json_int(&json, "nconstraint", 0);
  json_int(&json, "rank", 0);
  json_int(&json, "dof", m->nv - m->ndriver);
  json_int(&json, "driven", m->ndriver);
  json_array(&json, "redundant");
  json_array_end(&json);
  json_int(&json, "contacts", 0);
  put_messages(&json, "warnings", cli, SR_SEVERITY_WARNING);
  json_array(&json, "bodies");
  for (int i = 1; i <= m->nbody; i++) json_text(&json, NULL, m->body_name[i]);
  json_array_end(&json);
  put_joints(&json, m);
  json_end(&json);
}

static void print_table(const srModel* m) {
  double mass = 0;
  for (int i = 1; i <= m->nbody; i++) mass += m->body_mass[i];
  report_heading("model %s", m->name);
  report_line("bodies", "%d, %.9g kg", m->nbody, mass);
  report_line("joints", "%d", m->njoint_given);
  report_line("coordinates", "%d positions, %d velocities, %d states", m->nq, m->nv, m->ny);
  report_line("freedoms", "%d (%d driven)", m->nv - m->ndriver, m->ndriver);
  report_line("force elements", "%d", m->nforce);
  report_line("sensors", "%d", m->nsensor);
  printf("\n  %-16s %-16s %-16s %-12s %6s %4s %4s\n", "body", "parent", "joint", "type", "q", "nq", "nv");
  for (int j = 0; j < m->njoint; j++) {
    const int body = m->joint_body[j];
    printf("  %-16s %-16s %-16s %-12s %6d %4d %4d\n", m->body_name[body], m->body_name[m->body_parent[body]],
           m->joint_name[j], sr_joint_word((srJointType)m->joint_type[j]), m->joint_q[j], m->joint_nq[j],
           m->joint_nv[j]);
  }
}

int cmd_check(Cli* cli, const Verb* verb, int argc, char** argv) {
  Model m = {0};
  int status = EXIT_DONE;
  const Option options[] = {MODEL_OPTIONS(cli, &m)};
  if (verb_options(cli, verb, options, sizeof options / sizeof options[0], argc, argv, &m.path, &status) == 0) {
    status = model_open(cli, &m);
    if (status == EXIT_DONE) {
      if (cli->json)
        print_json(cli, m.model);
      else
        print_table(m.model);
    }
  }
  model_close(&m);
  return status;
}
