// A model whose parameters are unknowns.
//
// Formulas of parameters are folded when a model is compiled: masses, lengths and frames are numbers then. So a value of a parameter is a model of its own, compiled from the same spec, and
// derivatives by parameters are differences between such models. Equations are formula sensors behind those of the spec.
#include "analysis/parametric.h"

#include <string.h>

#include "base/base.h"
#include "model/private.h"

#define ATTRIBUTE(Def, member) ((int)(offsetof(Def, member) / sizeof(srAttr)))

struct srParametric {
  srSpec* spec;
  int n, nequation;
  int* element;   // n: of the parameters
  double* value;  // n: of the spec
};

// ---- names and formulas ---------------------------------------------------------------------------------------------------

static int find_parameter(const srSpec* spec, const char* name) {
  for (int i = 0; i < srs_count(spec, SR_ELEMENT_PARAMETER); ++i) {
    const srParameterDef* p = srs_get(spec, SR_ELEMENT_PARAMETER, i);
    if (p->name.text != NULL && strcmp(p->name.text, name) == 0) return i;
  }
  return -1;
}

static void report_unknown(const srSpec* spec, const char* name, srMessages* messages) {
  const int n = srs_count(spec, SR_ELEMENT_PARAMETER);
  const char** words = sr_alloc(((size_t)n + 1) * sizeof *words);
  const char* meant = NULL;
  for (int i = 0; i < n && words != NULL; ++i)
    words[i] = ((const srParameterDef*)srs_get(spec, SR_ELEMENT_PARAMETER, i))->name.text;
  if (words != NULL) meant = sr_nearest_word(name, words, n);
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "unknown parameter '%.60s'%s%.60s%s", name,
                  meant ? "; did you mean '" : "", meant ? meant : "",
                  meant   ? "'?"
                  : n > 0 ? "; a <parameter> of the model is expected"
                          : "; the model has no <parameter>");
  sr_free(words);
}

// "left = right" as "(left) - (right)", other formulas as they are. NULL: out of memory.
static char* difference(const char* text) {
  const size_t size = strlen(text) + 8;
  char* out = sr_alloc(size);
  const char* equals = text;
  while ((equals = strchr(equals, '=')) != NULL) {
    const char before = equals > text ? equals[-1] : ' ';
    if (equals[1] != '=' && strchr("=<>!", before) == NULL) break;
    equals += equals[1] == '=' ? 2 : 1;
  }
  if (out == NULL) return NULL;
  if (equals != NULL)
    (void)snprintf(out, size, "(%.*s)-(%s)", (int)(equals - text), text, equals + 1);
  else
    (void)snprintf(out, size, "%s", text);
  return out;
}

static bool add_equation(srSpec* spec, int i, const char* text) {
  char name[40];
  char* formula = difference(text);
  (void)snprintf(name, sizeof name, "--equation %d", i + 1);
  const srPlace place = {.file = "--equation"};
  srSensorDef def = {.name = sr_text(name), .expr = sr_text(formula)};
  def.expr.place = def.name.place = place;
  const bool good = formula != NULL && srs_add(spec, SR_ELEMENT_SENSOR, SR_NO_OWNER, &def, &place) >= 0;
  sr_free(formula);
  return good;
}

// ---- creation -------------------------------------------------------------------------------------------------------------

static void pass_errors(const srMessages* from, srMessages* to) {
  for (int i = 0; i < sr_messages_count(from); ++i) {
    if (sr_messages_get(from, i)->severity == SR_SEVERITY_ERROR) sr_messages_pass(to, from, i, SR_SEVERITY_ERROR);
  }
}

// The values of the spec: those of formulas too.
static srStatus read_values(srParametric* x, srMessages* messages) {
  srMessages* all = sr_messages_create();
  srSpec* numbers = all != NULL ? srs_numbers(x->spec, all) : NULL;
  const bool wrong = all != NULL && sr_messages_errors(all) > 0;
  if (wrong) pass_errors(all, messages);
  sr_messages_destroy(all);
  if (numbers == NULL) return wrong ? SR_INPUT : SR_MEMORY;
  for (int i = 0; i < x->n; ++i) {
    const srParameterDef* p = srs_get(numbers, SR_ELEMENT_PARAMETER, x->element[i]);
    x->value[i] = p->value.numbers != NULL ? p->value.numbers[0] : p->value.number;
  }
  srs_destroy(numbers);
  return SR_OK;
}

// Errors of the equations are those of their sensors.
static srStatus check(const srParametric* x, srMessages* messages) {
  srMessages* all = sr_messages_create();
  srModel* m = NULL;
  const srStatus status = all != NULL ? sr_compile(x->spec, all, &m) : SR_MEMORY;
  if (status == SR_INPUT) pass_errors(all, messages);
  sr_messages_destroy(all);
  bool late = false;
  for (int i = 0; i < x->nequation && m != NULL; ++i)
    late = late || m->sensor[m->nsensor - x->nequation + i].formula < 0;
  sr_model_destroy(m);
  if (!late) return status;
  sr_messages_add(
      messages, SR_SEVERITY_ERROR, (srPlace){.file = "--equation"},
      "record() is known after the accelerations: an equation has positions, velocities, states and sensors");
  return SR_INPUT;
}

srStatus sr_parametric_create(const srSpec* spec, const char* const* name, int n, const char* const* equation,
                              int nequation, srMessages* messages, srParametric** out) {
  srStatus status = SR_OK;
  *out = NULL;
  srParametric* x = sr_alloc(sizeof *x + (size_t)n * (sizeof(double) + sizeof(int)));
  if (x == NULL) return SR_MEMORY;
  *x = (srParametric){.n = n, .nequation = nequation, .value = (double*)(void*)(x + 1)};
  x->element = (int*)(void*)(x->value + n);
  x->spec = srs_copy(spec);
  if (x->spec == NULL) status = SR_MEMORY;
  for (int i = 0; i < n && status != SR_MEMORY; ++i) {
    x->element[i] = find_parameter(spec, name[i]);
    if (x->element[i] >= 0) continue;
    report_unknown(spec, name[i], messages);
    status = SR_INPUT;
  }
  if (status == SR_OK) status = read_values(x, messages);
  for (int i = 0; i < nequation && status == SR_OK; ++i) {
    if (!add_equation(x->spec, i, equation[i])) status = SR_MEMORY;
  }
  if (status == SR_OK) status = check(x, messages);
  if (status == SR_OK)
    *out = x;
  else
    sr_parametric_destroy(x);
  return status;
}

void sr_parametric_destroy(srParametric* x) {
  if (x == NULL) return;
  srs_destroy(x->spec);
  sr_free(x);
}

void sr_parametric_values(const srParametric* x, double* p) { memcpy(p, x->value, (size_t)x->n * sizeof *p); }

// ---- models -----------------------------------------------------------------------------------------------------------------

static bool put_values(const srParametric* x, srSpec* spec, const double* p) {
  bool good = true;
  for (int i = 0; i < x->n; ++i)
    good =
        good && srs_set(spec, SR_ELEMENT_PARAMETER, x->element[i], ATTRIBUTE(srParameterDef, value), sr_number(p[i]));
  return good;
}

void sr_state_pass(const srData* from, srData* to) {
  const srModel* m = to->model;
  to->t = from->t;
  memcpy(to->q, from->q, (size_t)m->nq * sizeof *to->q);
  memcpy(to->v, from->v, (size_t)m->nv * sizeof *to->v);
  memcpy(to->tau, from->tau, (size_t)m->njv * sizeof *to->tau);
  if (m->ny > 0) memcpy(to->y, from->y, (size_t)m->ny * sizeof *to->y);
  to->stop = from->stop;
  to->stop_user = from->stop_user;
}

static bool is_like(const srModel* m, const srModel* old) {
  return m->nq == old->nq && m->nv == old->nv && m->ny == old->ny && m->ng == old->ng;
}

srStatus sr_parametric_compile(srParametric* x, const double* p, const srData* d, srModel** m, srData** data) {
  srMessages* quiet = sr_messages_create();
  srStatus status = SR_MEMORY;
  *m = NULL;
  *data = NULL;
  if (quiet != NULL && put_values(x, x->spec, p)) status = sr_compile(x->spec, quiet, m);
  sr_messages_destroy(quiet);
  if (status == SR_OK && !is_like(*m, d->model)) status = SR_INPUT;
  if (status == SR_OK) {
    *data = sr_data_create(*m);
    status = *data != NULL ? SR_OK : SR_MEMORY;
  }
  if (status == SR_OK) {
    sr_state_pass(d, *data);
  } else {
    sr_model_destroy(*m);
    *m = NULL;
  }
  return status;
}

void sr_parametric_equations(const srParametric* x, const srModel* m, const srData* d, double* out) {
  for (int i = 0; i < x->nequation; ++i) out[i] = d->formula[m->sensor[m->nsensor - x->nequation + i].formula];
}

srSpec* sr_parametric_spec(const srParametric* x, const srSpec* spec, const double* p) {
  srSpec* copy = srs_copy(spec);
  if (copy == NULL || put_values(x, copy, p)) return copy;
  srs_destroy(copy);
  return NULL;
}
