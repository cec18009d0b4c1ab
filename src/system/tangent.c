// The exact tangent of a model: derivatives of the residual of the motion by q, v and y (integrate.h: srTangent).
//
//   E = [ M a + c - f - G^T lambda ; -y' ],   Kq = dE along sr_retract,   Kv = dE by (v, y)
//
// M a + c: dynamics/rnea_derivative.c. Forces and constraints: each is a wrench over the twist of one frame observed from another
// (dynamics/chain.c), or acts on a variable (tangent_variable.c), so that the contribution of an element is small and local: its own derivative
// between its own two frames, pulled back along the chain. Derivations: docs/theory/tangent.md.
//
// The order of the entries does not depend on the numbers (math/entries.h). At creation the same code runs without
// numbers and records their positions; the pattern is made from that, so it cannot miss one.
#include "system/tangent.h"

#include <stdlib.h>
#include <string.h>

#include "model/private.h"

#define NEW(x, type, n) ((type*)sr_pool_alloc(&(x)->pool, (size_t)((n) > 0 ? (n) : 1) * sizeof(type)))
#define DENSE 24  // up to this size a matrix is dense
// Unknowns beyond which the system solves its linear systems, trees by recursion. It is cheaper from 25 on; up to 100 radau5 may need the
// matrices, to couple its stages.
#define OWN_ABOVE 100

// Time-stepping takes the forces (m, f) on a free body in the axes at the start of a step, whatever it turns in it; their components in those of the body change by the turn, too:
//   f + dphi x f,   m + dphi x m:    Kq + [f x], Kq + [m x] along dphi
// Without it a load that keeps its direction would have a derivative, whose symmetric part is a torque on a body that moves.
static void add_axes(srModelTangent* x, const srData* d) {
  static const double none[6];
  for (int link = 1; link < x->m->nlink; link++) {
    const int v = x->m->link_v[link];
    if (x->m->link_type[link] != SR_LINK_FREE) continue;
    for (int part = 0; part < 6; part += 3) {
      const double* f = (d != NULL ? d->f + v : none) + part;
      const double turn[3][3] = {{0, -f[2], f[1]}, {f[2], 0, -f[0]}, {-f[1], f[0], 0}};
      for (int k = 0; k < 9; k++) srm_entry(&x->entries, v + part + k / 3, v + k % 3, turn[k / 3][k % 3], 0);
    }
  }
}

static int assemble(srModelTangent* x, srData* d, double tau, const double* a, const double* lambda) {
  x->entries.next = 0;
  if (x->forces_alone &&
      d != NULL) {  // gyroscopic terms are not symmetric, and what is symmetric of them would not damp
    x->entries.next = x->inertial;
  } else {
    sr_rnea_derivative(x->m, d, a, x->rnea, &x->entries);
    x->inertial = x->entries.next;
  }
  const int answer = sr_tangent_forces(x, d, tau, a, lambda);
  if (answer != 0) return answer;
  if (x->forces_alone) add_axes(x, d);
  if (x->m->nformula_row > 0) sr_tangent_formula_rows(x, d, lambda);
  return x->m->nset > 0 && !x->rigid && d != NULL ? sr_tangent_contacts(x, d, tau) : 0;
}

int sr_tangent_evaluate(srModelTangent* x, srData* d, double tau, const double* a, const double* lambda,
                        srTangent* out) {
  const int recorded = x->m->nset > 0 && !x->rigid ? sr_tangent_record(x, d) : 0;
  if (recorded != 0) return recorded;
  memset(out->Kq, 0, x->count * sizeof *out->Kq);
  memset(out->Kv, 0, x->count * sizeof *out->Kv);
  x->entries.A = out->Kq;
  x->entries.B = out->Kv;
  sr_tangent_variables(x, d);
  sr_tangent_formula_values(x, d);
  return assemble(x, d, tau, a, lambda);
}

// ---- pattern ------------------------------------------------------------------------------------------------------------

static int by_place(const void* a, const void* b) {
  const int *x = a, *y = b;
  return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

// All pairs, both ways, with the diagonal and the pattern of M; sorted, each once. Returns their number.
static size_t collect(const srModelTangent* x, const int* taken, size_t ntaken, int* pair) {
  const srModel* m = x->m;
  size_t n = 0;
#define PAIR(i, j) (pair[2 * n] = (i), pair[2 * n + 1] = (j), n++)
  for (size_t i = 0; i < ntaken; i++) {
    PAIR(taken[2 * i], taken[2 * i + 1]);
    PAIR(taken[2 * i + 1], taken[2 * i]);
  }
  for (int i = 0; i < x->n; i++) PAIR(i, i);
  for (int i = 0; m->constrained && i < m->nv; i++) {
    for (int k = m->M_row[i]; k < m->M_row[i + 1]; k++) PAIR(i, m->M_column[k]);
  }
#undef PAIR
  qsort(pair, n, 2 * sizeof *pair, by_place);
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    if (kept > 0 && by_place(pair + 2 * (kept - 1), pair + 2 * i) == 0) continue;
    memmove(pair + 2 * kept++, pair + 2 * i, 2 * sizeof *pair);
  }
  return kept;
}

static void make_sparsity(srModelTangent* x, const int* pair, size_t n) {
  int *row = NEW(x, int, x->n + 1), *column = NEW(x, int, (int)n);
  for (size_t i = 0; i < n; i++) {
    row[pair[2 * i] + 1]++;
    column[i] = pair[2 * i + 1];
  }
  for (int i = 0; i < x->n; i++) row[i + 1] += row[i];
  x->sparsity = (srSparsity){x->n, x->n, row, column};
  x->count = n;
}

static int place_of(const srModelTangent* x, int i, int j) {
  const int* row = x->sparsity.row;
  if (!row) return i * x->n + j;
  int low = row[i], high = row[i + 1] - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (x->sparsity.column[middle] < j) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static void make_places(srModelTangent* x, const int* taken, size_t n) {
  int* place = NEW(x, int, (int)n);
  for (size_t i = 0; i < n; i++) place[i] = place_of(x, taken[2 * i], taken[2 * i + 1]);
  x->entries = (srmEntries){.place = place};
}

// Of a model with contact sets: its own entries are kept, those of the instances follow.
static bool keep_entries(srModelTangent* x, bool own, const int* taken, size_t n) {
  return own ? sr_tangent_matrix_prepare(x, taken, n) : sr_tangent_fixed(x, taken, n);
}

// False when out of memory: the scratch is not in the pool, which lives as long as the tangent. own: the system solves.
static bool make_pattern(srModelTangent* x, bool own) {
  const srModel* m = x->m;
  (void)assemble(x, NULL, 0, NULL, NULL);
  const size_t n = x->entries.next, mass = m->constrained ? (size_t)m->M_row[m->nv] : 0;
  int* taken = sr_alloc((2 * n + 1) * sizeof *taken);
  int* pair = taken ? sr_alloc((4 * n + 2 * mass + 2 * (size_t)x->n + 1) * sizeof *pair) : NULL;
  bool made = false;
  jmp_buf failed, *const outer = x->pool.on_fail;
  if (pair && setjmp(failed) == 0) {
    x->pool.on_fail = &failed;
    x->entries = (srmEntries){.pair = taken};
    (void)assemble(x, NULL, 0, NULL, NULL);
    x->count = (size_t)x->n * (size_t)x->n;
    if (m->nset > 0 && !x->rigid) {
      made = keep_entries(x, own, taken, n);
    } else {
      if (x->n > DENSE) make_sparsity(x, pair, collect(x, taken, n, pair));
      make_places(x, taken, n);
      made = true;
    }
  }
  x->pool.on_fail = outer;
  sr_free(taken);
  sr_free(pair);
  return made;
}

// ---- creation -----------------------------------------------------------------------------------------------------------

static int* none(srModelTangent* x, int n) {
  int* out = NEW(x, int, n);
  for (int i = 0; i < n; i++) out[i] = -1;
  return out;
}

static void prepare(srModelTangent* x) {
  const srModel* m = x->m;
  x->rnea = NEW(x, double, sr_rnea_derivative_work(m));
  x->of_closure = NEW(x, srChain*, m->nclosure);
  x->of_force = NEW(x, srChain*, m->nforce);
  x->of_sensor = NEW(x, srChain*, m->nsensor);
  x->of_joint = NEW(x, srChain*, m->njoint);
  x->of_q = none(x, m->njq);
  x->of_v = none(x, m->njv);
  x->of_scalar = none(x, m->nsensor_value);
  x->of_state = none(x, m->ny);
  x->of_distance = none(x, m->nforce);
  sr_tangent_force_prepare(x);
  sr_tangent_formulas(x);
}

srModelTangent* sr_tangent_create(const srModel* m) { return sr_tangent_create_as(m, SR_SOLVE_AUTO); }

srModelTangent* sr_tangent_create_as(const srModel* m, srSolve solve) {
  const bool own = m->ng == 0 && (solve == SR_SOLVE_OWN || (solve == SR_SOLVE_AUTO && m->nv + m->ny > OWN_ABOVE));
  srModelTangent* x = sr_alloc(sizeof *x);
  if (!x) return NULL;
  jmp_buf out_of_memory;
  x->m = m;
  x->n = m->nv + m->ny;
  x->forces_alone = solve == SR_SOLVE_RIGID;
  x->rigid = solve == SR_SOLVE_RIGID || solve == SR_SOLVE_REST;
  sr_pool_init(&x->pool);
  x->pool.on_fail = &out_of_memory;
  bool made = false;
  if (setjmp(out_of_memory) == 0) {
    prepare(x);
    made = (own && sr_tangent_tree_prepare(x)) || make_pattern(x, own);
  }
  x->pool.on_fail = NULL;
  if (made) return x;
  sr_tangent_destroy(x);
  return NULL;
}

void sr_tangent_destroy(srModelTangent* x) {
  if (!x) return;
  sr_tangent_matrix_destroy(x);
  sr_pool_free(&x->pool);
  sr_free(x);
}
