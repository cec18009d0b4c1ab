// The inertia that a force along an axis of a tree feels: felt.c. MJCF's reader and writer make stops with it.
#ifndef SR_IO_MJCF_FELT_H
#define SR_IO_MJCF_FELT_H

// One freedom of a tree, and what moves with it rigidly. Vectors about the origin of the ground.
typedef struct srMjcfAxis {
  int parent;       // the axis that carries it, before it in the list; -1: the ground
  double s[6];      // motion: turning, shift of the origin
  double armature;  // kg m^2 or kg
  double A[36];     // inertia; used up
  double U[6], D;   // of the algorithm
} srMjcfAxis;

void sr_mjcf_axis_turn(srMjcfAxis* axis, const double direction[3], const double at[3]);
void sr_mjcf_axis_shift(srMjcfAxis* axis, const double direction[3]);
// Adds a mass m with the first moment h and the moments I about the origin.
void sr_mjcf_axis_load(srMjcfAxis* axis, double m, const double h[3], const double I[9]);
// 1/(M^-1)_ii of all axes: all others free to move. NaN: nothing there has inertia.
void sr_mjcf_felt(int n, srMjcfAxis* axes, double* felt);

#endif
