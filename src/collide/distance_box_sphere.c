// A box and a sphere: the centre limited to the box; a centre inside is nearest to a face, and at the planes between faces that jumps.
#include <math.h>

#include "collide/distance.h"
#include "math/vector3.h"

static void inside(const double half[3], const double x[3], srNearest* out) {
  int k = 0;
  for (int i = 1; i < 3; i++) k = half[i] - fabs(x[i]) < half[k] - fabs(x[k]) ? i : k;
  for (int i = 0; i < 3; i++) out->unique &= i == k || half[i] - fabs(x[i]) > half[k] - fabs(x[k]);
  out->unique &= x[k] != 0;
  const double side = x[k] < 0 ? -1 : 1;
  srm_set3(out->n, (double[]){0, 0, 0});
  out->n[k] = side;
  out->core = fabs(x[k]) - half[k];
  srm_set3(out->point_a, x);
  out->point_a[k] = side * half[k];
  out->a.dimension = 2;
  out->a.edge[0][(k + 1) % 3] = out->a.edge[1][(k + 2) % 3] = 1;
}

static void place(const srConvex* a, const srConvex* b, const double pose[16], srNearest* out) {
  (void)b;
  const double* x = pose + 12;
  double n[3];
  srm_set3(out->point_b, x);
  for (int k = 0; k < 3; k++) {
    out->point_a[k] = fmax(-a->size[k], fmin(a->size[k], x[k]));
    n[k] = x[k] - out->point_a[k];
  }
  out->core = srm_unit3(n);
  if (!(out->core > 0)) {
    inside(a->size, x, out);
    return;
  }
  srm_set3(out->n, n);
  for (int k = 0; k < 3; k++)
    if (fabs(x[k]) < a->size[k]) out->a.edge[out->a.dimension++][k] = 1;
}

const srDistanceKind sr_distance_box_sphere = {.a = SR_KIND_BOX, .b = SR_KIND_SPHERE, .place = place};
