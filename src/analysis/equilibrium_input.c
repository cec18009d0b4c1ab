// What the options of an equilibrium ask for: names of coordinates and parameters looked up, contradictions reported.
#include <math.h>
#include <string.h>

#include "analysis/equilibrium.h"
#include "expr/expr.h"

typedef struct Reading {
  const srModel* m;
  const srEquilibriumOptions* o;
  srPool* pool;
  srMessages* messages;
  srEquilibriumInput* out;
  bool good;
} Reading;

static void refuse(Reading* r, const char* format, ...) SR_PRINTF(2, 3);
static void refuse(Reading* r, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  sr_messages_vadd(r->messages, SR_SEVERITY_ERROR, (srPlace){0}, format, arguments);
  va_end(arguments);
  r->good = false;
}

static void* list(Reading* r, int n, size_t size) { return sr_pool_alloc(r->pool, ((size_t)n + 1) * size); }

static bool has(const int* items, int n, int item) {
  for (int i = 0; i < n; ++i) {
    if (items[i] == item) return true;
  }
  return false;
}

// ---- coordinates -----------------------------------------------------------------------------------------------------------

static bool is_driven(const srModel* m, int dof) {
  for (int i = 0; i < m->ndriver; ++i) {
    if (m->driver[i].dof == dof) return true;
  }
  return false;
}

static void report_unknown(Reading* r, const char* option, const char* word) {
  const char* meant = sr_nearest_word(word, r->m->v_name, r->m->nv);
  if (meant == NULL) meant = sr_nearest_word(word, r->m->joint_name, r->m->njoint);
  refuse(r, "%s: unknown coordinate '%.60s'%s%.60s%s", option, word, meant ? "; did you mean '" : "",
         meant ? meant : "", meant ? "'?" : "; a joint, or joint.component, is expected");
}

// One velocity coordinate by its name; -1: reported.
static int coordinate(Reading* r, const char* option, const char* word) {
  const srModel* m = r->m;
  unsigned char* mark = list(r, m->nv, 1);
  int found = -1, n = 0;
  (void)sr_coordinates_named(m, word, mark);
  for (int i = m->nv - 1; i >= 0; --i) {
    if (mark[i] == 0) continue;
    found = i;
    ++n;
  }
  if (n == 0) report_unknown(r, option, word);
  if (n > 1) refuse(r, "%s: joint '%s' has %d coordinates; name one, such as '%s'", option, word, n, m->v_name[found]);
  if (n == 1 && is_driven(m, found)) {
    refuse(r, "%s: joint '%s' is driven: position and velocity are those of its motion, whatever force that takes",
           option, word);
    return -1;
  }
  return n == 1 ? found : -1;
}

// ---- options ---------------------------------------------------------------------------------------------------------------

static void add_found(Reading* r, const char* name, int parameter, int speed) {
  srEquilibriumInput* out = r->out;
  for (int i = 0; i < out->nfound; ++i) {
    if (strcmp(out->found[i], name) != 0) continue;
    refuse(r, "'%s' is to be found twice: each unknown needs one exchange or equation of its own", name);
    return;
  }
  out->found[out->nfound] = sr_pool_text(r->pool, name);
  out->found_parameter[out->nfound] = parameter;
  out->found_speed[out->nfound++] = speed;
}

static void add_parameter(Reading* r, const char* name) {
  add_found(r, name, r->out->np, -1);
  r->out->parameter[r->out->np++] = sr_pool_text(r->pool, name);
}

// The joint of "v(joint)", in the pool; NULL: it is a parameter.
static const char* velocity_of(Reading* r, const char* text) {
  const size_t n = strlen(text);
  return n > 3 && text[0] == 'v' && text[1] == '(' && text[n - 1] == ')' ? sr_pool_text_n(r->pool, text + 2, n - 3)
                                                                         : NULL;
}

static void add_speed(Reading* r, const char* text, const char* joint) {
  const int speed = coordinate(r, text, joint);
  r->out->steady = true;
  if (speed < 0) return;
  if (has(r->out->speed, r->out->nspeed, speed))
    refuse(r, "%s is to be found, and given by --speed: leave one out", text);
  add_found(r, text, -1, speed);
}

// A parameter, or v(joint).
static void add_unknown(Reading* r, const char* text) {
  const char* joint = velocity_of(r, text);
  if (joint != NULL)
    add_speed(r, text, joint);
  else
    add_parameter(r, text);
}

static void read_exchange(Reading* r, const srSetting* e) {
  srEquilibriumInput* out = r->out;
  const int held = coordinate(r, "--exchange", e->name);
  if (held < 0) return;
  if (has(out->held, out->nheld, held)) {
    refuse(r, "--exchange: '%s' is exchanged twice", e->name);
    return;
  }
  out->held[out->nheld++] = held;
  add_unknown(r, e->value);
}

static void read_speed(Reading* r, const srSetting* s) {
  srEquilibriumInput* out = r->out;
  const int dof = coordinate(r, "--speed", s->name);
  double value = 0.0;
  const char* end = sr_number_read_signed(s->value, &value);
  if (end == NULL || *end != '\0' || !isfinite(value)) refuse(r, "--speed %s: '%s' is not a number", s->name, s->value);
  if (dof >= 0 && has(out->speed, out->nspeed, dof)) refuse(r, "--speed: '%s' is given twice", s->name);
  if (dof < 0) return;
  out->speed[out->nspeed] = dof;
  out->speed_value[out->nspeed++] = value;
}

static void read_equations(Reading* r) {
  const srEquilibriumOptions* o = r->o;
  for (int i = 0; i < o->nunknown; ++i) add_unknown(r, o->unknown[i]);
  if (o->nequation == o->nunknown) return;
  refuse(r, "%d equation%s and %d unknown%s: every --equation has one --unknown PARAMETER", o->nequation,
         o->nequation == 1 ? "" : "s", o->nunknown, o->nunknown == 1 ? "" : "s");
}

srStatus sr_equilibrium_input(const srModel* m, const srEquilibriumOptions* o, srPool* pool, srMessages* messages,
                              srEquilibriumInput* out) {
  Reading r = {.m = m, .o = o, .pool = pool, .messages = messages, .out = out, .good = true};
  const int n = o->nexchange + o->nunknown;
  *out = (srEquilibriumInput){.steady = o->steady || o->nspeed > 0};
  out->held = list(&r, o->nexchange, sizeof *out->held);
  out->speed = list(&r, o->nspeed, sizeof *out->speed);
  out->speed_value = list(&r, o->nspeed, sizeof *out->speed_value);
  out->parameter = list(&r, n, sizeof *out->parameter);
  out->found = list(&r, n, sizeof *out->found);
  out->found_parameter = list(&r, n, sizeof *out->found_parameter);
  out->found_speed = list(&r, n, sizeof *out->found_speed);
  if (m->absolute && (n + o->nspeed + o->nequation > 0 || o->steady)) {
    refuse(&r, "exchanges, equations and steady motions are found in joint coordinates: do it before sr_formulate");
    return SR_INPUT;
  }
  for (int i = 0; i < o->nspeed; ++i) read_speed(&r, &o->speed[i]);
  for (int i = 0; i < o->nexchange; ++i) read_exchange(&r, &o->exchange[i]);
  read_equations(&r);
  if ((out->np > 0 || o->nequation > 0) && o->spec == NULL)
    refuse(&r, "parameters and equations need the spec of the model");
  return r.good ? SR_OK : SR_INPUT;
}
