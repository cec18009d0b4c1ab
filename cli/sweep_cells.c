// Results of a verb by their path in its JSON: `q[0]`, `energy.residual`, `modes[0].frequency`, `sensors.tip.position[2]`, `tau[-1][0]` (counted from the
// end), `q(JOINT)` and `q(JOINT)[1]` (also v and a), `modes[*].re` (all). A path that leads to a list or an object means all values in it.
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sweep.h"

enum { MOST_COLUMNS = 4000 };

// What is of interest where nothing was asked for. Paths that a model does not have are left out.
typedef struct Default {
  const char* verb;
  const char* path[8];
} Default;
static const Default defaults[] = {
    {"check", {"nbody", "nq", "nv", "nconstraint", "rank", "dof"}},
    {"eval", {"q", "v", "a", "energy.kinetic", "energy.potential"}},
    {"run", {"t", "q", "v", "energy.kinetic", "energy.potential", "energy.residual", "steps"}},
    {"kinematics", {"t", "q", "v", "a", "drivers"}},
    {"inverse", {"t[-1]", "tau[-1]"}},
    {"equilibrium", {"q", "exchanged", "residual", "stability"}},
    {"partition", {"rank", "condition", "dof_position", "dof_velocity"}},
    {"modes", {"stability", "zeros", "modes[*].re", "modes[*].im"}},
    {"recommend", {"recommend.method", "stiffness.ratio"}},
    {"compare", {"models[*].runs[*].error.state"}},
};

const char* const* cells_default(const char* verb, int* n) {
  for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
    if (strcmp(defaults[i].verb, verb) != 0) continue;
    for (*n = 0; *n < 8 && defaults[i].path[*n];) ++*n;
    return defaults[i].path;
  }
  return NULL;
}

// ------------------------------------------------------------------------------------------------------------------ paths
bool paths_add(Paths* paths, const char* text, size_t n) {
  if (paths->n == paths->room) {
    const int room = paths->room ? 2 * paths->room : 16;
    char** item = realloc(paths->item, (size_t)room * sizeof *item);
    if (!item) return false;
    paths->item = item;
    paths->room = room;
  }
  char* copy = malloc(n + 1);
  if (!copy) return false;
  memcpy(copy, text, n);
  copy[n] = 0;
  paths->item[paths->n++] = copy;
  return true;
}

bool paths_add_list(Paths* paths, const char* text) {
  for (const char* p = text;; p++) {
    const size_t n = strcspn(p, ",");
    if (n > 0 && !paths_add(paths, p, n)) return false;
    p += n;
    if (!*p) return true;
  }
}

void paths_free(Paths* paths) {
  for (int i = 0; i < paths->n; i++) free(paths->item[i]);
  free(paths->item);
  *paths = (Paths){0};
}

// ------------------------------------------------------------------------------------------------------------------- tree
static bool is_list(const srJsonNode* x) { return *x->text == '['; }
static bool is_object(const srJsonNode* x) { return *x->text == '{'; }
static bool is_single(const srJsonNode* x) { return !is_list(x) && !is_object(x); }

// The text between quotes, its escapes resolved.
static void put_unescaped(srText* out, const char* text, int n) {
  for (int i = 0; i < n; i++) {
    if (text[i] != '\\' || i + 1 >= n) {
      sr_text_add(out, text + i, 1);
      continue;
    }
    static const char letters[] = "nrtbf";
    char c = text[++i];
    const char* place = strchr(letters, c);
    if (c == 'u' && i + 4 < n) {
      c = (char)strtol((char[5]){text[i + 1], text[i + 2], text[i + 3], text[i + 4], 0}, NULL,
                       16);  // the writer uses it below 32 alone
      i += 4;
    } else if (place && *place) {
      c = "\n\r\t\b\f"[place - letters];
    }
    sr_text_add(out, &c, 1);
  }
}

static int child_count(const srJsonTree* t, int at) {
  int n = 0;
  for (int i = at + 1; i < t->node[at].end; i = t->node[i].end) n++;
  return n;
}

static int child(const srJsonTree* t, int at, int k) {
  int i = at + 1;
  for (; k > 0 && i < t->node[at].end; k--) i = t->node[i].end;
  return i < t->node[at].end ? i : -1;
}

static int member(const srJsonTree* t, int at, const char* key) {
  for (int i = at + 1; is_object(&t->node[at]) && i < t->node[at].end; i = t->node[i].end)
    if (strlen(key) == (size_t)t->node[i].nkey && strncmp(key, t->node[i].key, strlen(key)) == 0) return i;
  return -1;
}

// The member with the longest name that the path begins with; *used: how much of the path that is. Names may hold dots and brackets.
static int member_of_path(const srJsonTree* t, int at, const char* path, size_t* used) {
  int found = -1;
  *used = 0;
  for (int i = at + 1; is_object(&t->node[at]) && i < t->node[at].end; i = t->node[i].end) {
    srText key = {0};
    put_unescaped(&key, t->node[i].key, t->node[i].nkey);
    if (key.data && key.n >= *used && strncmp(path, key.data, key.n) == 0 && strchr(".[(", path[key.n]))
      found = i, *used = key.n;
    sr_text_free(&key);
  }
  return found;
}

// ----------------------------------------------------------------------------------------------------------- joints by name
// q, v and a of the top have the numbers [first, count] of each joint.
static int numbers_of_joint(const srJsonTree* t, int joint, bool velocities, int* count) {
  const int range = member(t, joint, velocities ? "v" : "q");
  if (range < 0 || child_count(t, range) != 2) return -1;
  *count = atoi(t->node[child(t, range, 1)].text);
  return atoi(t->node[child(t, range, 0)].text);
}

static bool has_name(const srJsonTree* t, int joint, const char* name, size_t n) {
  const int at = member(t, joint, "name");
  srText text = {0};
  if (at >= 0) put_unescaped(&text, t->node[at].text + 1, t->node[at].n - 2);
  const bool same = text.n == n && n > 0 && memcmp(text.data, name, n) == 0;
  sr_text_free(&text);
  return same;
}

// "[k]" at the path. Returns its length, 0: it is none.
static int read_index(const char* path, int* k) {
  char* end;
  if (*path != '[' || (path[1] != '-' && !isdigit((unsigned char)path[1]))) return 0;
  const long x = strtol(path + 1, &end, 10);
  *k = x > INT_MAX ? INT_MAX : x < -INT_MAX ? -INT_MAX : (int)x;
  return *end == ']' ? (int)(end + 1 - path) : 0;
}

// "(JOINT)" or "(JOINT)[k]" behind q, v or a. -1: there is none; *rest: behind it.
static int node_of_joint(const srJsonTree* t, int list, const char* path, const char** rest) {
  const int joints = member(t, 0, "joints");
  const bool velocities = t->node[list].key[0] != 'q';
  if (joints < 0 || t->node[list].nkey != 1 || !is_list(&t->node[list])) return -1;
  for (int j = joints + 1; j < t->node[joints].end; j = t->node[j].end) {
    const char* close = path;
    while ((close = strchr(close + 1, ')')) != NULL) {  // the name may hold one
      if (!has_name(t, j, path + 1, (size_t)(close - path) - 1)) continue;
      int count = 0, k = 0;
      const int first = numbers_of_joint(t, j, velocities, &count);
      if (first < 0 || count < 1) return -1;
      *rest = close + 1;
      const int length = count > 1 ? read_index(*rest, &k) : 0;
      if (count > 1 && (length == 0 || k < 0 || k >= count)) return -1;
      *rest += length;
      return child(t, list, first + k);
    }
  }
  return -1;
}

// ------------------------------------------------------------------------------------------------------------------ search
// One step along the path: the node, and *rest behind it. -1: there is none.
static int step(const srJsonTree* t, int at, const char* path, const char** rest) {
  const srJsonNode* x = &t->node[at];
  if (*path == '(') return x->key && at > 0 && strchr("qva", *x->key) ? node_of_joint(t, at, path, rest) : -1;
  if (*path == '[') {
    int k = 0;
    const int length = is_list(x) ? read_index(path, &k) : 0;
    if (length == 0) return -1;
    *rest = path + length;
    const int n = child_count(t, at);
    return k < -n || k >= n ? -1 : child(t, at, k < 0 ? n + k : k);
  }
  size_t used;
  if (*path == '.') path++;
  const int found = member_of_path(t, at, path, &used);
  *rest = path + used;
  return found;
}

static int find(const srJsonTree* t, const char* path) {
  int at = 0;
  while (at >= 0 && *path) at = step(t, at, path, &path);
  return at;
}

void cells_put(const srJsonTree* tree, const Paths* columns, srText* out) {
  for (int i = 0; i < columns->n; i++) {
    const int at = find(tree, columns->item[i]);
    const srJsonNode* x = at >= 0 && is_single(&tree->node[at]) ? &tree->node[at] : NULL;
    if (!x || *x->text == 'n') {
      sr_text_add(out, "nan", 3);
    } else if (*x->text == '"') {
      srText text = {0};
      put_unescaped(&text, x->text + 1, x->n - 2);
      put_quoted(out, text.data ? text.data : "", text.n);
      sr_text_free(&text);
    } else if (*x->text == 't' || *x->text == 'f') {
      sr_text_add(out, *x->text == 't' ? "1" : "0", 1);
    } else {
      sr_text_add(out, x->text, (size_t)x->n);
    }
    sr_text_add(out, ",", 1);
  }
}

// ----------------------------------------------------------------------------------------------------------------- expanding
typedef struct Expansion {
  const srJsonTree* tree;
  Paths* out;
  srText* reason;
  bool too_many;
} Expansion;

static bool expand_all(Expansion* e, int at, const srText* path);

// The name of a number of q, v or a: that of its joint.
static bool put_joint_name(const srJsonTree* t, int list, int k, srText* out) {
  const int joints = member(t, 0, "joints");
  const bool top = list > 0 && t->node[list].nkey == 1 && strchr("qva", *t->node[list].key) &&
                   member(t, 0, (char[2]){*t->node[list].key, 0}) == list;
  for (int j = joints + 1; top && joints >= 0 && j < t->node[joints].end; j = t->node[j].end) {
    int count = 0;
    const int first = numbers_of_joint(t, j, t->node[list].key[0] != 'q', &count), name = member(t, j, "name");
    if (first < 0 || name < 0 || k < first || k >= first + count) continue;
    sr_text_add(out, "(", 1);
    put_unescaped(out, t->node[name].text + 1, t->node[name].n - 2);
    sr_text_add(out, ")", 1);
    if (count > 1) sr_text_print(out, "[%d]", k - first);
    return true;
  }
  return false;
}

static srText path_of_child(const srJsonTree* t, int at, const srText* path, int i, int k) {
  srText longer = {0};
  if (path->n > 0) sr_text_add(&longer, path->data, path->n);
  if (is_object(&t->node[at])) {
    if (path->n > 0) sr_text_add(&longer, ".", 1);
    put_unescaped(&longer, t->node[i].key, t->node[i].nkey);
  } else if (!put_joint_name(t, at, k, &longer)) {
    sr_text_print(&longer, "[%d]", k);
  }
  return longer;
}

// All single values below a node.
static bool expand_all(Expansion* e, int at, const srText* path) {
  const srJsonTree* t = e->tree;
  if (is_single(&t->node[at])) {
    e->too_many = e->out->n >= MOST_COLUMNS;
    return !e->too_many && paths_add(e->out, path->data, path->n);
  }
  bool good = true;
  int k = 0;
  for (int i = at + 1; good && i < t->node[at].end; i = t->node[i].end, k++) {
    srText longer = path_of_child(t, at, path, i, k);
    good = expand_all(e, i, &longer);
    sr_text_free(&longer);
  }
  return good;
}

// Names of the joints that q(NAME) can mean; of one with several numbers, that an index is needed.
static void tell_joints(Expansion* e) {
  const srJsonTree* t = e->tree;
  const int joints = member(t, 0, "joints");
  const char* before = "; q(NAME) takes a joint, q(NAME)[k] a number of one that has several: ";
  for (int j = joints + 1; joints >= 0 && j < t->node[joints].end; j = t->node[j].end, before = ", ") {
    const int name = member(t, j, "name");
    if (name >= 0) sr_text_print(e->reason, "%s%.*s", before, t->node[name].n - 2, t->node[name].text + 1);
  }
}

// What is there, where a path leads nowhere.
static void tell_members(Expansion* e, int at, const char* rest, const srText* path) {
  const srJsonTree* t = e->tree;
  const srJsonNode* x = &t->node[at];
  const int n = child_count(t, at);
  if (path->n > 0)
    sr_text_print(e->reason, "'%.*s'", (int)path->n, path->data);
  else
    sr_text_print(e->reason, "the result");
  if (is_single(x)) {
    sr_text_print(e->reason, " is a single value");
  } else if (is_list(x)) {
    sr_text_print(e->reason,
                  n == 0   ? " is empty"
                  : n == 1 ? " has one value, [0]"
                           : " has %d values, [0] to [%d]",
                  n, n - 1);
    if (*rest == '(') tell_joints(e);
  } else {
    sr_text_print(e->reason, " has the keys ");
    for (int i = at + 1; i < x->end; i = t->node[i].end)
      sr_text_print(e->reason, "%s%.*s", i == at + 1 ? "" : ", ", t->node[i].nkey, t->node[i].key);
  }
}

static bool is_every(const char* path) {
  return strncmp(path, "[*]", 3) == 0 || (path[0] == '.' && path[1] == '*' && strchr(".[", path[2])) ||
         (path[0] == '*' && strchr(".[", path[1]));
}

// Columns below a node; how many, -1: the path leads nowhere, or no memory.
static int expand(Expansion* e, int at, const char* rest, const srText* path) {
  const srJsonTree* t = e->tree;
  const int before = e->out->n;
  if (!*rest) return expand_all(e, at, path) ? e->out->n - before : -1;
  if (is_every(rest)) {
    const char* behind = strchr(rest, '*') + (*rest == '[' ? 2 : 1);
    srText quiet = {0}, *reason = e->reason;
    int k = 0, found = 0;
    e->reason = &quiet;
    for (int i = at + 1; i < t->node[at].end && !e->too_many; i = t->node[i].end, k++) {
      srText longer = path_of_child(t, at, path, i, k);
      found += expand(e, i, behind, &longer) >= 0;
      sr_text_free(&longer);
    }
    sr_text_free(&quiet);
    e->reason = reason;
    if (found > 0 || at + 1 >= t->node[at].end) return e->out->n - before;
    return tell_members(e, at, rest, path), -1;
  }
  const char* behind = rest;
  const int next = step(t, at, rest, &behind);
  if (next < 0) return tell_members(e, at, rest, path), -1;
  srText longer = {0};
  if (path->n > 0) sr_text_add(&longer, path->data, path->n);
  sr_text_add(&longer, rest, (size_t)(behind - rest));
  const int n = expand(e, next, behind, &longer);
  sr_text_free(&longer);
  return n;
}

bool cells_expand(const srJsonTree* tree, const Paths* wanted, bool lenient, Paths* out, srText* reason) {
  for (int i = 0; i < wanted->n; i++) {
    const srText top = {0};
    srText why = {0};
    Expansion e = {.tree = tree, .out = out, .reason = &why};
    const bool good = expand(&e, 0, wanted->item[i], &top) >= 0 || (lenient && !e.too_many);
    if (e.too_many)
      sr_text_print(reason, "--result: more than %d columns; name fewer of them", MOST_COLUMNS);
    else if (!good)
      sr_text_print(reason, "--result: there is no '%s': %s", wanted->item[i], why.data ? why.data : "out of memory");
    sr_text_free(&why);
    if (!good) return false;
  }
  return true;
}
