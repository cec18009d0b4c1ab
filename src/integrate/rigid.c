// Event-driven rigid contact (rigid.h): memory, and the system with the equations of closed contacts.
#include "integrate/rigid_touch.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

#define HOP_LEAST 1e-12  // m: below it the rounding of positions decides
#define APART 1e-6       // m: overlap that moving apart may leave

srRigidOptions sri_rigid_options(void) {
  return (srRigidOptions){
      .most = 64, .gap = 1e-9, .speed = 1e-9, .hop = 1e-8, .position = 1e-9, .w_normal = -1, .w_friction = -1};
}

const char* sri_impact_settle(srImpactRule rule, srImpactFrictionRule* friction, srImpactOrder* order) {
  const bool work = rule == SR_IMPACT_RULE_STRONGE;
  if (work && *friction == SR_IMPACT_FRICTION_ALGEBRAIC)
    return "Stronge's law is one of the work at every moment of an impact: take impact-friction shock with impact "
           "stronge";
  if (*friction == SR_IMPACT_FRICTION_AUTO) *friction = work ? SR_IMPACT_FRICTION_SHOCK : SR_IMPACT_FRICTION_ALGEBRAIC;
  const bool shock = *friction == SR_IMPACT_FRICTION_SHOCK;
  if (shock && *order == SR_IMPACT_ORDER_SIMULTANEOUS)
    return "friction at every moment of an impact (impact stronge, impact-friction shock) is a law of one contact at a "
           "time: take impact-order sequential";
  if (*order == SR_IMPACT_ORDER_AUTO) *order = shock ? SR_IMPACT_ORDER_SEQUENTIAL : SR_IMPACT_ORDER_SIMULTANEOUS;
  return NULL;
}

// The pattern of G with full rows for contacts: normals behind the position equations, tangents at the end.
static bool make_pattern(srRigid* x) {
  const srSystem* s = &x->inner;
  const srSparsity* from = s->G_sparsity;
  if (from == NULL) return true;
  const int n = s->ng + 3 * x->most;
  const size_t count = sri_rows_count(s) + 3 * (size_t)x->most * (size_t)s->nv;
  int *row = NULL, *column = NULL;
  const bool good = srm_take_ints(&row, (size_t)n + 1) && srm_take_ints(&column, count);
  x->pattern = (srSparsity){n, s->nv, row, column};
  if (!good) return false;
  int at = 0;
  for (int k = 0; k < n; ++k) {
    const bool contact = (k >= s->np && k < s->np + x->most) || k >= s->ng + x->most;
    const int own = k < s->np ? k : k - x->most;
    row[k] = at;
    for (int i = 0; contact && i < s->nv; ++i) column[at++] = i;
    for (int p = contact ? 0 : from->row[own]; !contact && p < from->row[own + 1]; ++p) column[at++] = from->column[p];
  }
  row[n] = at;
  return true;
}

static bool allocate(srRigid* x) {
  const srSystem* s = &x->inner;
  const size_t nv = (size_t)s->nv, nq = (size_t)s->nq, ny = (size_t)s->ny, ng = (size_t)s->ng;
  const size_t most = (size_t)x->most, rows = 3 * most;
  const size_t samples = most * sri_rigid_sample_size() / sizeof(double) + 1;
  const size_t columns = (size_t)(s->ncolumn > 0 ? s->ncolumn : s->nv), width = (1 + (size_t)s->ntangent) * columns;
  double* last;
  const srPart parts[] = {{&x->force_basis, rows * rows},
                          {&x->row_basis, rows * rows},
                          {&x->q_list, nq},
                          {&x->v_list, nv},
                          {&x->rate, 3 * (size_t)(s->ncontact + s->nclamp)},
                          {&x->rate_other, 3 * (size_t)(s->ncontact + s->nclamp)},
                          {&x->q_last, nq},
                          {&x->M, sri_mass_count(s)},
                          {&x->f, nv},
                          {&x->ydot, ny},
                          {&x->G, sri_rows_count(s)},
                          {&x->b, ng},
                          {&x->g, ng},
                          {&x->gamma, ng},
                          {&x->right, ng},
                          {&x->free, nv},
                          {&x->q_free, nq},
                          {&x->v_free, nv},
                          {&x->y_free, ny},
                          {&x->W, rows * nv},
                          {&x->X, rows * nv},
                          {&x->drift, rows},
                          {&x->samples, samples},
                          {&x->rhs, rows},
                          {&x->scale, rows},
                          {&x->right_rows, rows},
                          {&x->rhs_other, rows},
                          {&x->p, rows},
                          {&x->A, rows * rows},
                          {&x->lu, rows * rows},
                          {&x->a, nv},
                          {&x->dq, nv},
                          {&x->q_near, nq},
                          {&x->q_new, nq},
                          {&x->v_new, nv},
                          {&x->lambda, rows},
                          {&x->lambda_kept, rows},
                          {&x->slips, most},
                          {&x->partings, most},
                          {&x->value, rows},
                          {&x->q_ahead, nq},
                          {&x->v_ahead, nv},
                          {&x->y_ahead, ny},
                          {&x->q_start, nq},
                          {&x->v_start, nv},
                          {&x->y_start, ny},
                          {&x->Nv, rows},
                          {&x->Dv, rows},
                          {&last, most * width}};
  const size_t numbers = most + 3 * rows + most * columns;
  const size_t bytes = (size_t)x->outer.ng + ng + most + rows;
  const size_t structs = most * (sizeof *x->closed + sizeof *x->part + sizeof *x->touch + sizeof *x->pairs);
  unsigned char* tail;
  if (!sr_take_parts(parts, SR_COUNT(parts), structs + numbers * sizeof *x->owner + bytes, &x->block, &tail))
    return false;
  x->closed = (void*)tail;
  x->part = (void*)(x->closed + most);
  x->touch = (void*)(x->part + most);
  x->pairs = (void*)(x->touch + most);
  x->owner = (void*)(x->pairs + most);
  x->active = (void*)(x->owner + numbers);
  x->kept = x->active + x->outer.ng;
  x->fired = (signed char*)(x->kept + ng);
  x->direction = x->fired + most;
  x->pivot = x->owner + most;
  x->row_from = x->pivot + rows;
  x->row_to = x->row_from + rows;
  for (size_t k = 0; k < most; ++k) {
    x->closed[k].last.W = last + k * width;
    x->closed[k].last.column = x->row_to + rows + k * columns;
  }
  return true;
}

static bool make_solvers(srRigid* x) {
  const srSystem* s = &x->inner;
  x->shape = (srmSaddleShape){.nv = s->nv, .ng = s->ng, .M = s->M_sparsity, .G = s->G_sparsity, .mass = true};
  x->saddle = srm_saddle_create(&x->shape);
  x->rows = srm_rows_create(&x->shape);
  x->problem = sr_contact_problem_create(0, 0, x->most, true);
  if (x->saddle == NULL || x->rows == NULL || x->problem == NULL) return false;
  for (int i = 0; i < x->most; ++i) x->problem->cone[i].rows = 3;
  const srContactSize size = sr_contact_size(x->problem);
  x->solver = sr_contact_solver_create(&size);
  x->list = sri_contacts_create(s);
  x->other = sri_contacts_create(s);
  return x->solver != NULL && x->list != NULL && x->other != NULL;
}

srRigid* sri_rigid_create(const srSystem* system, const srRigidOptions* options) {
  srRigid* x = sr_alloc(sizeof *x);
  if (x == NULL) return NULL;
  SR_ASSERT(system->contacts != NULL && system->ntangent == 2 && !system->D_differs);
  x->inner = *system;
  if (system->ng > 0 || system->nclamp > 0) x->inner.rates = NULL;  // they do not know what is closed
  x->o = *options;
  const char* wrong = sri_impact_settle(x->o.rule, &x->o.friction, &x->o.order);
  SR_ASSERT(wrong == NULL);
  (void)wrong;
  x->o.hop = fmax(x->o.hop, HOP_LEAST);
  x->most = options->most < system->ncontact ? options->most : system->ncontact;
  if (x->most < 1) x->most = 1;
  x->most += system->nclamp;
  x->t_settled = -HUGE_VAL;
  x->evaluated = -1;
  sri_rigid_callbacks(x);
  if (make_pattern(x) && allocate(x) && make_solvers(x)) {
    x->outer.active = x->active;
    sri_rigid_activate(x);
    x->gaps = sri_gaps_create(&x->outer);
    if (x->gaps != NULL) return x;
  }
  sri_rigid_destroy(x);
  return NULL;
}

void sri_rigid_destroy(srRigid* x) {
  if (x == NULL) return;
  sri_gaps_destroy(x->gaps);
  sri_contacts_destroy(x->list);
  sri_contacts_destroy(x->other);
  sr_contact_solver_destroy(x->solver);
  sr_contact_problem_destroy(x->problem);
  srm_saddle_destroy(x->saddle);
  srm_rows_destroy(x->rows);
  srm_pattern_free(&x->pattern);
  sr_free(x->block);
  sr_free(x);
}

srSystem sri_rigid_system(srRigid* x) { return x->outer; }
void sri_rigid_attach(srRigid* x, const srIntegrator* integrator) { x->integrator = integrator; }
const char* sri_rigid_error(const srRigid* x) { return x->error_message; }

bool sri_rigid_contradicts(const srRigid* x, int* closed, int* stick) {
  *closed = x->nclosed;
  *stick = 0;
  for (int k = 0; k < x->nclosed; ++k) *stick += x->closed[k].status == SR_RIGID_STICKS;
  return *stick > 0 && x->contradicts;
}

const srRigidStats* sri_rigid_stats(const srRigid* x) { return &x->stats; }

// The deepest contact at the start.
static void keep_overlap(srRigid* x, double t) {
  if (sri_rigid_list(x, t, x->q_start) != 0) return;
  for (int i = 0; i < x->count; ++i) {
    if (!(-x->list[i].gap > x->stats.overlap)) continue;
    x->stats.overlap = -x->list[i].gap;
    x->stats.overlaps = x->list[i].id;
  }
}

// Overlaps are moved apart along their normals, as far as these stay what they are: a state that is not finite, or still overlaps, is refused.
static int ensure_apart(srRigid* x, double t) {
  const srSystem* s = &x->inner;
  bool apart = sri_all_finite(s->nq, x->q_start) && sri_all_finite(s->nv, x->v_start);
  if (!(x->stats.overlap > x->o.gap)) return 0;
  if (apart && sri_rigid_list(x, t, x->q_start) != 0) return sri_rigid_fail(x, "the contacts cannot be evaluated");
  for (int i = 0; i < x->count && apart; ++i) apart = x->list[i].gap > -APART;
  return apart ? 0
               : sri_rigid_fail(x,
                                "contacts that overlap at the start cannot be moved apart: give a start without "
                                "overlaps, or take --start apart");
}

int sri_rigid_start(srRigid* x, double t, double* q, double* v, double* y) {
  x->nclosed = x->ncontact = 0;
  x->listed = false;
  sri_rigid_activate(x);
  // q may be where the callbacks of the system keep the state of their last evaluation.
  const srSystem* s = &x->inner;
  sri_copy(x->q_start, q, s->nq);
  sri_copy(x->v_start, v, s->nv);
  sri_copy(x->y_start, y, s->ny);
  keep_overlap(x, t);
  int answer = sri_rigid_settle(x, t, x->q_start, x->v_start, x->y_start, NULL);
  if (answer == 0) answer = ensure_apart(x, t);
  if (answer != 0) return answer;
  sri_copy(q, x->q_start, s->nq);
  sri_copy(v, x->v_start, s->nv);
  sri_copy(y, x->y_start, s->ny);
  return 0;
}
