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
#include "nonsmooth/solver.h"

enum {
  PATCHES = 4,  // of one call at the most
  FEW = 12,     // Newton steps of all but the largest patches, and ...
  MORE = 100  // ... of these: most need two, the others hundreds, which another patch around the same contacts does not
};
#define FINE 0.01  // times the tolerance: error of a patch

struct srContactPatch {
  int most;  // contacts
  srContactProblem* problem;
  srContactSolver* solver;
  double* impulse;  // of the patch
  int* contact;     // of the patch: in the whole problem
  int* body;        // the same of its bodies
  int*
      ring;  // of each body of the whole problem: how far it is from the worst contact, from 1 on; 0: it is not in the patch
  int* place;   // ... its number in the patch
  bool* taken;  // of each contact of the whole problem: it is in the patch
};

void sr_contact_patch_destroy(srContactPatch* x) {
  if (x == NULL) return;
  sr_contact_problem_destroy(x->problem);
  sr_contact_solver_destroy(x->solver);
  void* parts[] = {x->impulse, x->contact, x->body, x->ring, x->place, x->taken};
  for (int i = 0; i < SR_COUNT(parts); ++i) sr_free(parts[i]);
  sr_free(x);
}

srContactPatch* sr_contact_patch_create(const srContactSize* whole, const srContactSize* size) {
  const size_t contacts = (size_t)size->contacts, bodies = (size_t)size->bodies;
  srContactPatch* x = sr_alloc(sizeof *x);
  if (x == NULL) return NULL;
  x->most = size->contacts;
  x->problem = sr_contact_problem_create(size->bodies, 0, size->contacts, false);
  x->solver = sr_contact_solver_make(size, false);
  x->impulse = sr_alloc(3 * contacts * sizeof *x->impulse);
  x->contact = sr_alloc(contacts * sizeof *x->contact);
  x->body = sr_alloc(bodies * sizeof *x->body);
  x->ring = sr_alloc(((size_t)whole->bodies + 1) * sizeof *x->ring);
  x->place = sr_alloc(((size_t)whole->bodies + 1) * sizeof *x->place);
  x->taken = sr_alloc(((size_t)whole->contacts + 1) * sizeof *x->taken);
  if (x->problem != NULL && x->solver != NULL && x->impulse != NULL && x->contact != NULL && x->body != NULL &&
      x->ring != NULL && x->place != NULL && x->taken != NULL)
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
  x->taken[i] = true;
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

static void empty(srContactPatch* x, const srContactProblem* all) {
  srContactProblem* p = x->problem;
  p->ncontact = p->nbody = p->nequation = 0;
  p->compliance = all->compliance;
  memset(x->ring, 0, (size_t)all->nbody * sizeof *x->ring);
  memset(x->taken, 0, (size_t)all->ncontact * sizeof *x->taken);
}

// All contacts of the bodies that it has that are closed, or should be, then those of the bodies that these touch, and so on, `rings` times, or until it has `most`.
static void grow(srContactPatch* x, const srContactProblem* all, int rings, int most, double tolerance,
                 const double* impulse, const double* error) {
  srContactProblem* p = x->problem;
  for (int ring = 1, before = 0; p->ncontact > before && p->ncontact < most && ring <= rings; ++ring) {
    before = p->ncontact;
    for (int i = 0; i < all->ncontact && p->ncontact < most; ++i) {
      if (x->taken[i] || !(impulse[3 * (size_t)i] > 0 || error[i] > tolerance) || !reaches(x, all, i, ring)) continue;
      add_contact(x, all, i, ring);
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

// True: its impulses have changed. worst: its error.
static bool solve_patch(srContactPatch* x, const srContactOptions* o, double worst, double* impulse, double* v) {
  const srContactProblem* p = x->problem;
  srContactResult result;
  for (int k = 0; k < p->ncontact; ++k)
    memcpy(x->impulse + 3 * k, impulse + 3 * (size_t)x->contact[k], 3 * sizeof(double));
  set_velocities(x, v);
  const bool better = sr_contact_solve(x->solver, p, o, x->impulse, &result) == SR_OK && result.error.residual < worst;
  for (int k = 0; k < p->ncontact; ++k) {
    double* at = impulse + 3 * (size_t)x->contact[k];
    memcpy(better ? at : x->impulse + 3 * k, better ? x->impulse + 3 * k : at, 3 * sizeof(double));
  }
  push(x, 1, v);
  return better;
}

int sr_contact_patch_solve(srContactPatch* x, const srContactProblem* all, int most, double tolerance, double* impulse,
                           double* v, double* error) {
  srContactOptions o = sr_contact_options();
  int changed = 0;
  o.method = sr_contact_method_find("newton");
  o.tolerance = FINE * tolerance;
  o.iterations = most < x->most ? FEW : MORE;
  for (int n = 0; n < PATCHES; ++n) {
    int worst = 0;
    for (int i = 1; i < all->ncontact; ++i) {
      if (error[i] > error[worst]) worst = i;
    }
    if (!(error[worst] > tolerance)) break;
    empty(x, all);
    add_contact(x, all, worst, 0);
    grow(x, all, all->nbody, most, tolerance, impulse, error);
    changed += solve_patch(x, &o, error[worst], impulse, v);
    for (int k = 0; k < x->problem->ncontact; ++k) error[x->contact[k]] = 0;
  }
  return changed;
}
