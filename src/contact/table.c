// The laws by name, and what is wrong with their parameters.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "contact/friction.h"
#include "contact/normal.h"

static const srFrictionLaw* const friction_laws[] = {
#define FRICTION_ROW(name, word) &sr_friction_##name,
    SR_FRICTION_LIST(FRICTION_ROW)
#undef FRICTION_ROW
};

static const srNormalLaw* const normal_laws[] = {
#define NORMAL_ROW(name, word) &sr_normal_##name,
    SR_NORMAL_LIST(NORMAL_ROW)
#undef NORMAL_ROW
};

int sr_friction_count(void) { return SR_COUNT(friction_laws); }
int sr_normal_count(void) { return SR_COUNT(normal_laws); }

const srFrictionLaw* sr_friction_law(int i) { return i >= 0 && i < sr_friction_count() ? friction_laws[i] : NULL; }

const srNormalLaw* sr_normal_law(int i) { return i >= 0 && i < sr_normal_count() ? normal_laws[i] : NULL; }

const srFrictionLaw* sr_friction_find(const char* name) {
  for (int i = 0; i < sr_friction_count(); ++i)
    if (strcmp(friction_laws[i]->name, name) == 0) return friction_laws[i];
  return NULL;
}

const srNormalLaw* sr_normal_find(const char* name) {
  for (int i = 0; i < sr_normal_count(); ++i)
    if (strcmp(normal_laws[i]->name, name) == 0) return normal_laws[i];
  return NULL;
}

srFrictionParameters sr_friction_defaults(void) {
#define FRICTION_DEFAULT(field, value, sliding, turning, doc) .field = value,
  return (srFrictionParameters){SR_FRICTION_PARAMETER_LIST(FRICTION_DEFAULT)};
#undef FRICTION_DEFAULT
}

srNormalParameters sr_normal_defaults(void) {
#define NORMAL_DEFAULT(field, value, unit, doc) .field = value,
  return (srNormalParameters){SR_NORMAL_PARAMETER_LIST(NORMAL_DEFAULT)};
#undef NORMAL_DEFAULT
}

int sr_friction_states(const srFrictionLaw* law, const srFrictionParameters* p, int n) {
  return n * (law->ne >= 0 ? law->ne : (int)p->elements);
}

void sr_normal_prepare(const srNormalLaw* law, srNormalParameters* p) {
  p->chi = law->factor != NULL ? law->factor(p) : 0.0;
}

// ------------------------------------------------------------------------------------------------------------ refusals
// A parameter and the least value that it may have.
typedef struct Bound {
  const char* name;
  double value, least;
  bool open;  // the least value itself is refused
} Bound;

static bool out_of_bounds(const char* law, const Bound* b, char* text, size_t size) {
  if (isfinite(b->value) && (b->open ? b->value > b->least : b->value >= b->least)) return false;
  snprintf(text, size, "%s needs %s %s %g, not %g", law, b->name, b->open ? ">" : ">=", b->least, b->value);
  return true;
}

static bool limits_refused(const srFrictionLaw* law, double Fs, double Fk, char* text, size_t size) {
  if (out_of_bounds(law->name, &(Bound){"a kinetic limit", Fk, 0, false}, text, size)) return true;
  if (isfinite(Fs) && Fs >= Fk) return false;
  snprintf(text, size, "%s needs a static limit that is not below the kinetic one: %g, not %g", law->name, Fk, Fs);
  return true;
}

bool sr_friction_refusal(const srFrictionLaw* law, const srFrictionParameters* p, double tau, double Fs, double Fk,
                         char* text, size_t size) {
  const Bound bounds[SR_FRICTION_PARAMETERS] = {
      [SR_FRICTION_K] = {"K", p->K, 0, true},
      [SR_FRICTION_B] = {"B", p->B, 0, false},
      [SR_FRICTION_D] = {"D", p->D, 0, false},
      [SR_FRICTION_v0] = {"v0", p->v0, 0, true},
      [SR_FRICTION_v1] = {"v1", p->v1, 0, true},
      [SR_FRICTION_xi] = {"xi", p->xi, 0, false},
      [SR_FRICTION_vs] = {"vs", p->vs, 0, true},
      [SR_FRICTION_delta] = {"delta", p->delta, 1, false},
      [SR_FRICTION_spread] = {"spread", p->spread, 0, false},
      [SR_FRICTION_elements] = {"elements", p->elements, 1, false},
  };
  for (int i = 0; i < SR_FRICTION_PARAMETERS; ++i)
    if ((law->uses >> i & 1u) != 0 && out_of_bounds(law->name, &bounds[i], text, size)) return true;
  if (out_of_bounds(law->name, &(Bound){"tau", tau, 0, false}, text, size)) return true;
  if (limits_refused(law, Fs, Fk, text, size)) return true;
  const char* why = law->refuse != NULL ? law->refuse(p, tau) : NULL;
  if (why != NULL) snprintf(text, size, "%s: %s", law->name, why);
  return why != NULL;
}

bool sr_normal_refusal(const srNormalLaw* law, const srNormalParameters* p, char* text, size_t size) {
  const Bound bounds[SR_NORMAL_PARAMETERS] = {
      [SR_NORMAL_K] = {"K", p->K, 0, true},
      [SR_NORMAL_n] = {"n", p->n, 1, false},
      [SR_NORMAL_e] = {"e", p->e, 0, false},
      [SR_NORMAL_D] = {"D", p->D, 0, false},
      [SR_NORMAL_floor] = {"floor", p->floor, 0, true},
  };
  for (int i = 0; i < SR_NORMAL_PARAMETERS; ++i)
    if ((law->uses >> i & 1u) != 0 && out_of_bounds(law->name, &bounds[i], text, size)) return true;
  if ((law->uses & SR_NORMAL_USES(e)) != 0 && p->e > 1.0) {
    snprintf(text, size, "%s needs e <= 1, not %g", law->name, p->e);
    return true;
  }
  const char* why = law->refuse != NULL ? law->refuse(p) : NULL;
  if (why != NULL) snprintf(text, size, "%s: %s", law->name, why);
  return why != NULL;
}
