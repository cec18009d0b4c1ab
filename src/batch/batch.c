// Copies of a model in lanes: the classical Runge-Kutta method on generated code,
//   k_r = F(x + T_{r-1} k_{r-1}),  {T_0 .. T_3} = {0, T/2, T/2, T},   x_1 = x + T/6 (k_1 + 2 k_2 + 2 k_3 + k_4)
// with x = (q, v, y), F = (H(q) v, M^-1 (f - c), r), f and the rates r of states with all force elements, which take T_r as their stage length; quaternions of length 1 after every step: the numbers of integrate/rk4.c to rounding.
//
// A block is as many copies as a vector has lanes; entry i of lane l is at i*lanes + l, as the generated code has them. Blocks know nothing of each other: any
// number of threads gives the same bits.
#include <math.h>
#include <sarrus/analysis.h>
#include <sarrus/batch.h>
#include <sarrus/generate.h>
#include <sarrus/sweep.h>
#include <string.h>

#include "base/team.h"
#include "generated/load.h"
#include "model/elimination.h"

enum { MOST_COPIES = 10000000, MOST_THREADS = 1024, MOST_RANDOM = 256 };

typedef void (*Accel)(const double* q, const double* v, const double* tau, double* a);
typedef void (*Rates)(const double* t, const double* q, const double* v, const double* y, const double* tau,
                      const double* stage, double* a, double* ydot);
typedef void (*Qdot)(const double* q, const double* v, double* qdot);
// The same with parameters.
typedef void (*AccelOf)(const double* q, const double* v, const double* tau, const double* p, double* a);
typedef void (*RatesOf)(const double* t, const double* q, const double* v, const double* y, const double* tau,
                        const double* stage, const double* p, double* a, double* ydot);
typedef void (*QdotOf)(const double* q, const double* v, const double* p, double* qdot);

typedef struct Random {
  srBatchArray array;
  int index;
} Random;

struct srBatch {
  const srModel* m;
  int count, lanes, blocks;
  double step;
  double *q, *v, *y, *tau, *p, *t;  // blocks; t: by copies
  int np;                           // parameters
  const char** p_name;
  double* p0;       // of the model
  srSpec* spec;     // where there are parameters
  bool own_starts;  // they change the start
  double* work;     // of each member of the team
  size_t work_size;
  void* library;
  bool elements;  // there are force elements: rates, else accel
  Accel accel;
  Rates rates;
  Qdot qdot;
  AccelOf accel_of;  // with parameters
  RatesOf rates_of;
  QdotOf qdot_of;
  srTeam* team;
  srSweep* plan;
  int nrandom;
  Random random[MOST_RANDOM];
  int steps;  // of the call in progress
};

// ---- what is covered ------------------------------------------------------------------------------------------------

static srStatus refuse(srMessages* messages, const char* what, const char* name) {
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0},
                  "a batch steps trees of joints and couplings with smooth force elements, and the model has %s%s%s%s",
                  what, name ? " '" : "", name ? name : "", name ? "'" : "");
  return SR_INPUT;
}

// What the generator has no code for, it names itself.
static srStatus check_covered(const srModel* m, srMessages* messages) {
  if (m->absolute) return refuse(messages, "absolute coordinates", NULL);
  if (m->constrained && m->elimination == NULL) return refuse(messages, "constraint equations", NULL);
  if (m->ndriver > 0) return refuse(messages, "drivers", NULL);
  if (m->nset > 0) return refuse(messages, "the contact of many shapes", m->set[0].name);
  if (m->nevent > 0) return refuse(messages, "the event", m->event[0].name);
  if (m->priv->nswitch > 0) return refuse(messages, "a jump in the law of", m->priv->of_switch[0].name);
  if (m->nmassless > 0) return refuse(messages, "joints that move no mass", NULL);
  return m->nv == 0 ? refuse(messages, "nothing that moves", NULL) : SR_OK;
}

// ---- creation -------------------------------------------------------------------------------------------------------

// Vectors of AVX-512 hold eight numbers; two of AVX would, too, and lack registers.
static int lanes_here(void) {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_supports("avx512f") ? 8 : 4;
#else
  return 4;
#endif
}

// Names and values of the parameters, in the order of the code.
static srStatus take_parameters(srBatch* b, const srGenerated* g, const srSpec* spec) {
  b->np = g->nargument;
  if (b->np == 0) return SR_OK;
  b->p_name = sr_alloc((size_t)b->np * sizeof *b->p_name);
  b->p0 = sr_alloc((size_t)b->np * sizeof *b->p0);
  b->spec = srs_copy(spec);
  if (b->p_name == NULL || b->p0 == NULL || b->spec == NULL) return SR_MEMORY;
  for (int i = 0; i < b->np; i++) {
    b->p0[i] = g->argument[i].value;
    for (int k = 0; k < srs_count(b->spec, SR_ELEMENT_PARAMETER); k++) {
      const srParameterDef* def = srs_get(b->spec, SR_ELEMENT_PARAMETER, k);
      if (def->name.text && strcmp(def->name.text, g->argument[i].name) == 0) b->p_name[i] = def->name.text;
    }
  }
  return SR_OK;
}

static srStatus load_code(srBatch* b, const srBatchOptions* wanted, srMessages* messages) {
  const srGenerateOptions options = {.what = b->elements ? "rates,qdot" : "accel,qdot",
                                     .language = "c",
                                     .parameters = wanted->parameters,
                                     .spec = wanted->spec};
  srGenerated* g = NULL;
  srReason reason = {""};
  const srStatus status = sr_generate(b->m, &options, messages, &g);
  if (status != SR_OK) return status;
  b->library = sr_code_load(g, b->lanes, &reason);
  const bool with = wanted->parameters != NULL;
  const bool good =
      b->library != NULL && sr_code_function(b->library, g, "qdot", with ? (void*)&b->qdot_of : (void*)&b->qdot) &&
      (b->elements ? sr_code_function(b->library, g, "rates", with ? (void*)&b->rates_of : (void*)&b->rates)
                   : sr_code_function(b->library, g, "accel", with ? (void*)&b->accel_of : (void*)&b->accel));
  const srStatus taken = take_parameters(b, g, wanted->spec);
  sr_generated_destroy(g);
  if (good) return taken;
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "a batch needs generated code: %s", reason.text);
  return SR_INPUT;
}

static srStatus take_memory(srBatch* b, int threads) {
  const size_t lanes = (size_t)b->lanes, nq = (size_t)b->m->nq, nv = (size_t)b->m->nv, blocks = (size_t)b->blocks;
  const size_t ny = (size_t)b->m->ny;
  b->work_size = (3 * (nq + nv + ny) + 2) * lanes;
  b->team = sr_team_create(threads);
  b->q = sr_alloc(blocks * nq * lanes * sizeof *b->q);
  b->v = sr_alloc(blocks * nv * lanes * sizeof *b->v);
  b->y = sr_alloc((blocks * ny * lanes + 1) * sizeof *b->y);
  b->tau = sr_alloc(blocks * nv * lanes * sizeof *b->tau);
  b->p = sr_alloc((blocks * (size_t)b->np * lanes + 1) * sizeof *b->p);
  b->t = sr_alloc((size_t)b->count * sizeof *b->t);
  b->work = b->team ? sr_alloc((size_t)sr_team_members(b->team) * b->work_size * sizeof *b->work) : NULL;
  return b->q && b->v && b->y && b->tau && b->p && b->t && b->work && sr_sweep_create(&b->plan) == SR_OK ? SR_OK
                                                                                                         : SR_MEMORY;
}

static srStatus check_options(const srBatchOptions* o, srMessages* messages) {
  if (o->count < 1 || o->count > MOST_COPIES || o->threads < 0 || o->threads > MOST_THREADS) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0},
                    "a batch has 1 to %d copies and up to %d threads, not %d and %d", MOST_COPIES, MOST_THREADS,
                    o->count, o->threads);
    return SR_INPUT;
  }
  if (o->step > 0 && isfinite(o->step)) return SR_OK;
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "the step of a batch must be greater than 0 s, not %g",
                  o->step);
  return SR_INPUT;
}

// ---- parameters -----------------------------------------------------------------------------------------------------

static srStatus model_with(const srBatch* b, const double* p, srMessages* messages, srModel** out) {
  srSpec* spec = srs_copy(b->spec);
  bool good = spec != NULL;
  for (int k = 0; good && k < srs_count(b->spec, SR_ELEMENT_PARAMETER); k++) {
    const srParameterDef* def = srs_get(b->spec, SR_ELEMENT_PARAMETER, k);
    for (int i = 0; i < b->np && good; i++) {
      if (def->name.text == b->p_name[i])
        good = srs_set(spec, SR_ELEMENT_PARAMETER, k, (int)(offsetof(srParameterDef, value) / sizeof(srAttr)),
                       sr_number(p[i]));
    }
  }
  const srStatus status = good ? sr_compile(spec, messages, out) : SR_MEMORY;
  srs_destroy(spec);
  return status;
}

static bool same(const double* a, const double* b, int n) {
  for (int i = 0; i < n; i++) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

// Does the start depend on one of the parameters?
static srStatus find_starts(srBatch* b, srMessages* messages) {
  double* p = sr_alloc(((size_t)b->np + 1) * sizeof *p);
  srStatus status = p != NULL ? SR_OK : SR_MEMORY;
  for (int k = 0; k < b->np && status == SR_OK && !b->own_starts; k++) {
    srModel* other = NULL;
    memcpy(p, b->p0, (size_t)b->np * sizeof *p);
    p[k] = p[k] != 0 ? p[k] * 1.0009765625 : 0.0009765625;
    status = model_with(b, p, messages, &other);
    if (status != SR_OK) break;
    b->own_starts = !same(other->q0, b->m->q0, b->m->nq) || !same(other->v0, b->m->v0, b->m->nv) ||
                    !same(other->y0, b->m->y0, b->m->ny);
    sr_model_destroy(other);
  }
  sr_free(p);
  return status;
}

srStatus sr_batch_create(const srModel* m, const srBatchOptions* options, srMessages* messages, srBatch** out) {
  *out = NULL;
  srStatus status = check_options(options, messages);
  if (status == SR_OK) status = check_covered(m, messages);
  if (status != SR_OK) return status;
  srBatch* b = sr_alloc(sizeof *b);
  if (b == NULL) return SR_MEMORY;
  b->m = m, b->count = options->count, b->step = options->step, b->lanes = lanes_here();
  b->elements = m->nforce > 0 || m->ny > 0 || m->elimination != NULL;
  b->blocks = (b->count + b->lanes - 1) / b->lanes;
  status = load_code(b, options, messages);
  if (status == SR_OK) status = take_memory(b, options->threads > 0 ? options->threads : 1);
  if (status == SR_OK) status = find_starts(b, messages);
  if (status == SR_OK) status = sr_batch_reset(b, NULL, 0);
  if (status == SR_OK)
    *out = b;
  else
    sr_batch_destroy(b);
  return status;
}

void sr_batch_destroy(srBatch* b) {
  if (b == NULL) return;
  sr_team_destroy(b->team);
  sr_sweep_destroy(b->plan);
  srs_destroy(b->spec);
  if (b->library != NULL) sr_code_close(b->library);
  void* const arrays[] = {b->q, b->v, b->y, b->tau, b->p, b->t, b->work, (void*)b->p_name, b->p0};
  for (int i = 0; i < SR_COUNT(arrays); i++) sr_free(arrays[i]);
  sr_free(b);
}

const char* sr_batch_parameter(const srBatch* b, int i) { return b->p_name[i]; }
int sr_batch_count(const srBatch* b) { return b->count; }
int sr_batch_lanes(const srBatch* b) { return b->lanes; }

// ---- states ---------------------------------------------------------------------------------------------------------

int sr_batch_width(const srBatch* b, srBatchArray which) {
  if (which == SR_BATCH_Y || which == SR_BATCH_P) return which == SR_BATCH_Y ? b->m->ny : b->np;
  return which == SR_BATCH_Q ? b->m->nq : which == SR_BATCH_T ? 1 : b->m->nv;
}

static double* array_of(const srBatch* b, srBatchArray which) {
  if (which == SR_BATCH_Y || which == SR_BATCH_P) return which == SR_BATCH_Y ? b->y : b->p;
  return which == SR_BATCH_Q ? b->q : which == SR_BATCH_V ? b->v : which == SR_BATCH_TAU ? b->tau : b->t;
}

// Entry i of a copy.
static double* place_of(const srBatch* b, srBatchArray which, int copy, int i) {
  if (which == SR_BATCH_T) return b->t + copy;
  const size_t lanes = (size_t)b->lanes, block = (size_t)copy / lanes, width = (size_t)sr_batch_width(b, which);
  return array_of(b, which) + (block * width + (size_t)i) * lanes + (size_t)copy % lanes;
}

void sr_batch_get(const srBatch* b, srBatchArray which, double* out) {
  for (int copy = 0, n = sr_batch_width(b, which); copy < b->count; copy++) {
    for (int i = 0; i < n; i++) *out++ = *place_of(b, which, copy, i);
  }
}

// Coupled coordinates from those that they follow.
static void follow(const srBatch* b, int copy) {
  double *q = b->work, *v = q + b->m->nq;
  if (b->m->elimination == NULL) return;
  for (int i = 0; i < b->m->nq; i++) q[i] = *place_of(b, SR_BATCH_Q, copy, i);
  for (int i = 0; i < b->m->nv; i++) v[i] = *place_of(b, SR_BATCH_V, copy, i);
  sr_elimination_follow(b->m, q, v);
  for (int i = 0; i < b->m->nq; i++) *place_of(b, SR_BATCH_Q, copy, i) = q[i];
  for (int i = 0; i < b->m->nv; i++) *place_of(b, SR_BATCH_V, copy, i) = v[i];
}

void sr_batch_set(srBatch* b, srBatchArray which, const double* x) {
  for (int copy = 0, n = sr_batch_width(b, which); copy < b->count; copy++) {
    for (int i = 0; i < n; i++) *place_of(b, which, copy, i) = *x++;
    if (which == SR_BATCH_Q || which == SR_BATCH_V) follow(b, copy);
  }
}

static void put_state(const srBatch* b, int copy, const srModel* m, srData* d) {
  sr_data_reset(m, d);
  d->t = b->t[copy];
  for (int i = 0; i < b->m->ny; i++) d->y[i] = *place_of(b, SR_BATCH_Y, copy, i);
  for (int i = 0; i < b->m->nq; i++) d->q[i] = *place_of(b, SR_BATCH_Q, copy, i);
  for (int i = 0; i < b->m->nv; i++) {
    d->v[i] = *place_of(b, SR_BATCH_V, copy, i);
    d->tau[i] = *place_of(b, SR_BATCH_TAU, copy, i);
  }
}

void sr_batch_put(const srBatch* b, int copy, srData* d) { put_state(b, copy, b->m, d); }

srStatus sr_batch_model(const srBatch* b, int copy, srMessages* messages, srModel** out) {
  double* p = sr_alloc(((size_t)b->np + 1) * sizeof *p);
  *out = NULL;
  if (p == NULL) return SR_MEMORY;
  for (int i = 0; i < b->np; i++) p[i] = *place_of(b, SR_BATCH_P, copy, i);
  const srStatus status = b->np > 0 ? model_with(b, p, messages, out) : SR_INPUT;
  sr_free(p);
  return status;
}

bool sr_batch_row(const srBatch* b, int copy, const char* const* record, int nrecord, double* out) {
  srMessages* messages = sr_messages_create();
  srModel* own = NULL;
  srRecording* recording = NULL;
  bool good = messages != NULL && (b->np == 0 || sr_batch_model(b, copy, messages, &own) == SR_OK);
  const srModel* m = own ? own : b->m;
  srData* d = good ? sr_data_create(m) : NULL;
  good = d != NULL && sr_recording_create(m, record, nrecord, messages, &recording) == SR_OK;
  if (good) {
    put_state(b, copy, m, d);
    good = sr_recording_row(recording, d, out) == 0;
  }
  sr_recording_destroy(recording);
  sr_data_destroy(d);
  sr_model_destroy(own);
  sr_messages_destroy(messages);
  return good;
}

void sr_batch_rows(const srBatch* b, srRecording* recording, srData* d, int width, double* out) {
  for (int copy = 0; copy < b->count; copy++, out += width) {
    sr_batch_put(b, copy, d);
    if (sr_recording_row(recording, d, out) == 0) continue;
    for (int i = 0; i < width; i++) out[i] = (double)NAN;
  }
}

// Quaternions of a block to length 1.
static void normalize(const srBatch* b, double* q) {
  const srModel* m = b->m;
  const int lanes = b->lanes;
  for (int i = 1; i < m->nlink; i++) {
    if (m->link_type[i] != SR_LINK_BALL && m->link_type[i] != SR_LINK_FREE) continue;
    double* n = q + (m->link_q[i] + (m->link_type[i] == SR_LINK_FREE ? 3 : 0)) * lanes;
    for (int l = 0; l < lanes; l++) {
      const double *w = n + l, *x = w + lanes, *y = x + lanes, *z = y + lanes;
      const double length = sqrt(*w * *w + *x * *x + *y * *y + *z * *z);
      for (int k = 0; k < 4; k++) n[k * lanes + l] /= length;
    }
  }
}

// The name of the coordinate that coordinate i follows; NULL: none.
static const char* leader_of(const srModel* m, srBatchArray array, int i) {
  const struct srElimination* e = m->elimination;
  const char* name = NULL;
  if (array != SR_BATCH_Q && array != SR_BATCH_V) return NULL;
  for (int k = e != NULL ? e->ntie - 1 : -1; k >= 0; k--) {  // the last ones follow those before
    const int* of = array == SR_BATCH_Q ? e->tie[k].qdof : e->tie[k].dof;
    if (of[0] != i) continue;
    i = of[1];
    name = array == SR_BATCH_Q ? m->q_name[i] : m->v_name[i];
  }
  return name;
}

srStatus sr_batch_random(srBatch* b, const char* text, srMessages* messages) {
  const srModel* m = b->m;
  const struct {
    const char* word;
    srBatchArray array;
    const char* const* names;
  } kinds[] = {{"q.", SR_BATCH_Q, m->q_name},
               {"v.", SR_BATCH_V, m->v_name},
               {"tau.", SR_BATCH_TAU, m->v_name},
               {"p.", SR_BATCH_P, b->p_name}};
  for (int a = 0; a < SR_COUNT(kinds); a++) {
    const size_t head = strlen(kinds[a].word), n = strcspn(text, "=");
    const char* const* names = kinds[a].names;
    if (strncmp(text, kinds[a].word, head) != 0) continue;
    for (int i = 0; i < sr_batch_width(b, kinds[a].array); i++) {
      if (strlen(names[i]) != n - head || strncmp(names[i], text + head, n - head) != 0) continue;
      const char* leader = leader_of(m, kinds[a].array, i);
      if (leader != NULL) {
        sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0},
                        "'%s': a coupling sets this coordinate from '%s%s'; a random start is drawn for that one", text,
                        kinds[a].word, leader);
        return SR_INPUT;
      }
      if (b->nrandom == MOST_RANDOM) return SR_MEMORY;
      const srStatus status = sr_sweep_random(b->plan, text, messages);
      if (status == SR_OK) b->random[b->nrandom++] = (Random){kinds[a].array, i};
      return status;
    }
  }
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0},
                  "'%s': the model has no such coordinate; a random start is q.NAME, v.NAME or tau.NAME, as `check` "
                  "names them, or p.NAME of a parameter that the copies have their own values of",
                  text);
  return SR_INPUT;
}

// The start of a run: with couplings the nearest one that satisfies them.
static srStatus put_start(const srBatch* b, int copy, const srModel* m) {
  const double *q = m->q0, *v = m->v0;
  srData* d = m->elimination != NULL ? sr_data_create(m) : NULL;
  srMessages* messages = d != NULL ? sr_messages_create() : NULL;
  srStatus status = m->elimination != NULL && messages == NULL ? SR_MEMORY : SR_OK;
  if (messages != NULL) status = sr_assemble(m, d, messages, &(srAssembly){0}), q = d->q, v = d->v;
  for (int i = 0; i < m->nq && status == SR_OK; i++) *place_of(b, SR_BATCH_Q, copy, i) = q[i];
  for (int i = 0; i < m->ny; i++) *place_of(b, SR_BATCH_Y, copy, i) = m->y0[i];
  for (int i = 0; i < m->nv && status == SR_OK; i++)
    *place_of(b, SR_BATCH_V, copy, i) = v[i], *place_of(b, SR_BATCH_TAU, copy, i) = 0;
  sr_messages_destroy(messages);
  sr_data_destroy(d);
  return status;
}

// What was drawn for a copy: parameters, or the rest.
static void put_random(const srBatch* b, int copy, bool parameters) {
  for (int k = 0; k < b->nrandom && copy < b->count; k++) {
    if ((b->random[k].array == SR_BATCH_P) == parameters)
      *place_of(b, b->random[k].array, copy, b->random[k].index) = sr_sweep_number(b->plan, copy, k);
  }
}

srStatus sr_batch_reset(srBatch* b, const unsigned char* which, unsigned long long seed) {
  if (b->nrandom > 0) {
    const srStatus status = sr_sweep_sample(b->plan, b->count, seed, NULL);
    if (status != SR_OK) return status;
  }
  for (int copy = 0; copy < b->blocks * b->lanes; copy++) {
    if (copy < b->count && which != NULL && !which[copy]) continue;
    srModel* own = NULL;
    for (int i = 0; i < b->np; i++) *place_of(b, SR_BATCH_P, copy, i) = b->p0[i];
    put_random(b, copy, true);
    if (copy < b->count && b->own_starts) {
      const srStatus status = sr_batch_model(b, copy, NULL, &own);
      if (status != SR_OK) return status;
    }
    const srStatus started = put_start(b, copy, own ? own : b->m);
    sr_model_destroy(own);
    if (started != SR_OK) return started;
    if (copy < b->count) b->t[copy] = 0, put_random(b, copy, false);
    follow(b, copy);
  }
  for (int i = 0; i < b->blocks && b->nrandom > 0; i++) normalize(b, b->q + (size_t)(i * b->m->nq) * (size_t)b->lanes);
  return SR_OK;
}

// ---- steps ----------------------------------------------------------------------------------------------------------

static void move(const double* x, double h, const double* k, int n, double* out) {
  for (int i = 0; i < n; i++) out[i] = x[i] + h * k[i];
}

static void gather(double weight, const double* k, int n, double* sum) {
  for (int i = 0; i < n; i++) sum[i] += weight * k[i];
}

// Time and stage length in all lanes.
static void put_times(const srBatch* b, int block, double elapsed, double length, double* t, double* stage) {
  for (int l = 0; l < b->lanes; l++) {
    const int copy = block * b->lanes + l;
    t[l] = (copy < b->count ? b->t[copy] : 0) + elapsed;
    stage[l] = length;
  }
}

static void step_block(const srBatch* b, int block, int step, double* work) {
  static const double ahead[] = {0.5, 0.5, 1}, weight[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  static const double at[] = {0, 0.5, 0.5, 1}, length[] = {0.5, 0.5, 1, 1};
  const int lanes = b->lanes, nq = b->m->nq * lanes, nv = b->m->nv * lanes, ny = b->m->ny * lanes, n = nq + nv + ny;
  double* const x[] = {b->q + (size_t)block * (size_t)nq, b->v + (size_t)block * (size_t)nv,
                       b->y + (size_t)block * (size_t)ny};
  const double *tau = b->tau + (size_t)block * (size_t)nv, *p = b->p + (size_t)block * (size_t)(b->np * lanes);
  const double h = b->step;
  const int size[] = {nq, nv, ny}, first[] = {0, nq, nq + nv};
  double *moved = work, *k = moved + n, *sum = k + n, *t = sum + n, *stage = t + lanes;
  memset(sum, 0, (size_t)n * sizeof *sum);
  for (int r = 0; r < 4; r++) {
    const double *q = r == 0 ? x[0] : moved, *v = r == 0 ? x[1] : moved + nq, *y = r == 0 ? x[2] : moved + nq + nv;
    if (b->elements) put_times(b, block, (step + at[r]) * h, length[r] * h, t, stage);
    if (b->np > 0) {
      b->qdot_of(q, v, p, k);
      if (b->elements)
        b->rates_of(t, q, v, y, tau, stage, p, k + nq, k + nq + nv);
      else
        b->accel_of(q, v, tau, p, k + nq);
    } else {
      b->qdot(q, v, k);
      if (b->elements)
        b->rates(t, q, v, y, tau, stage, k + nq, k + nq + nv);
      else
        b->accel(q, v, tau, k + nq);
    }
    gather(h * weight[r], k, n, sum);
    for (int i = 0; i < 3 && r < 3; i++) move(x[i], h * ahead[r], k + first[i], size[i], moved + first[i]);
  }
  for (int i = 0; i < 3; i++) gather(1, sum + first[i], size[i], x[i]);
  normalize(b, x[0]);
}

static void job(void* user, srTeam* team, int member, int members) {
  const srBatch* b = user;
  (void)team;
  for (int block = member; block < b->blocks; block += members) {
    for (int i = 0; i < b->steps; i++) step_block(b, block, i, b->work + (size_t)member * b->work_size);
  }
}

static bool is_finite(const srBatch* b, int copy) {
  double sum = 0;
  for (int i = 0; i < b->m->nq; i++) sum += *place_of(b, SR_BATCH_Q, copy, i);
  for (int i = 0; i < b->m->nv; i++) sum += *place_of(b, SR_BATCH_V, copy, i);
  return isfinite(sum);
}

int sr_batch_step(srBatch* b, int n) {
  int failed = 0;
  b->steps = n;
  sr_team_run(b->team, job, b);
  for (int copy = 0; copy < b->count; copy++) {
    b->t[copy] += n * b->step;
    failed += !is_finite(b, copy);
  }
  return failed;
}
