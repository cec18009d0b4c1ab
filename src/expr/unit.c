// Units as constants of formulas: the number of SI units that one of them is, so that 30*deg is in rad and 12*mm in m.
// Exact by definition (BIPM, The International System of Units, 2019; the inch and the bar are among its accepted ones), rounded once.
// Units of one letter (m, s, N, J, W) are not among them: models name their own parameters so, and one that is missing must stay an
// error. Neither is g, which is a gram to one reader and gravity to another.
#include <string.h>

#include "expr/expr.h"

static const struct {
  const char* name;
  double value;
} units[] = {
    {"rad", 1},
    {"deg", 0.017453292519943295},  // pi/180
    {"rev", 6.283185307179586},     // 2 pi
    {"rpm", 0.10471975511965977},   // 2 pi/60
    {"um", 1e-6},
    {"mm", 1e-3},
    {"cm", 1e-2},
    {"km", 1e3},
    {"inch", 0.0254},
    {"us", 1e-6},
    {"ms", 1e-3},
    {"kmh", 1 / 3.6},
    {"gram", 1e-3},
    {"kg", 1},
    {"tonne", 1e3},
    {"kN", 1e3},
    {"MN", 1e6},
    {"Nm", 1},
    {"Nmm", 1e-3},
    {"kNm", 1e3},
    {"Pa", 1},
    {"kPa", 1e3},
    {"MPa", 1e6},
    {"GPa", 1e9},
    {"bar", 1e5},
    {"kJ", 1e3},
    {"kW", 1e3},
};

bool sr_unit(const char* name, double* value) {
  for (int i = 0; i < SR_COUNT(units); i++) {
    if (strcmp(units[i].name, name) != 0) continue;
    *value = units[i].value;
    return true;
  }
  return false;
}
