// One interface to every engine that is measured or compared, Sarrus among them.
//
// A peer is made from the link arrays of a compiled model, so all engines see the same numbers. States are handed over
// once, converted to the peer's own coordinates and kept; `call` is the peer's native computation at one of them and the
// only thing that is timed or counted; `result` converts back what the last call left.
//
// Coordinates on this side are Sarrus's: free joints have q = position, quaternion w x y z, and v = angular velocity,
// velocity of the origin, both in body axes; the velocity of a ball joint is the angular velocity in body axes.
#ifndef SARRUS_BENCH_PEER_H
#define SARRUS_BENCH_PEER_H

#include <sarrus/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum PeerCall {
  PEER_FORWARD,  // accelerations from q, v, tau (nv)
  PEER_INVERSE,  // forces from q, v, a (nv)
  PEER_MASS,     // mass matrix from q (nv x nv, row-major)
  PEER_EMPTY,    // nothing: what the loop around the calls costs
  PEER_CALLS
} PeerCall;

typedef struct PeerKind {
  const char* name;
  const char* (*version)(void);
  // NULL when the peer cannot have this model; then `reason` is the message.
  void* (*create)(const srModel* m, int nstate, char* reason, size_t size);
  void (*destroy)(void* self);
  bool (*offers)(const void* self, PeerCall call);
  void (*set_state)(void* self, int state, const double* q, const double* v, const double* a, const double* tau);
  void (*call)(void* self, PeerCall call, int state);
  void (*result)(void* self, PeerCall call, int state, double* out);
} PeerKind;

// Those that were built; Sarrus first.
extern const PeerKind* const peer_kinds[];
extern const int peer_kind_count;

extern const PeerKind peer_sarrus, peer_sarrus_v3, peer_generated, peer_generated_v3, peer_mujoco, peer_simbody,
    peer_kdl;

// The call and its result in one, for comparisons.
static inline void peer_compute(const PeerKind* kind, void* self, PeerCall call, int state, double* out) {
  kind->call(self, call, state);
  kind->result(self, call, state, out);
}

#ifdef __cplusplus
}
#endif
#endif
