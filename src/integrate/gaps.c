// Gaps of the unilateral contacts of a system as switching functions: u_N = W_N v + b_N is the rate of the gap.
//
// The callback `contacts` lists those that are closed or near, in any order. Each id has a slot, and the slot is one function as long as the
// contact is listed; an empty slot is apart. So is a closed contact, one whose normal equation is active: its gap is 0 but for rounding, and
// its multiplier ends it.
#include <string.h>

#include "integrate/array.h"
#include "integrate/integrator.h"

#define APART 1.0  // value of a function that cannot change sign

struct srGaps {
  srSystem system;
  srUnilateral* listed;  // of the last evaluation
  int count;
  long* id;  // of each slot
  int* at;   // of each slot: index in the list, -1: none
  signed char* direction;
  srTouched touched;
  void* user;
};

srGaps* sri_gaps_create(const srSystem* system) {
  const size_t n = (size_t)system->ncontact, head = (sizeof(srGaps) + 15) / 16 * 16;
  char* block = sr_alloc(head + n * (sizeof(long) + sizeof(int) + 1));
  if (block == NULL) return NULL;
  srGaps* gaps = (srGaps*)(void*)block;
  gaps->system = *system;
  gaps->listed = sri_contacts_create(system);
  if (gaps->listed == NULL) {
    sr_free(block);
    return NULL;
  }
  gaps->id = (long*)(void*)(block + head);
  gaps->at = (int*)(void*)(gaps->id + n);
  gaps->direction = (signed char*)(gaps->at + n);
  for (size_t i = 0; i < n; ++i) {
    gaps->id[i] = gaps->at[i] = gaps->direction[i] = -1;
  }
  return gaps;
}

void sri_gaps_destroy(srGaps* gaps) {
  if (gaps == NULL) return;
  sri_contacts_destroy(gaps->listed);
  sr_free(gaps);
}

// As in the last evaluation, the usual case.
static bool places_hold(const srGaps* gaps) {
  int places = 0;
  for (int slot = 0; slot < gaps->system.ncontact; ++slot) {
    const int k = gaps->at[slot];
    if (k >= gaps->count || (k >= 0 && gaps->listed[k].id != gaps->id[slot])) return false;
    places += k >= 0;
  }
  return places == gaps->count;
}

// Slots of the contacts listed: their own, then any whose contact is gone.
static void place_contacts(srGaps* gaps) {
  const int n = gaps->system.ncontact;
  if (places_hold(gaps)) return;
  for (int slot = 0; slot < n; ++slot) {
    gaps->at[slot] = -1;
    for (int k = 0; k < gaps->count && gaps->at[slot] < 0; ++k) {
      if (gaps->listed[k].id == gaps->id[slot]) gaps->at[slot] = k;
    }
  }
  for (int k = 0, slot = 0; k < gaps->count; ++k) {
    bool known = false;
    for (int i = 0; i < n && !known; ++i) known = gaps->at[i] == k;
    if (known) continue;
    while (gaps->at[slot] >= 0) ++slot;
    gaps->at[slot] = k;
    gaps->id[slot] = gaps->listed[k].id;
  }
}

static int list_contacts(srGaps* gaps, double t, const double* q) {
  const srSystem* s = &gaps->system;
  gaps->count = 0;
  const int answer = s->contacts(s->user, t, q, gaps->listed, &gaps->count);
  if (answer != 0) return answer;
  SR_ASSERT(gaps->count >= 0 && gaps->count <= s->ncontact);
  place_contacts(gaps);
  return 0;
}

static bool is_closed(const srSystem* s, const srUnilateral* contact) {
  return contact->normal >= 0 && (s->active == NULL || s->active[contact->normal] != 0);
}

static int evaluate(void* user, double t, const double* q, const double* v, const double* y, double* value) {
  srGaps* gaps = user;
  const srSystem* s = &gaps->system;
  (void)y;
  const int answer = list_contacts(gaps, t, q);
  for (int slot = 0; slot < s->ncontact && answer == 0; ++slot) {
    const srUnilateral* contact = gaps->at[slot] >= 0 ? &gaps->listed[gaps->at[slot]] : NULL;
    double rate = 0;
    value[slot] = APART;
    if (contact != NULL && !is_closed(s, contact)) {
      value[slot] = contact->gap;
      rate = sri_contact_velocity(contact, 0, v);
    }
    value[s->ncontact + slot] = rate;
  }
  return answer;
}

// Contacts are listed again: an action may have moved the others.
static int act(void* user, double t, double* q, double* v, double* y, const signed char* fired) {
  srGaps* gaps = user;
  bool end = false;
  for (int slot = 0; slot < gaps->system.ncontact; ++slot) {
    if (fired[slot] == 0) continue;
    int answer = list_contacts(gaps, t, q);
    if (answer != 0) return -1;
    if (gaps->at[slot] < 0) continue;
    answer = gaps->touched(gaps->user, t, q, v, y, &gaps->listed[gaps->at[slot]]);
    if (answer < 0) return answer;
    end = end || answer > 0;
  }
  return end;
}

// All contacts are listed, whether near or not: none appears within a step.
static bool steady(void* user) { return ((const srGaps*)user)->system.foresee == NULL; }

srEventSource sri_gaps_source(srGaps* gaps, srTouched touched, void* user) {
  gaps->touched = touched;
  gaps->user = user;
  return (srEventSource){.count = gaps->system.ncontact,
                         .rated = true,
                         .direction = gaps->direction,
                         .user = gaps,
                         .evaluate = evaluate,
                         .act = act,
                         .steady = steady};
}
