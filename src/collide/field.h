// Height fields z(x, y) for contact: triangles by index, no tree. On math alone.
#ifndef SR_COLLIDE_FIELD_H
#define SR_COLLIDE_FIELD_H

#include "collide/surface.h"

// Heights on a rectangular grid, in rows along x. Every cell is two triangles, cut from its corner of least x and y to the opposite one. What is
// below them is inside. Beyond the border there is nothing.
typedef struct srHeightField {
  int nx, ny;              // >= 2
  double x0, y0;           // place of the first height
  double dx, dy;           // > 0
  const double* z;         // ny x nx
  double lowest, highest;  // set by sr_field_check
} srHeightField;

typedef enum srFieldFault {
  SR_FIELD_GOOD,
  SR_FIELD_SIZE,    // fewer than two heights along x or y
  SR_FIELD_STEP,    // dx or dy is not a positive number, or the place is not finite
  SR_FIELD_HEIGHT,  // a height is not finite
} srFieldFault;

// Checks a field and sets its range of heights. *at: the index of the first height that is not finite.
srFieldFault sr_field_check(srHeightField* field, int* at);

// The field, checked, as a surface; it holds the field by reference.
srSurface sr_field_surface(const srHeightField* field);

// Height at a place. False: it is beyond the border.
bool sr_field_height(const srHeightField* field, double x, double y, double* z);

#endif
