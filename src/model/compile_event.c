// Events: the formula whose sign change is detected, and the assignments to states, parameters and velocities that follow.
// A parameter that an event sets, or that is live, is a state with rate 0, whose initial value is that of the file; numbers fixed at
// compilation cannot depend on it.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "model/compile.h"

#define NEW(c, type, n) ((type*)sr_pool_alloc((c)->pool, (size_t)((n) > 0 ? (n) : 1) * sizeof(type)))

// Roots of the event program while it grows.
typedef struct Roots {
  srNode* node;
  int n, capacity;
} Roots;

static int add_root(srCompiler* c, Roots* roots, srNode node) {
  SR_PUSH(&c->scratch, roots->node, roots->n, roots->capacity) = node;
  return roots->n - 1;
}

// The '=' of an assignment: not one of <= >= == !=. NULL: none.
static char* find_equals(char* text) {
  for (char* at = text; *at; ++at) {
    if (*at != '=') continue;
    if (at[1] == '=') {
      ++at;
    } else if (at == text || !strchr("<>!", at[-1])) {
      return at;
    }
  }
  return NULL;
}

static char* trim(char* text) {
  while (isspace((unsigned char)*text)) ++text;
  size_t n = strlen(text);
  while (n > 0 && isspace((unsigned char)text[n - 1])) text[--n] = '\0';
  return text;
}

// What follows the word v or q of "v(joint)" or "v(joint, k)": the text between the brackets, cut in place. NULL: neither.
static char* coordinate_of(char* text) {
  char* const open = text + 1 + strspn(text + 1, " \t\r\n");
  const size_t n = strlen(open);
  if ((text[0] != 'v' && text[0] != 'q') || open[0] != '(' || n < 2 || open[n - 1] != ')') return NULL;
  open[n - 1] = '\0';
  return trim(open + 1);
}

// The joint velocity of "joint" or "joint, k"; -1 after an error.
static int find_velocity(srCompiler* c, char* name, srPlace place) {
  char* const comma = strrchr(name, ',');
  long k = 0;
  if (comma != NULL && sr_names_find(&c->joints, name) < 0) {
    char* end;
    k = strtol(comma + 1, &end, 10);
    if (*trim(end) != '\0') k = -1;
    *comma = '\0';
  }
  const int joint = sr_c_find(c, &c->joints, trim(name), "joint", place);
  if (joint < 0) return -1;
  if (k < 0 || k >= c->m->joint_nv[joint]) {
    sr_c_error(c, place, "joint '%s' has %d velocity coordinate%s, counted from 0", trim(name), c->m->joint_nv[joint],
               c->m->joint_nv[joint] == 1 ? "" : "s");
    return -1;
  }
  const int v = c->m->joint_v[joint] + (int)k;
  if (c->m->dof_driver[v] < 0) return v;
  sr_c_error(c, place, "joint '%s' is driven: its velocity is that of its motion", trim(name));
  return -1;
}

// The left side of an assignment; false after an error.
static bool compile_target(srCompiler* c, char* text, srPlace place, srEventAction* action) {
  char* const coordinate = coordinate_of(text);
  *action = (srEventAction){.y = -1, .v = -1};
  if (coordinate != NULL && text[0] == 'q') {
    sr_c_error(c, place, "an event cannot set a position: expected a state, a parameter or v(joint)");
  } else if (coordinate != NULL) {
    action->v = find_velocity(c, coordinate, place);
  } else {
    const int varying = sr_names_find(&c->varying, text);
    action->y = varying >= 0 ? srs_count(c->spec, SR_ELEMENT_STATE) + varying
                             : sr_c_find(c, &c->states, text, "state or parameter", place);
  }
  return action->y >= 0 || action->v >= 0;
}

// One assignment "NAME = law" or "v(joint) = law"; false after an error.
static bool compile_action(srCompiler* c, char* text, srPlace place, Roots* roots, srEventAction* action) {
  char* const equals = find_equals(text);
  if (equals == NULL) {
    sr_c_error(c, place, "'%.60s' is not an assignment: expected STATE = formula", trim(text));
    return false;
  }
  *equals = '\0';
  srPlace right = place;
  if (right.column > 0) right.column += (int)(equals + 1 - text);
  const bool good = compile_target(c, trim(text), place, action);
  const srNode node = sr_c_law_text(c, equals + 1, right);
  if (!good || node == SR_NO_NODE) return false;
  action->value = add_root(c, roots, node);
  return true;
}

// ---------------------------------------------------------------------------------------------------- parameters

static bool is_parameter(srCompiler* c, const char* name) {
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_PARAMETER); i++) {
    const char* own = sr_c_attr(c, SR_ELEMENT_PARAMETER, i, SR_FIELD(srParameterDef, name))->text;
    if (own != NULL && strcmp(own, name) == 0) return true;
  }
  return false;
}

static void add_varying(srCompiler* c, const char* name) {
  if (!sr_names_put(&c->varying, name, c->nvarying)) return;
  SR_PUSH(&c->scratch, c->of_varying, c->nvarying, c->varying_capacity) = name;
}

static void add_live(srCompiler* c) {
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_PARAMETER); i++) {
    const char* name = sr_c_attr(c, SR_ELEMENT_PARAMETER, i, SR_FIELD(srParameterDef, name))->text;
    const char* live = sr_c_attr(c, SR_ELEMENT_PARAMETER, i, SR_FIELD(srParameterDef, live))->text;
    if (name != NULL && live != NULL && strcmp(live, "yes") == 0) add_varying(c, name);
  }
}

void sr_compile_varying(srCompiler* c) {
  add_live(c);
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_EVENT); i++) {
    const char* given = sr_c_attr(c, SR_ELEMENT_EVENT, i, SR_FIELD(srEventDef, action))->text;
    char* next = given != NULL ? (char*)sr_pool_text(&c->scratch, given) : NULL;
    for (char* at = next; at != NULL; at = next) {
      next = strchr(at, ';');
      if (next != NULL) *next++ = '\0';
      char* const equals = find_equals(at);
      if (equals == NULL) continue;
      *equals = '\0';
      const char* name = trim(at);
      if (is_parameter(c, name)) add_varying(c, name);
    }
  }
}

static void compile_actions(srCompiler* c, int i, Roots* roots, srEvent* event) {
  const int field = SR_FIELD(srEventDef, action);
  const char* given = sr_c_attr(c, SR_ELEMENT_EVENT, i, field)->text;
  if (given == NULL) return;
  const srPlace start = sr_c_place(c, SR_ELEMENT_EVENT, i, field);
  char* text = (char*)sr_pool_text(&c->scratch, given);
  int most = 1;
  for (const char* at = text; *at; ++at) most += *at == ';';
  srEventAction* actions = NEW(c, srEventAction, most);
  char* next = NULL;
  for (char* at = text; at != NULL; at = next) {
    next = strchr(at, ';');
    if (next != NULL) *next++ = '\0';
    if (at[strspn(at, " \t\r\n")] == '\0' && event->naction > 0) continue;  // after the last ;
    srPlace place = start;
    if (place.column > 0) place.column += (int)(at - text);
    if (compile_action(c, at, place, roots, &actions[event->naction])) ++event->naction;
  }
  event->action = actions;
}

static void compile_event(srCompiler* c, int i, Roots* roots, srNames* names, srEvent* event) {
  const char* name = sr_c_text(c, SR_ELEMENT_EVENT, i, SR_FIELD(srEventDef, name));
  const char* direction = sr_c_text(c, SR_ELEMENT_EVENT, i, SR_FIELD(srEventDef, direction));
  const char* stop = sr_c_text(c, SR_ELEMENT_EVENT, i, SR_FIELD(srEventDef, stop));
  *event = (srEvent){.place = sr_c_kept_place(c, SR_ELEMENT_EVENT, i)};
  event->name = name ? sr_pool_text(c->pool, name) : sr_pool_printf(c->pool, "event %d", i + 1);
  event->direction = (signed char)((strcmp(direction, "rising") == 0) - (strcmp(direction, "falling") == 0));
  event->stop = strcmp(stop, "yes") == 0;
  if (name) (void)sr_c_new_name(c, names, event->name, i, "event", event->place);
  srNode node = SR_NO_NODE;
  double value = 0;
  if (sr_c_laws(c, SR_ELEMENT_EVENT, i, SR_FIELD(srEventDef, when), &node, 1) != 1) return;
  if (sr_graph_constant(c->graph, node, &value)) {
    sr_c_warning(c, sr_c_place(c, SR_ELEMENT_EVENT, i, SR_FIELD(srEventDef, when)),
                 "%s never happens: its formula is always %g", event->name, value);
  }
  roots->node[i] = node;
}

void sr_compile_events(srCompiler* c) {
  srModel* m = c->m;
  const int errors = sr_c_errors(c);
  m->nevent = srs_count(c->spec, SR_ELEMENT_EVENT);
  srEvent* events = NEW(c, srEvent, m->nevent);
  srNames names = {0};
  sr_names_init(&names, &c->scratch);
  Roots roots = {0};
  for (int i = 0; i < m->nevent; i++) (void)add_root(c, &roots, sr_graph_const(c->graph, 0));
  for (int i = 0; i < m->nevent; i++) {
    compile_event(c, i, &roots, &names, &events[i]);
    compile_actions(c, i, &roots, &events[i]);
  }
  m->event = events;
  if (sr_c_errors(c) > errors) return;
  c->priv->events = sr_program_create(c->pool, c->graph, roots.node, roots.n);
  c->priv->nevent_value = roots.n;
}
