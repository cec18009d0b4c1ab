// Regions (region.h): sweeps that converge do so last at few contacts. With all other impulses held, sweeps over these and what is near them cost little. The contacts are copied from
// the batches of the bundle, lane by lane, with their colours and in their order; velocities hold the change by all impulses, and those of a region go on from there.
#include "nonsmooth/region.h"

#include <string.h>

enum {
  RINGS = 2
};  // bodies around each contact that is not solved, from its own on, all of whose contacts belong to the region

// A batch of a run, with the places of its bodies in z for both sides, and its contacts.
typedef struct Batch {
  const int *side[2], *end;  // end: of the first side
  int first;                 // lane of the run
} Batch;

static Batch batch_at(const srLanes* l, const srLaneRun* run, int i) {
  const int lanes = l->kernel->lanes, first = lanes * i, left = run->contacts - first;
  const int* body = (const int*)(const void*)(l->batch + run->at + (size_t)i * l->kernel->size[run->kind]);
  return (Batch){.side = {body, body + lanes}, .end = body + (left < lanes ? left : lanes), .first = first};
}

// ring: of the bodies of the region, from 1 on; 0: it is not in it.
static void mark_seeds(const srLanes* l, const srBundle* bundle, double seed, int* ring) {
  const float above = (float)seed;
  for (int i = bundle->run[0]; i < bundle->run[1]; ++i) {
    const srLaneRun* run = &l->run[i];
    const float* error = (const float*)l->error + (size_t)run->batch * (size_t)l->kernel->lanes;
    for (int k = 0; k < run->contacts; ++k) {
      if (!(error[k] > above)) continue;
      const Batch b = batch_at(l, run, k / l->kernel->lanes);
      for (int side = run->pairs ? 0 : 1; side < 2; ++side) ring[b.side[side][k - b.first] / SR_ROW] = 1;
    }
  }
}

static void mark_ring(const srLanes* l, const srBundle* bundle, int n, int* ring) {
  for (int i = bundle->run[0]; i < bundle->run[1]; ++i) {
    const srLaneRun* run = &l->run[i];
    for (int k = 0; k < run->batches && run->pairs; ++k) {
      const Batch b = batch_at(l, run, k);
      for (const int *x = b.side[0], *y = b.side[1]; x < b.end; ++x, ++y) {
        int *one = &ring[*x / SR_ROW], *two = &ring[*y / SR_ROW];
        if (*one == 0 && *two == n) *one = n + 1;
        if (*two == 0 && *one == n) *two = n + 1;
      }
    }
  }
}

static bool is_inside(int ring) { return ring > 0 && ring <= RINGS; }

// The contacts of bodies up to the last ring: their runs, with the lanes that they come from in `order`.
static bool choose_contacts(srLanes* l, const srBundle* bundle, const int* ring) {
  srLanes* r = l->region;
  const int lanes = l->kernel->lanes;
  size_t at = 0;
  int count = 0, batch = 0;
  r->nrun = 0;
  for (int i = bundle->run[0]; i < bundle->run[1]; ++i) {
    const srLaneRun* run = &l->run[i];
    srLaneRun picked = *run;
    picked.first = count;
    for (int k = 0; k < run->batches; ++k) {
      const Batch b = batch_at(l, run, k);
      const int used = (int)(b.end - b.side[0]);
      if (count + used > r->most_contacts) return false;
      for (int lane = 0; lane < used; ++lane) {
        if (is_inside(ring[b.side[1][lane] / SR_ROW]) || (run->pairs && is_inside(ring[b.side[0][lane] / SR_ROW])))
          r->order[count++] = b.first + lane;
      }
    }
    picked.contacts = count - picked.first;
    picked.batches = (picked.contacts + lanes - 1) / lanes;
    picked.batch = batch;
    picked.at = at;
    batch += picked.batches;
    at += (size_t)picked.batches * l->kernel->size[run->kind];
    r->run[r->nrun++] = picked;
  }
  r->bundle[0] = (srBundle){.run = {0, r->nrun}, .contacts = count};
  return count > 0;
}

// Bodies that their contacts may move, in the order of their numbers; ring becomes their number in the region.
static void number_bodies(srLanes* l, int* ring) {
  srLanes* r = l->region;
  const size_t size = l->kernel->row_size;
  r->nbody = 0;
  for (int i = 0; i < l->nbody; ++i) {
    if (ring[i] == 0) continue;
    memcpy((char*)r->z + size * (size_t)r->nbody, (const char*)l->z + size * (size_t)i, size);
    r->count[r->nbody] = i;
    ring[i] = r->nbody++;
  }
}

bool sr_region_take(srLanes* l, const srBundle* bundle, double seed) {
  srLanes* r = l->region;
  int* ring = l->ring;
  memset(ring, 0, (size_t)l->nbody * sizeof *ring);
  mark_seeds(l, bundle, seed, ring);
  for (int n = 1; n <= RINGS; ++n) mark_ring(l, bundle, n, ring);
  if (!choose_contacts(l, bundle, ring)) return false;
  number_bodies(l, ring);
  r->kernel = l->kernel;
  r->soft = l->soft;
  for (int i = 0; i < r->nrun; ++i)
    l->kernel->pick(l, &l->run[bundle->run[0] + i], r->order + r->run[i].first, ring, r, &r->run[i]);
  return true;
}

void sr_region_return(srLanes* l, const srBundle* bundle) {
  const srLanes* r = l->region;
  const size_t size = l->kernel->row_size;
  for (int i = 0; i < r->nbody; ++i)
    memcpy((char*)l->z + size * (size_t)r->count[i], (const char*)r->z + size * (size_t)i, size);
  for (int i = 0; i < r->nrun; ++i)
    l->kernel->put_back(l, &l->run[bundle->run[0] + i], r->order + r->run[i].first, r, &r->run[i]);
}
