// Building a network: components, wires, and what is refused.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "force/laws.h"
#include "force/ports.h"
#include "model/private.h"
#include "network/network.h"

srNetwork* sr_network_create(srMessages* messages) {
  srNetwork* n = sr_alloc(sizeof *n);
  if (!n) return NULL;
  n->messages = messages;
  sr_pool_init(&n->pool);
  atomic_init(&n->failed, INT_MAX);
  return n;
}

void sr_network_destroy(srNetwork* n) {
  if (!n) return;
  sr_team_destroy(n->team);
  for (int i = n->nowned - 1; i >= 0; --i) n->owned[i].destroy(n->owned[i].object);
  sr_pool_free(&n->pool);
  sr_free(n);
}

// ---- what the adding functions share ----------------------------------------------------------------------------------

void sr_net_error(srNetwork* n, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  sr_messages_vadd(n->messages, SR_SEVERITY_ERROR, n->place, format, arguments);
  va_end(arguments);
  n->refused = true;
}

void sr_net_error_at(srNetwork* n, srPlace place, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  sr_messages_vadd(n->messages, SR_SEVERITY_ERROR, place, format, arguments);
  va_end(arguments);
  n->refused = true;
}

void sr_network_set_place(srNetwork* n, srPlace place) { n->place = place; }

int sr_net_no_memory(srNetwork* n) {
  n->pool.on_fail = NULL;
  sr_net_error(n, "the network is out of memory");
  return SR_REFUSED;
}

bool sr_net_room(srNetwork* n, void* items, size_t size, int count, int* capacity) {
  void *old, *larger;
  if (count < *capacity) return true;
  memcpy(&old, items, sizeof old);
  larger = sr_pool_grow(&n->pool, old, size, count, capacity);
  if (larger)
    memcpy(items, &larger, sizeof larger);
  else
    (void)sr_net_no_memory(n);
  return larger != NULL;
}

bool sr_net_open(srNetwork* n) {
  if (n->ready) sr_net_error(n, "the network is ready: nothing can be added to it any more");
  return !n->ready;
}

bool sr_net_good_name(srNetwork* n, const char* name) {
  const bool good = name && name[0];
  if (!good) sr_net_error(n, "a component of the network needs a name");
  return good;
}

static double* copy_numbers(srPool* pool, const double* from, int count) {
  if (count <= 0 || !from) return NULL;
  double* to = sr_pool_alloc(pool, (size_t)count * sizeof *to);
  memcpy(to, from, (size_t)count * sizeof *to);
  return to;
}

int sr_net_add(srNetwork* n, const char* name, const srComponent* like) {
  jmp_buf out;
  if (setjmp(out) != 0) return sr_net_no_memory(n);
  n->pool.on_fail = &out;
  srComponent c = *like;
  c.name = sr_pool_text(&n->pool, name);
  c.p = copy_numbers(&n->pool, like->p, like->np);
  c.x0 = copy_numbers(&n->pool, like->x0, like->nx);
  c.tau = SR_NET_TAU;
  c.phase = INT_MAX;
  c.place = n->place;
  SR_PUSH(&n->pool, n->component, n->ncomponent, n->component_capacity) = c;
  n->pool.on_fail = NULL;
  return n->ncomponent - 1;
}

void* sr_net_keep(srNetwork* n, const void* data, size_t size) {
  void* copy = sr_pool_alloc(&n->pool, size);
  if (!copy)
    (void)sr_net_no_memory(n);
  else
    memcpy(copy, data, size);
  return copy;
}

bool sr_net_own(srNetwork* n, void (*destroy)(void*), void* object) {
  if (!SR_NET_ROOM(n, owned)) {
    destroy(object);
    return false;
  }
  n->owned[n->nowned++] = (srOwned){destroy, object};
  return true;
}

const srComponent* sr_net_get(srNetwork* n, int i, const char* what) {
  if (i >= 0 && i < n->ncomponent) return &n->component[i];
  sr_net_error(n, "%s: there is no component %d (they are numbered from 0 to %d)", what, i, n->ncomponent - 1);
  return NULL;
}

// The parameters that a law needs, all of them numbers.
static bool good_parameters(srNetwork* n, const char* name, const char* law, int want, const double* p, int np) {
  if (np < 0 || (np > 0 && !p)) {
    sr_net_error(n, "the component '%s' is declared with %d parameters, but none are given", name, np);
    return false;
  }
  if (want >= 0 && want != np) {
    sr_net_error(n, "the component '%s' gives %d parameters, but '%s' takes %d", name, np, law, want);
    return false;
  }
  for (int i = 0; i < np; ++i) {
    if (isfinite(p[i])) continue;
    sr_net_error(n, "parameter %d of the component '%s' is not a finite number", i, name);
    return false;
  }
  return true;
}

// ---- components ---------------------------------------------------------------------------------------------------------

int sr_network_admittance(srNetwork* n, const char* name, const srAdmittance* a, const double* p, int np, void* self) {
  if (!sr_net_open(n) || !sr_net_good_name(n, name)) return SR_REFUSED;
  if (!a || !a->rates || !a->motion || a->nx < 0 || a->nu < 0 || a->nout < 0) {
    sr_net_error(n, "the admittance '%s' lacks a function (rates, motion) or has a negative size", name);
    return SR_REFUSED;
  }
  if (!good_parameters(n, name, a->name ? a->name : name, a->np, p, np)) return SR_REFUSED;
  const char* wrong = a->refuse ? a->refuse(p, np) : NULL;
  if (wrong) {
    sr_net_error(n, "the component '%s' is not possible: %s", name, wrong);
    return SR_REFUSED;
  }
  return sr_net_add(n, name,
                    &(srComponent){.kind = SR_ADMITTANCE,
                                   .admittance = *a,
                                   .p = p,
                                   .np = np,
                                   .self = self,
                                   .x0 = a->x0,
                                   .nin = a->nu,
                                   .nout = a->nout,
                                   .nx = a->nx});
}

// Of the program's own laws some take formulas, discrete states or data that compile makes.
static bool stands_alone(const srImpedance* law) {
  static const srImpedance* const alone[] = {
      &sr_law_joint_spring, &sr_law_joint_damper,   &sr_law_joint_stop, &sr_law_distance_spring,
      &sr_law_bushing,      &sr_law_bushing_matrix, &sr_law_tyre,       &sr_law_tyre_transient};
  for (int i = 0; i < SR_COUNT(alone); ++i) {
    if (law->evaluate == alone[i]->evaluate) return true;
  }
  for (const srImpedance* const* built_in = sr_builtin_impedances; *built_in; ++built_in) {
    if (law->evaluate == (*built_in)->evaluate) return false;
  }
  return law->port <= SR_PORT_FRAMES;
}

int sr_network_impedance(srNetwork* n, const char* name, const srImpedance* law, const double* p, int np) {
  if (!sr_net_open(n) || !sr_net_good_name(n, name)) return SR_REFUSED;
  if (!law || !law->evaluate || law->ny < 0) {
    sr_net_error(n, "the impedance '%s' lacks its function or has a negative number of states", name);
    return SR_REFUSED;
  }
  if (!stands_alone(law)) {
    sr_net_error(n, "'%s': the law '%s' needs what a model file gives it; write an element in C", name, law->name);
    return SR_REFUSED;
  }
  if (!good_parameters(n, name, law->name ? law->name : name, law->np, p, np)) return SR_REFUSED;
  const int width = sr_port_width(law->port);
  const int i = sr_net_add(n, name,
                           &(srComponent){.kind = SR_IMPEDANCE,
                                          .law = *law,
                                          .form = {width, width, width, law->ny, NULL, NULL},
                                          .p = p,
                                          .np = np,
                                          .x0 = law->y0,
                                          .nin = 2 * width,
                                          .nout = width,
                                          .nx = law->ny});
  return sr_net_name(n, i, sr_names_port(width));
}

int sr_network_element(srNetwork* n, const char* name, const srElementForm* form, void* self) {
  if (!sr_net_open(n) || !sr_net_good_name(n, name)) return SR_REFUSED;
  if (!form || !form->evaluate || form->nx < 0 || form->nxdot < 0 || form->nf < 0 || form->ny < 0) {
    sr_net_error(n, "the element '%s' lacks its function or has a negative size", name);
    return SR_REFUSED;
  }
  return sr_net_add(n, name,
                    &(srComponent){.kind = SR_ELEMENT,
                                   .form = *form,
                                   .self = self,
                                   .x0 = form->y0,
                                   .nin = form->nx + form->nxdot,
                                   .nout = form->nf,
                                   .nx = form->ny});
}

int sr_network_map(srNetwork* n, const char* name, int nin, int nout, srMapFunction evaluate, void* self) {
  if (!sr_net_open(n) || !sr_net_good_name(n, name)) return SR_REFUSED;
  if (!evaluate || nin < 0 || nout < 0) {
    sr_net_error(n, "the map '%s' lacks its function or has a negative size", name);
    return SR_REFUSED;
  }
  return sr_net_add(n, name, &(srComponent){.kind = SR_MAP, .map = evaluate, .self = self, .nin = nin, .nout = nout});
}

srStatus sr_network_set_tau(srNetwork* n, int component, double tau) {
  if (!sr_net_get(n, component, "tau")) return SR_INPUT;
  if (!(tau >= 0.0 && isfinite(tau))) {
    sr_net_error(n, "tau of '%s' must be at least 0, not %g", n->component[component].name, tau);
    return SR_INPUT;
  }
  n->component[component].tau = tau;
  return SR_OK;
}

// ---- wires --------------------------------------------------------------------------------------------------------------

static bool within(srNetwork* n, const srComponent* c, const char* side, int first, int count, int total) {
  if (first >= 0 && count >= 0 && first <= total - count) return true;
  sr_net_error(n, "'%s' has %d %s: %d to %d is not among them", c->name, total, side, first, first + count - 1);
  return false;
}

srStatus sr_network_wires(srNetwork* n, double coefficient, int from, int out, int to, int in, int count) {
  if (!sr_net_open(n)) return SR_INPUT;
  const srComponent *source = sr_net_get(n, from, "a wire"), *target = sr_net_get(n, to, "a wire");
  if (!source || !target) return SR_INPUT;
  if (!within(n, source, "outputs", out, count, source->nout)) return SR_INPUT;
  if (!within(n, target, "inputs", in, count, target->nin)) return SR_INPUT;
  if (!isfinite(coefficient)) {
    sr_net_error(n, "the wire from '%s' to '%s' needs a finite coefficient", source->name, target->name);
    return SR_INPUT;
  }
  for (int i = 0; i < count; ++i) {
    if (!SR_NET_ROOM(n, wire)) return SR_MEMORY;
    n->wire[n->nwire++] = (srWire){coefficient, from, out + i, to, in + i};
  }
  return SR_OK;
}

srStatus sr_network_wire(srNetwork* n, double coefficient, int from, int out, int to, int in) {
  return sr_network_wires(n, coefficient, from, out, to, in, 1);
}

srStatus sr_network_constant(srNetwork* n, double value, int to, int in) {
  if (!sr_net_open(n)) return SR_INPUT;
  const srComponent* target = sr_net_get(n, to, "a constant");
  if (!target || !within(n, target, "inputs", in, 1, target->nin)) return SR_INPUT;
  if (!isfinite(value)) {
    sr_net_error(n, "the constant at input %d of '%s' must be a finite number", in, target->name);
    return SR_INPUT;
  }
  if (!SR_NET_ROOM(n, constant)) return SR_MEMORY;
  n->constant[n->nconstant++] = (srConstant){value, to, in};
  return SR_OK;
}
