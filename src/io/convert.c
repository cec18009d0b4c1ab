// From a spec to another program's model file: see convert.h. The writers are urdf/write.c and mjcf/write.c.
#include "io/convert.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "expr/expr.h"
#include "io/file.h"
#include "io/native/native.h"
#include "io/xml/reader.h"
#include "math/pose.h"
#include "model/joint.h"
#include "model/private.h"
#include "model/spec.h"

struct srConversionPrivate {
  srPool pool;
};

// ---------------------------------------------------------------------------------------------------------- attributes
static const srAttr* attribute(const srConvert* x, srElementKind kind, int i, int field) {
  return sr_spec_attributes(x->spec, kind, i) + field;
}

const srAttr* sr_convert_take(srConvert* x, srElementKind kind, int i, int field) {
  x->taken[kind][i * srs_element(kind)->nfield + field] = true;
  return attribute(x, kind, i, field);
}

bool sr_convert_given(const srConvert* x, srElementKind kind, int i, int field) {
  return sr_given(*attribute(x, kind, i, field));
}

void sr_convert_take_all(srConvert* x, srElementKind kind, int i) {
  for (int k = 0; k < srs_element(kind)->nfield; k++) sr_convert_take(x, kind, i, k);
}

const char* sr_convert_text(srConvert* x, srElementKind kind, int i, int field) {
  const char* text = sr_convert_take(x, kind, i, field)->text;
  const char* otherwise = srs_element(kind)->fields[field].default_text;
  return text ? text : otherwise[0] && otherwise[0] != '!' ? otherwise : NULL;
}

int sr_convert_numbers(srConvert* x, srElementKind kind, int i, int field, double* out, int most) {
  const srAttr* a = sr_convert_take(x, kind, i, field);
  for (int k = 0; k < a->n && k < most; k++) out[k] = a->numbers ? a->numbers[k] : a->number;
  return a->n < most ? a->n : most;
}

double sr_convert_number(srConvert* x, srElementKind kind, int i, int field, double otherwise) {
  double value = otherwise;
  sr_convert_numbers(x, kind, i, field, &value, 1);
  return value;
}

void sr_convert_pose(srConvert* x, srElementKind kind, int i, int at, int rot, int rpy, double pose[16]) {
  double quaternion[4], angles[3];
  srm_pose_identity(pose);
  sr_convert_numbers(x, kind, i, at, pose + 12, 3);
  if (sr_convert_numbers(x, kind, i, rot, quaternion, 4) == 4) {
    const double norm = sqrt(quaternion[0] * quaternion[0] + srm_dot3(quaternion + 1, quaternion + 1));
    for (int k = 0; k < 4; k++) quaternion[k] /= norm;  // compiled: not zero
    srm_pose_from_quaternion(quaternion, pose);
  }
  if (sr_convert_numbers(x, kind, i, rpy, angles, 3) == 3) srm_pose_from_rpy(angles, pose);
}

bool sr_convert_has_mass(const srModel* m, int b) {
  double sum = fabs(m->body_mass[b]);
  for (int k = 0; k < 9; k++) sum += fabs(m->body_inertia[9 * b + k]);
  return sum > 0;
}

// -------------------------------------------------------------------------------------------------------------- losses
static const char* given_text(const srConvert* x, srElementKind kind, int i, const char* word) {
  const int field = sr_element_field(kind, word);
  return field < 0 ? NULL : attribute(x, kind, i, field)->text;
}

static const char* owner_text(srConvert* x, srElementKind kind, int i) {
  const int owner = srs_owner(x->spec, kind, i);
  if (owner == SR_GROUND) return " of the ground";
  if (owner < 0) return "";
  return sr_pool_printf(x->pool, " of body '%s'", given_text(x, SR_ELEMENT_BODY, owner, "name"));
}

const char* sr_convert_title(srConvert* x, srElementKind kind, int i) {
  const char* word = srs_element(kind)->word;
  const char* name = given_text(x, kind, i, "name");
  if (kind == SR_ELEMENT_JOINT) {
    if (!name) name = given_text(x, SR_ELEMENT_BODY, srs_owner(x->spec, kind, i), "name");
    return sr_pool_printf(x->pool, "joint '%s'", name);
  }
  if (kind == SR_ELEMENT_BODY) return sr_pool_printf(x->pool, "body '%s'", name);
  if (name) return sr_pool_printf(x->pool, "<%s> '%s'%s", word, name, owner_text(x, kind, i));
  const char* joint = given_text(x, kind, i, "joint");
  const char *a = given_text(x, kind, i, "a"), *b = given_text(x, kind, i, "b");
  const char* body = given_text(x, kind, i, "body");
  const char* formula = given_text(x, kind, i, "expr");
  if (!formula) formula = given_text(x, kind, i, "gap");
  if (!formula) formula = given_text(x, kind, i, "when");
  if (joint) return sr_pool_printf(x->pool, "<%s> of joint '%s'", word, joint);
  if (a && b) return sr_pool_printf(x->pool, "<%s> of '%s' and '%s'", word, a, b);
  if (body) return sr_pool_printf(x->pool, "<%s> on body '%s'", word, body);
  if (formula) return sr_pool_printf(x->pool, "<%s> '%.60s'", word, formula);
  return sr_pool_printf(x->pool, "<%s>%s", word, owner_text(x, kind, i));
}

void sr_convert_lose(srConvert* x, srPlace place, srLossEffect effect, const char* what, const char* reason, ...) {
  va_list arguments;
  va_start(arguments, reason);
  const char* text = sr_pool_vprintf(x->pool, reason, arguments);
  va_end(arguments);
  place.file = sr_pool_text(x->pool, place.file);
  const srLost lost = {.what = sr_pool_text(x->pool, what), .reason = text, .place = place, .effect = effect};
  SR_PUSH(x->pool, x->lost, x->nlost, x->lost_capacity) = lost;
}

// What does not affect the equations of motion: pictures, names, settings, and what only laws use, which are reported themselves.
static srLossEffect effect_of(srElementKind kind, const char* word) {
  static const srElementKind harmless[] = {
      SR_ELEMENT_MODEL, SR_ELEMENT_PARAMETER, SR_ELEMENT_MATERIAL, SR_ELEMENT_PAIR,   SR_ELEMENT_MESH,
      SR_ELEMENT_SHAPE, SR_ELEMENT_POINT,     SR_ELEMENT_MOTION,   SR_ELEMENT_SENSOR, SR_ELEMENT_PLUGIN,
      SR_ELEMENT_RUN,   SR_ELEMENT_RECORD,    SR_ELEMENT_TABLE,
  };
  static const char* const words[] = {"name", "effort", "speed", "role", "check", "tolerance"};
  const bool surface =
      kind == SR_ELEMENT_SHAPE && (strcmp(word, "surface-velocity") == 0 || strcmp(word, "friction-direction") == 0);
  if (surface) return SR_LOSS_MOTION;
  for (int i = 0; i < SR_COUNT(harmless); i++)
    if (kind == harmless[i]) return SR_LOSS_NOTHING;
  for (int i = 0; i < SR_COUNT(words); i++)
    if (strcmp(word, words[i]) == 0) return SR_LOSS_NOTHING;
  const bool start = kind == SR_ELEMENT_JOINT && (strcmp(word, "q") == 0 || strcmp(word, "v") == 0);
  return start ? SR_LOSS_START : SR_LOSS_MOTION;
}

static bool is_zero(const srAttr* a) {
  bool zero = a->n > 0;
  for (int k = 0; k < a->n; k++) zero = zero && (a->numbers ? a->numbers[k] : a->number) == 0;
  return zero;
}

// True when an attribute only repeats the default.
static bool is_default(const srField* f, const srAttr* a) {
  if (a->text) return strcmp(a->text, f->default_text) == 0;
  const char* p = f->default_text;
  if (!*p && strcmp(f->kind, "FORMULA") == 0 && (strcmp(f->word, "q") == 0 || strcmp(f->word, "v") == 0))
    return is_zero(a);
  for (int k = 0; k < a->n; k++) {
    double value;
    p = sr_number_read_signed(p + strspn(p, " "), &value);
    if (!p || value != (a->numbers ? a->numbers[k] : a->number)) return false;
  }
  return true;
}

// The attributes of an element that are given and not taken, those of one effect in one line.
static void tell_attributes(srConvert* x, srElementKind kind, int i, srLossEffect effect) {
  const srElement* e = srs_element(kind);
  const char* list = NULL;
  srPlace place = srs_place(x->spec, kind, i);
  for (int k = 0; k < e->nfield; k++) {
    const srAttr* a = attribute(x, kind, i, k);
    if (!sr_given(*a) || x->taken[kind][i * e->nfield + k] || is_default(&e->fields[k], a)) continue;
    if (effect_of(kind, e->fields[k].word) != effect) continue;
    if (!list && a->place.line > 0) place = a->place;
    list = list ? sr_pool_printf(x->pool, "%s, '%s'", list, e->fields[k].word)
                : sr_pool_printf(x->pool, "'%s'", e->fields[k].word);
  }
  if (!list) return;
  const char* what = sr_pool_printf(x->pool, "%s of %s", list, sr_convert_title(x, kind, i));
  sr_convert_lose(x, place, effect, what, "%s has no word for it", x->program);
}

static void tell_element(srConvert* x, srElementKind kind, int i) {
  const srElement* e = srs_element(kind);
  bool taken = false;
  for (int k = 0; k < e->nfield; k++) taken = taken || x->taken[kind][i * e->nfield + k];
  if (taken) {
    for (int effect = SR_LOSS_MOTION; effect >= SR_LOSS_NOTHING; effect--)
      tell_attributes(x, kind, i, (srLossEffect)effect);
    return;
  }
  const bool law = kind == SR_ELEMENT_TORQUE || kind == SR_ELEMENT_FORCE || kind == SR_ELEMENT_STATE;
  sr_convert_lose(x, srs_place(x->spec, kind, i), effect_of(kind, ""), sr_convert_title(x, kind, i),
                  law ? "laws by formula are not written as %s" : "%s has no word for it", x->program);
}

static void tell_rest(srConvert* x) {
  for (int kind = 0; kind < SR_ELEMENT_KINDS; kind++)
    for (int i = 0; i < srs_count(x->spec, (srElementKind)kind); i++) tell_element(x, (srElementKind)kind, i);
}

// --------------------------------------------------------------------------------------------------------------- names
const char* sr_convert_name(srConvert* x, srNames* taken, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const char* name = sr_pool_vprintf(x->pool, format, arguments);
  va_end(arguments);
  return sr_names_put_new(taken, name);
}

// --------------------------------------------------------------------------------------------------------------- paths
const char* sr_convert_path(srConvert* x, const char* file) {
  if (strstr(file, "://")) return file;
  return sr_path_seen_from(x->pool, x->folder, srs_folder(x->spec), file);
}

// --------------------------------------------------------------------------------------------------------------- setup
static int* new_ints(srConvert* x, int n) {
  int* out = sr_pool_alloc(x->pool, (size_t)(n + 1) * sizeof *out);
  for (int i = 0; i <= n; i++) out[i] = -1;
  return out;
}

// Elements of each body, in order: first[b], next[i]; the ground is body 0.
static void chain(srConvert* x, srElementKind kind, const int* body_of_spec) {
  const int n = srs_count(x->spec, kind);
  x->first[kind] = new_ints(x, x->m->nbody);
  x->next[kind] = new_ints(x, n);
  for (int i = n - 1; i >= 0; i--) {
    const int owner = srs_owner(x->spec, kind, i);
    const int b = owner >= 0 ? body_of_spec[owner] : 0;
    x->next[kind][i] = x->first[kind][b];
    x->first[kind][b] = i;
  }
}

static void index_bodies(srConvert* x) {
  const srModel* m = x->m;
  const int nbody = srs_count(x->spec, SR_ELEMENT_BODY), njoint = srs_count(x->spec, SR_ELEMENT_JOINT);
  int* body_of_spec = new_ints(x, nbody);
  x->body = new_ints(x, m->nbody);
  x->joint = new_ints(x, m->nbody);
  for (int b = 1; b <= m->nbody; b++) sr_names_put(&x->bodies, m->body_name[b], b);
  for (int j = 0; j < m->njoint; j++) {
    sr_names_put(&x->joints, m->joint_name[j], j);
    if (m->joint_nv[j] <= 1 || m->joint_type[j] == SR_JOINT_BALL || m->joint_type[j] == SR_JOINT_FREE)
      sr_names_put(&x->joint_names, m->joint_name[j], 0);
  }
  for (int i = 0; i < nbody; i++) {
    body_of_spec[i] = sr_names_find(&x->bodies, given_text(x, SR_ELEMENT_BODY, i, "name"));
    x->body[body_of_spec[i]] = i;
  }
  for (int i = 0; i < njoint; i++) x->joint[body_of_spec[srs_owner(x->spec, SR_ELEMENT_JOINT, i)]] = i;
  chain(x, SR_ELEMENT_POINT, body_of_spec);
  chain(x, SR_ELEMENT_SHAPE, body_of_spec);
  const int npoint = srs_count(x->spec, SR_ELEMENT_POINT);
  x->point_word = sr_pool_alloc(x->pool, (size_t)(npoint + 1) * sizeof *x->point_word);
  for (int i = 0; i < npoint; i++) {
    const int owner = srs_owner(x->spec, SR_ELEMENT_POINT, i);
    const char* body = owner >= 0 ? given_text(x, SR_ELEMENT_BODY, owner, "name") : "ground";
    sr_names_put(&x->points, sr_pool_printf(x->pool, "%s/%s", body, given_text(x, SR_ELEMENT_POINT, i, "name")), i);
  }
  for (int i = 0; i < srs_count(x->spec, SR_ELEMENT_MESH); i++)
    sr_names_put(&x->meshes, given_text(x, SR_ELEMENT_MESH, i, "name"), i);
}

static void index_laws(srConvert* x) {
  const int nfriction = srs_count(x->spec, SR_ELEMENT_FRICTION);
  x->friction = new_ints(x, x->m->njoint);
  x->coupling = new_ints(x, x->m->njoint);
  x->next_friction = new_ints(x, nfriction);
  for (int i = nfriction - 1; i >= 0; i--) {
    const int j = sr_names_find(&x->joints, given_text(x, SR_ELEMENT_FRICTION, i, "joint"));
    x->next_friction[i] = x->friction[j];
    x->friction[j] = i;
  }
  for (int i = srs_count(x->spec, SR_ELEMENT_COUPLING) - 1; i >= 0; i--)
    x->coupling[sr_names_find(&x->joints, given_text(x, SR_ELEMENT_COUPLING, i, "joint"))] = i;
}

static void prepare(srConvert* x) {
  srNames* names[] = {&x->bodies,     &x->joints,      &x->points,      &x->meshes,
                      &x->link_names, &x->joint_names, &x->point_names, &x->mesh_names};
  for (int i = 0; i < SR_COUNT(names); i++) sr_names_init(names[i], x->pool);
  x->xml.pool = x->pool;
  for (int kind = 0; kind < SR_ELEMENT_KINDS; kind++) {
    const int n = srs_count(x->spec, (srElementKind)kind) * srs_element((srElementKind)kind)->nfield;
    x->taken[kind] = sr_pool_alloc(x->pool, (size_t)(n + 1) * sizeof(bool));
  }
  index_bodies(x);
  index_laws(x);
  const srElementKind folded[] = {SR_ELEMENT_MODEL, SR_ELEMENT_PARAMETER};  // their values are where they were used
  for (int k = 0; k < SR_COUNT(folded); k++)
    for (int i = 0; i < srs_count(x->spec, folded[k]); i++) sr_convert_take_all(x, folded[k], i);
  for (int i = 0; i < srs_count(x->spec, SR_ELEMENT_BODY); i++) sr_convert_take_all(x, SR_ELEMENT_BODY, i);
  for (int i = 0; i < srs_count(x->spec, SR_ELEMENT_INERTIAL); i++) sr_convert_take_all(x, SR_ELEMENT_INERTIAL, i);
  for (int i = 0; i < srs_count(x->spec, SR_ELEMENT_MATERIAL); i++) {  // densities are in the inertia of the bodies
    sr_convert_take(x, SR_ELEMENT_MATERIAL, i, SR_TAKE(srMaterialDef, name));
    sr_convert_take(x, SR_ELEMENT_MATERIAL, i, SR_TAKE(srMaterialDef, density));
  }
}

// ----------------------------------------------------------------------------------------------------- our own format
static void tell_plugins(srConvert* x) {
  for (int i = 0; i < srs_count(x->spec, SR_ELEMENT_PLUGIN); i++)
    sr_convert_lose(x, srs_place(x->spec, SR_ELEMENT_PLUGIN, i), SR_LOSS_MOTION,
                    sr_convert_title(x, SR_ELEMENT_PLUGIN, i),
                    "its library is searched for next to the new file: copy it there");
}

static void write_native(srConvert* x, srConversion* out) {
  const char* folder = x->folder ? x->folder : ".";
  if (!sr_path_same_folder(folder, srs_folder(x->spec))) tell_plugins(x);
  char* text = sr_native_text(x->spec, folder, &out->size);
  if (!text) longjmp(*x->pool->on_fail, 1);
  jmp_buf* outer = x->pool->on_fail;
  x->pool->on_fail = NULL;  // the text has memory of its own
  out->text = sr_pool_text(x->pool, text);
  x->pool->on_fail = outer;
  sr_free(text);
  if (!out->text) longjmp(*outer, 1);
}

// ---------------------------------------------------------------------------------------------------------- the whole
static const struct Language {
  const char *word, *program;
  void (*write)(srConvert* x);  // NULL: our own
} languages[] = {{"sarrus", "sarrus", NULL}, {"urdf", "URDF", sr_write_urdf}, {"mjcf", "MJCF", sr_write_mjcf}};

static const struct Language* find_language(const char* word, srMessages* messages) {
  const char* words[SR_COUNT(languages)];
  for (int i = 0; i < SR_COUNT(languages); i++) {
    words[i] = languages[i].word;
    if (strcmp(word, words[i]) == 0) return &languages[i];
  }
  const char* near = sr_nearest_word(word, words, SR_COUNT(languages));
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0},
                  "unknown format '%s'; %s%s%sthere are sarrus, urdf and mjcf", word, near ? "did you mean '" : "",
                  near ? near : "", near ? "'? " : "");
  return NULL;
}

static void convert(srConvert* x, const struct Language* language, srConversion* out) {
  x->program = language->program;
  x->base = strcmp(language->word, "urdf") == 0 ? "fixed" : NULL;
  if (language->write) {
    prepare(x);
    language->write(x);
    out->text = sr_xml_finish(&x->xml);
    out->size = (size_t)x->xml.n;
    tell_rest(x);
  } else {
    write_native(x, out);
  }
  out->format = language->word;
  out->base = x->base;
  out->lost = x->lost;
  out->nlost = x->nlost;
}

static srStatus guarded(srConvert* x, const struct Language* language, srConversion* out) {
  jmp_buf no_memory;
  x->pool->on_fail = &no_memory;
  const bool done = setjmp(no_memory) == 0;
  if (done) convert(x, language, out);
  x->pool->on_fail = NULL;
  return done ? SR_OK : SR_MEMORY;
}

static srConversion* new_conversion(void) {
  srConversion* out = sr_alloc(sizeof *out);
  if (out) out->priv = sr_alloc(sizeof *out->priv);
  if (out && out->priv) {
    sr_pool_init(&out->priv->pool);
    return out;
  }
  sr_free(out);
  return NULL;
}

// Other programs have stiffness and damping alone.
static bool resolve_joints(srSpec* spec, const srModel* model) {
  static const struct Resolved {
    size_t by, plain, law;
  } all[] = {
#define SR_RESOLVED(by, plain) {offsetof(srJointDef, by), offsetof(srJointDef, plain), offsetof(srJointLaw, plain)}
      SR_RESOLVED(natural_frequency, stiffness), SR_RESOLVED(damping_ratio, damping),
      SR_RESOLVED(limit_natural_frequency, limit_stiffness), SR_RESOLVED(limit_damping_ratio, limit_damping)
#undef SR_RESOLVED
  };
  bool done = true;
  for (int i = 0; i < srs_count(spec, SR_ELEMENT_JOINT); i++) {
    const char* law = (const char*)&model->priv->joint_law[i];
    done = done && srs_set(spec, SR_ELEMENT_JOINT, i, SR_TAKE(srJointDef, reference), (srAttr){0});
    for (int k = 0; k < SR_COUNT(all) && done; k++) {
      const srAttr* by = (const srAttr*)((const char*)srs_get(spec, SR_ELEMENT_JOINT, i) + all[k].by);
      const double value = *(const double*)(law + all[k].law);
      if (!sr_given(*by) || isnan(value)) continue;
      srAttr number = sr_number(value);
      number.place = by->place;
      done = srs_set(spec, SR_ELEMENT_JOINT, i, (int)(all[k].plain / sizeof(srAttr)), number) &&
             srs_set(spec, SR_ELEMENT_JOINT, i, (int)(all[k].by / sizeof(srAttr)), (srAttr){0});
    }
  }
  return done;
}

srStatus sr_convert(const srSpec* spec, const char* format, const char* folder, srMessages* messages,
                    srConversion** out) {
  *out = NULL;
  const struct Language* language = find_language(format, messages);
  if (!language) return SR_INPUT;
  srModel* model = NULL;
  // No other format has inerters: they are lost, and the bodies that they stand for with them.
  const bool drop = language->write && srs_count(spec, SR_ELEMENT_INERTER) > 0;
  srSpec* plain = drop ? sr_spec_without_inerters(spec) : NULL;
  if (drop && !plain) return SR_MEMORY;
  srStatus status = sr_compile(drop ? plain : spec, messages, &model);
  srs_destroy(plain);
  if (status != SR_OK) return status;
  srSpec* numbers = language->write ? srs_numbers(spec, messages) : NULL;
  srConversion* conversion = new_conversion();
  status = SR_MEMORY;
  if (conversion && (!language->write || (numbers && resolve_joints(numbers, model)))) {
    srConvert x = {.pool = &conversion->priv->pool, .spec = numbers ? numbers : spec, .m = model, .folder = folder};
    status = guarded(&x, language, conversion);
  }
  srs_destroy(numbers);
  sr_model_destroy(model);
  if (status == SR_OK)
    *out = conversion;
  else
    sr_conversion_destroy(conversion);
  return status;
}

void sr_conversion_destroy(srConversion* conversion) {
  if (!conversion) return;
  sr_pool_free(&conversion->priv->pool);
  sr_free(conversion->priv);
  sr_free(conversion);
}

srStatus sr_save_as(const srSpec* spec, const char* format, const char* path, srMessages* messages,
                    srConversion** out) {
  srPool pool;
  srConversion* conversion = NULL;
  if (out) *out = NULL;
  sr_pool_init(&pool);
  const char* folder = sr_path_folder(&pool, path);
  srStatus status = folder ? sr_convert(spec, format, folder, messages, &conversion) : SR_MEMORY;
  sr_pool_free(&pool);
  if (status == SR_OK) status = sr_file_write(path, conversion->text, conversion->size, messages);
  if (status == SR_OK && out)
    *out = conversion;
  else
    sr_conversion_destroy(conversion);
  return status;
}
