// Sarrus behind the interface of the peers, twice: the library as it is built by default and one for x86-64-v3. Both are
// opened at run time, each with its own symbols, so that one program measures both in the same way.
#include <dlfcn.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

typedef struct Functions {
  void* handle;
  srData* (*data_create)(const srModel*);
  void (*data_destroy)(srData*);
  void (*rnea)(const srModel*, srData*, const double*, const double*, const double*, double*);
  void (*crba)(const srModel*, srData*, const double*, double*);
  srStatus (*aba)(const srModel*, srData*, const double*, const double*, const double*, double*);
} Functions;

typedef struct Sarrus {
  Functions f;
  const srModel* m;
  srData* d;
  double *q, *v, *a, *tau;  // one row for every state
  double* out;              // what the last call left
} Sarrus;

static bool find(void* handle, const char* name, void* function) {
  void* symbol = dlsym(handle, name);
  memcpy(function, &symbol, sizeof symbol);  // ISO C has no cast from an object to a function
  return symbol != NULL;
}

static bool open_library(const char* path, Functions* f, char* reason, size_t size) {
  f->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (!f->handle) {
    snprintf(reason, size, "%s", dlerror());
    return false;
  }
  bool ok = find(f->handle, "sr_data_create", &f->data_create) &&
            find(f->handle, "sr_data_destroy", &f->data_destroy) && find(f->handle, "sr_rnea", &f->rnea) &&
            find(f->handle, "sr_crba", &f->crba) && find(f->handle, "sr_aba", &f->aba);
  if (!ok) snprintf(reason, size, "%s lacks a function", path);
  return ok;
}

static void destroy(void* self) {
  Sarrus* s = self;
  if (!s) return;
  if (s->d) s->f.data_destroy(s->d);
  if (s->f.handle) dlclose(s->f.handle);
  free(s->q);
  free(s->out);
  free(s);
}

static void* create(const char* path, const srModel* m, int nstate, char* reason, size_t size) {
  Sarrus* s = calloc(1, sizeof *s);
  if (!s || !open_library(path, &s->f, reason, size)) {
    destroy(s);
    return NULL;
  }
  size_t nq = (size_t)m->nq, nv = (size_t)m->nv, n = (size_t)nstate;
  s->m = m;
  s->d = s->f.data_create(m);
  s->q = calloc(n * (nq + 3 * nv), sizeof(double));
  s->out = calloc(nv * nv + 1, sizeof(double));
  if (!s->d || !s->q || !s->out) {
    snprintf(reason, size, "out of memory");
    destroy(s);
    return NULL;
  }
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
  Sarrus* s = self;
  size_t nq = (size_t)s->m->nq, nv = (size_t)s->m->nv, i = (size_t)state;
  memcpy(s->q + i * nq, q, nq * sizeof(double));
  memcpy(s->v + i * nv, v, nv * sizeof(double));
  memcpy(s->a + i * nv, a, nv * sizeof(double));
  memcpy(s->tau + i * nv, tau, nv * sizeof(double));
}

static void call(void* self, PeerCall what, int state) {
  Sarrus* s = self;
  const double* q = s->q + (size_t)state * (size_t)s->m->nq;
  size_t at = (size_t)state * (size_t)s->m->nv;
  switch (what) {
    case PEER_FORWARD: s->f.aba(s->m, s->d, q, s->v + at, s->tau + at, s->out); break;
    case PEER_INVERSE: s->f.rnea(s->m, s->d, q, s->v + at, s->a + at, s->out); break;
    case PEER_MASS: s->f.crba(s->m, s->d, q, s->out); break;
    default: break;
  }
}

static void result(void* self, PeerCall what, int state, double* out) {
  Sarrus* s = self;
  (void)state;
  size_t nv = (size_t)s->m->nv;
  memcpy(out, s->out, (what == PEER_MASS ? nv * nv : nv) * sizeof(double));
}

static void* create_default(const srModel* m, int nstate, char* reason, size_t size) {
  return create(SARRUS_LIBRARY, m, nstate, reason, size);
}
const PeerKind peer_sarrus = {"sarrus", sr_version, create_default, destroy, offers, set_state, call, result};

#ifdef SARRUS_LIBRARY_V3
static void* create_v3(const srModel* m, int nstate, char* reason, size_t size) {
  return create(SARRUS_LIBRARY_V3, m, nstate, reason, size);
}
const PeerKind peer_sarrus_v3 = {"sarrus-v3", sr_version, create_v3, destroy, offers, set_state, call, result};
#endif
