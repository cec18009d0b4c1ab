// What rests must stay: one interface to every engine that is asked how far a body creeps which friction alone holds.
//
// A scene is a compiled model: a free body touches planes with spheres; all numbers of the other engines come from its
// arrays. A force along `down` pulsates so that the load is (0.67 + 0.29 sin 100t) of what friction can hold.
#ifndef SARRUS_BENCH_CREEP_H
#define SARRUS_BENCH_CREEP_H

#include <sarrus/model.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CREEP_PERIOD 0.062831853071795864769  // s, of the load: pi/50
enum { CREEP_FIRST = 160 };                   // period from whose end on drift is measured: 10.05 s

typedef struct CreepScene {
  const char* name;
  const srModel* m;
  int body;             // link with the free joint
  double down[3];       // unit vector: where it would creep
  double load;          // N, amplitude of the force
  double lever[3];      // m, from the body's origin to where the force acts, in inertial axes
  int pad;              // link with a prismatic joint that a force presses against the body, 0: none
  double normal_force;  // N
} CreepScene;

typedef struct CreepResult {
  double first, last,
      most;        // m: place along `down` at CREEP_FIRST and at the end; largest way from the first, at equal phase
  double t;        // s, the end
  double seconds;  // processor time
  long steps;
  char reason[256];  // it failed
} CreepResult;

// A place at the end of period k.
static inline void creep_sample(CreepResult* r, int k, double place) {
  if (k < CREEP_FIRST) return;
  if (k == CREEP_FIRST) r->first = place;
  const double way = place > r->first ? place - r->first : r->first - place;
  if (!(way <= r->most)) r->most = way;
  r->last = place;
  r->t = k * CREEP_PERIOD;
}

// One setting of MuJoCo. Zero: its default.
typedef struct CreepMujoco {
  const char* name;
  int steps;        // of a period
  bool elliptic;    // cone
  double impratio;  // impedance of friction to that of the normal direction
  int noslip;       // iterations of the solver that runs afterwards and takes the slip away
  double solref;    // time constant of a contact, in steps
  double solimp;    // impedance
  bool whole;       // run for 1000 s
} CreepMujoco;
bool creep_mujoco(const CreepMujoco* setting, const CreepScene* scene, int periods, CreepResult* result);

#ifdef __cplusplus
}
#endif
#endif
