// Patches of a contact problem, each solved by Newton's method (patch.h): a block Gauss-Seidel method with blocks of many contacts, chosen by their errors.
//
// Sweeps over the cones of Coulomb's law need not converge: where bodies are wedged, and slip of one contact decides the normal impulse of others, impulses of a few contacts go round for
// thousands of sweeps, while all others are solved. Newton's method does not follow the sweeps' path, and solves such a group in some steps.
#include "nonsmooth/patch.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "math/vector3.h"
#include "nonsmooth/coloured.h"

enum { PATCHES = 4 };  // of one call at the most
#define FINE 0.01      // times the tolerance: error of a patch

struct srContactPatch {
  srContactProblem* problem;
  srContactSolver* solver;
  double* impulse;  // of the patch
  int* contact;     // of the patch: in the whole problem
  int* body;        // the same of its bodies
  int*
      ring;  // of each body of the whole problem: how far it is from the worst contact, from 1 on; 0: it is not in the patch
  int* place;  // ... its number in the patch
};

void sr_contact_patch_destroy(srContactPatch* x) {
  if (x == NULL) return;
  sr_contact_problem_destroy(x->problem);
  sr_contact_solver_destroy(x->solver);
  void* parts[] = {x->impulse, x->contact, x->body, x->ring, x->place};
  for (int i = 0; i < SR_COUNT(parts); ++i) sr_free(parts[i]);
  sr_free(x);
}

srContactPatch* sr_contact_patch_create(const srContactSize* most) {
  const srContactSize size = {
      .bodies = 2 * SR_CONTACT_PATCH, .contacts = SR_CONTACT_PATCH, .dense = 3 * SR_CONTACT_PATCH};
  const size_t bodies = (size_t)most->bodies + 1;
  srContactPatch* x = sr_alloc(sizeof *x);
  if (x == NULL) return NULL;
  x->problem = sr_contact_problem_create(size.bodies, 0, size.contacts, false);
  x->solver = sr_contact_solver_create(&size);
  x->impulse = sr_alloc(3 * SR_CONTACT_PATCH * sizeof *x->impulse);
  x->contact = sr_alloc(SR_CONTACT_PATCH * sizeof *x->contact);
  x->body = sr_alloc(2 * SR_CONTACT_PATCH * sizeof *x->body);
  x->ring = sr_alloc(bodies * sizeof *x->ring);
  x->place = sr_alloc(bodies * sizeof *x->place);
  if (x->problem != NULL && x->solver != NULL && x->impulse != NULL && x->contact != NULL && x->body != NULL &&
      x->ring != NULL && x->place != NULL)
    return x;
  sr_contact_patch_destroy(x);
  return NULL;
}

static bool moves(const srContactProblem* p, int body) {
  return body >= 0 && (p->body[body].inverse_mass > 0 || p->body[body].inverse_inertia[0] > 0 ||
                       p->body[body].inverse_inertia[1] > 0 || p->body[body].inverse_inertia[2] > 0);
}

// ---- its contacts -------------------------------------------------------------------------------------------------------

// Contact i and what it moves, `ring` contacts from the worst one.
static void add_contact(srContactPatch* x, const srContactProblem* all, int i, int ring) {
  srContactProblem* p = x->problem;
  const int k = p->ncontact++;
  x->contact[k] = i;
  p->point[k] = all->point[i];
  p->cone[k] = all->cone[i];
  for (int side = 0; side < 2; ++side) {
    const int body = all->point[i].body[side];
    if (body < 0) continue;
    if (x->ring[body] == 0) {
      x->ring[body] = ring + 1;
      x->place[body] = p->nbody;
      x->body[p->nbody] = body;
      p->body[p->nbody++] = all->body[body];
    }
    p->point[k].body[side] = x->place[body];
  }
}

static bool reaches(const srContactPatch* x, const srContactProblem* all, int i, int ring) {
  for (int side = 0; side < 2; ++side) {
    const int body = all->point[i].body[side];
    if (moves(all, body) && x->ring[body] == ring) return true;
  }
  return false;
}

// All contacts of the bodies of the first one that are closed, or should be, then those of the bodies that these touch, and so on, until it is full.
static void grow(srContactPatch* x, const srContactProblem* all, int first, double tolerance, const double* impulse,
                 const double* error) {
  srContactProblem* p = x->problem;
  p->ncontact = p->nbody = p->nequation = 0;
  p->compliance = all->compliance;
  memset(x->ring, 0, (size_t)all->nbody * sizeof *x->ring);
  add_contact(x, all, first, 0);
  for (int ring = 1, before = 0; p->ncontact > before && p->ncontact < SR_CONTACT_PATCH; ++ring) {
    before = p->ncontact;
    for (int i = 0; i < all->ncontact && p->ncontact < SR_CONTACT_PATCH; ++i) {
      if (!(impulse[3 * (size_t)i] > 0 || error[i] > tolerance) || !reaches(x, all, i, ring)) continue;
      bool has = false;
      for (int k = 0; k < p->ncontact && !has; ++k) has = x->contact[k] == i;
      if (!has) add_contact(x, all, i, ring);
    }
  }
}

// ---- its velocities -----------------------------------------------------------------------------------------------------

// v of the bodies of the patch += sign M^-1 H^T p of its contacts.
static void push(const srContactPatch* x, double sign, double* v) {
  const srContactProblem* p = x->problem;
  for (int k = 0; k < p->ncontact; ++k) {
    double frame[9], f[3], moment[3];
    const double* at = x->impulse + 3 * k;
    sr_contact_frame(p->point[k].normal, frame);
    for (int j = 0; j < 3; ++j) f[j] = frame[j] * at[0] + frame[3 + j] * at[1] + frame[6 + j] * at[2];
    for (int side = 0; side < 2; ++side) {
      const int body = p->point[k].body[side];
      if (body < 0) continue;
      const double *I = p->body[body].inverse_inertia, way = side == 0 ? -sign : sign;
      double* to = v + SR_ROW * (size_t)x->body[body];
      srm_cross3(p->point[k].arm[side], f, moment);
      for (int j = 0; j < 3; ++j) to[j] += way * p->body[body].inverse_mass * f[j];
      to[4] += way * (I[0] * moment[0] + I[3] * moment[1] + I[4] * moment[2]);
      to[5] += way * (I[3] * moment[0] + I[1] * moment[1] + I[5] * moment[2]);
      to[6] += way * (I[4] * moment[0] + I[5] * moment[1] + I[2] * moment[2]);
    }
  }
}

// The problem with the impulses of all other contacts in the velocities.
static void set_velocities(srContactPatch* x, double* v) {
  srContactProblem* p = x->problem;
  push(x, -1, v);
  for (int i = 0; i < p->nbody; ++i) {
    const double* from = v + SR_ROW * (size_t)x->body[i];
    srm_set3(p->body[i].velocity, from + 4);
    srm_set3(p->body[i].velocity + 3, from);
  }
}

// ---- solve --------------------------------------------------------------------------------------------------------------

// True: its impulses have changed.
static bool solve_patch(srContactPatch* x, double tolerance, double worst, double* impulse, double* v) {
  const srContactProblem* p = x->problem;
  srContactOptions o = sr_contact_options();
  srContactResult result;
  o.method = sr_contact_method_find("newton");
  o.tolerance = FINE * tolerance;
  for (int k = 0; k < p->ncontact; ++k)
    memcpy(x->impulse + 3 * k, impulse + 3 * (size_t)x->contact[k], 3 * sizeof(double));
  set_velocities(x, v);
  const bool better = sr_contact_solve(x->solver, p, &o, x->impulse, &result) == SR_OK && result.error.residual < worst;
  for (int k = 0; k < p->ncontact; ++k) {
    double* at = impulse + 3 * (size_t)x->contact[k];
    memcpy(better ? at : x->impulse + 3 * k, better ? x->impulse + 3 * k : at, 3 * sizeof(double));
  }
  push(x, 1, v);
  return better;
}

int sr_contact_patch_solve(srContactPatch* x, const srContactProblem* all, double tolerance, double* impulse, double* v,
                           double* error) {
  int changed = 0;
  for (int n = 0; n < PATCHES; ++n) {
    int worst = 0;
    for (int i = 1; i < all->ncontact; ++i) {
      if (error[i] > error[worst]) worst = i;
    }
    if (!(error[worst] > tolerance)) break;
    grow(x, all, worst, tolerance, impulse, error);
    changed += solve_patch(x, tolerance, error[worst], impulse, v);
    for (int k = 0; k < x->problem->ncontact; ++k) error[x->contact[k]] = 0;
  }
  return changed;
}
