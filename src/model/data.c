// srData: one allocation holds the struct and every array of SR_DATA_FIELDS, each aligned to 32 bytes for the kernels.
#include <string.h>

#include "model/private.h"

#define ALIGN 4  // doubles

static size_t padded(int count) { return ((size_t)(count > 0 ? count : 0) + ALIGN - 1) / ALIGN * ALIGN; }

static size_t head(void) { return (sizeof(srData) / sizeof(double) + 2 * ALIGN) / ALIGN * ALIGN; }

// The recursions want 96 doubles a link; the programs their own registers; the two are not used at the same time.
int sr_data_work(const srModel* m) {
  const int laws = sr_program_work(m->priv->laws), drivers = sr_program_work(m->priv->drivers);
  return 96 * m->nlink + 8 * m->nv + (laws > drivers ? laws : drivers) + 256;
}

static size_t total(const srModel* m) {
  size_t n = head();
#define SR_DATA_SIZE(name, count, doc) n += padded(count);
  SR_DATA_FIELDS(SR_DATA_SIZE)
#undef SR_DATA_SIZE
  return n;
}

srData* sr_data_create(const srModel* model) {
  const srModel* m = model;
  double* memory = sr_alloc(total(m) * sizeof *memory);
  if (!memory) return NULL;
  srData* d = (srData*)(void*)memory;
  double* next = memory + head();
#define SR_DATA_PLACE(name, count, doc)                                                                                \
  d->name = next;                                                                                                      \
  next += padded(count);
  SR_DATA_FIELDS(SR_DATA_PLACE)
#undef SR_DATA_PLACE
  d->model = m;
  sr_data_reset(m, d);
  return d;
}

void sr_data_destroy(srData* data) { sr_free(data); }

void sr_data_reset(const srModel* model, srData* data) {
  const srModel* m = model;
#define SR_DATA_ZERO(name, count, doc) memset(data->name, 0, padded(count) * sizeof(double));
  SR_DATA_FIELDS(SR_DATA_ZERO)
#undef SR_DATA_ZERO
  if (m->nq > 0) memcpy(data->q, m->q0, (size_t)m->nq * sizeof(double));
  if (m->nv > 0) memcpy(data->v, m->v0, (size_t)m->nv * sizeof(double));
  if (m->ny > 0) memcpy(data->y, m->y0, (size_t)m->ny * sizeof(double));
  data->t = 0;
  data->stage = SR_STAGE_NONE;
  data->trouble[0] = '\0';
}

void sr_data_copy(const srModel* model, const srData* from, srData* to) {
  const srModel* m = model;
#define SR_DATA_COPY(name, count, doc) memcpy(to->name, from->name, padded(count) * sizeof(double));
  SR_DATA_FIELDS(SR_DATA_COPY)
#undef SR_DATA_COPY
  to->t = from->t;
  to->stage = from->stage;
  memcpy(to->trouble, from->trouble, sizeof to->trouble);
}
