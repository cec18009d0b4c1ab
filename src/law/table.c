// The laws by name, and what is wrong with their parameters.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "law/friction.h"
#include "law/law.h"
#include "law/normal.h"

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
// The message goes into text in the caller's terms: the laws' own names, or the attributes of a model file in quotes. The answer
// is the place of the number among the words, or SR_LAW_GOOD.
typedef struct Asked {
  const char* law;
  const char* const* word;  // NULL: the laws' own
  char* text;
  size_t size;
} Asked;

// A parameter and the least value that it may have.
typedef struct Bound {
  const char* name;
  double value, least;
  bool open;  // the least value itself is refused
} Bound;

static bool out_of_bounds(const Asked* a, int place, const Bound* b) {
  if (isfinite(b->value) && (b->open ? b->value > b->least : b->value >= b->least)) return false;
  const char *quote = a->word != NULL ? "'" : "", *name = a->word != NULL ? a->word[place] : b->name;
  snprintf(a->text, a->size, "%s needs %s%s%s %s %g, not %g", a->law, quote, name, quote,
           b->open ? ">" : ">=", b->least, b->value);
  return true;
}

static int limits_wrong(const Asked* a, double Fs, double Fk) {
  if (out_of_bounds(a, SR_FRICTION_KINETIC, &(Bound){"a kinetic limit", Fk, 0, false})) return SR_FRICTION_KINETIC;
  if (isfinite(Fs) && Fs >= Fk) return SR_LAW_GOOD;
  if (a->word != NULL) {
    snprintf(a->text, a->size, "%s needs '%s' not below '%s': %g or more, not %g", a->law, a->word[SR_FRICTION_STATIC],
             a->word[SR_FRICTION_KINETIC], Fk, Fs);
  } else {
    snprintf(a->text, a->size, "%s needs a static limit that is not below the kinetic one: %g, not %g", a->law, Fk, Fs);
  }
  return SR_FRICTION_STATIC;
}

// A sentence of a law with the names of its parameters exchanged; the place of the first one in it.
static int put_sentence(const Asked* a, const char* const* own, int nown, const char* reason) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  int first = SR_LAW_WHOLE;
  size_t n = (size_t)snprintf(a->text, a->size, "%s: ", a->law);
  while (*reason != '\0' && n < a->size) {
    const size_t length = strspn(reason, letters);
    int place = 0;
    while (place < nown && (strlen(own[place]) != length || strncmp(own[place], reason, length) != 0)) ++place;
    if (a->word != NULL && place < nown) {
      if (first == SR_LAW_WHOLE) first = place;
      n += (size_t)snprintf(a->text + n, a->size - n, "'%s'", a->word[place]);
    } else {
      n += (size_t)snprintf(a->text + n, a->size - n, "%.*s", length > 0 ? (int)length : 1, reason);
    }
    reason += length > 0 ? length : 1;
  }
  return first;
}

int sr_friction_wrong(const srFrictionLaw* law, const srFrictionParameters* p, double tau, double Fs, double Fk,
                      const char* const* word, char* text, size_t size) {
#define FRICTION_NAME(field, value, sliding, turning, doc) #field,
  static const char* const own[] = {SR_FRICTION_PARAMETER_LIST(FRICTION_NAME) "tau"};
#undef FRICTION_NAME
  const Asked a = {law->name, word, text, size};
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
    if ((law->uses >> i & 1u) != 0 && out_of_bounds(&a, i, &bounds[i])) return i;
  if (out_of_bounds(&a, SR_FRICTION_TAU, &(Bound){"tau", tau, 0, false})) return SR_FRICTION_TAU;
  const int limits = limits_wrong(&a, Fs, Fk);
  if (limits != SR_LAW_GOOD) return limits;
  const char* reason = law->refuse != NULL ? law->refuse(p, tau) : NULL;
  return reason != NULL ? put_sentence(&a, own, SR_COUNT(own), reason) : SR_LAW_GOOD;
}

bool sr_friction_refusal(const srFrictionLaw* law, const srFrictionParameters* p, double tau, double Fs, double Fk,
                         char* text, size_t size) {
  return sr_friction_wrong(law, p, tau, Fs, Fk, NULL, text, size) != SR_LAW_GOOD;
}

int sr_normal_wrong(const srNormalLaw* law, const srNormalParameters* p, const char* const* word, char* text,
                    size_t size) {
  const Asked a = {law->name, word, text, size};
  const Bound bounds[SR_NORMAL_PARAMETERS] = {
      [SR_NORMAL_K] = {"K", p->K, 0, true},
      [SR_NORMAL_n] = {"n", p->n, 1, false},
      [SR_NORMAL_e] = {"e", p->e, 0, false},
      [SR_NORMAL_D] = {"D", p->D, 0, false},
      [SR_NORMAL_floor] = {"floor", p->floor, 0, true},
  };
  for (int i = 0; i < SR_NORMAL_PARAMETERS; ++i)
    if ((law->uses >> i & 1u) != 0 && out_of_bounds(&a, i, &bounds[i])) return i;
  if ((law->uses & SR_NORMAL_USES(e)) != 0 && p->e > 1.0) {
    const char* quote = word != NULL ? "'" : "";
    snprintf(text, size, "%s needs %s%s%s <= 1, not %g", law->name, quote, word != NULL ? word[SR_NORMAL_e] : "e",
             quote, p->e);
    return SR_NORMAL_e;
  }
  const char* reason = law->refuse != NULL ? law->refuse(p) : NULL;
  return reason != NULL ? put_sentence(&a, NULL, 0, reason) : SR_LAW_GOOD;
}

bool sr_normal_refusal(const srNormalLaw* law, const srNormalParameters* p, char* text, size_t size) {
  return sr_normal_wrong(law, p, NULL, text, size) != SR_LAW_GOOD;
}
