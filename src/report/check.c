// Check: topology and degrees of freedom of a model, with its loops closed.
#include "analysis/overlap.h"
#include "report/report.h"

void sr_warn_rank(const srModel* m, const srRank* rank, srMessages* messages) {
  if (m->nv > 0 && rank->rank == m->nv && m->ndriver == 0)
    sr_report_warn(messages, "nothing can move: the constraints leave no degree of freedom");
  if (rank->rank_coarse < rank->rank)
    sr_report_warn(
        messages,
        "%s is nearly redundant: %.1g of it is new, and it removes a degree of freedom all the same. Axes "
        "that are meant to be parallel, or to meet, are not where their numbers are rounded (1.5708 for pi/2)",
        m->row[rank->least_row].name, rank->least);
}

// The model in the requested formulation, at the assembled state.
static srStatus formulate(const srSpec* spec, const srModel* m, srData* d, srFormulation formulation,
                          srMessages* messages, srCheck* check) {
  check->m = m;
  if (formulation == m->formulation) return SR_OK;
  const srStatus status = sr_formulate(spec, m, d, formulation, messages, &check->formulated, &check->data);
  if (status != SR_OK) return status;
  check->m = check->formulated;
  return SR_OK;
}

static srStatus find_rank(srCheck* check, srData* d, srMessages* messages) {
  const srStatus status = sr_rank_create(check->m, d, &check->rank);
  if (status == SR_FAILED) sr_report_error(messages, "%s", d->error_message);
  if (status != SR_OK) return status;
  sr_warn_rank(check->m, check->rank, messages);
  // What a run would stumble over: no inertia behind a joint, the ends of a link in one place.
  if (sr_evaluate(check->m, d, d->t, NULL, NULL, NULL, SR_STAGE_ACCELERATION) != 0)
    sr_report_warn(messages, "no accelerations at the initial state: %s", d->error_message);
  return SR_OK;
}

srStatus sr_check_create(const srSpec* spec, const srModel* m, srData* d, srFormulation formulation,
                         srMessages* messages, srCheck** out) {
  srCheck* check = sr_alloc(sizeof *check);
  *out = NULL;
  if (!check) return SR_MEMORY;
  srStatus status = sr_assembly_change_create(m, d, messages, &check->assembly);
  if (status == SR_OK && !m->absolute) {
    (void)sr_start_outside(m, d, messages);
    (void)sr_start_overlaps(m, d, messages);
    status = sr_overlaps_create(m, d, &check->overlaps);
    if (status == SR_FAILED) status = SR_OK;  // what fails there is reported below
  }
  if (status == SR_OK) status = formulate(spec, m, d, formulation, messages, check);
  if (status == SR_OK) status = find_rank(check, check->data ? check->data : d, messages);
  if (status == SR_OK)
    *out = check;
  else
    sr_check_destroy(check);
  return status;
}

void sr_check_destroy(srCheck* check) {
  if (!check) return;
  sr_rank_destroy(check->rank);
  sr_overlaps_destroy(check->overlaps);
  sr_assembly_change_destroy(check->assembly);
  sr_data_destroy(check->data);
  sr_model_destroy(check->formulated);
  sr_free(check);
}

// --------------------------------------------------------------------------------------------------------------- JSON
static void put_rank(srJson* json, const srModel* m, const srRank* r) {
  sr_json_int(json, "nconstraint", m->ng - m->ndriver);
  sr_json_int(json, "rank", r->rank_undriven);
  sr_json_int(json, "dof", m->nv - r->rank);
  sr_json_int(json, "driven", m->ndriver);
  sr_put_redundant(json, m, r);
}

static void put_shapes(srJson* json, const srModel* m) {
  sr_json_int(json, "shapes", m->nshape);
  sr_json_array(json, "meshes");
  for (int i = 0; i < m->nmesh; i++) {
    sr_json_object(json, NULL);
    sr_json_text(json, "name", m->mesh[i].name);
    sr_json_text(json, "file", m->mesh[i].file ? m->mesh[i].file : "");
    sr_json_int(json, "vertices", m->mesh[i].nvertex);
    sr_json_int(json, "triangles", m->mesh[i].ntriangle);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
}

static void put_overlaps(srJson* json, const srModel* m, const srOverlaps* overlaps) {
  char a[256], b[256];
  sr_json_array(json, "overlaps");
  for (int i = 0; overlaps && i < overlaps->n; i++) {
    const srShapePair* p = &overlaps->pair[i];
    sr_json_object(json, NULL);
    sr_json_text(json, "a", sr_shape_title(m, p->a, a, sizeof a));
    sr_json_text(json, "b", sr_shape_title(m, p->b, b, sizeof b));
    sr_json_number(json, "depth", -p->gap);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
}

static void put_check(const srCheck* check, const srMessages* messages, srText* out) {
  const srModel* m = check->m;
  srJson json = sr_json_begin(out);
  sr_json_text(&json, "name", m->name);
  sr_json_int(&json, "nbody", m->nbody);
  sr_json_int(&json, "njoint", m->njoint_given);
  sr_json_array(&json, "inbody");
  for (int i = 1; i <= m->nbody; i++) sr_json_int(&json, NULL, m->body_parent[i]);
  sr_json_array_end(&json);
  sr_json_text(&json, "formulation", sr_formulation_word(m->formulation));
  sr_json_int(&json, "nq", m->njq);
  sr_json_int(&json, "nv", m->njv);
  sr_json_int(&json, "ny", m->ny - m->ny_slot);
  put_rank(&json, m, check->rank);  // drivers are counted in `driven`
  sr_json_int(&json, "contacts", m->ncontact);
  sr_json_int(&json, "instances", m->ninstance);
  put_shapes(&json, m);
  put_overlaps(&json, m, check->overlaps);
  sr_put_assembly(&json, m, check->assembly);
  sr_put_rows(&json, m, m->ng);
  sr_json_array(&json, "massless");
  for (int i = 0; i < m->nv; i++)
    if (m->dof_massless[i]) sr_json_text(&json, NULL, m->v_name[i]);
  sr_json_array_end(&json);
  sr_json_warnings(&json, messages);
  sr_json_array(&json, "bodies");
  for (int i = 1; i <= m->nbody; i++) sr_json_text(&json, NULL, m->body_name[i]);
  sr_json_array_end(&json);
  sr_put_joints(&json, m);
  sr_json_end(&json);
}

// -------------------------------------------------------------------------------------------------------------- table
static void show_shapes(srText* out, const srModel* m) {
  long long triangles = 0;
  for (int i = 0; i < m->nmesh; i++) triangles += m->mesh[i].ntriangle;
  if (m->nmesh > 0)
    sr_show_line(out, "shapes", "%d; %d mesh%s, %lld triangles", m->nshape, m->nmesh, m->nmesh == 1 ? "" : "es",
                 triangles);
  else if (m->nshape > 0)
    sr_show_line(out, "shapes", "%d", m->nshape);
}

static void show_overlaps(srText* out, const srModel* m, const srOverlaps* overlaps) {
  enum { SHOWN = 10 };
  char a[256], b[256];
  for (int i = 0; overlaps && i < overlaps->n && i < SHOWN; i++) {
    const srShapePair* p = &overlaps->pair[i];
    sr_show_line(out, i == 0 ? "overlaps" : "", "%s and %s by %.6g m", sr_shape_title(m, p->a, a, sizeof a),
                 sr_shape_title(m, p->b, b, sizeof b), -p->gap);
  }
  if (overlaps && overlaps->n > SHOWN) sr_show_line(out, "", "%d more, see --json", overlaps->n - SHOWN);
}

static void show_check(const srCheck* check, srText* out) {
  const srModel* m = check->m;
  const srRank* r = check->rank;
  double mass = 0;
  for (int i = 1; i <= m->nbody; i++) mass += m->body_mass[i];
  sr_text_print(out, "model %s\n", m->name);
  sr_show_line(out, "bodies", "%d, %.9g kg", m->nbody, mass);
  sr_show_line(out, "joints", "%d", m->njoint_given);
  sr_show_line(out, "coordinates", "%d positions, %d velocities, %d states", m->njq, m->njv, m->ny - m->ny_slot);
  if (m->absolute)
    sr_show_line(out, "formulation", "%s, %d free bodies", sr_formulation_word(m->formulation), m->nbody);
  if (m->constrained) {
    sr_show_line(out, "constraints", "%d equations, rank %d", m->ng - m->ndriver, r->rank_undriven);
    sr_show_redundant(out, m, r);
  }
  sr_show_assembly(out, m, check->assembly);
  sr_show_line(out, "degrees of freedom", "%d (%d driven)", m->nv - r->rank, m->ndriver);
  sr_show_line(out, "force elements", "%d", m->nforce);
  if (m->nset > 0)
    sr_show_line(out, "contacts", "%d pairs; up to %d at the same time as instances", m->ncontact, m->ninstance);
  sr_show_line(out, "sensors", "%d", m->nsensor);
  show_shapes(out, m);
  show_overlaps(out, m, check->overlaps);
  sr_text_print(out, "\n  %-16s %-16s %-16s %-12s %6s %4s %4s\n", "body", "parent", "joint", "type", "q", "nq", "nv");
  for (int j = 0; j < m->njoint; j++) {
    const int body = m->joint_body[j];
    sr_text_print(out, "  %-16s %-16s %-16s %-12s %6d %4d %4d\n", m->body_name[body],
                  m->body_name[m->body_parent[body]], m->joint_name[j], sr_joint_word((srJointType)m->joint_type[j]),
                  m->joint_q[j], m->joint_nq[j], m->joint_nv[j]);
  }
}

void sr_report_check(const srCheck* check, const srMessages* messages, srReportForm form, srText* out) {
  if (form == SR_REPORT_JSON)
    put_check(check, messages, out);
  else
    show_check(check, out);
}
