// Inertia of single coordinates of a tree, for stiffnesses and dampings by natural frequency and damping ratio.
#ifndef SR_DYNAMICS_COORDINATE_INERTIA_H
#define SR_DYNAMICS_COORDINATE_INERTIA_H

#include <sarrus/model.h>

#include "base/base.h"

// At q, armature included, for every coordinate: carried M_ii (all others locked) and effective 1/(M^-1)_ii (all others free);
// both are 0 where nothing with inertia moves. Needs only the tree and its inertias: drivers and constraints are ignored.
// Scratch from the pool, linear in nv in time and memory.
void sr_coordinate_inertia(const srModel* m, srPool* pool, const double* q, double* carried, double* effective);

#endif
