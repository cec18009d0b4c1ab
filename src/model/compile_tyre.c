// <tyre>: the parameters of its law (src/force/tyre.c) in their order, each within the range in which the law never supplies energy.
#include <math.h>
#include <string.h>

#include "math/vector3.h"
#include "model/compile.h"

enum { PARAMETERS = 22, AXIS = 0, LOAD = 6, PEAK = 16, LENGTH = 19 };

typedef struct Number {
  int field, at, n;          // place among the parameters, how many: 2 are along and across, one serves for both
  double low, high;          // from low to high,
  bool open_low, open_high;  // without the end itself
  const char* range;
} Number;

#define ABOVE_0 0, HUGE_VAL, true, true, "above 0"
#define FROM_0 0, HUGE_VAL, false, true, "0 or more"
#define OF(field) SR_FIELD(srTyreDef, field)
static const Number numbers[] = {
    {OF(radius), 3, 1, ABOVE_0},
    {OF(stiffness), 4, 1, ABOVE_0},
    {OF(damping), 5, 1, FROM_0},
    {OF(load), LOAD, 1, ABOVE_0},
    {OF(mu), 7, 2, ABOVE_0},
    {OF(slip_stiffness), 9, 2, ABOVE_0},
    {OF(shape), 11, 2, 0, 2, true, false, "above 0 and at most 2"},
    {OF(curvature), 13, 2, -HUGE_VAL, 1, true, false, "at most 1"},
    {OF(mu_fall), 15, 1, 0, 1, false, true, "from 0 to less than 1"},
    {OF(peak_load), PEAK, 2, ABOVE_0},
    {OF(low_speed), 18, 1, ABOVE_0},
    {OF(relaxation_length), LENGTH, 2, FROM_0},
    {OF(tread_damping), 21, 1, FROM_0},
};

// What is not given stays as it is.
static bool take(srCompiler* c, int i, const Number* x, double* p) {
  const int n = sr_c_numbers(c, SR_ELEMENT_TYRE, i, x->field, p + x->at, x->n);
  if (n == 1 && x->n == 2) p[x->at + 1] = p[x->at];
  for (int k = 0; k < x->n && n > 0; k++) {
    const double value = p[x->at + k];
    const bool low = x->open_low ? value > x->low : value >= x->low;
    if (low && (x->open_high ? value < x->high : value <= x->high)) continue;
    sr_c_error(c, sr_c_place(c, SR_ELEMENT_TYRE, i, x->field), "'%s' of <tyre> must be %s, got %g",
               srs_element(SR_ELEMENT_TYRE)->fields[x->field].word, x->range, value);
    return false;
  }
  return n >= 0;
}

static bool take_axis(srCompiler* c, int i, double* axis) {
  if (sr_c_numbers(c, SR_ELEMENT_TYRE, i, OF(axis), axis, 3) != 3) return false;
  const double length = srm_norm3(axis);
  if (!(length > 0) || !isfinite(length)) {
    sr_c_error(c, sr_c_place(c, SR_ELEMENT_TYRE, i, OF(axis)), "'axis' of <tyre> must not be zero");
    return false;
  }
  for (int k = 0; k < 3; k++) axis[k] /= length;
  return true;
}

// Both directions are transient or neither.
static bool same_kind(srCompiler* c, int i, const double* L) {
  if ((L[0] > 0) == (L[1] > 0)) return true;
  sr_c_error(c, sr_c_place(c, SR_ELEMENT_TYRE, i, OF(relaxation_length)),
             "'relaxation-length' of <tyre> must be above 0 along and across, or 0 for both, got %g %g", L[0], L[1]);
  return false;
}

void sr_compile_tyre(srCompiler* c, int i) {
  double p[PARAMETERS] = {0};
  int point[2] = {sr_c_point(c, SR_ELEMENT_TYRE, i, OF(road)), sr_c_point(c, SR_ELEMENT_TYRE, i, OF(wheel))};
  bool ok = take_axis(c, i, p + AXIS) && point[0] >= 0 && point[1] >= 0;
  for (int k = 0; k < SR_COUNT(numbers); k++) ok &= take(c, i, &numbers[k], p);
  if (!ok || !same_kind(c, i, p + LENGTH)) return;
  if (c->m->point_link[point[0]] == c->m->point_link[point[1]]) {
    sr_c_error(c, sr_c_place(c, SR_ELEMENT_TYRE, i, OF(wheel)), "'%s' and '%s' cannot move against each other",
               c->m->point_name[point[0]], c->m->point_name[point[1]]);
    return;
  }
  for (int k = 0; k < 2; k++) p[PEAK + k] = p[PEAK + k] > 0 ? p[LOAD] / p[PEAK + k] : 0;
  const char* name = sr_c_text(c, SR_ELEMENT_TYRE, i, OF(name));
  if (!name) name = sr_pool_printf(&c->scratch, "tyre of %s", c->m->point_name[point[1]]);
  const srImpedance* law = c->catalog->impedance(p[LENGTH] > 0 ? "tyre-transient" : "tyre");
  srForceElement* e = sr_c_add_force(c, law, SR_ACCOUNT_DISSIPATED, name, srs_place(c->spec, SR_ELEMENT_TYRE, i));
  memcpy(e->point, point, sizeof point);
  double* copy = sr_pool_alloc(c->pool, sizeof p);
  memcpy(copy, p, sizeof p);
  e->p = copy;
  e->np = PARAMETERS;
}
