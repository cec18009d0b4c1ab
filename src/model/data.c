// srData: one allocation holds the struct and every array of SR_DATA_FIELDS, each aligned to 32 bytes for the kernels.
#include <string.h>

#include "model/elimination.h"
#include "model/instance.h"
#include "model/private.h"

#define ALIGN 4  // doubles

static size_t padded(int count) { return ((size_t)(count > 0 ? count : 0) + ALIGN - 1) / ALIGN * ALIGN; }

static size_t head(void) { return (sizeof(srData) / sizeof(double) + 2 * ALIGN) / ALIGN * ALIGN; }

// The recursions need 96 doubles per link; the programs their own registers; the two are never used at the same time.
int sr_data_work(const srModel* m) {
  const int laws = sr_program_work(m->priv->laws), drivers = sr_program_work(m->priv->drivers);
  const int rows = sr_program_work(m->priv->rows), events = sr_program_work(m->priv->events);
  const int parts[] = {laws, drivers, rows, events, sr_program_work(m->priv->switches)};
  int most = 0;
  for (int i = 0; i < SR_COUNT(parts); i++) most = parts[i] > most ? parts[i] : most;
  return 96 * m->nlink + 8 * m->nv + 12 * (m->nbody + 1) + most + sr_elimination_work(m) + 256;
}

static size_t total(const srModel* m) {
  size_t n = head();
#define SR_DATA_SIZE(name, count, doc) n += padded(count);
  SR_DATA_FIELDS(SR_DATA_SIZE)
#undef SR_DATA_SIZE
  return n;
}

static void destroy_solver(struct srDataPrivate* p) {
  if (!p) return;
  srm_saddle_destroy(p->saddle);
  srm_rows_destroy(p->rows);
  sr_free(p);
}

static struct srDataPrivate* create_solver(const srModel* m) {
  const size_t switches = (size_t)m->priv->nswitch;
  struct srDataPrivate* p = sr_alloc(sizeof *p + switches * sizeof(double) + 2 * (size_t)m->ng);
  if (!p) return NULL;
  p->motion_switch = (double*)(void*)(p + 1);
  p->taken = (unsigned char*)(p->motion_switch + switches);
  p->unique = p->taken + m->ng;
  p->M = (srmPattern){m->nv, m->nv, m->M_row, m->M_column};
  p->G = (srmPattern){m->ng, m->nv, m->G_start, m->G_index};
  p->shape = (srmSaddleShape){.nv = m->nv, .ng = m->ng, .M = &p->M, .G = &p->G, .mass = true};
  p->saddle = srm_saddle_create(&p->shape);
  p->rows = srm_rows_create(&p->shape);
  if (p->saddle && p->rows) return p;
  destroy_solver(p);
  return NULL;
}

srData* sr_data_create(const srModel* model) {
  const srModel* m = model;
  double* memory = sr_alloc(total(m) * sizeof *memory);
  struct srDataPrivate* solver = memory && m->constrained ? create_solver(m) : NULL;
  struct srInstances* instances = memory && m->nset > 0 ? sr_instances_create(m) : NULL;
  if (!memory || (m->constrained && !solver) || (m->nset > 0 && !instances)) {
    sr_instances_destroy(instances);
    destroy_solver(solver);
    sr_free(memory);
    return NULL;
  }
  srData* d = (srData*)(void*)memory;
  double* next = memory + head();
#define SR_DATA_PLACE(name, count, doc)                                                                                \
  d->name = next;                                                                                                      \
  next += padded(count);
  SR_DATA_FIELDS(SR_DATA_PLACE)
#undef SR_DATA_PLACE
  if (!m->absolute) {  // joint coordinates are the coordinates
    d->jq = d->q;
    d->jv = d->v;
    d->jf = d->f;
  }
  d->model = m;
  d->priv = solver;
  d->instances = instances;
  sr_data_reset(m, d);
  return d;
}

void sr_data_destroy(srData* data) {
  if (!data) return;
  destroy_solver(data->priv);
  sr_instances_destroy(data->instances);
  sr_free(data);
}

void sr_data_reset(const srModel* model, srData* data) {
  const srModel* m = model;
#define SR_DATA_ZERO(name, count, doc) memset(data->name, 0, padded(count) * sizeof(double));
  SR_DATA_FIELDS(SR_DATA_ZERO)
#undef SR_DATA_ZERO
  if (m->nq > 0) memcpy(data->q, m->q0, (size_t)m->nq * sizeof(double));
  if (m->nv > 0) memcpy(data->v, m->v0, (size_t)m->nv * sizeof(double));
  if (m->ny > 0) memcpy(data->y, m->y0, (size_t)m->ny * sizeof(double));
  if (m->nz > 0) memcpy(data->z, m->z0, (size_t)m->nz * sizeof(double));
  data->t = m->absolute ? m->z0[0] : 0;
  data->stage = SR_STAGE_NONE;
  data->rank = 0;
  data->closures_known = false;
  data->measured = SR_STAGE_NONE;
  if (data->priv) data->priv->motion_known = false;
  if (data->instances) sr_instances_reset(m, data->instances);
  data->row_residual = data->soft_energy = 0;
  data->error_message[0] = '\0';
}

void sr_data_copy(const srModel* model, const srData* from, srData* to) {
  const srModel* m = model;
#define SR_DATA_COPY(name, count, doc) memcpy(to->name, from->name, padded(count) * sizeof(double));
  SR_DATA_FIELDS(SR_DATA_COPY)
#undef SR_DATA_COPY
  to->t = from->t;
  to->stage = from->stage;
  to->rank = from->rank;
  to->closures_known = from->closures_known;
  to->measured = from->measured;
  if (m->constrained) memcpy(to->priv->taken, from->priv->taken, 2 * (size_t)m->ng);  // taken, unique
  if (to->priv) to->priv->motion_known = false;
  if (m->nset > 0) sr_instances_copy(m, from->instances, to->instances);
  to->row_residual = from->row_residual;
  to->soft_energy = from->soft_energy;
  memcpy(to->error_message, from->error_message, sizeof to->error_message);
}
