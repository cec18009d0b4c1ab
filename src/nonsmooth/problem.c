// A contact problem as data: memory, checks, frames.
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "math/vector3.h"
#include "nonsmooth/solver.h"

int sr_contact_rows(const srContactProblem* problem) {
  int rows = problem->nequation;
  for (int i = 0; i < problem->ncontact; ++i) rows += problem->cone[i].rows;
  return rows;
}

void sr_contact_frame(const double normal[3], double frame[9]) {
  srm_set3(frame, normal);
  srm_frame3(normal, frame + 3, frame + 6);
}

// ---- memory -------------------------------------------------------------------------------------------------------------

// With W all arrays are behind the struct, in one block.
static srContactProblem* create_dense(int nequation, int ncontact) {
  const size_t rows = (size_t)nequation + 3 * (size_t)ncontact, numbers = 3 * (rows + 1) + rows * rows + 1;
  srContactProblem* p = sr_alloc(sizeof *p + numbers * sizeof *p->W + ((size_t)ncontact + 1) * sizeof *p->cone);
  if (p == NULL) return NULL;
  p->start = (double*)(void*)(p + 1);
  p->solution = p->start + rows + 1;
  p->q = p->solution + rows + 1;
  p->W = p->q + rows + 1;
  p->cone = (srContactCone*)(void*)(p->W + rows * rows + 1);
  return p;
}

static srContactProblem* create_sparse(int nbody, int nequation, int ncontact) {
  srContactProblem* p = sr_alloc(sizeof *p);
  if (p == NULL) return NULL;
  const size_t rows = (size_t)nequation + 3 * (size_t)ncontact;
  p->nbody = nbody;
  p->cone = sr_alloc(((size_t)ncontact + 1) * sizeof *p->cone);
  p->start = sr_alloc((rows + 1) * sizeof *p->start);
  p->solution = sr_alloc((rows + 1) * sizeof *p->solution);
  p->body = sr_alloc(((size_t)nbody + 1) * sizeof *p->body);
  p->point = sr_alloc(((size_t)ncontact + 1) * sizeof *p->point);
  p->equation = sr_alloc(((size_t)nequation + 1) * sizeof *p->equation);
  if (p->cone != NULL && p->start != NULL && p->solution != NULL && p->body != NULL && p->point != NULL &&
      p->equation != NULL)
    return p;
  sr_contact_problem_destroy(p);
  return NULL;
}

srContactProblem* sr_contact_problem_create(int nbody, int nequation, int ncontact, bool dense) {
  srContactProblem* p = dense ? create_dense(nequation, ncontact) : create_sparse(nbody, nequation, ncontact);
  if (p == NULL) return NULL;
  p->ncontact = ncontact;
  p->nequation = nequation;
  for (int i = 0; i < ncontact; ++i) p->cone[i].rows = 3;
  return p;
}

bool sr_contact_problem_take_rows(srContactProblem* p) {
  p->row = sr_alloc(((size_t)p->ncontact + 1) * sizeof *p->row);
  return p->row != NULL;
}

void sr_contact_problem_destroy(srContactProblem* p) {
  if (p == NULL) return;
  void* parts[] = {p->cone, p->body, p->point, p->equation, p->start, p->solution};
  for (int i = 0; i < SR_COUNT(parts) && p->W == NULL; ++i) sr_free(parts[i]);
  sr_free(p->row);
  sr_free(p);
}

// ---- checks -------------------------------------------------------------------------------------------------------------

static const srPlace nowhere = {NULL, 0, 0};
static const srContactPlaces no_places = {NULL, NULL, NULL};

static bool finite_all(const double* x, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    if (!isfinite(x[i])) return false;
  }
  return true;
}

static bool body_exists(const srContactProblem* p, int body) { return body >= SR_CONTACT_FIXED && body < p->nbody; }

// Positive semidefinite, by its principal minors; rounding of a rotated tensor is allowed.
static bool semidefinite(const double I[6]) {
  const double xx = I[0], yy = I[1], zz = I[2], xy = I[3], xz = I[4], yz = I[5];
  const double scale = fabs(xx) + fabs(yy) + fabs(zz), round = 1e-12 * scale;
  const double det = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
  return xx >= -round && yy >= -round && zz >= -round && xx * yy - xy * xy >= -round * scale &&
         xx * zz - xz * xz >= -round * scale && yy * zz - yz * yz >= -round * scale && det >= -round * scale * scale;
}

// Messages of one kind for all things of a problem: "contact 3: ...", the first is number 0.
typedef struct Check {
  const srContactProblem* p;
  const srContactPlaces* places;
  srMessages* messages;
  bool good;
} Check;

static void refuse(Check* c, const char* what, const srPlace* places, int i, const char* why) {
  sr_messages_add(c->messages, SR_SEVERITY_ERROR, places != NULL ? places[i] : nowhere, "%s %d: %s", what, i, why);
  c->good = false;
}
static void refuse_body(Check* c, int i, const char* why) { refuse(c, "body", c->places->body, i, why); }
static void refuse_equation(Check* c, int i, const char* why) { refuse(c, "equation", c->places->equation, i, why); }
static void refuse_contact(Check* c, int i, const char* why) { refuse(c, "contact", c->places->contact, i, why); }

static void check_body(Check* c, int i) {
  const srContactBody* b = &c->p->body[i];
  if (!isfinite(b->inverse_mass) || !finite_all(b->inverse_inertia, 6) || !finite_all(b->velocity, 6))
    refuse_body(c, i, "a number is not finite");
  else if (b->inverse_mass < 0 || !semidefinite(b->inverse_inertia))
    refuse_body(c, i, "the inverse mass must be 0 or positive, and the inverse inertia positive semidefinite");
}

static void check_point(Check* c, int i) {
  const srContactPoint* x = &c->p->point[i];
  if (!body_exists(c->p, x->body[0]) || !body_exists(c->p, x->body[1])) {
    refuse_contact(c, i, "one of its bodies does not exist");
  } else if (c->p->row != NULL ? !finite_all(c->p->row[i][0][0], 36)
                               : !finite_all(x->normal, 3) || !finite_all(x->arm[0], 6)) {
    refuse_contact(c, i, "a number is not finite");
  } else {
    if (c->p->row == NULL && fabs(srm_norm3(x->normal) - 1) > 1e-9)
      refuse_contact(c, i, "the normal must have length 1");
    if (x->body[0] == x->body[1]) refuse_contact(c, i, "its two bodies are the same");
    if (!(sr_contact_mobility(c->p, i) > 0)) refuse_contact(c, i, "nothing can move along its normal");
  }
}

static void check_equation(Check* c, int i) {
  const srContactEquation* x = &c->p->equation[i];
  if (!body_exists(c->p, x->body[0]) || !body_exists(c->p, x->body[1]))
    refuse_equation(c, i, "one of its bodies does not exist");
  else if (!finite_all(x->row[0], 12) || !isfinite(x->shift))
    refuse_equation(c, i, "a number is not finite");
}

static void check_cone(Check* c, int i) {
  const srContactCone* x = &c->p->cone[i];
  if (x->rows < 1 || x->rows > 3 || (c->p->W == NULL && x->rows != 3))
    refuse_contact(c, i, "its rows must be 1, 2 or 3, and with bodies 3");
  if (!isfinite(x->mu) || !isfinite(x->shift) || !isfinite(x->lower) || x->mu < 0 || x->lower < 0)
    refuse_contact(c, i, "friction and the smallest impulse must be 0 or positive, and all numbers finite");
  if (!isfinite(x->slip[0]) || !isfinite(x->slip[1])) refuse_contact(c, i, "a number is not finite");
  for (int k = 0; k < 2; ++k) {
    if (!(x->compliance[k] >= 0) || !isfinite(x->compliance[k]))
      refuse_contact(c, i, "its compliances must be 0 or positive");
  }
  if (!(x->restitution >= 0 && x->restitution <= 1)) refuse_contact(c, i, "the restitution must be between 0 and 1");
}

static void check_matrix(Check* c) {
  const srContactProblem* p = c->p;
  const size_t n = (size_t)sr_contact_rows(p);
  if (!finite_all(p->W, n * n) || !finite_all(p->q, n)) {
    sr_messages_add(c->messages, SR_SEVERITY_ERROR, nowhere,
                    "a number of the matrix or of its right side is not finite");
    c->good = false;
    return;
  }
  size_t row = (size_t)p->nequation;
  for (int i = 0; i < p->ncontact; row += (size_t)p->cone[i++].rows) {
    if (!(p->W[row * n + row] > 0)) refuse_contact(c, i, "the diagonal entry of its normal in W must be positive");
  }
}

bool sr_contact_check(const srContactProblem* problem, const srContactPlaces* places, srMessages* messages) {
  Check c = {.p = problem, .places = places != NULL ? places : &no_places, .messages = messages, .good = true};
  if (!(problem->compliance >= 0) || !isfinite(problem->compliance)) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, nowhere, "the compliance must be 0 or positive");
    c.good = false;
  }
  if (!(problem->tolerance >= 0) || !isfinite(problem->tolerance)) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, nowhere, "the tolerance must be positive");
    c.good = false;
  }
  for (int i = 0; i < problem->ncontact; ++i) check_cone(&c, i);
  if (problem->W != NULL) {
    if (c.good) check_matrix(&c);
    return c.good;
  }
  for (int i = 0; i < problem->nbody; ++i) check_body(&c, i);
  for (int i = 0; i < problem->ncontact; ++i) check_point(&c, i);
  for (int i = 0; i < problem->nequation; ++i) check_equation(&c, i);
  return c.good;
}
