// Inside of a network: components with inputs, outputs and states; wires by compressed rows; levels.
#ifndef SR_NETWORK_INTERNAL_H
#define SR_NETWORK_INTERNAL_H

#include <limits.h>
#include <sarrus/network.h>
#include <stdatomic.h>

#include "base/base.h"
#include "base/team.h"

#define SR_NET_TAU 1e-4  // s; own tau of a component that has not been given one, as of force elements in a model file

typedef struct srComponent {
  const char* name;
  srComponentKind kind;
  srAdmittance admittance;
  srImpedance law;
  srElementForm form;  // impedances of both kinds: sizes
  srMapFunction map;
  const double* p;
  int np;
  void* self;
  double tau;
  const double* x0;   // initial states, NULL: zero
  int nin, nout, nx;  // inputs, outputs, states
  int first_in, first_out, first_x;
  int level;                                   // when it is evaluated: after all it takes its inputs from
  srPlace place;                               // where it was written
  const char* const* signal_name[SR_SIGNALS];  // as many as it has of a kind; NULL: none
  const char* const* signal_unit[SR_SIGNALS];
  long* clamps;                              // counter inside of self, NULL: none
  const char* (*error_message)(void* self);  // why it failed, in its own words; NULL: it has none
  void (*restart)(void* self);               // the network starts again; NULL: nothing to do
  // Of a failure.
  int phase;   // of the step, INT_MAX: none
  int answer;  // of its function; 0: a number is not finite
} srComponent;

typedef struct srWire {
  double coefficient;
  int from, out, to, in;
} srWire;

typedef struct srConstant {
  double value;
  int to, in;
} srConstant;

typedef struct srOwned {
  void (*destroy)(void*);
  void* object;
} srOwned;

struct srNetwork {
  srMessages* messages;
  srPool pool;
  srPlace place;  // of what is being added
  bool refused;   // an error has been reported
  bool ready;
  int ncomponent, component_capacity, nwire, wire_capacity, nconstant, constant_capacity, nowned, owned_capacity;
  srComponent* component;
  srWire* wire;
  srConstant* constant;
  srOwned* owned;
  // Laws of shared libraries.
  int nimpedance, impedance_capacity, nadmittance, admittance_capacity;
  srImpedance* impedance;
  srAdmittance* admittance;

  // After sr_network_ready.
  int nin, nout, nx;
  int* wire_start;         // nin + 1: the wires of an input ...
  int* wire_signal;        // ... from these outputs
  double* wire_factor;     // ... with these coefficients
  double* input_constant;  // nin
  bool* reached;           // nin: by a wire or a constant
  int nlevel;
  int* level_start;  // nlevel + 1: components of a level, without admittances, in order[] ...
  int* order;
  int nadmit;
  int* admit;                // nadmit: the admittances
  double *input, *output;    // nin, nout
  double *x, *stage, *k[4];  // nx
  double t, t_rest;          // what rounding has taken from t so far
  srTeam* team;
  atomic_int failed;  // phase of the first failure, INT_MAX: none
  char reason[256];
};

// ---- build.c
void sr_net_error(srNetwork* n, const char* format, ...) SR_PRINTF(2, 3);
void sr_net_error_at(srNetwork* n, srPlace place, const char* format, ...) SR_PRINTF(3, 4);
int sr_net_no_memory(srNetwork* n);  // reports it; SR_REFUSED
// Makes room for one more in an array of the pool; items: the address of its pointer. False: out of memory, reported.
bool sr_net_room(srNetwork* n, void* items, size_t size, int count, int* capacity);
#define SR_NET_ROOM(n, list) sr_net_room((n), &(n)->list, sizeof *(n)->list, (n)->n##list, &(n)->list##_capacity)
bool sr_net_open(srNetwork* n);  // still to be built; else an error
// Adds a component like this one; name, p and x0 are copied. SR_REFUSED: out of memory.
int sr_net_add(srNetwork* n, const char* name, const srComponent* like);
void* sr_net_keep(srNetwork* n, const void* data,
                  size_t size);  // a copy that lives as long; NULL: out of memory, reported
bool sr_net_own(srNetwork* n, void (*destroy)(void*), void* object);   // destroys object at once when it cannot
const srComponent* sr_net_get(srNetwork* n, int i, const char* what);  // NULL: unknown, reported
bool sr_net_good_name(srNetwork* n, const char* name);

// ---- names.c
// Names that live as long as the program; kind by kind, NULL: none. Returns component.
typedef struct srSignalNames {
  const char* const* name[SR_SIGNALS];
  const char* const* unit[SR_SIGNALS];
} srSignalNames;
int sr_net_name(srNetwork* n, int component, const srSignalNames* names);
extern const srSignalNames sr_names_mass, sr_names_rigid, sr_names_plane;
const srSignalNames* sr_names_port(int width);      // of an impedance; NULL: none
const srSignalNames* sr_names_friction(int width);  // of n velocities

// ---- terminal.c
extern const srTerminal sr_no_terminal;

// ---- mass.c, rigid.c, multibody.c
extern const srAdmittance sr_admittance_mass, sr_admittance_rigid;
int sr_multibody_rates(const srAdmittanceIn* in, double* xdot);
const srModel* sr_multibody_model(const srComponent* c);         // NULL: it is none
int sr_multibody_point(const srComponent* c, const char* name);  // place among its points, -1: none

// ---- rotations
void sr_net_unit_quaternion(const double* q, double out[4]);                   // 1 0 0 0 for zero
void sr_net_rotate(const double q[4], const double u[3], double out[3]);       // R(q) u
void sr_net_rotate_back(const double q[4], const double u[3], double out[3]);  // R(q)^T u

#endif
