// From items to components of a network. An item that cannot become a component keeps its name, so that those who use it report
// nothing more.
#include <math.h>
#include <sarrus/analysis.h>
#include <string.h>

#include "io/file.h"
#include "netfile/netfile.h"
#include "plugin/plugin.h"

// ---------------------------------------------------------------------------------------------------------------- names
bool sr_net_take_name(srNetBuilder* b, const srNetItem* item, srNames* names, int index) {
  const srAttr name = sr_net_attr(item, "name");
  if (!name.text) return false;
  if (sr_names_find(&b->components, name.text) < 0 && sr_names_find(&b->terminals, name.text) < 0 &&
      sr_names_put(names, name.text, index))
    return true;
  SR_NET_FAIL(b, name.place, "there is a component or a terminal '%.60s' already", name.text);
  return false;
}

void sr_net_add_part(srNetBuilder* b, const srNetItem* item, srNetPart part) {
  part.item = item;
  if (sr_net_take_name(b, item, &b->components, b->npart))
    SR_PUSH(&b->in->pool, b->part, b->npart, b->part_capacity) = part;
}

const srNetPart* sr_net_part(srNetBuilder* b, const char* name, srPlace place) {
  const int i = sr_names_find(&b->components, name);
  if (i >= 0) return &b->part[i];
  if (!b->lost)
    SR_NET_FAIL(b, place, "there is no component '%.60s'%s", name,
                sr_pool_guess(&b->in->pool, sr_names_nearest(&b->components, name)));
  return NULL;
}

static const srNetPart none = {.component = -1};

// -------------------------------------------------------------------------------------------------- masses, rigid bodies
static srNetPart make_mass(srNetBuilder* b, const srNetItem* item) {
  double mass = 0, p[3], v[3];
  bool good = sr_net_number(b, item, "mass", &mass);
  good = sr_net_numbers(b, item, "at", p, 3) > 0 && good;
  good = sr_net_numbers(b, item, "v", v, 3) > 0 && good;
  if (!good) return none;
  return (srNetPart){.component = sr_network_mass(b->file->network, sr_net_attr(item, "name").text, mass, p, v)};
}

static srNetPart make_body(srNetBuilder* b, const srNetItem* item) {
  srRigidDef def = {0};
  double J[6] = {0};
  bool good = sr_net_number(b, item, "mass", &def.mass);
  good = sr_net_numbers(b, item, "inertia", J, 6) > 0 && good;
  good = sr_net_numbers(b, item, "at", def.p, 3) > 0 && good;
  good = sr_net_numbers(b, item, "rot", def.q, 4) > 0 && good;
  good = sr_net_numbers(b, item, "v", def.v, 3) > 0 && good;
  good = sr_net_numbers(b, item, "w", def.w, 3) > 0 && good;
  if (good && !(fabs(def.q[0]) + fabs(def.q[1]) + fabs(def.q[2]) + fabs(def.q[3]) > 0)) {
    SR_NET_FAIL(b, sr_net_attr(item, "rot").place, "the quaternion of '%s' is zero", sr_net_attr(item, "name").text);
    good = false;
  }
  if (!good) return none;
  const double rows[9] = {J[0], J[3], J[4], J[3], J[1], J[5], J[4], J[5], J[2]};
  memcpy(def.inertia, rows, sizeof rows);
  return (srNetPart){.component = sr_network_body(b->file->network, sr_net_attr(item, "name").text, &def)};
}

// ----------------------------------------------------------------------------------------------------------- mechanisms
// Values of <set> as settings of the model.
static bool settings_of(srNetBuilder* b, const srNetItem* item, srSetting** out, int* n) {
  int capacity = 0;
  bool good = true;
  *out = NULL;
  *n = 0;
  for (const srNetItem* c = item->first; c; c = c->next) {
    double value = 0;
    if (c->damaged) continue;
    good = sr_net_number(b, c, "value", &value) && good;
    char* text = sr_pool_alloc(&b->in->pool, SR_NUMBER_TEXT);
    sr_number_text(value, text, SR_NUMBER_TEXT);
    SR_PUSH(&b->in->pool, *out, *n, capacity) = (srSetting){sr_net_attr(c, "parameter").text, text};
  }
  return good;
}

static const char* model_path(srNetBuilder* b, srAttr file) {
  const char* reason = NULL;
  if (!b->in->folder) {
    SR_NET_FAIL(b, file.place, "'%.200s' is not read: the network comes from memory and has no folder", file.text);
    return NULL;
  }
  if (sr_path_inside(&b->in->pool, b->in->folder, file.text, &reason))
    return sr_path_join(&b->in->pool, b->in->folder, file.text);
  SR_NET_FAIL(b, file.place, "the file '%.200s' %s", file.text, reason);
  return NULL;
}

static void keep_files(srNetBuilder* b, const srSpec* spec) {
  struct srNetworkFilePrivate* priv = b->file->priv;
  for (int i = 0; i < srs_file_count(spec); i++)
    SR_PUSH(&priv->pool, priv->file, priv->nfile, priv->file_capacity) = sr_pool_text(&priv->pool, srs_file(spec, i));
}

// Messages of a model; those about a setting are at the <set> that gives it.
static void pass_messages(srNetBuilder* b, const srNetItem* item, const srMessages* from) {
  for (int i = 0; i < sr_messages_count(from); i++) {
    const srMessage* message = sr_messages_get(from, i);
    const char* file = message->place.file;
    const srNetItem* set = file && strncmp(file, "--set ", 6) == 0 ? item->first : NULL;
    while (set && (set->damaged || strcmp(sr_net_attr(set, "parameter").text, file + 6) != 0)) set = set->next;
    if (set)
      sr_messages_add(b->in->messages, message->severity, sr_net_attr(set, "parameter").place, "%s", message->text);
    else
      sr_messages_pass(b->in->messages, from, i, message->severity);
  }
}

// The compiled model, which the network file owns; NULL after an error.
static srModel* open_model(srNetBuilder* b, const srNetItem* item, const char* path, const srLoadOptions* how) {
  struct srNetworkFilePrivate* priv = b->file->priv;
  srSpec* spec = NULL;
  srModel* model = NULL;
  SR_PUSH(&priv->pool, priv->model, priv->nmodel, priv->model_capacity) = NULL;
  srMessages* said = sr_messages_create();
  srStatus status = said ? sr_load(path, how, said, &spec) : SR_MEMORY;
  if (status == SR_OK && sr_net_yes(item, "lock-massless", "yes")) status = sr_lock_massless(spec, said);
  if (status == SR_OK) status = sr_compile(spec, said, &model);
  if (said) pass_messages(b, item, said);
  sr_messages_destroy(said);
  priv->model[priv->nmodel - 1] = model;
  if (status == SR_OK) keep_files(b, spec);
  srs_destroy(spec);
  if (status != SR_OK && sr_reader_errors(b->in) == 0)
    SR_NET_FAIL(b, item->place, "'%.200s': %s", path, sr_status_text(status));
  return status == SR_OK ? model : NULL;
}

// Points that terminals of this mechanism name, each once.
static int points_of(srNetBuilder* b, const char* name, const char*** out) {
  int n = 0, capacity = 0;
  *out = NULL;
  for (const srNetItem* t = b->root.first; t; t = t->next) {
    if (t->kind != SR_NET_TERMINAL || t->damaged) continue;
    const char *of = sr_net_attr(t, "of").text, *point = sr_net_attr(t, "point").text;
    if (!point || strcmp(of, name) != 0 || sr_word_index(*out, n, point) >= 0) continue;
    SR_PUSH(&b->in->pool, *out, n, capacity) = point;
  }
  return n;
}

static bool assemble(srNetBuilder* b, const srNetItem* item, const srModel* m, srData* d) {
  srAssembly told;
  const srStatus status = sr_assemble(m, d, b->in->messages, &told);
  if (status == SR_OK) {
    (void)sr_start_outside(m, d, b->in->messages);
    return true;
  }
  SR_NET_FAIL(b, item->place, "'%s': %s", sr_net_attr(item, "name").text,
              status == SR_FAILED ? d->error_message : sr_status_text(status));
  return false;
}

static srNetPart make_mechanism(srNetBuilder* b, const srNetItem* item) {
  srLoadOptions how = *b->in->options;
  srSetting* settings;
  const char** points;
  const char* name = sr_net_attr(item, "name").text;
  bool good = settings_of(b, item, &settings, &how.nsetting);
  const char* path = model_path(b, sr_net_attr(item, "file"));
  if (!good || !path) return none;
  how.settings = settings;
  how.base = sr_net_attr(item, "base").text;
  const srModel* m = open_model(b, item, path, &how);
  srData* d = m ? sr_data_create(m) : NULL;
  if (m && !d) SR_NET_FAIL(b, item->place, "'%s': out of memory", name);
  good = d && (m->nmassless > 0 || assemble(b, item, m, d));
  const int npoint = good ? points_of(b, name, &points) : 0;
  const int i = good ? sr_network_multibody(b->file->network, name, m, d, points, npoint) : -1;
  sr_data_destroy(d);
  return (srNetPart){.component = i};
}

// -------------------------------------------------------------------------------------------------- laws with parameters
// A law by the name of the program or of a plugin; width: forces of its port.
static srNetPart make_law(srNetBuilder* b, const srNetItem* item, const char* law, const double* p, int np) {
  const srImpedance* found = sr_network_find_impedance(b->file->network, law);
  if (!found) {
    if (!b->lost)
      SR_NET_FAIL(b, sr_net_attr(item, "law").place,
                  "there is no impedance '%.60s': neither built in nor of a <plugin> of this file", law);
    return none;
  }
  const int i = sr_network_impedance(b->file->network, sr_net_attr(item, "name").text, found, p, np);
  return (srNetPart){.component = i,
                     .frames = found->port == SR_PORT_FRAMES,
                     .nforce = sr_network_signals(b->file->network, i, SR_SIGNAL_OUTPUT)};
}

// Attributes, one after the other, as the parameters of a built-in law.
static srNetPart make_built_in(srNetBuilder* b, const srNetItem* item, const char* law, const char* const* words) {
  double p[SR_NET_MOST_NUMBERS];
  int n = 0;
  bool good = true;
  for (; *words; words++) {
    const int got = sr_net_numbers(b, item, *words, p + n, SR_NET_MOST_NUMBERS - n);
    good = good && got >= 0;
    n += got > 0 ? got : 0;
  }
  return good ? make_law(b, item, law, p, n) : none;
}

static srNetPart make_impedance(srNetBuilder* b, const srNetItem* item) {
  double p[SR_NET_MOST_NUMBERS];
  const int n = sr_net_numbers(b, item, "parameters", p, SR_NET_MOST_NUMBERS);
  return n >= 0 ? make_law(b, item, sr_net_attr(item, "law").text, p, n) : none;
}

static srNetPart make_admittance(srNetBuilder* b, const srNetItem* item) {
  double p[SR_NET_MOST_NUMBERS];
  const srAttr law = sr_net_attr(item, "law");
  const int n = sr_net_numbers(b, item, "parameters", p, SR_NET_MOST_NUMBERS);
  const srAdmittance* found = sr_network_find_admittance(b->file->network, law.text);
  if (!found && !b->lost)
    SR_NET_FAIL(b, law.place, "there is no admittance '%.60s' of a <plugin> of this file", law.text);
  if (!found || n < 0) return none;
  return (srNetPart){.component =
                         sr_network_admittance(b->file->network, sr_net_attr(item, "name").text, found, p, n, NULL)};
}

// ------------------------------------------------------------------------------------------------------ friction, planes
static const srFrictionLaw* friction_law(srNetBuilder* b, const srNetItem* item, const char* word) {
  const char* name = sr_net_text(item, word);
  const srFrictionLaw* law = sr_friction_find(name);
  if (law) return law;
  const char* words[64];
  const int n = sr_friction_count() < 64 ? sr_friction_count() : 64;
  for (int i = 0; i < n; i++) words[i] = sr_friction_law(i)->name;
  SR_NET_FAIL(b, sr_net_attr(item, word).place, "unknown friction law '%.60s'%s", name,
              sr_pool_guess(&b->in->pool, sr_nearest_word(name, words, n)));
  return NULL;
}

static const srNormalLaw* normal_law(srNetBuilder* b, const srNetItem* item) {
  const char* name = sr_net_text(item, "normal");
  const srNormalLaw* law = sr_normal_find(name);
  if (law) return law;
  const char* words[64];
  const int n = sr_normal_count() < 64 ? sr_normal_count() : 64;
  for (int i = 0; i < n; i++) words[i] = sr_normal_law(i)->name;
  SR_NET_FAIL(b, sr_net_attr(item, "normal").place, "unknown normal law '%.60s'%s", name,
              sr_pool_guess(&b->in->pool, sr_nearest_word(name, words, n)));
  return NULL;
}

// The parameters that friction of joints and of planes share; K, B, D have other names there.
static bool friction_parameters(srNetBuilder* b, const srNetItem* item, const srFrictionLaw* law, const char* K,
                                const char* B, const char* D, srFrictionParameters* p) {
  const struct {
    const char* word;
    double* to;
  } list[] = {{K, &p->K},     {B, &p->B},     {D, &p->D},           {"v0", &p->v0},         {"v1", &p->v1},
              {"xi", &p->xi}, {"vs", &p->vs}, {"delta", &p->delta}, {"spread", &p->spread}, {"elements", &p->elements}};
  bool good = true;
  for (int i = 0; i < SR_COUNT(list); i++) good = sr_net_number(b, item, list[i].word, list[i].to) && good;
  if (law->uses & SR_FRICTION_USES(K) && isnan(p->K)) {
    SR_NET_FAIL(b, item->place, "the law '%s' of '%s' needs '%s', the stiffness of its bristles", law->name,
                sr_net_attr(item, "name").text, K);
    good = false;
  }
  if (isnan(p->K)) p->K = sr_friction_defaults().K;
  return good;
}

static srNetPart make_friction(srNetBuilder* b, const srNetItem* item) {
  const srFrictionLaw* law = friction_law(b, item, "law");
  srFrictionParameters p = sr_friction_defaults();
  double F = 0, Fk = NAN, directions = 1;
  p.K = NAN;
  bool good = sr_net_number(b, item, "F", &F);
  good = sr_net_number(b, item, "Fk", &Fk) && good;
  good = sr_net_number(b, item, "directions", &directions) && good;
  good = law && friction_parameters(b, item, law, "K", "B", "D", &p) && good;
  if (good && !(directions == 1 || directions == 2 || directions == 3)) {
    SR_NET_FAIL(b, sr_net_attr(item, "directions").place, "'directions' is 1, 2 or 3, not %g", directions);
    good = false;
  }
  if (!good) return none;
  return (srNetPart){.component = sr_network_friction(b->file->network, sr_net_attr(item, "name").text, law, &p,
                                                      (int)directions, F, isnan(Fk) ? F : Fk),
                     .nforce = (int)directions};
}

// mu-s and mu-k, each the default of the other; the stiffness of the bristles is that of the plane where it is one.
static bool plane_friction(srNetBuilder* b, const srNetItem* item, srPlaneDef* def) {
  double s = NAN, k = NAN;
  if (sr_net_yes(item, "friction", "none")) return true;
  def->friction = friction_law(b, item, "friction");
  def->friction_p = sr_friction_defaults();
  def->friction_p.K = def->normal_law && !(def->normal_law->uses & SR_NORMAL_USES(n)) ? def->normal_p.K : (double)NAN;
  bool good = sr_net_number(b, item, "mu-s", &s);
  good = sr_net_number(b, item, "mu-k", &k) && good;
  if (isnan(s) && isnan(k)) {
    SR_NET_FAIL(b, item->place, "the friction of '%s' needs 'mu-k' or 'mu-s'", sr_net_attr(item, "name").text);
    good = false;
  }
  def->mu_s = isnan(s) ? k : s;
  def->mu_k = isnan(k) ? s : k;
  return def->friction &&
         friction_parameters(b, item, def->friction, "bristle-K", "bristle-B", "mu-v", &def->friction_p) && good;
}

static srNetPart make_plane(srNetBuilder* b, const srNetItem* item) {
  srPlaneDef def = {.normal_law = normal_law(b, item), .normal_p = sr_normal_defaults()};
  bool good = sr_net_numbers(b, item, "at", def.point, 3) > 0;
  good = sr_net_numbers(b, item, "direction", def.normal, 3) > 0 && good;
  good = sr_net_number(b, item, "K", &def.normal_p.K) && good;
  good = sr_net_number(b, item, "n", &def.normal_p.n) && good;
  good = sr_net_number(b, item, "D", &def.normal_p.D) && good;
  good = plane_friction(b, item, &def) && good;
  if (!good || !def.normal_law) return none;
  return (srNetPart){.component = sr_network_plane(b->file->network, sr_net_attr(item, "name").text, &def),
                     .nforce = 3};
}

// ----------------------------------------------------------------------------------------------------------- everything
static void load_plugin(srNetBuilder* b, const srNetItem* item) {
  const srLoadOptions* how = b->in->options;
  const char* library = sr_net_attr(item, "library").text;
  const char *reason = NULL, *path = NULL;
  if (how->plugins)
    path = sr_plugin_path(&b->in->pool, b->in->folder, how->plugin_folders, how->nplugin_folder, library, &reason);
  else
    reason = sr_plugin_untrusted(&b->in->pool, library);
  if (!path) SR_NET_FAIL(b, sr_net_attr(item, "library").place, "%s", reason);
  if (!path || sr_network_plugin(b->file->network, path) != SR_OK) b->lost = true;  // laws of any name
}

static srNetPart make(srNetBuilder* b, const srNetItem* item) {
  static const char* const spring[] = {"stiffness", "length", "preload", "damping", NULL};
  static const char* const damper[] = {"damping", NULL};
  static const char* const stop[] = {"lower", "upper", "stiffness", "damping", NULL};
  static const char* const bushing[] = {"stiffness", "damping", NULL};
  static const char* const hinge[] = {"stiffness", "damping", "bending-stiffness", "bending-damping", "axis", NULL};
  switch (item->kind) {
    case SR_NET_MASS: return make_mass(b, item);
    case SR_NET_BODY: return make_body(b, item);
    case SR_NET_MECHANISM: return make_mechanism(b, item);
    case SR_NET_EQUATIONS: return sr_net_equations(b, item);
    case SR_NET_ADMITTANCE: return make_admittance(b, item);
    case SR_NET_SPRING: return make_built_in(b, item, "distance-spring", spring);
    case SR_NET_DAMPER: return make_built_in(b, item, "joint-damper", damper);
    case SR_NET_STOP: return make_built_in(b, item, "joint-stop", stop);
    case SR_NET_BUSHING: return make_built_in(b, item, "bushing", bushing);
    case SR_NET_HINGE: return make_built_in(b, item, "hinge", hinge);
    case SR_NET_FRICTION: return make_friction(b, item);
    case SR_NET_PLANE: return make_plane(b, item);
    case SR_NET_IMPEDANCE: return make_impedance(b, item);
    case SR_NET_FORMULA_IMPEDANCE: return sr_net_formula_impedance(b, item);
    default: return sr_net_map(b, item);
  }
}

static bool is_component(const srNetItem* item) { return item->kind >= SR_NET_MASS && item->kind <= SR_NET_MAP; }

static bool has_damaged_child(const srNetItem* item) {
  for (const srNetItem* c = item->first; c; c = c->next)
    if (c->damaged) return true;
  return false;
}

static void make_components(srNetBuilder* b) {
  for (const srNetItem* item = b->root.first; item; item = item->next) {
    if (!is_component(item)) continue;
    sr_network_set_place(b->file->network, item->place);
    sr_net_add_part(b, item, item->damaged || has_damaged_child(item) ? none : make(b, item));
  }
}

static void read_record(srNetBuilder* b, const srNetItem* item) {
  struct srNetworkFilePrivate* priv = b->file->priv;
  int n = priv->nrecord;
  SR_PUSH(&priv->pool, priv->record_place, n, priv->record_place_capacity) = sr_net_attr(item, "what").place;
  SR_PUSH(&priv->pool, priv->record, priv->nrecord, priv->record_capacity) =
      sr_pool_text(&priv->pool, sr_net_attr(item, "what").text);
}

// A number of <run> that must be positive.
static void positive(srNetBuilder* b, const srNetItem* item, const char* word, double* out) {
  double x = *out;
  if (!sr_net_number(b, item, word, &x)) return;
  if (x > 0 || !sr_net_attr(item, word).text)
    *out = x;
  else
    SR_NET_FAIL(b, sr_net_attr(item, word).place, "'%s' of <run> must be greater than zero, not %g", word, x);
}

static void read_run(srNetBuilder* b, const srNetItem* item) {
  srNetworkOptions* o = &b->file->options;
  double threads = 1;
  positive(b, item, "t-end", &o->t_end);
  positive(b, item, "step", &o->step);
  positive(b, item, "every", &o->every);
  positive(b, item, "threads", &threads);
  if (threads != floor(threads) || threads > 1024)
    SR_NET_FAIL(b, sr_net_attr(item, "threads").place, "'threads' must be a whole number from 1 to 1024, not %g",
                threads);
  else
    o->threads = (int)threads;
  o->method = sr_pool_text(&b->file->priv->pool, sr_net_text(item, "method"));
}

static void read_rest(srNetBuilder* b) {
  const srNetItem* run = NULL;
  for (const srNetItem* item = b->root.first; item; item = item->next) {
    if (item->kind == SR_NET_RECORD && !item->damaged) read_record(b, item);
    if (item->kind != SR_NET_RUN || item->damaged) continue;
    if (run) SR_NET_FAIL(b, item->place, "there is a <run> already");
    if (!run) read_run(b, item);
    run = item;
  }
}

void sr_net_build(srNetBuilder* b) {
  for (const srNetItem* item = b->root.first; item; item = item->next) {
    if (item->kind != SR_NET_PLUGIN) continue;
    sr_network_set_place(b->file->network, item->place);
    if (item->damaged)
      b->lost = true;
    else
      load_plugin(b, item);
  }
  make_components(b);
  if (b->npart == 0 && !b->lost) SR_NET_FAIL(b, b->root.place, "the network has no components");
  b->file->ncomponent = sr_network_count(b->file->network);
  sr_net_connect(b);
  read_rest(b);
}
