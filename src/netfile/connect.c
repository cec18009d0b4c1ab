// Terminals, and what connects components: in the order of the file, as an input sums its wires in that order.
#include <string.h>

#include "model/list.h"
#include "netfile/netfile.h"

// ------------------------------------------------------------------------------------------------------------- terminals
static const srTerminal no_terminal = {0};

static const srNetTerminal* find_terminal(srNetBuilder* b, const char* name, srPlace place) {
  const int i = sr_names_find(&b->terminals, name);
  if (i >= 0) return &b->terminal[i];
  const bool component = sr_names_find(&b->components, name) >= 0;
  if (component)
    SR_NET_FAIL(b, place, "'%.60s' is a component, not a terminal: <terminal name=... of=\"%.60s\"/> makes one", name,
                name);
  else if (!b->lost)
    SR_NET_FAIL(b, place, "there is no terminal '%.60s'%s", name,
                sr_pool_guess(&b->in->pool, sr_names_nearest(&b->terminals, name)));
  return NULL;
}

// The terminal that an attribute names; false: none that can be used, reported.
static bool terminal_of(srNetBuilder* b, const srNetItem* item, const char* word, srTerminal* out) {
  const srAttr attr = sr_net_attr(item, word);
  const srNetTerminal* found = find_terminal(b, attr.text, attr.place);
  if (found) *out = found->terminal;
  return found && found->terminal.n > 0;
}

// `part`: words of neighbouring coordinates.
static srTerminal take_part(srNetBuilder* b, const srNetItem* item, srTerminal t) {
  static const char* const words[] = {"rx", "ry", "rz", "x", "y", "z"};
  const srAttr attr = sr_net_attr(item, "part");
  if (!attr.text || t.n == 0) return t;
  const char* const* known = t.n == 6 ? words : words + 3;
  srListItem* given = NULL;
  const int n = sr_split_list(&b->in->pool, &attr, &given);
  int first = -1;
  if (t.n != 6 && t.n != 3) {
    SR_NET_FAIL(b, attr.place, "a terminal of one coordinate has no parts");
    return no_terminal;
  }
  for (int i = 0; i < n; i++) {
    const int k = sr_word_index(known, t.n, given[i].text);
    if (i == 0) first = k;
    if (k >= 0 && k == first + i) continue;
    SR_NET_FAIL(b, attr.place, "'part' takes neighbours of %s, in this order, not '%.60s'",
                t.n == 6 ? "rx ry rz x y z" : "x y z", attr.text);
    return no_terminal;
  }
  return sr_terminal_part(t, first, n);
}

// An attribute that has no meaning for this kind of component.
static bool refuses(srNetBuilder* b, const srNetItem* item, const char* word, const char* kind) {
  const srAttr attr = sr_net_attr(item, word);
  if (!attr.text) return false;
  SR_NET_FAIL(b, attr.place, "'%s' is not for a terminal of %s", word, kind);
  return true;
}

static srTerminal of_mass(srNetBuilder* b, const srNetItem* item, int mass) {
  const char* kind = "a mass";
  bool bad = refuses(b, item, "coordinate", kind);
  bad = refuses(b, item, "point", kind) || bad;
  bad = refuses(b, item, "at", kind) || bad;
  bad = refuses(b, item, "axes", kind) || bad;
  return bad ? no_terminal : sr_network_mass_terminal(b->file->network, mass);
}

static srTerminal of_body(srNetBuilder* b, const srNetItem* item, int body) {
  double s[3] = {0};
  bool bad = refuses(b, item, "coordinate", "a body");
  bad = refuses(b, item, "point", "a body") || bad;
  bad = sr_net_numbers(b, item, "at", s, 3) < 0 || bad;
  return bad ? no_terminal : sr_network_body_terminal(b->file->network, body, s, sr_net_yes(item, "axes", "inertial"));
}

static srTerminal of_mechanism(srNetBuilder* b, const srNetItem* item, int mechanism) {
  const srAttr coordinate = sr_net_attr(item, "coordinate"), point = sr_net_attr(item, "point");
  bool bad = refuses(b, item, "at", "a mechanism");
  bad = refuses(b, item, "axes", "a mechanism") || bad;
  if (!coordinate.text == !point.text) {
    SR_NET_FAIL(b, item->place, "a terminal of a mechanism has 'coordinate' or 'point', one of them");
    bad = true;
  }
  if (bad) return no_terminal;
  return point.text ? sr_network_point_terminal(b->file->network, mechanism, point.text)
                    : sr_network_joint_terminal(b->file->network, mechanism, coordinate.text);
}

// A part of a terminal that is there already.
static srTerminal of_terminal(srNetBuilder* b, const srNetItem* item, srTerminal t) {
  if (t.n > 0 && !sr_net_attr(item, "part").text) {
    SR_NET_FAIL(b, item->place, "<terminal> of another terminal needs 'part'");
    return no_terminal;
  }
  return t;
}

static srTerminal make_terminal(srNetBuilder* b, const srNetItem* item) {
  const srAttr of = sr_net_attr(item, "of");
  const int other = sr_names_find(&b->terminals, of.text);
  if (other >= 0) return of_terminal(b, item, b->terminal[other].terminal);
  const srNetPart* part = sr_net_part(b, of.text, of.place);
  if (!part || part->component < 0) return no_terminal;
  switch (part->item->kind) {
    case SR_NET_MASS: return of_mass(b, item, part->component);
    case SR_NET_BODY: return of_body(b, item, part->component);
    case SR_NET_MECHANISM: return of_mechanism(b, item, part->component);
    default:
      SR_NET_FAIL(b, of.place,
                  "'%.60s' is <%s>: terminals are of masses, bodies, mechanisms; <wire> connects its signals", of.text,
                  sr_net_element(part->item->kind)->word);
      return no_terminal;
  }
}

static srTerminal make_ground(srNetBuilder* b, const srNetItem* item) {
  double p[3];
  return sr_net_numbers(b, item, "at", p, 3) > 0 ? sr_network_ground(b->file->network, p) : no_terminal;
}

static srTerminal make_axis(srNetBuilder* b, const srNetItem* item) {
  double axis[3];
  srTerminal from, to;
  bool good = terminal_of(b, item, "a", &from);
  good = terminal_of(b, item, "b", &to) && good;
  good = sr_net_numbers(b, item, "axis", axis, 3) > 0 && good;
  return good ? sr_network_axis_terminal(b->file->network, from, to, axis) : no_terminal;
}

static void add_terminal(srNetBuilder* b, const srNetItem* item) {
  srTerminal t = no_terminal;
  if (!item->damaged && item->kind == SR_NET_TERMINAL) t = take_part(b, item, make_terminal(b, item));
  if (!item->damaged && item->kind == SR_NET_GROUND) t = make_ground(b, item);
  if (!item->damaged && item->kind == SR_NET_AXIS) t = make_axis(b, item);
  if (sr_net_take_name(b, item, &b->terminals, b->nterminal))
    SR_PUSH(&b->in->pool, b->terminal, b->nterminal, b->terminal_capacity) = (srNetTerminal){t};
}

// ------------------------------------------------------------------------------------------------------------ impedances
// A plane, or friction in three directions, at a point with six coordinates takes those of the position.
static srTerminal fitted(const srNetPart* part, srTerminal t) {
  return part->nforce == 3 && t.n == 6 ? sr_terminal_part(t, 3, 3) : t;
}

static void attach(srNetBuilder* b, const srNetItem* item, const srNetPart* part) {
  srNetwork* n = b->file->network;
  srTerminal from, to;
  const bool between = item->kind == SR_NET_BUSHING || item->kind == SR_NET_HINGE;
  const bool has_to = !between && sr_net_attr(item, "to").text;
  const bool has_a = item->kind != SR_NET_PLANE && sr_net_attr(item, "a").text;
  const bool has_b = item->kind != SR_NET_PLANE && sr_net_attr(item, "b").text;
  if (has_a != has_b || (has_a && has_to)) {
    SR_NET_FAIL(b, item->place, "<%s> has 'to', or 'a' and 'b'", sr_net_element(item->kind)->word);
    return;
  }
  if (has_to) {
    if (!terminal_of(b, item, "to", &to) || part->component < 0) return;
    (void)sr_network_attach(n, part->component, fitted(part, to));
  }
  if (!has_a) return;
  bool good = terminal_of(b, item, "a", &from);
  good = terminal_of(b, item, "b", &to) && good;
  if (!good || part->component < 0) return;
  if (part->frames)
    (void)sr_network_frames(n, part->component, from, to);
  else if (part->nforce == 1 && from.n > 1 && to.n > 1)
    (void)sr_network_distance_force(n, part->component, from, to);
  else
    (void)sr_network_between(n, part->component, fitted(part, from), fitted(part, to));
}

// ----------------------------------------------------------------------------------------------------------------- wires
// A signal COMPONENT.SIGNAL; false: unknown, reported.
static bool find_signal(srNetBuilder* b, srAttr attr, srSignal kind, int* component, int* index) {
  const srNetwork* n = b->file->network;
  for (const char* dot = strchr(attr.text, '.'); dot; dot = strchr(dot + 1, '.')) {
    const char* name = sr_pool_text_n(&b->in->pool, attr.text, (size_t)(dot - attr.text));
    const int i = sr_names_find(&b->components, name);
    if (i < 0) continue;
    *component = b->part[i].component;
    if (*component < 0) return false;
    *index = sr_network_signal_find(n, *component, kind, dot + 1);
    if (*index >= 0) return true;
    const int count = sr_network_signals(n, *component, kind);
    const char** words = sr_pool_alloc(&b->in->pool, (size_t)(count + 1) * sizeof *words);
    int nword = 0;
    for (int k = 0; k < count; k++)
      if (sr_network_signal_name(n, *component, kind, k))
        words[nword++] = sr_network_signal_name(n, *component, kind, k);
    const char* side = kind == SR_SIGNAL_INPUT ? "input" : "output";
    if (nword > 0 && nword <= 16)
      SR_NET_FAIL(b, attr.place, "'%s' has no %s '%.60s'; it has %s", name, side, dot + 1,
                  sr_text_alternatives(&b->in->pool, words, nword));
    else
      SR_NET_FAIL(b, attr.place, "'%s' has no %s '%.60s'%s; it has %d", name, side, dot + 1,
                  sr_pool_guess(&b->in->pool, sr_nearest_word(dot + 1, words, nword)), count);
    return false;
  }
  if (!strchr(attr.text, '.'))
    SR_NET_FAIL(b, attr.place, "'%.60s' is no signal: COMPONENT.SIGNAL was expected", attr.text);
  else if (!b->lost)
    SR_NET_FAIL(b, attr.place, "'%.60s' begins with no component%s", attr.text,
                sr_pool_guess(&b->in->pool, sr_names_nearest(&b->components, sr_pool_text_n(&b->in->pool, attr.text,
                                                                                            strcspn(attr.text, ".")))));
  return false;
}

static void make_wire(srNetBuilder* b, const srNetItem* item) {
  int from, out, to, in;
  double coefficient = 1, count = 1;
  bool good = find_signal(b, sr_net_attr(item, "from"), SR_SIGNAL_OUTPUT, &from, &out);
  good = find_signal(b, sr_net_attr(item, "to"), SR_SIGNAL_INPUT, &to, &in) && good;
  good = sr_net_number(b, item, "coefficient", &coefficient) && good;
  good = sr_net_number(b, item, "count", &count) && good;
  if (good && !(count >= 1 && count <= 1e6 && count == (int)count)) {
    SR_NET_FAIL(b, sr_net_attr(item, "count").place, "'count' must be a whole number from 1 on, not %g", count);
    good = false;
  }
  if (good) (void)sr_network_wires(b->file->network, coefficient, from, out, to, in, (int)count);
}

static void make_constant(srNetBuilder* b, const srNetItem* item) {
  int to, in;
  double x[SR_NET_MOST_NUMBERS];
  const int n = sr_net_numbers(b, item, "value", x, SR_NET_MOST_NUMBERS);
  if (!find_signal(b, sr_net_attr(item, "to"), SR_SIGNAL_INPUT, &to, &in)) return;
  for (int i = 0; i < n; i++)
    if (sr_network_constant(b->file->network, x[i], to, in + i) != SR_OK) return;
}

static void make_push(srNetBuilder* b, const srNetItem* item) {
  srTerminal t;
  double f[6];
  const int n = sr_net_numbers(b, item, "force", f, 6);
  if (!terminal_of(b, item, "terminal", &t) || n < 0) return;
  if (n != t.n)
    SR_NET_FAIL(b, sr_net_attr(item, "force").place, "the terminal has %d coordinates, and 'force' %d", t.n, n);
  else if (t.force < 0)
    SR_NET_FAIL(b, item->place, "a force on the ground moves nothing");
  else
    (void)sr_network_push(b->file->network, t, f);
}

static void make_apply(srNetBuilder* b, const srNetItem* item) {
  int from, out;
  srTerminal t;
  double coefficient = 1;
  bool good = find_signal(b, sr_net_attr(item, "from"), SR_SIGNAL_OUTPUT, &from, &out);
  good = terminal_of(b, item, "terminal", &t) && good;
  good = sr_net_number(b, item, "coefficient", &coefficient) && good;
  if (good && t.force < 0)
    SR_NET_FAIL(b, item->place, "a force on the ground moves nothing");
  else if (good)
    (void)sr_network_apply(b->file->network, coefficient, from, out, t);
}

// ------------------------------------------------------------------------------------------------------------ everything
static bool is_terminal(srNetKind kind) {
  return kind == SR_NET_TERMINAL || kind == SR_NET_GROUND || kind == SR_NET_AXIS;
}

static void connect(srNetBuilder* b, const srNetItem* item) {
  const bool impedance = item->kind >= SR_NET_SPRING && item->kind <= SR_NET_FORMULA_IMPEDANCE;
  const int i = impedance ? sr_names_find(&b->components, sr_net_attr(item, "name").text) : -1;
  if (impedance && i >= 0 && b->part[i].item == item) attach(b, item, &b->part[i]);
  if (item->kind == SR_NET_WIRE) make_wire(b, item);
  if (item->kind == SR_NET_CONSTANT) make_constant(b, item);
  if (item->kind == SR_NET_PUSH) make_push(b, item);
  if (item->kind == SR_NET_APPLY) make_apply(b, item);
}

void sr_net_connect(srNetBuilder* b) {
  srNetwork* n = b->file->network;
  for (int pass = 0; pass < 2; pass++)
    for (const srNetItem* item = b->root.first; item; item = item->next) {
      sr_network_set_place(n, item->place);
      if (pass == 0 && is_terminal(item->kind)) add_terminal(b, item);
      if (pass == 1 && !item->damaged) connect(b, item);
    }
}
