// From components and wires to flat arrays: Psi and Phi by compressed rows, and the order of evaluation.
//
// Motion of an admittance does not depend on its inputs, so its outputs are there at the beginning of a stage, and its
// inputs are needed at the end. What is between is sorted into levels: all of a level may run at the same time. The plain
// network of Kikuuwe and Yamamoto has Psi in level 0 and 1, the impedances in the next, then Phi. A ring of maps and impedances without
// an admittance in it has no order: it is an algebraic loop, and refused.
#include <string.h>

#include "network/network.h"

static void* room(srNetwork* n, int count, size_t size) {
  return sr_pool_alloc(&n->pool, (size_t)(count > 0 ? count : 1) * size);
}

static void number_signals(srNetwork* n) {
  n->nin = n->nout = n->nx = n->nadmit = 0;
  for (int i = 0; i < n->ncomponent; ++i) {
    srComponent* c = &n->component[i];
    c->first_in = n->nin;
    c->first_out = n->nout;
    c->first_x = n->nx;
    n->nin += c->nin;
    n->nout += c->nout;
    n->nx += c->nx;
    if (c->kind == SR_ADMITTANCE) n->admit[n->nadmit++] = i;
  }
}

// Wires of each input together, in the order they were added.
static void sort_wires(srNetwork* n) {
  n->wire_start = room(n, n->nin + 1, sizeof *n->wire_start);
  n->wire_signal = room(n, n->nwire, sizeof *n->wire_signal);
  n->wire_factor = room(n, n->nwire, sizeof *n->wire_factor);
  n->input_constant = room(n, n->nin, sizeof *n->input_constant);
  int* next = room(n, n->nin, sizeof *next);
  for (int i = 0; i < n->nwire; ++i) n->wire_start[n->component[n->wire[i].to].first_in + n->wire[i].in + 1]++;
  for (int i = 0; i < n->nin; ++i) {
    n->wire_start[i + 1] += n->wire_start[i];
    next[i] = n->wire_start[i];
  }
  for (int i = 0; i < n->nwire; ++i) {
    const srWire* wire = &n->wire[i];
    const int place = next[n->component[wire->to].first_in + wire->in]++;
    n->wire_signal[place] = n->component[wire->from].first_out + wire->out;
    n->wire_factor[place] = wire->coefficient;
  }
  for (int i = 0; i < n->nconstant; ++i) {
    const srConstant* c = &n->constant[i];
    n->input_constant[n->component[c->to].first_in + c->in] += c->value;
  }
}

// A wire that makes its target wait for its source.
static bool orders(const srNetwork* n, const srWire* wire) {
  return n->component[wire->from].kind != SR_ADMITTANCE && n->component[wire->to].kind != SR_ADMITTANCE;
}

// Of the components that wait, one after the other back to its source: after some steps they are those of a ring.
static int find_ring(const srNetwork* n, const int* waits, int* source) {
  int i = 0;
  for (int k = 0; k < n->nwire; ++k) {
    if (orders(n, &n->wire[k]) && waits[n->wire[k].from] > 0) source[n->wire[k].to] = n->wire[k].from;
  }
  while (waits[i] == 0) ++i;
  for (int k = 0; k < n->ncomponent; ++k) i = source[i];
  return i;
}

// A component that the user has not written (a map of a terminal) has the name of one that he has: it is named once.
static void report_ring(srNetwork* n, const int* waits) {
  enum { SHOWN = 12 };
  int* source = room(n, n->ncomponent, sizeof *source);
  int* ring = room(n, n->ncomponent, sizeof *ring);
  const int last = find_ring(n, waits, source);
  int count = 0;
  for (int i = source[last]; ring[count++] = i, i != last; i = source[i]) continue;
  const char* text = "";
  const char* before = NULL;
  int shown = 0;
  for (int k = count - 1; k >= 0 && shown < SHOWN; --k) {  // from source to target
    const char* name = n->component[ring[k]].name;
    if (before && strcmp(name, before) == 0) continue;
    text = sr_pool_printf(&n->pool, "%s%s'%s'", text, before ? ", " : "", name);
    before = name;
    ++shown;
  }
  sr_net_error_at(n, n->component[last].place,
                  "an algebraic loop: %s%s and back is a ring of maps and impedances without an admittance", text,
                  count > SHOWN ? ", ..." : "");
}

// Longest path from the admittances: components whose sources are all done are processed in turn (Kahn).
static int levels(srNetwork* n) {
  const int count = n->ncomponent;
  int* waits = room(n, count, sizeof *waits);      // for so many wires
  int* start = room(n, count + 1, sizeof *start);  // wires by their source
  int* leaving = room(n, n->nwire, sizeof *leaving);
  int* queue = room(n, count, sizeof *queue);
  int* next = room(n, count, sizeof *next);
  for (int i = 0; i < n->nwire; ++i) {
    if (!orders(n, &n->wire[i])) continue;
    waits[n->wire[i].to]++;
    start[n->wire[i].from + 1]++;
  }
  for (int i = 0; i < count; ++i) {
    start[i + 1] += start[i];
    next[i] = start[i];
  }
  for (int i = 0; i < n->nwire; ++i) {
    if (orders(n, &n->wire[i])) leaving[next[n->wire[i].from]++] = n->wire[i].to;
  }
  int taken = 0, filled = 0, members = 0;
  for (int i = 0; i < count; ++i) {
    if (n->component[i].kind == SR_ADMITTANCE) continue;
    members++;
    if (waits[i] == 0) queue[filled++] = i;
  }
  for (; taken < filled; ++taken) {
    const int i = queue[taken];
    for (int k = start[i]; k < start[i + 1]; ++k) {
      srComponent* c = &n->component[leaving[k]];
      if (c->level <= n->component[i].level) c->level = n->component[i].level + 1;
      if (--waits[leaving[k]] == 0) queue[filled++] = leaving[k];
    }
  }
  if (filled < members) report_ring(n, waits);
  return members;
}

// Level 0 waits for the motion of the admittances alone.
static void sort_levels(srNetwork* n, int members) {
  n->nlevel = 0;
  for (int i = 0; i < n->ncomponent; ++i) {
    if (n->component[i].kind != SR_ADMITTANCE && n->component[i].level >= n->nlevel)
      n->nlevel = n->component[i].level + 1;
  }
  n->level_start = room(n, n->nlevel + 1, sizeof *n->level_start);
  n->order = room(n, members, sizeof *n->order);
  int place = 0;
  for (int level = 0; level < n->nlevel; ++level) {
    n->level_start[level] = place;
    for (int i = 0; i < n->ncomponent; ++i) {
      const srComponent* c = &n->component[i];
      if (c->kind != SR_ADMITTANCE && c->level == level) n->order[place++] = i;
    }
  }
  n->level_start[n->nlevel] = place;
}

// An input of an impedance or a map that nothing reaches is most likely a mistake; no force on an admittance is not.
static void look_for_loose_inputs(srNetwork* n) {
  n->reached = room(n, n->nin, sizeof *n->reached);
  for (int i = 0; i < n->nwire; ++i) n->reached[n->component[n->wire[i].to].first_in + n->wire[i].in] = true;
  for (int i = 0; i < n->nconstant; ++i)
    n->reached[n->component[n->constant[i].to].first_in + n->constant[i].in] = true;
  for (int i = 0; i < n->ncomponent; ++i) {
    const srComponent* c = &n->component[i];
    if (c->kind == SR_ADMITTANCE) continue;
    for (int k = 0; k < c->nin; ++k) {
      if (n->reached[c->first_in + k]) continue;
      const char* name = sr_network_signal_name(n, i, SR_SIGNAL_INPUT, k);
      if (name)
        sr_messages_add(n->messages, SR_SEVERITY_WARNING, c->place, "input '%s' of '%s' has no wire: it is 0", name,
                        c->name);
      else
        sr_messages_add(n->messages, SR_SEVERITY_WARNING, c->place, "input %d of '%s' has no wire: it is 0", k,
                        c->name);
    }
  }
}

static void take_memory(srNetwork* n) {
  n->input = room(n, n->nin, sizeof *n->input);
  n->output = room(n, n->nout, sizeof *n->output);
  n->x = room(n, n->nx, sizeof *n->x);
  n->stage = room(n, n->nx, sizeof *n->stage);
  for (int r = 0; r < 4; ++r) n->k[r] = room(n, n->nx, sizeof *n->k[r]);
}

srStatus sr_network_ready(srNetwork* n, int threads) {
  if (!sr_net_open(n)) return SR_INPUT;
  if (threads < 1 || threads > 1024) {
    sr_net_error(n, "the number of threads must be from 1 to 1024, not %d", threads);
    return SR_INPUT;
  }
  if (n->refused) return SR_INPUT;
  n->place = (srPlace){0};
  jmp_buf no_room;
  if (setjmp(no_room) != 0) {
    (void)sr_net_no_memory(n);
    return SR_MEMORY;
  }
  n->pool.on_fail = &no_room;
  n->admit = room(n, n->ncomponent, sizeof *n->admit);
  number_signals(n);
  sort_wires(n);
  const int members = levels(n);
  if (!n->refused) {
    sort_levels(n, members);
    look_for_loose_inputs(n);
    take_memory(n);
  }
  n->pool.on_fail = NULL;
  if (n->refused) return SR_INPUT;
  n->team = sr_team_create(threads);
  if (!n->team) return SR_MEMORY;
  n->ready = true;
  return sr_network_start(n, 0.0);
}
