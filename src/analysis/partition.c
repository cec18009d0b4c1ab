// Partition of the velocity coordinates into independent and dependent ones.                      ROBOTRAN manual, sections 3.2.2 and 5.1
//
//   G = [G_u G_v],   v_v = -G_v^-1 (G_u v_u + b)
//
// by LU with pivoting (math/pivots.c), which the integrators use too (integrate/partition.c). Coordinates that must be independent, and driven ones, are
// never pivots: if then equations are left over that only such coordinates enter, these depend on each other.
#include <math.h>
#include <sarrus/analysis.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "constraint/constraint.h"
#include "dynamics/link.h"
#include "math/pivots.h"
#include "math/singular.h"

#define SHORTEST 1e-2  // of the longest equation
#define ENTERS 1e-6    // entry of a scaled equation from which its coordinate takes part

typedef struct Partition {
  srCoordinatePartition shown;  // first: what the caller sees
  srPool pool;
  srRank* rank;
} Partition;

typedef struct Work {
  const srModel* m;
  const srData* d;
  const srPartitionOptions* options;
  srmPivots pivots;
  signed char* role;
  int* row;        // of the model, of every line of A: drivers of relative coordinates are left out
  int nrow, np;    // lines; of them with a position form
  int first, all;  // pivots of those, of all
} Work;

// ---- names --------------------------------------------------------------------------------------------------------------

const char* sr_coordinate_name(const srModel* m, int i, char* text, size_t size) {
  static const char* const component[] = {"wx", "wy", "wz", "vx", "vy", "vz"};
  const int link = m->dof_link[i];
  if (m->absolute)
    (void)snprintf(text, size, "%s.%s", m->body_name[link], component[(i - m->link_v[link]) % 6]);
  else
    (void)snprintf(text, size, "%s", m->v_name[i]);
  return text;
}

bool sr_coordinates_named(const srModel* m, const char* word, unsigned char* mark) {
  char name[256];
  bool found = false;
  for (int i = 0; i < m->nv; ++i) {
    const int link = m->dof_link[i];
    const char* whole = m->absolute ? m->body_name[link] : m->joint_name[m->link_joint[link]];
    if (strcmp(word, whole) != 0 && strcmp(word, sr_coordinate_name(m, i, name, sizeof name)) != 0) continue;
    mark[i] = 1;
    found = true;
  }
  return found;
}

// ---- rows and wishes ----------------------------------------------------------------------------------------------------

static bool is_driven(const srModel* m, int dof) {
  for (int k = 0; k < m->ndriver && !m->absolute; ++k) {
    if (m->driver[k].dof == dof) return true;
  }
  return false;
}

static signed char wish(const Work* w, int dof) {
  const srModel* m = w->m;
  if (is_driven(m, dof) || (w->options->independent != NULL && w->options->independent[dof] != 0)) return SRM_NEVER;
  const int role = m->absolute ? SR_ROLE_NONE : m->joint_role[m->link_joint[m->dof_link[dof]]];
  return (signed char)(role == SR_ROLE_INDEPENDENT ? 1 : role == SR_ROLE_DEPENDENT ? -1 : 0);
}

static double row_length(const Work* w, int row) {
  double square = 0.0;
  for (int k = w->m->G_start[row]; k < w->m->G_start[row + 1]; ++k) square += w->d->G[k] * w->d->G[k];
  return sqrt(square);
}

// The equations as lines of A, scaled to length 1; very short ones less, as in constraint/rank.c: rounding is no equation.
static void take_rows(Work* w) {
  const srModel* m = w->m;
  double longest = 0.0;
  for (int i = 0; i < m->ng; ++i) longest = fmax(longest, row_length(w, i));
  for (int i = 0; i < m->ng; ++i) {
    if (m->row[i].kind == SR_ROW_DRIVER && !m->absolute) continue;
    double* line = w->pivots.A + (size_t)w->nrow * (size_t)m->nv;
    const double length = fmax(row_length(w, i), SHORTEST * longest);
    for (int k = m->G_start[i]; k < m->G_start[i + 1] && length > 0.0; ++k) {
      line[m->G_index[k]] = w->d->G[k] / length;
    }
    w->np += i < m->np;
    w->row[w->nrow++] = i;
  }
  w->pivots.nrow = w->nrow;
}

static void begin(Work* w, srPool* pool) {
  const size_t nv = (size_t)w->m->nv, ng = (size_t)w->m->ng;
  w->pivots = (srmPivots){.ncol = w->m->nv, .by_rows = w->options->by_rows};
  w->pivots.A = sr_pool_alloc(pool, (nv * ng + 1) * sizeof(double));
  w->pivots.row = sr_pool_alloc(pool, (ng + 1) * sizeof(int));
  w->pivots.column = sr_pool_alloc(pool, (nv + 1) * sizeof(int));
  w->row = sr_pool_alloc(pool, (ng + 1) * sizeof(int));
  w->role = sr_pool_alloc(pool, nv + 1);
  for (int i = 0; i < w->m->nv; ++i) w->role[i] = wish(w, i);
  w->pivots.role = w->role;
  take_rows(w);
}

// ---- coordinates that cannot be independent ---------------------------------------------------------------------------------

// The equation that is left over, scaled, and only coordinates enter that must not be pivots; -1: none.
static int left_over(const Work* w) {
  for (int i = w->all; i < w->nrow; ++i) {
    const double* line = w->pivots.A + (size_t)w->pivots.row[i] * (size_t)w->m->nv;
    for (int j = 0; j < w->m->nv; ++j) {
      if (w->role[j] == SRM_NEVER && fabs(line[j]) > ENTERS) return w->pivots.row[i];
    }
  }
  return -1;
}

static srStatus refuse_dependent(const Work* w, int line, srMessages* messages) {
  const srModel* m = w->m;
  char text[512] = "", name[256];
  size_t used = 0;
  int n = 0, driven = 0;
  for (int j = 0; j < m->nv && used < sizeof text; ++j) {
    if (w->role[j] != SRM_NEVER || fabs(w->pivots.A[(size_t)line * (size_t)m->nv + (size_t)j]) <= ENTERS) continue;
    driven += is_driven(m, j);
    used += (size_t)snprintf(text + used, sizeof text - used, "%s'%s'", n++ > 0 ? ", " : "",
                             sr_coordinate_name(m, j, name, sizeof name));
  }
  const char* which = driven == n   ? "the driven coordinate"
                      : driven == 0 ? "the coordinate"
                                    : "the coordinate, chosen or driven,";
  if (n == 1)
    sr_messages_add(messages, SR_SEVERITY_ERROR, m->row[w->row[line]].place,
                    "%s %s cannot be independent at this position: %s alone determines its velocity (a dead point, or "
                    "a motion that the loops do not allow)",
                    which, text, m->row[w->row[line]].name);
  else
    sr_messages_add(messages, SR_SEVERITY_ERROR, m->row[w->row[line]].place,
                    "%ss %s cannot be independent of each other at this position: %s relates their velocities. Choose "
                    "others, or let LU choose",
                    which, text, m->row[w->row[line]].name);
  return SR_FAILED;
}

static srStatus refuse_number(const srModel* m, int wanted, int dof, srMessages* messages) {
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0},
                  "%d coordinates are to be independent, and '%s' has %d degree%s of freedom", wanted, m->name, dof,
                  dof == 1 ? "" : "s");
  return SR_INPUT;
}

// ---- condition ------------------------------------------------------------------------------------------------------------

static void scale_rows(int n, double* A) {
  for (int i = 0; i < n; ++i) {
    double square = 0.0;
    for (int j = 0; j < n; ++j) square += A[i * n + j] * A[i * n + j];
    for (int j = 0; j < n && square > 0.0; ++j) A[i * n + j] /= sqrt(square);
  }
}

static void scale_columns(int n, double* A) {
  for (int j = 0; j < n; ++j) {
    double square = 0.0;
    for (int i = 0; i < n; ++i) square += A[i * n + j] * A[i * n + j];
    for (int i = 0; i < n && square > 0.0; ++i) A[i * n + j] /= sqrt(square);
  }
}

static double condition(Work* w, srPool* pool) {
  const int n = w->all;
  if (n == 0) return 1.0;
  double* A = sr_pool_alloc(pool, (size_t)n * ((size_t)n + 1) * sizeof *A);
  memset(w->pivots.A, 0, (size_t)w->m->ng * (size_t)w->m->nv * sizeof(double));
  w->nrow = w->np = 0;
  take_rows(w);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j)
      A[i * n + j] = w->pivots.A[(size_t)w->pivots.row[i] * (size_t)w->m->nv + (size_t)w->pivots.column[j]];
  }
  scale_rows(n, A);
  scale_columns(n, A);
  double* s = A + (size_t)n * (size_t)n;
  return srm_singular_values(n, n, A, s) ? s[0] / s[n - 1] : (double)INFINITY;
}

// ---- result ---------------------------------------------------------------------------------------------------------------

static int* list(srPool* pool, const unsigned char* mark, int n, int* count) {
  int* out = sr_pool_alloc(pool, ((size_t)n + 1) * sizeof *out);
  *count = 0;
  for (int i = 0; i < n; ++i) {
    if (mark[i] != 0) out[(*count)++] = i;
  }
  return out;
}

static void list_coordinates(const Work* w, Partition* p, unsigned char* mark) {
  const srModel* m = w->m;
  const size_t nv = (size_t)m->nv;
  memset(mark, 0, nv);
  for (int j = 0; j < w->all; ++j) mark[w->pivots.column[j]] = 1;
  p->shown.dependent = list(&p->pool, mark, m->nv, &p->shown.ndependent);
  for (int j = 0; j < m->nv; ++j) mark[j] = mark[j] == 0 && !is_driven(m, j);
  p->shown.independent = list(&p->pool, mark, m->nv, &p->shown.nindependent);
  for (int j = 0; j < m->nv; ++j) mark[j] = is_driven(m, j);
  p->shown.driven = list(&p->pool, mark, m->nv, &p->shown.ndriven);
}

static void list_trivial(const Work* w, Partition* p, unsigned char* mark) {
  const srModel* m = w->m;
  for (int i = 0; i < m->ng; ++i) {
    mark[i] = 1;
    for (int k = m->G_start[i]; k < m->G_start[i + 1]; ++k) mark[i] = mark[i] != 0 && w->d->G[k] == 0.0;
  }
  p->shown.trivial = list(&p->pool, mark, m->ng, &p->shown.ntrivial);
}

static srStatus fill(Work* w, Partition* p, srMessages* messages) {
  const srModel* m = w->m;
  begin(w, &p->pool);
  w->all = srm_pivots_choose(&w->pivots, w->np, &w->first);
  const int driven = m->absolute ? 0 : m->ndriver, dof = m->nv - p->rank->rank;
  int wanted = 0;
  for (int j = 0; j < m->nv && w->options->independent != NULL; ++j)
    wanted += w->options->independent[j] != 0 && !is_driven(m, j);
  if (wanted > dof) return refuse_number(m, wanted, dof, messages);
  const int line = left_over(w);
  if (line >= 0) return refuse_dependent(w, line, messages);
  unsigned char* mark = sr_pool_alloc(&p->pool, (size_t)m->nv + (size_t)m->ng + 1);
  list_coordinates(w, p, mark);
  list_trivial(w, p, mark);
  p->shown.rank = p->rank;
  p->shown.dof_position = m->nv - driven - w->first;
  p->shown.dof_velocity = m->nv - driven - w->all;
  p->shown.condition = condition(w, &p->pool);
  return SR_OK;
}

static srStatus create(const srModel* m, srData* d, const srPartitionOptions* options, srMessages* messages,
                       Partition* p) {
  jmp_buf out_of_memory;
  sr_pool_init(&p->pool);
  p->pool.on_fail = &out_of_memory;
  if (setjmp(out_of_memory) != 0) return SR_MEMORY;
  const srStatus status = sr_rank_create(m, d, &p->rank);  // evaluates the constraints
  if (status == SR_FAILED)
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "no partition at this state: %s", d->error_message);
  if (status != SR_OK) return status;
  Work w = {.m = m, .d = d, .options = options};
  return fill(&w, p, messages);
}

srStatus sr_partition_create(const srModel* m, srData* d, const srPartitionOptions* options, srMessages* messages,
                             srCoordinatePartition** out) {
  Partition* p = sr_alloc(sizeof *p);
  *out = NULL;
  const srStatus status = p != NULL ? create(m, d, options, messages, p) : SR_MEMORY;
  if (status == SR_MEMORY)
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "out of memory for the partition");
  if (p != NULL) p->pool.on_fail = NULL;
  if (status == SR_OK)
    *out = &p->shown;
  else if (p != NULL)
    sr_partition_destroy(&p->shown);
  return status;
}

void sr_partition_destroy(srCoordinatePartition* partition) {
  Partition* p = (Partition*)(void*)partition;
  if (p == NULL) return;
  sr_rank_destroy(p->rank);
  sr_pool_free(&p->pool);
  sr_free(p);
}
