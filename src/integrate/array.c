// Vectors and matrices of the callbacks: what several methods do with them.
#include "integrate/array.h"

#include <math.h>
#include <string.h>

#include "math/saddle.h"

// Four at a time: fmax is a call, and each waits for the one before it. What is not a number does not count.
double sri_largest(int n, const double* a) {
  double most[4] = {0, 0, 0, 0};
  int i = 0;
  for (; i + 3 < n; i += 4) {
    for (int k = 0; k < 4; ++k) most[k] = fabs(a[i + k]) > most[k] ? fabs(a[i + k]) : most[k];
  }
  for (; i < n; ++i) most[0] = fabs(a[i]) > most[0] ? fabs(a[i]) : most[0];
  for (int k = 1; k < 4; ++k) most[0] = most[k] > most[0] ? most[k] : most[0];
  return most[0];
}

double sri_largest_of(const unsigned char* rows, int n, const double* a) {
  double most = 0;
  for (int i = 0; i < n; ++i) most = rows[i] != 0 && fabs(a[i]) > most ? fabs(a[i]) : most;
  return most;
}

bool sri_all_finite(int n, const double* a) {
  for (int i = 0; i < n; ++i) {
    if (!isfinite(a[i])) return false;
  }
  return true;
}

void sri_copy(double* to, const double* from, int n) {
  if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
}

size_t sri_mass_count(const srSystem* s) {
  return s->M_sparsity != NULL ? (size_t)s->M_sparsity->row[s->nv] : (size_t)s->nv * (size_t)s->nv;
}

size_t sri_rows_count(const srSystem* s) {
  return s->G_sparsity != NULL ? (size_t)s->G_sparsity->row[s->ng] : (size_t)s->ng * (size_t)s->nv;
}

void sri_mass_times(const srSystem* s, const double* M, const double* x, double* out) {
  srm_rows_times(&(srmSaddleShape){.nv = s->nv, .ng = s->nv, .G = s->M_sparsity}, M, x, out);
}

int sri_retract(const srSystem* s, const double* q, const double* dxi, double* out) {
  if (s->retract != NULL) return sri_outcome(s->retract(s->user, q, dxi, out));
  const int outcome = s->qdot != NULL ? sri_outcome(s->qdot(s->user, q, dxi, out)) : SRI_DONE;
  for (int i = 0; i < s->nq; ++i) out[i] = q[i] + (s->qdot != NULL ? out[i] : dxi[i]);
  return outcome;
}

// ---- unilateral contacts ----------------------------------------------------------------------------------------------

srUnilateral* sri_contacts_create(const srSystem* s) {
  const size_t n = (size_t)(s->ncontact + s->nclamp), columns = (size_t)(s->ncolumn > 0 ? s->ncolumn : s->nv);
  const size_t width = (1 + (size_t)s->ntangent) * columns;
  srUnilateral* list = sr_alloc(n * (sizeof *list + width * sizeof(double) + columns * sizeof(int)) + sizeof *list);
  if (list == NULL) return NULL;
  double* W = (double*)(void*)(list + n);
  int* column = (int*)(void*)(W + n * width);
  for (size_t i = 0; i < n; ++i) {
    list[i].W = W + i * width;
    list[i].column = column + i * columns;
  }
  return list;
}

int sri_list(const srSystem* s, double t, const double* q, srUnilateral* out, int* count) {
  *count = 0;
  int answer = s->contacts != NULL && s->ncontact > 0 ? s->contacts(s->user, t, q, out, count) : 0;
  if (answer == 0 && s->nclamp > 0) answer = s->clamps(s->user, t, q, NULL, out + *count, NULL);
  *count += s->nclamp;
  return answer;
}

int sri_list_chosen(const srSystem* s, double t, const double* q, const srContactChoice* choice, srUnilateral* out,
                    int* count) {
  *count = 0;
  int answer = s->ncontact > 0 ? s->contacts_chosen(s->user, t, q, choice, out, count) : 0;
  double* rate = choice->rate != NULL ? choice->rate + 3 * *count : NULL;
  if (answer == 0 && s->nclamp > 0) answer = s->clamps(s->user, t, q, choice->v, out + *count, rate);
  *count += s->nclamp;
  return answer;
}

void sri_contacts_destroy(srUnilateral* list) { sr_free(list); }

double sri_contact_row_times(const srUnilateral* contact, int k, const double* v) {
  const double* row = contact->W + k * contact->n;
  double sum = 0;
  for (int i = 0; i < contact->n; ++i) sum += row[i] * v[contact->column[i]];
  return sum;
}

double sri_contact_velocity(const srUnilateral* contact, int k, const double* v) {
  return sri_contact_row_times(contact, k, v) + contact->b[k];
}

void sri_contact_row_add(const srUnilateral* contact, int k, double x, double* out) {
  const double* row = contact->W + k * contact->n;
  for (int i = 0; i < contact->n; ++i) out[contact->column[i]] += row[i] * x;
}

bool sri_contact_row_is_zero(const srUnilateral* contact, int k) {
  const double* row = contact->W + k * contact->n;
  for (int i = 0; i < contact->n; ++i) {
    if (row[i] != 0) return false;
  }
  return true;
}
