// Generated code behind the interface of the peers: `sarrus gen --what accel,invdyna,mass --lang c`, compiled as `run --generated` does, for the
// processor that the row names. Written and compiled when the peer is made; only the calls are timed and counted.
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../code.h"
#include "peer.h"

typedef struct Generated {
  BenchCode code;
  void (*accel)(const double*, const double*, const double*, double*);
  void (*invdyna)(const double*, const double*, const double*, double*);
  void (*mass)(const double*, double*);
  int nq, nv;
  double *q, *v, *a, *tau;  // one row for every state
  double* out;              // what the last call left
} Generated;

static void destroy(void* self) {
  Generated* s = self;
  if (!s) return;
  bench_code_close(&s->code);
  free(s->q);
  free(s->out);
  free(s);
}

static bool open_code(Generated* s, const srModel* m, const char* march, char* reason, size_t size) {
  srMessages* messages = sr_messages_create();
  srGenerated* g = NULL;
  bool good = false;
  srModel bare = *m;
  double* none = calloc((size_t)m->nv + 1, sizeof *none);
  bare.dof_armature = bare.joint_armature = none;  // the calls of the other engines here are those of the links alone
  snprintf(reason, size, "no code is generated for this model");
  if (none && sr_generate(&bare, &(srGenerateOptions){.what = "accel,invdyna,mass"}, messages, &g) == SR_OK)
    good = bench_code_load(g, march, &s->code, reason, size);
  sr_generated_destroy(g);
  sr_messages_destroy(messages);
  free(none);
  return good && bench_code_find(&s->code, "accel", &s->accel) && bench_code_find(&s->code, "invdyna", &s->invdyna) &&
         bench_code_find(&s->code, "mass", &s->mass);
}

static void* create(const srModel* m, int nstate, const char* march, char* reason, size_t size) {
  const size_t nq = (size_t)m->nq, nv = (size_t)m->nv, n = (size_t)nstate;
  Generated* s = calloc(1, sizeof *s);
  if (s) s->q = calloc(n * (nq + 3 * nv), sizeof(double)), s->out = calloc(nv * nv + 1, sizeof(double));
  if (!s || !s->q || !s->out || !open_code(s, m, march, reason, size)) {
    destroy(s);
    return NULL;
  }
  s->nq = m->nq, s->nv = m->nv;
  s->v = s->q + n * nq;
  s->a = s->v + n * nv;
  s->tau = s->a + n * nv;
  return s;
}

static bool offers(const void* self, PeerCall call) {
  (void)self;
  (void)call;
  return true;
}

static void set_state(void* self, int state, const double* q, const double* v, const double* a, const double* tau) {
  Generated* s = self;
  const size_t nq = (size_t)s->nq, nv = (size_t)s->nv, i = (size_t)state;
  memcpy(s->q + i * nq, q, nq * sizeof(double));
  memcpy(s->v + i * nv, v, nv * sizeof(double));
  memcpy(s->a + i * nv, a, nv * sizeof(double));
  memcpy(s->tau + i * nv, tau, nv * sizeof(double));
}

static void call(void* self, PeerCall what, int state) {
  Generated* s = self;
  const double* q = s->q + (size_t)state * (size_t)s->nq;
  const size_t at = (size_t)state * (size_t)s->nv;
  switch (what) {
    case PEER_FORWARD: s->accel(q, s->v + at, s->tau + at, s->out); break;
    case PEER_INVERSE: s->invdyna(q, s->v + at, s->a + at, s->out); break;
    case PEER_MASS: s->mass(q, s->out); break;
    default: break;
  }
}

// Of the mass matrix, code writes the entries below and on the diagonal.
static void result(void* self, PeerCall what, int state, double* out) {
  const Generated* s = self;
  const size_t n = (size_t)s->nv;
  (void)state;
  memcpy(out, s->out, (what == PEER_MASS ? n * n : n) * sizeof(double));
  for (size_t i = 0; i < n && what == PEER_MASS; i++) {
    for (size_t k = 0; k < i; k++) out[k * n + i] = out[i * n + k];
  }
}

static void* create_default(const srModel* m, int nstate, char* reason, size_t size) {
  return create(m, nstate, "x86-64", reason, size);
}
const PeerKind peer_generated = {"generated", sr_version, create_default, destroy, offers, set_state, call, result};

#ifdef SARRUS_LIBRARY_V3
static void* create_v3(const srModel* m, int nstate, char* reason, size_t size) {
  return create(m, nstate, "x86-64-v3", reason, size);
}
const PeerKind peer_generated_v3 = {"generated-v3", sr_version, create_v3, destroy, offers, set_state, call, result};
#endif
