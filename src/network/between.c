// Maps between two terminals: distance, frames, rotation about an axis. Psi makes the motion that a law sees, Phi brings its
// force back to both sides with the transposed Jacobian.
#include <math.h>
#include <string.h>

#include "math/pose.h"
#include "network/network.h"

static srTerminal last_three(srTerminal t) { return t.n == 6 ? sr_terminal_part(t, 3, 3) : t; }

// A force map is attached to both sides: its first n outputs act on b, the next n on a.
static srStatus bring_back(srNetwork* n, int force, srTerminal a, srTerminal b) {
  const srStatus status = sr_network_apply(n, 1.0, force, 0, b);
  return status == SR_OK ? sr_network_apply(n, 1.0, force, b.n, a) : status;
}

static srStatus impossible(srNetwork* n, int impedance, const char* port, int width) {
  const srComponent* c = sr_net_get(n, impedance, port);
  if (!c) return SR_INPUT;
  const bool law = c->kind == SR_IMPEDANCE || c->kind == SR_ELEMENT;
  if (law && c->form.nx == width && c->form.nxdot == width && c->form.nf == width) return SR_OK;
  sr_net_error(n, "'%s' does not fit: %s takes an impedance of %d positions, velocities and forces", c->name, port,
               width);
  return SR_INPUT;
}

// ---- distance ---------------------------------------------------------------------------------------------------------------

// in: b - a, its velocity. out: length, its rate, unit vector.
static int link_motion(void* self, double t, const double* in, double* out) {
  (void)self, (void)t;
  out[0] = srm_norm3(in);
  if (!(out[0] > 0.0)) return 1;  // no direction
  for (int i = 0; i < 3; ++i) out[2 + i] = in[i] / out[0];
  out[1] = srm_dot3(out + 2, in + 3);
  return 0;
}

// in: force, unit vector.
static int distance_force(void* self, double t, const double* in, double* out) {
  (void)self, (void)t;
  for (int i = 0; i < 3; ++i) {
    out[i] = in[0] * in[1 + i];
    out[3 + i] = -out[i];
  }
  return 0;
}

srStatus sr_network_distance_force(srNetwork* n, int impedance, srTerminal a, srTerminal b) {
  a = last_three(a), b = last_three(b);
  if (impossible(n, impedance, "a link", 1) != SR_OK) return SR_INPUT;
  if (a.n != 3 || b.n != 3 || a.x < 0 || b.x < 0) {
    sr_net_error(n, "'%s': a link needs two points with positions", n->component[impedance].name);
    return SR_INPUT;
  }
  const char* name = n->component[impedance].name;
  const int motion = sr_network_map(n, name, 6, 5, link_motion, NULL);
  const int force = sr_network_map(n, name, 4, 6, distance_force, NULL);
  if (motion < 0 || force < 0) return SR_MEMORY;
  for (int side = 0; side < 2; ++side) {
    const srTerminal* t = side ? &a : &b;
    srStatus status = sr_network_wires(n, side ? -1.0 : 1.0, t->motion, t->x, motion, 0, 3);
    if (status == SR_OK) status = sr_network_wires(n, side ? -1.0 : 1.0, t->motion, t->xdot, motion, 3, 3);
    if (status != SR_OK) return status;
  }
  srStatus status = sr_network_wires(n, 1.0, motion, 0, impedance, 0, 2);
  if (status == SR_OK) status = sr_network_wire(n, 1.0, impedance, 0, force, 0);
  if (status == SR_OK) status = sr_network_wires(n, 1.0, motion, 2, force, 1, 3);
  return status == SR_OK ? bring_back(n, force, a, b) : status;
}

// ---- frames -----------------------------------------------------------------------------------------------------------------

// Rotation vector of the shorter rotation.
static void rotation_vector(const double* q, double* out) {
  const double sine = srm_norm3(q + 1), sign = q[0] < 0.0 ? -1.0 : 1.0;
  const double factor = sine > 1e-9 ? 2.0 * atan2(sine, fabs(q[0])) / sine : 2.0;
  for (int i = 0; i < 3; ++i) out[i] = sign * factor * q[1 + i];
}

// conj(a) b
static void relative(const double* a, const double* b, double* out) {
  double cross[3];
  srm_cross3(a + 1, b + 1, cross);
  out[0] = a[0] * b[0] + srm_dot3(a + 1, b + 1);
  for (int i = 1; i < 4; ++i) out[i] = a[0] * b[i] - b[0] * a[i] - cross[i - 1];
}

// in: 13 numbers of a, then of b: position; angular velocity, velocity; quaternion. out: x (6), xdot (6) of SR_PORT_FRAMES.
static int frames_motion(void* self, double t, const double* a, double* out) {
  const double* b = a + 13;
  double q[4], d[3], w[3], v[3], turn[3];
  (void)self, (void)t;
  relative(a + 9, b + 9, q);
  rotation_vector(q, out);
  for (int i = 0; i < 3; ++i) {
    d[i] = b[i] - a[i];
    w[i] = b[3 + i] - a[3 + i];
  }
  srm_cross3(a + 3, d, turn);
  for (int i = 0; i < 3; ++i) v[i] = b[6 + i] - a[6 + i] - turn[i];
  sr_net_rotate_back(a + 9, d, out + 3);
  sr_net_rotate_back(a + 9, w, out + 6);
  sr_net_rotate_back(a + 9, v, out + 9);
  return 0;
}

// in: moment and force on b in a's axes; position of a, of b; quaternion of a. The reaction acts on a at b's origin.
static int frames_force(void* self, double t, const double* in, double* out) {
  const double *a = in + 6, *b = in + 9, *q = in + 12;
  double d[3], turn[3];
  (void)self, (void)t;
  sr_net_rotate(q, in, out);
  sr_net_rotate(q, in + 3, out + 3);
  for (int i = 0; i < 3; ++i) d[i] = b[i] - a[i];
  srm_cross3(d, out + 3, turn);
  for (int i = 0; i < 3; ++i) {
    out[6 + i] = -out[i] - turn[i];
    out[9 + i] = -out[3 + i];
  }
  return 0;
}

static bool two_frames(srNetwork* n, const char* name, srTerminal a, srTerminal b) {
  if (a.n == 6 && b.n == 6 && a.attitude >= 0 && b.attitude >= 0) return true;
  sr_net_error(n, "'%s' needs two points of bodies, with their axes", name);
  return false;
}

static srStatus wire_frame(srNetwork* n, srTerminal t, int map, int in) {
  srStatus status = sr_network_wires(n, 1.0, t.motion, t.x + 3, map, in, 3);
  if (status == SR_OK) status = sr_network_wires(n, 1.0, t.motion, t.xdot, map, in + 3, 6);
  return status == SR_OK ? sr_network_wires(n, 1.0, t.motion, t.attitude, map, in + 9, 4) : status;
}

srStatus sr_network_frames(srNetwork* n, int impedance, srTerminal a, srTerminal b) {
  if (impossible(n, impedance, "a pair of frames", 6) != SR_OK) return SR_INPUT;
  const char* name = n->component[impedance].name;
  if (!two_frames(n, name, a, b)) return SR_INPUT;
  const int motion = sr_network_map(n, name, 26, 12, frames_motion, NULL);
  const int force = sr_network_map(n, name, 16, 12, frames_force, NULL);
  if (motion < 0 || force < 0) return SR_MEMORY;
  srStatus status = wire_frame(n, a, motion, 0);
  if (status == SR_OK) status = wire_frame(n, b, motion, 13);
  if (status == SR_OK) status = sr_network_wires(n, 1.0, motion, 0, impedance, 0, 12);
  if (status == SR_OK) status = sr_network_wires(n, 1.0, impedance, 0, force, 0, 6);
  if (status == SR_OK) status = sr_network_wires(n, 1.0, a.motion, a.x + 3, force, 6, 3);
  if (status == SR_OK) status = sr_network_wires(n, 1.0, b.motion, b.x + 3, force, 9, 3);
  if (status == SR_OK) status = sr_network_wires(n, 1.0, a.motion, a.attitude, force, 12, 4);
  return status == SR_OK ? bring_back(n, force, a, b) : status;
}

// ---- rotation about an axis ---------------------------------------------------------------------------------------------------

// in: w_b - w_a, quaternion of a. out: the rate about the axis.
static int axis_motion(void* self, double t, const double* in, double* out) {
  double axis[3];
  (void)t;
  sr_net_rotate(in + 3, self, axis);
  out[0] = srm_dot3(axis, in);
  return 0;
}

// in: moment, quaternion of a.
static int axis_force(void* self, double t, const double* in, double* out) {
  double axis[3];
  (void)t;
  sr_net_rotate(in + 1, self, axis);
  for (int i = 0; i < 3; ++i) {
    out[i] = in[0] * axis[i];
    out[6 + i] = -out[i];
  }
  return 0;
}

srTerminal sr_network_axis_terminal(srNetwork* n, srTerminal a, srTerminal b, const double direction[3]) {
  double axis[3];
  const double length = srm_norm3(direction);
  if (!two_frames(n, "an axis", a, b)) return sr_no_terminal;
  if (!(length > 0.0 && isfinite(length))) {
    sr_net_error(n, "an axis between two bodies has no direction");
    return sr_no_terminal;
  }
  for (int i = 0; i < 3; ++i) axis[i] = direction[i] / length;
  void* self = sr_net_keep(n, axis, sizeof axis);
  if (!self) return sr_no_terminal;
  const int motion = sr_network_map(n, "axis", 7, 1, axis_motion, self);
  const int force = sr_network_map(n, "axis", 5, 12, axis_force, self);
  if (motion < 0 || force < 0) return sr_no_terminal;
  srStatus status = sr_network_wires(n, 1.0, b.motion, b.xdot, motion, 0, 3);
  if (status == SR_OK) status = sr_network_wires(n, -1.0, a.motion, a.xdot, motion, 0, 3);
  if (status == SR_OK) status = sr_network_wires(n, 1.0, a.motion, a.attitude, motion, 3, 4);
  if (status == SR_OK) status = sr_network_wires(n, 1.0, a.motion, a.attitude, force, 1, 4);
  if (status == SR_OK) status = bring_back(n, force, a, b);
  if (status == SR_OK) status = sr_network_constant(n, 0.0, force, 0);  // no moment is no mistake
  return status == SR_OK ? (srTerminal){1, motion, -1, 0, -1, force, 0} : sr_no_terminal;
}
