// Names and units of signals, and what is known of a component.
#include <stdlib.h>
#include <string.h>

#include "network/network.h"

static const char* const position[] = {"x", "y", "z", "vx", "vy", "vz"};
static const char* const motion_unit[] = {"m", "m", "m", "m/s", "m/s", "m/s"};
static const char* const wrench[] = {"fx", "fy", "fz", "mx", "my", "mz"};
static const char* const wrench_unit[] = {"N", "N", "N", "Nm", "Nm", "Nm"};
static const char* const rigid[] = {"x", "y", "z", "vx", "vy", "vz", "qw", "qx", "qy", "qz", "wx", "wy", "wz"};
static const char* const rigid_unit[] = {"m", "m", "m", "m/s", "m/s", "m/s", "", "", "", "", "rad/s", "rad/s", "rad/s"};

// Angular first, as ports have it.
static const char* const twist[] = {"rx", "ry", "rz", "x", "y", "z", "wx", "wy", "wz", "vx", "vy", "vz"};
static const char* const twist_unit[] = {"rad",   "rad",   "rad",   "m",   "m",   "m",
                                         "rad/s", "rad/s", "rad/s", "m/s", "m/s", "m/s"};
static const char* const port_wrench[] = {"mx", "my", "mz", "fx", "fy", "fz"};
static const char* const port_wrench_unit[] = {"Nm", "Nm", "Nm", "N", "N", "N"};
// One coordinate: an angle or a length, so without units.
static const char* const one[] = {"x", "v"};
static const char* const one_velocity[] = {"v"};
static const char* const one_force[] = {"f"};

const srSignalNames sr_names_mass = {{wrench, position, position}, {wrench_unit, motion_unit, motion_unit}};
const srSignalNames sr_names_rigid = {{wrench, rigid, rigid}, {wrench_unit, rigid_unit, rigid_unit}};
const srSignalNames sr_names_plane = {{position, wrench, NULL}, {motion_unit, wrench_unit, NULL}};

const srSignalNames* sr_names_port(int width) {
  static const srSignalNames of_one = {{one, one_force, NULL}, {NULL}};
  static const srSignalNames of_six = {{twist, port_wrench, NULL}, {twist_unit, port_wrench_unit, NULL}};
  return width == 1 ? &of_one : width == 6 ? &of_six : NULL;
}

const srSignalNames* sr_names_friction(int width) {
  static const srSignalNames of_one = {{one_velocity, one_force, NULL}, {NULL}};
  static const srSignalNames of_more = {{position + 3, wrench, NULL}, {motion_unit + 3, wrench_unit, NULL}};
  return width == 1 ? &of_one : &of_more;
}

int sr_net_name(srNetwork* n, int component, const srSignalNames* names) {
  if (component < 0 || !names) return component;
  srComponent* c = &n->component[component];
  memcpy(c->signal_name, names->name, sizeof c->signal_name);
  memcpy(c->signal_unit, names->unit, sizeof c->signal_unit);
  return component;
}

static const srComponent* known(const srNetwork* n, int i) {
  return i >= 0 && i < n->ncomponent ? &n->component[i] : NULL;
}

static int count_of(const srComponent* c, srSignal signal) {
  return signal == SR_SIGNAL_INPUT ? c->nin : signal == SR_SIGNAL_OUTPUT ? c->nout : c->nx;
}

int sr_network_signals(const srNetwork* n, int component, srSignal signal) {
  const srComponent* c = known(n, component);
  return c ? count_of(c, signal) : 0;
}

static const char** copy_texts(srPool* pool, const char* const* from, int count) {
  const char** to = sr_pool_alloc(pool, (size_t)(count + 1) * sizeof *to);
  for (int i = 0; i < count; ++i) to[i] = sr_pool_text(pool, from[i]);
  return to;
}

srStatus sr_network_set_names(srNetwork* n, int component, srSignal signal, const char* const* names,
                              const char* const* units) {
  if (!sr_net_get(n, component, "names")) return SR_INPUT;
  jmp_buf out;
  if (setjmp(out) != 0) {
    (void)sr_net_no_memory(n);
    return SR_MEMORY;
  }
  n->pool.on_fail = &out;
  srComponent* c = &n->component[component];
  const int count = count_of(c, signal);
  c->signal_name[signal] = copy_texts(&n->pool, names, count);
  c->signal_unit[signal] = units ? copy_texts(&n->pool, units, count) : NULL;
  n->pool.on_fail = NULL;
  return SR_OK;
}

static const char* text_of(const srComponent* c, const char* const* texts, srSignal signal, int i) {
  return c && texts && i >= 0 && i < count_of(c, signal) ? texts[i] : NULL;
}

const char* sr_network_signal_name(const srNetwork* n, int component, srSignal signal, int i) {
  const srComponent* c = known(n, component);
  return text_of(c, c ? c->signal_name[signal] : NULL, signal, i);
}

const char* sr_network_signal_unit(const srNetwork* n, int component, srSignal signal, int i) {
  const srComponent* c = known(n, component);
  const char* unit = text_of(c, c ? c->signal_unit[signal] : NULL, signal, i);
  return unit ? unit : "";
}

int sr_network_signal_find(const srNetwork* n, int component, srSignal signal, const char* name) {
  const int count = sr_network_signals(n, component, signal);
  for (int i = 0; i < count; ++i) {
    const char* own = sr_network_signal_name(n, component, signal, i);
    if (own && strcmp(own, name) == 0) return i;
  }
  char* end;
  const long number = strtol(name, &end, 10);
  return name[0] >= '0' && name[0] <= '9' && !*end && number < count ? (int)number : -1;
}

srComponentInfo sr_network_component(const srNetwork* n, int i) {
  const srComponent* c = known(n, i);
  if (!c) return (srComponentInfo){0};
  return (srComponentInfo){c->name, c->kind, n->ready && c->kind != SR_ADMITTANCE ? c->level : -1, c->place};
}

bool sr_network_connected(const srNetwork* n, int component, int in) {
  const srComponent* c = known(n, component);
  return c && n->ready && in >= 0 && in < c->nin && n->reached[c->first_in + in];
}
