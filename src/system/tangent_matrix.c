// The tangent of a model with contact sets. Instances come and go, and with them entries of Kq and Kv.
//
// The entries of everything else are recorded once, at creation; those of the instances are recorded again by the same code whenever one was
// created or removed (srInstances.edition), and their places follow. Two forms:
//
//   dense    small models, and models with constraints: integrators have K as a full matrix, and places are i n + j
//   sparse   models without constraints: K is over the unknowns in use (coordinates, states, those of the slots in use), by compressed rows.
//            The linear systems
//              (cM diag(M, 0) + cI diag(0, I) + cq Kq + cv Kv) x = b
//            are solved here (integrate.h: srMotionSolver), so that no integrator needs to know that the pattern has changed. The state of a
//            free slot has the row cI x = b.
//
// A new pattern takes a counting sort of the entries, linear in their number, and new factors with an order of elimination of their own.
// That is the only place that allocates after creation: between two changes of the instances, evaluation and solution allocate nothing.
#include <stdio.h>
#include <string.h>

#include "constraint/constraint.h"
#include "math/shifted.h"
#include "model/instance.h"
#include "system/tangent.h"

#define NEW(x, type, n) ((type*)sr_pool_alloc(&(x)->pool, (size_t)((n) > 0 ? (n) : 1) * sizeof(type)))
#define ROOM 1.25  // of what a pattern needs, when memory is taken for it

struct srTangentMatrix {
  int n;             // unknowns in use
  int* seat;         // nv + ny: the number of each among them, -1: the state of a free slot
  int* unknown;      // n: the unknown of each
  int *row, *start;  // nv + ny + 1: of the pattern; scratch of the sort
  double* M;         // where the tangent was evaluated, as d->M
  double* x;         // 2 (nv + ny): a right-hand side over the unknowns in use
  size_t nmass;
  // All that grows with the entries: entries, then those of M, then the diagonal.
  size_t capacity;
  int *order, *sorted, *column;
  double *Kq, *Kv, *re, *im;
  double* numbers;
  srmPattern pattern;
  srmShifted* factor[2];  // real, complex; NULL: not made for this pattern
  srShift shift[2];       // that they were made with
};

// ---- memory -----------------------------------------------------------------------------------------------------------

static size_t mass_count(const srModel* m) { return (size_t)m->M_row[m->nv]; }

bool sr_tangent_matrix_prepare(srModelTangent* x, const int* pair, size_t count) {
  const srModel* m = x->m;
  srTangentMatrix* k = NEW(x, srTangentMatrix, 1);
  k->nmass = mass_count(m);
  k->seat = NEW(x, int, x->n);
  k->unknown = NEW(x, int, x->n);
  k->row = NEW(x, int, x->n + 1);
  k->start = NEW(x, int, x->n + 1);
  k->M = NEW(x, double, (int)k->nmass);
  k->x = NEW(x, double, 2 * x->n);
  x->matrix = k;
  return sr_tangent_fixed(x, pair, count);
}

static void drop_factors(srTangentMatrix* k) {
  for (int i = 0; i < 2; i++) {
    srm_shifted_destroy(k->factor[i]);
    k->factor[i] = NULL;
  }
}

static void free_numbers(srTangentMatrix* k) {
  sr_free(k->order);
  sr_free(k->numbers);
  k->order = NULL;
  k->numbers = NULL;
  k->capacity = 0;
}

void sr_tangent_matrix_destroy(srModelTangent* x) {
  sr_free(x->pair);
  sr_free(x->place);
  if (x->matrix == NULL) return;
  drop_factors(x->matrix);
  free_numbers(x->matrix);
}

// Room for the places of `count` entries and, behind them, of M and the diagonal. The positions of the fixed entries are kept.
static bool take_places(srModelTangent* x, size_t count) {
  if (count <= x->entry_capacity) return true;
  const size_t most = (size_t)(ROOM * (double)count);
  int *pair = sr_alloc(2 * most * sizeof *pair), *place = sr_alloc(most * sizeof *place);
  if (pair == NULL || place == NULL) {
    sr_free(pair);
    sr_free(place);
    return false;
  }
  if (x->nfixed > 0 && x->pair != NULL) memcpy(pair, x->pair, 2 * x->nfixed * sizeof *pair);
  if (x->nfixed > 0 && x->place != NULL) memcpy(place, x->place, x->nfixed * sizeof *place);
  sr_free(x->pair);
  sr_free(x->place);
  x->pair = pair;
  x->place = place;
  x->entry_capacity = most;
  return true;
}

static bool take_numbers(srTangentMatrix* k, size_t count) {
  if (count <= k->capacity) return true;
  const size_t most = (size_t)(ROOM * (double)count);
  free_numbers(k);
  k->order = sr_alloc(3 * most * sizeof *k->order);
  k->numbers = sr_alloc(4 * most * sizeof *k->numbers);
  if (k->order == NULL || k->numbers == NULL) {
    free_numbers(k);
    return false;
  }
  k->capacity = most;
  k->sorted = k->order + most;
  k->column = k->sorted + most;
  k->Kq = k->numbers;
  k->Kv = k->Kq + most;
  k->re = k->Kv + most;
  k->im = k->re + most;
  return true;
}

bool sr_tangent_fixed(srModelTangent* x, const int* pair, size_t count) {
  if (!take_places(x, count + 1)) return false;
  memcpy(x->pair, pair, 2 * count * sizeof *pair);
  x->nfixed = count;
  for (size_t i = 0; i < count && x->matrix == NULL; i++) x->place[i] = pair[2 * i] * x->n + pair[2 * i + 1];
  x->edition = -1;
  return true;
}

// ---- pattern ----------------------------------------------------------------------------------------------------------

// Unknowns in use: all but the states of free slots, which come last among the states.
static void find_unknowns(const srModelTangent* x, const srData* d) {
  const srModel* m = x->m;
  const struct srInstances* list = d->instances;
  srTangentMatrix* k = x->matrix;
  const int before = x->n - m->ny_slot;
  for (int i = 0; i < x->n; i++) k->seat[i] = i < before ? 0 : -1;
  for (int i = 0; i < list->nused; i++) {
    const srForceElement* e = &list->instance[list->used[i]].element;
    for (int s = 0; s < e->ny; s++) k->seat[m->nv + e->y + s] = 0;
  }
  k->n = 0;
  for (int i = 0; i < x->n; i++) {
    if (k->seat[i] < 0) continue;
    k->seat[i] = k->n;
    k->unknown[k->n++] = i;
  }
}

// Appends the positions of M and of the diagonal; returns the number of all.
static size_t append_positions(srModelTangent* x, size_t count) {
  const srModel* m = x->m;
  const srTangentMatrix* k = x->matrix;
#define PAIR(i, j) (x->pair[2 * count] = (i), x->pair[2 * count + 1] = (j), count++)
  for (int i = 0; i < m->nv; i++) {
    for (int p = m->M_row[i]; p < m->M_row[i + 1]; p++) PAIR(i, m->M_column[p]);
  }
  for (int i = 0; i < k->n; i++) PAIR(k->unknown[i], k->unknown[i]);
#undef PAIR
  return count;
}

// Entries by row (which 0) or column (1), in the order `from` among equal ones; NULL: their own.
static void sort(const srModelTangent* x, size_t count, int which, const int* from, int* to) {
  const srTangentMatrix* k = x->matrix;
  const int* seat = k->seat;
  memset(k->start, 0, ((size_t)k->n + 1) * sizeof *k->start);
  for (size_t i = 0; i < count; i++) k->start[seat[x->pair[2 * i + (size_t)which]] + 1]++;
  for (int i = 0; i < k->n; i++) k->start[i + 1] += k->start[i];
  for (size_t i = 0; i < count; i++) {
    const size_t e = from != NULL ? (size_t)from[i] : i;
    to[k->start[seat[x->pair[2 * e + (size_t)which]]]++] = (int)e;
  }
}

// Rows and columns, each position once, and the place of every entry.
static void compress(srModelTangent* x, size_t count) {
  srTangentMatrix* k = x->matrix;
  int n = 0, row = -1, column = -1;
  memset(k->row, 0, ((size_t)k->n + 1) * sizeof *k->row);
  for (size_t i = 0; i < count; i++) {
    const int e = k->sorted[i], r = k->seat[x->pair[2 * e]], c = k->seat[x->pair[2 * e + 1]];
    if (r != row || c != column) {
      k->column[n++] = c;
      k->row[r + 1]++;
      row = r;
      column = c;
    }
    x->place[e] = n - 1;
  }
  for (int i = 0; i < k->n; i++) k->row[i + 1] += k->row[i];
  k->pattern = (srmPattern){.nrow = k->n, .ncol = k->n, .row = k->row, .column = k->column};
}

static bool make_pattern(srModelTangent* x, const srData* d, size_t entries) {
  srTangentMatrix* k = x->matrix;
  drop_factors(k);
  find_unknowns(x, d);
  const size_t count = append_positions(x, entries);
  if (!take_numbers(k, count)) return false;
  sort(x, count, 1, NULL, k->order);
  sort(x, count, 0, k->order, k->sorted);
  compress(x, count);
  x->count = (size_t)srm_pattern_count(&k->pattern);
  return true;
}

int sr_tangent_record(srModelTangent* x, srData* d) {
  if (x->edition == d->instances->edition) return 0;
  x->edition = -1;
  x->entries = (srmEntries){.next = x->nfixed};
  (void)sr_tangent_contacts(x, d, 0);
  const size_t count = x->entries.next, more = x->matrix != NULL ? x->matrix->nmass + (size_t)x->n : 0;
  bool good = take_places(x, count + more);
  if (good) {
    x->entries = (srmEntries){.next = x->nfixed, .pair = x->pair};
    (void)sr_tangent_contacts(x, d, 0);
    for (size_t i = x->nfixed; i < count && x->matrix == NULL; i++) {
      x->place[i] = x->pair[2 * i] * x->n + x->pair[2 * i + 1];
    }
    if (x->matrix != NULL) good = make_pattern(x, d, count);
  }
  if (!good) {
    (void)snprintf(d->error_message, sizeof d->error_message, "out of memory for the matrix of %d contacts",
                   d->instances->nused);
    return -1;
  }
  x->nentry = count;
  x->entries = (srmEntries){.place = x->place};
  x->edition = d->instances->edition;
  return 0;
}

// ---- linear systems ---------------------------------------------------------------------------------------------------

int sr_tangent_matrix_evaluate(srModelTangent* x, srData* d, double tau, const double* a, double* diagonal) {
  const srModel* m = x->m;
  srTangentMatrix* k = x->matrix;
  int answer = sr_tangent_record(x, d);
  if (answer != 0) return answer;
  srTangent out = {.Kq = k->Kq, .Kv = k->Kv};
  answer = sr_tangent_evaluate(x, d, tau, a, NULL, &out);
  if (answer != 0) return answer;
  sr_mass(m, d);
  memcpy(k->M, d->M, k->nmass * sizeof *k->M);
  for (int i = 0; i < m->nv; i++) diagonal[i] = k->M[m->M_place[2 * m->M_start[i]]];
  return 0;
}

void sr_tangent_matrix_times(const srModelTangent* x, const double* dxi, const double* dx, double* out) {
  const srTangentMatrix* k = x->matrix;
  memset(out, 0, (size_t)x->n * sizeof *out);
  for (int i = 0; i < k->n; i++) {
    double sum = 0;
    for (int p = k->row[i]; p < k->row[i + 1]; p++) {
      const int j = k->unknown[k->column[p]];
      sum += (dx != NULL ? k->Kv[p] * dx[j] : 0) + (dxi != NULL && j < x->m->nv ? k->Kq[p] * dxi[j] : 0);
    }
    out[k->unknown[i]] = sum;
  }
}

// One part, 0 real or 1 imaginary, of the matrix.
static void combine(const srModelTangent* x, const srShift* c, int part, double* out) {
  const srTangentMatrix* k = x->matrix;
  const int *mass = x->place + x->nentry, *diagonal = mass + k->nmass;
  for (size_t p = 0; p < x->count; p++) out[p] = c->cq[part] * k->Kq[p] + c->cv[part] * k->Kv[p];
  for (size_t p = 0; p < k->nmass; p++) out[mass[p]] += c->cM[part] * k->M[p];
  for (int i = x->m->nv; i < k->n; i++) out[diagonal[i]] += c->cI[part];
}

bool sr_tangent_matrix_factor(srModelTangent* x, const srShift* c, bool complex) {
  srTangentMatrix* k = x->matrix;
  srmShifted** factor = &k->factor[complex];
  if (*factor == NULL) {
    *factor =
        srm_shifted_create(&(srmShiftedShape){.n = k->n, .nv = k->n, .ng = 0, .complex = complex, .K = &k->pattern});
    if (*factor == NULL) return false;
  }
  k->shift[complex] = *c;
  combine(x, c, 0, k->re);
  if (complex) combine(x, c, 1, k->im);
  return srm_shifted_factor(*factor, k->re, complex ? k->im : NULL, NULL, NULL, NULL);
}

void sr_tangent_matrix_solve(srModelTangent* x, bool complex, double* b) {
  srTangentMatrix* k = x->matrix;
  const int parts = complex ? 2 : 1;
  const double *c = k->shift[complex].cI, size = c[0] * c[0] + (complex ? c[1] * c[1] : 0);
  for (int part = 0; part < parts; part++) {
    for (int i = 0; i < k->n; i++) k->x[part * k->n + i] = b[part * x->n + k->unknown[i]];
  }
  srm_shifted_solve(k->factor[complex], k->x, NULL, k->x, NULL);
  for (int i = x->n - x->m->ny_slot; i < x->n; i++) {  // free slots; those in use follow
    const double re = b[i], im = complex ? b[x->n + i] : 0;
    b[i] = (re * c[0] + (complex ? im * c[1] : 0)) / size;
    if (complex) b[x->n + i] = (im * c[0] - re * c[1]) / size;
  }
  for (int part = 0; part < parts; part++) {
    for (int i = 0; i < k->n; i++) b[part * x->n + k->unknown[i]] = k->x[part * k->n + i];
  }
}
