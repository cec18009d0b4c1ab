// Eval: everything at one state, with  M a + c = f + G^T lambda  in the numbers that are reported (report.h).
#include <math.h>
#include <string.h>

#include "analysis/overlap.h"
#include "report/report.h"

static srEvaluation* allocate(const srModel* m, srData* d, bool bare) {
  const size_t nv = (size_t)m->nv, ng = (size_t)m->ng, nj = (size_t)m->njoint;
  srEvaluation* e = sr_alloc(sizeof *e);
  double* x = sr_alloc((nv * nv + nv + ng * nv + ng + 6 * nj + nv + 1) * sizeof *x);
  unsigned char* unique = sr_alloc(ng + nj + 1);
  if (!e || !x || !unique) {
    sr_free(e), sr_free(x), sr_free(unique);
    return NULL;
  }
  *e = (srEvaluation){.m = m, .d = d, .bare = bare, .unique = unique, .M = x, .margin = 1e-3};
  e->c = e->M + nv * nv;
  e->G = e->c + nv;
  e->gv = e->G + ng * nv;
  e->reaction = e->gv + ng;
  e->a = e->reaction + 6 * nj;  // njv <= nv
  return e;
}

// M and c by the recursions that know nothing of laws. They use work memory of their own: d keeps its kinematics.
static void equations(const srModel* m, const srData* d, srData* work, srEvaluation* e) {
  double* zero = work->a;
  memset(zero, 0, (size_t)m->nv * sizeof *zero);
  sr_rnea(m, work, d->q, d->v, zero, e->c);
  sr_crba(m, work, d->q, e->M);
}

// The same for free bodies, as in the equations: armature couples them.
static void free_equations(const srModel* m, const srData* d, srEvaluation* e) {
  for (int i = 0; i < m->nv; i++) {
    e->c[i] = d->bias[i];
    for (int k = m->M_row[i]; k < m->M_row[i + 1]; k++)
      e->M[(size_t)i * (size_t)m->nv + (size_t)m->M_column[k]] = d->M[k];
  }
}

// Rows and reactions; what is unique among them comes from the rank at this position.
static srStatus constraints(const srModel* m, srData* d, srEvaluation* e) {
  srRank* rank = NULL;
  e->ng = m->ng;
  e->np = m->np;
  if (sr_constraints(m, d) != 0) return SR_FAILED;  // of a tree: the drivers
  sr_constraint_matrix(m, d, e->G);
  sr_constraint_velocity(m, d, d->v, e->gv);
  if (sr_reactions(m, d, e->reaction) != 0) return SR_FAILED;
  if (sr_rank_create(m, d, &rank) != SR_OK) return SR_FAILED;
  memcpy(e->unique, rank->unique, (size_t)m->ng);
  sr_reactions_unique(m, d, rank, e->unique + m->ng);
  e->rank = rank->rank;
  e->has_reactions = true;
  sr_rank_destroy(rank);
  return SR_OK;
}

static srStatus evaluate_all(const srModel* m, srData* d, srData* work, srEvaluation* e) {
  if (sr_evaluate(m, d, d->t, NULL, NULL, NULL, SR_STAGE_FRAMES) != 0) return SR_FAILED;
  sr_energy(m, d, &e->kinetic, &e->potential);
  sr_joint_accelerations(m, d, e->a);
  if (m->absolute) {
    free_equations(m, d, e);
  } else {
    equations(m, d, work, e);
    for (int i = 0; i < m->nv; i++) e->M[i * m->nv + i] += m->joint_armature[i];
  }
  const srStatus status = constraints(m, d, e);
  for (int i = 0; i < m->nv; i++)
    if (m->dof_massless[i]) d->a[i] = e->a[i] = (double)NAN;
  return status;
}

static srStatus evaluate_bare(const srModel* m, srData* d, srData* work, srEvaluation* e) {
  (void)sr_evaluate(m, d, d->t, NULL, NULL, NULL, SR_STAGE_FORCE);  // forces for the formula sensors alone
  memcpy(d->f, d->tau, (size_t)m->nv * sizeof *d->f);
  const bool found = sr_aba(m, work, d->q, d->v, d->tau, d->a) == SR_OK;
  for (int i = 0; i < m->nv && !found && m->nmassless > 0; i++) d->a[i] = (double)NAN;
  if (!found && m->nmassless == 0) {
    memcpy(d->error_message, work->error_message, sizeof d->error_message);
    return SR_FAILED;
  }
  sr_acceleration(m, d);
  equations(m, d, work, e);
  double momentum[8], mass, com[4];
  sr_momentum(m, d, momentum, &mass, com);
  for (int k = 0; k < 3; k++) e->potential -= mass * m->gravity[k] * com[k];
  for (int i = 0; i < m->nv; i++)
    for (int j = 0; j < m->nv; j++) e->kinetic += 0.5 * d->v[i] * e->M[i * m->nv + j] * d->v[j];
  return SR_OK;
}

srStatus sr_evaluation_create(const srModel* m, srData* d, bool bare, srMessages* messages, srEvaluation** out) {
  srData* work = sr_data_create(m);
  srEvaluation* e = allocate(m, d, bare);
  *out = NULL;
  srStatus status = SR_MEMORY;
  if (work && e) status = bare ? evaluate_bare(m, d, work, e) : evaluate_all(m, d, work, e);
  sr_data_destroy(work);
  if (status == SR_MEMORY) sr_report_error(messages, "out of memory");
  if (status == SR_FAILED) sr_report_error(messages, "no accelerations at this state: %s", d->error_message);
  if (status == SR_OK && !bare) sr_warn_sensors(m, d, messages);
  if (status == SR_OK)
    *out = e;
  else
    sr_evaluation_destroy(e);
  return status;
}

void sr_evaluation_contacts(srEvaluation* e, bool all, double margin) {
  e->all_contacts = all;
  if (!isnan(margin)) e->margin = margin;
}

void sr_evaluation_destroy(srEvaluation* e) {
  if (!e) return;
  sr_free(e->M);  // and all behind it
  sr_free(e->unique);
  sr_free(e);
}

// --------------------------------------------------------------------------------------------------------------- JSON
// Names of the rows, which multipliers are unique, reactions of the joints.
static void put_rows(srJson* json, const srModel* m, const srEvaluation* e) {
  sr_json_int(json, "rank", e->rank);
  sr_put_rows(json, m, e->ng);
  sr_json_array(json, "unique");
  for (int i = 0; i < e->ng; i++) sr_json_bool(json, NULL, e->unique[i]);
  sr_json_array_end(json);
  sr_json_object(json, "reactions");
  for (int j = 0; j < m->njoint && e->has_reactions; j++) {
    sr_json_object(json, m->joint_name[j]);
    sr_json_numbers(json, "moment", e->reaction + 6 * j, 3);
    sr_json_numbers(json, "force", e->reaction + 6 * j + 3, 3);
    sr_json_bool(json, "unique", e->unique[e->ng + j]);
    sr_json_object_end(json);
  }
  sr_json_object_end(json);
}

// Over the coordinates of the equations: of free bodies theirs.
static void put_equations(srJson* json, const srModel* m, const srData* d, const srEvaluation* e) {
  sr_json_matrix(json, "M", e->M, m->nv, m->nv);
  sr_json_numbers(json, "c", e->c, m->nv);
  sr_json_numbers(json, "f", d->f, m->nv);
  sr_json_numbers(json, "a", d->a, m->nv);
  sr_json_matrix(json, "G", e->G, e->ng, m->nv);
}

// Pairs of shapes.
typedef struct Pairs {
  const srModel* m;
  srJson* json;
  srText* out;
  int count;
} Pairs;

static void put_pair(void* user, const srShapePair* x) {
  const Pairs* p = user;
  char a[256], b[256];
  sr_shape_title(p->m, x->a, a, sizeof a);
  sr_shape_title(p->m, x->b, b, sizeof b);
  sr_json_object(p->json, NULL);
  sr_json_text(p->json, "a", a);
  sr_json_text(p->json, "b", b);
  sr_json_number(p->json, "gap", x->gap);
  sr_json_numbers(p->json, "normal", x->normal, 3);
  sr_json_numbers(p->json, "point_a", x->point_a, 3);
  sr_json_numbers(p->json, "point_b", x->point_b, 3);
  sr_json_object_end(p->json);
}

static void put_contacts(srJson* json, const srEvaluation* e) {
  Pairs p = {.m = e->m, .json = json};
  sr_json_array(json, "contacts");
  json->out->failed |= sr_shape_pairs(e->m, e->d, e->all_contacts, e->margin, put_pair, &p) != SR_OK;
  sr_json_array_end(json);
}

static void put_evaluation(const srEvaluation* e, srText* out) {
  const srModel* m = e->m;
  srData* d = e->d;
  srJson json = sr_json_begin(out);
  sr_json_number(&json, "t", d->t);
  sr_json_text(&json, "formulation", sr_formulation_word(m->formulation));
  sr_json_numbers(&json, "q", d->jq, m->njq);
  sr_json_numbers(&json, "v", d->jv, m->njv);
  sr_json_numbers(&json, "y", d->y, m->ny - m->ny_slot);
  if (m->absolute) {
    sr_json_numbers(&json, "a", e->a, m->njv);
    sr_json_object(&json, "bodies");
    sr_json_numbers(&json, "q", d->q, m->nq);
    sr_json_numbers(&json, "v", d->v, m->nv);
  }
  put_equations(&json, m, d, e);
  if (m->absolute) sr_json_object_end(&json);
  sr_json_numbers(&json, "ydot", d->ydot, m->ny - m->ny_slot);
  sr_json_numbers(&json, "lambda", d->lambda, e->ng);
  sr_json_numbers(&json, "g", d->g, e->np);
  sr_json_numbers(&json, "gv", e->gv, e->ng);
  put_rows(&json, m, e);
  sr_json_object(&json, "energy");
  sr_json_number(&json, "kinetic", e->kinetic);
  sr_json_number(&json, "potential", e->potential);
  sr_json_object_end(&json);
  put_contacts(&json, e);
  sr_put_sensors(&json, m, d, true);
  sr_put_joints(&json, m);
  sr_json_end(&json);
}

// -------------------------------------------------------------------------------------------------------------- table
static void show_rows(srText* out, const srModel* m, const srData* d, const srEvaluation* e) {
  enum { SHOWN = 60 };
  if (e->ng > 0)
    sr_text_print(out, "constraints: residual, its rate, multiplier (* not unique); rank %d of %d\n", e->rank, e->ng);
  for (int i = 0; i < e->ng && i < SHOWN; i++) {
    sr_text_print(out, "  %-46s", m->row[i].name);
    if (i < e->np)
      sr_text_print(out, " %11.3g", d->g[i]);
    else
      sr_text_print(out, " %11s", "");
    sr_text_print(out, " %11.3g %16.9g%s\n", e->gv[i], d->lambda[i], e->unique[i] ? "" : " *");
  }
  if (e->has_reactions && m->njoint <= SHOWN)
    sr_text_print(out, "reactions of joints: moment, force on the body, in its axes\n");
  for (int j = 0; j < m->njoint && e->has_reactions && m->njoint <= SHOWN; j++) {
    const double* r = e->reaction + 6 * j;
    sr_text_print(out, "  %-22s %11.5g %11.5g %11.5g Nm %11.5g %11.5g %11.5g N%s\n", m->joint_name[j], r[0], r[1], r[2],
                  r[3], r[4], r[5], e->unique[e->ng + j] ? "" : " *");
  }
}

static void show_pair(void* user, const srShapePair* x) {
  enum { SHOWN = 60 };
  Pairs* p = user;
  char a[256], b[256];
  if (p->count == 0)
    sr_text_print(p->out, "pairs of shapes: gap, normal from the first to the second, point between\n");
  if (++p->count == SHOWN + 1) sr_text_print(p->out, "  ... and more: --json lists all\n");
  if (p->count > SHOWN) return;
  sr_shape_title(p->m, x->a, a, sizeof a);
  sr_shape_title(p->m, x->b, b, sizeof b);
  sr_text_print(p->out, "  %-22s %-22s %12.5g m  (%7.4f %7.4f %7.4f)  (%.5g %.5g %.5g)\n", a, b, x->gap, x->normal[0],
                x->normal[1], x->normal[2], 0.5 * (x->point_a[0] + x->point_b[0]),
                0.5 * (x->point_a[1] + x->point_b[1]), 0.5 * (x->point_a[2] + x->point_b[2]));
}

static void show_evaluation(const srEvaluation* e, srText* out) {
  const srModel* m = e->m;
  srData* d = e->d;
  sr_text_print(out, "model %s at t = %.9g s%s\n", m->name, d->t, e->bare ? ", the rigid tree alone" : "");
  sr_show_values(out, "positions q", m->q_name, m->q_unit, d->jq, m->njq);
  sr_show_values(out, "velocities v", m->v_name, m->v_unit, d->jv, m->njv);
  sr_show_values(out, "accelerations a = dv/dt", m->v_name, NULL, e->bare ? d->a : e->a, m->njv);
  if (!m->absolute) {
    sr_show_values(out, "bias c (gravity included)", m->v_name, NULL, e->c, m->nv);
    sr_show_values(out, "forces f (tau and all laws)", m->v_name, NULL, d->f, m->nv);
  }
  show_rows(out, m, d, e);
  sr_show_values(out, "states y", m->y_name, NULL, d->y, m->ny - m->ny_slot);
  if (!m->absolute) sr_show_matrix(out, "mass matrix M", e->M, m->nv, m->nv);
  sr_text_print(out, "energy\n");
  sr_show_line(out, "kinetic", "%16.9g J", e->kinetic);
  sr_show_line(out, "potential", "%16.9g J", e->potential);
  Pairs pairs = {.m = m, .out = out};
  out->failed |= sr_shape_pairs(m, d, e->all_contacts, e->margin, show_pair, &pairs) != SR_OK;
  sr_show_sensors(out, m, d);
}

void sr_report_evaluation(const srEvaluation* e, srReportForm form, srText* out) {
  if (form == SR_REPORT_JSON)
    put_evaluation(e, out);
  else
    show_evaluation(e, out);
}
