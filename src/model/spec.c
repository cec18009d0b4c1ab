// srSpec: what the user wrote, element by element. Everything is copied into one pool; definition structs never move,
// so what srs_get returns stays valid until the spec is destroyed. Nothing is checked here: that is the compiler's
// task.
#include "model/spec.h"

#include <string.h>

#include "base/base.h"
#include "expr/expr.h"

// ------------------------------------------------------------------------------------------ the language as data
#define FIELD(member, word, kind, count, default_text, unit, doc) {word, #kind, count, default_text, unit, doc},
#define FIELDS(KIND, member, Name, word, where, doc)                                                                   \
  static const srField member##_fields[] = {SR_##KIND##_FIELDS(FIELD)};                                                \
  _Static_assert(sizeof(sr##Name##Def) == SR_COUNT(member##_fields) * sizeof(srAttr),                                  \
                 "a definition struct is an array of attributes");
SR_ELEMENT_LIST(FIELDS)
#undef FIELDS
#undef FIELD

#define ELEMENT(KIND, member, Name, word, where, doc) {word, where, doc, member##_fields, SR_COUNT(member##_fields)},
static const srElement elements[SR_ELEMENT_KINDS] = {SR_ELEMENT_LIST(ELEMENT)};
#undef ELEMENT

const srElement* srs_element(srElementKind kind) {
  return (unsigned)kind < (unsigned)SR_ELEMENT_KINDS ? &elements[kind] : NULL;
}

// -------------------------------------------------------------------------------------------------------- storage
typedef struct Item {
  srAttr* attributes;  // the definition struct
  int owner;
  bool implied;  // of a joint: see sr_spec_imply
  srPlace place;
} Item;

typedef struct ItemList {
  Item* items;
  int n, capacity;
} ItemList;

struct srSpec {
  srPool pool;
  ItemList lists[SR_ELEMENT_KINDS];
  srImpedance* impedances;
  int nimpedance, impedance_capacity;
  srFunction* functions;
  int nfunction, function_capacity;
  srClosureLaw* closure_laws;
  int nclosure_law, closure_law_capacity;
  srSensorLaw* sensor_laws;
  int nsensor_law, sensor_law_capacity;
  const char* folder;
  const char** plugin_folders;  // NULL: no library is loaded
  int nplugin_folder;           // 0: that of the model
  const char* file;             // the last file name copied; places in one file share it
  const char** files;           // that it was read from
  int nfile, file_capacity;
  srNames lost;
  bool lost_all;
};

srSpec* srs_create(void) {
  srSpec* spec = sr_alloc(sizeof *spec);
  if (spec) sr_pool_init(&spec->pool);
  if (spec) sr_names_init(&spec->lost, &spec->pool);
  return spec;
}

void srs_destroy(srSpec* spec) {
  if (!spec) return;
  sr_pool_free(&spec->pool);
  sr_free(spec);
}

static srPlace copy_place(srSpec* spec, srPlace place) {
  if (!place.file) return place;
  if (!spec->file || strcmp(spec->file, place.file) != 0) spec->file = sr_pool_text(&spec->pool, place.file);
  place.file = spec->file;
  return place;
}

static const double* copy_numbers(srPool* pool, const double* numbers, int n) {
  if (!numbers || n <= 0) return NULL;
  double* copy = sr_pool_alloc(pool, (size_t)n * sizeof *copy);
  memcpy(copy, numbers, (size_t)n * sizeof *copy);
  return copy;
}

static srAttr copy_attribute(srSpec* spec, srAttr a) {
  a.text = sr_pool_text(&spec->pool, a.text);
  a.numbers = copy_numbers(&spec->pool, a.numbers, a.n);
  a.place = copy_place(spec, a.place);
  return a;
}

static Item* find_item(const srSpec* spec, srElementKind kind, int i) {
  if (!spec || (unsigned)kind >= (unsigned)SR_ELEMENT_KINDS) return NULL;
  const ItemList* list = &spec->lists[kind];
  return i >= 0 && i < list->n ? &list->items[i] : NULL;
}

static int add(srSpec* spec, srElementKind kind, int owner, const srAttr* def, srPlace place) {
  const int nfield = elements[kind].nfield;
  ItemList* list = &spec->lists[kind];
  Item item = {.owner = owner, .place = copy_place(spec, place)};
  item.attributes = sr_pool_alloc(&spec->pool, (size_t)nfield * sizeof *item.attributes);
  for (int k = 0; def && k < nfield; k++) item.attributes[k] = copy_attribute(spec, def[k]);
  SR_PUSH(&spec->pool, list->items, list->n, list->capacity) = item;
  return list->n - 1;
}

int srs_add(srSpec* spec, srElementKind kind, int owner, const void* def, const srPlace* place) {
  if (!spec || (unsigned)kind >= (unsigned)SR_ELEMENT_KINDS) return -1;
  jmp_buf no_memory;
  spec->pool.on_fail = &no_memory;
  int index = -1;
  if (setjmp(no_memory) == 0) {
    index = add(spec, kind, owner, def, place ? *place : (srPlace){0});
    spec->pool.on_fail = NULL;
    return index;
  }
  spec->pool.on_fail = NULL;
  return -1;
}

int srs_count(const srSpec* spec, srElementKind kind) {
  return spec && (unsigned)kind < (unsigned)SR_ELEMENT_KINDS ? spec->lists[kind].n : 0;
}

const srAttr* sr_spec_attributes(const srSpec* spec, srElementKind kind, int i) {
  const Item* item = find_item(spec, kind, i);
  return item ? item->attributes : NULL;
}

const void* srs_get(const srSpec* spec, srElementKind kind, int i) { return sr_spec_attributes(spec, kind, i); }

int srs_owner(const srSpec* spec, srElementKind kind, int i) {
  const Item* item = find_item(spec, kind, i);
  return item ? item->owner : SR_NO_OWNER;
}

srPlace srs_place(const srSpec* spec, srElementKind kind, int i) {
  const Item* item = find_item(spec, kind, i);
  return item ? item->place : (srPlace){0};
}

bool srs_set(srSpec* spec, srElementKind kind, int i, int attribute, srAttr value) {
  Item* item = find_item(spec, kind, i);
  if (!item || attribute < 0 || attribute >= elements[kind].nfield) return false;
  jmp_buf no_memory;
  spec->pool.on_fail = &no_memory;
  const bool done = setjmp(no_memory) == 0;
  if (done) item->attributes[attribute] = copy_attribute(spec, value);
  spec->pool.on_fail = NULL;
  return done;
}

int sr_element_field(srElementKind kind, const char* word) {
  const srElement* e = srs_element(kind);
  const size_t n = strcspn(word, "|");
  int k = 0;
  while (k < e->nfield && (strncmp(e->fields[k].word, word, n) != 0 || e->fields[k].word[n] != '\0')) k++;
  return k < e->nfield ? k : -1;
}

bool sr_spec_set_place(srSpec* spec, srElementKind kind, int i, srPlace place) {
  Item* item = find_item(spec, kind, i);
  if (!item) return false;
  jmp_buf no_memory;
  spec->pool.on_fail = &no_memory;
  const bool done = setjmp(no_memory) == 0;
  if (done) item->place = copy_place(spec, place);
  spec->pool.on_fail = NULL;
  return done;
}

void sr_spec_imply(srSpec* spec, int joint) {
  Item* item = find_item(spec, SR_ELEMENT_JOINT, joint);
  if (item) item->implied = true;
}

bool sr_spec_is_implied(const srSpec* spec, int joint) {
  const Item* item = find_item(spec, SR_ELEMENT_JOINT, joint);
  return item && item->implied;
}

// ------------------------------------------------------------------------------- laws and functions by C code
static srImpedance copy_impedance(srPool* pool, const srImpedance* law) {
  srImpedance copy = *law;
  copy.name = sr_pool_text(pool, law->name);
  copy.y0 = copy_numbers(pool, law->y0, law->ny);
  if (!law->parameters || law->np <= 0) {
    copy.parameters = NULL;
    return copy;
  }
  const char** names = sr_pool_alloc(pool, (size_t)law->np * sizeof *names);
  for (int i = 0; i < law->np; i++) names[i] = sr_pool_text(pool, law->parameters[i]);
  copy.parameters = names;
  return copy;
}

bool srs_register_impedance(srSpec* spec, const srImpedance* law) {
  jmp_buf no_memory;
  spec->pool.on_fail = &no_memory;
  const bool done = setjmp(no_memory) == 0;
  if (done) {
    const srImpedance copy = copy_impedance(&spec->pool, law);
    SR_PUSH(&spec->pool, spec->impedances, spec->nimpedance, spec->impedance_capacity) = copy;
  }
  spec->pool.on_fail = NULL;
  return done;
}

bool srs_register_function(srSpec* spec, const srFunction* function) {
  jmp_buf no_memory;
  spec->pool.on_fail = &no_memory;
  const bool done = setjmp(no_memory) == 0;
  if (done) {
    srFunction copy = *function;
    copy.name = sr_pool_text(&spec->pool, function->name);
    SR_PUSH(&spec->pool, spec->functions, spec->nfunction, spec->function_capacity) = copy;
  }
  spec->pool.on_fail = NULL;
  return done;
}

bool srs_register_closure(srSpec* spec, const srClosureLaw* law) {
  jmp_buf no_memory;
  spec->pool.on_fail = &no_memory;
  const bool done = setjmp(no_memory) == 0;
  if (done) {
    srClosureLaw copy = *law;
    copy.name = sr_pool_text(&spec->pool, law->name);
    SR_PUSH(&spec->pool, spec->closure_laws, spec->nclosure_law, spec->closure_law_capacity) = copy;
  }
  spec->pool.on_fail = NULL;
  return done;
}

bool srs_register_sensor(srSpec* spec, const srSensorLaw* law) {
  jmp_buf no_memory;
  spec->pool.on_fail = &no_memory;
  const bool done = setjmp(no_memory) == 0;
  if (done) {
    srSensorLaw copy = *law;
    copy.name = sr_pool_text(&spec->pool, law->name);
    SR_PUSH(&spec->pool, spec->sensor_laws, spec->nsensor_law, spec->sensor_law_capacity) = copy;
  }
  spec->pool.on_fail = NULL;
  return done;
}

int sr_spec_closure_laws(const srSpec* spec, const srClosureLaw** out) {
  *out = spec->closure_laws;
  return spec->nclosure_law;
}

int sr_spec_sensor_laws(const srSpec* spec, const srSensorLaw** out) {
  *out = spec->sensor_laws;
  return spec->nsensor_law;
}

int sr_spec_impedances(const srSpec* spec, const srImpedance** out) {
  *out = spec->impedances;
  return spec->nimpedance;
}

int sr_spec_functions(const srSpec* spec, const srFunction** out) {
  *out = spec->functions;
  return spec->nfunction;
}

bool srs_set_folder(srSpec* spec, const char* folder) {
  jmp_buf no_memory;
  spec->pool.on_fail = &no_memory;
  const bool done = setjmp(no_memory) == 0;
  if (done) spec->folder = sr_pool_text(&spec->pool, folder);
  spec->pool.on_fail = NULL;
  return done;
}

const char* srs_folder(const srSpec* spec) { return spec->folder; }

bool srs_allow_plugins(srSpec* spec, const char* const* folders, int nfolder) {
  jmp_buf no_memory;
  spec->pool.on_fail = &no_memory;
  const bool done = setjmp(no_memory) == 0;
  if (done) {
    const char** copy = sr_pool_alloc(&spec->pool, (size_t)(nfolder + 1) * sizeof *copy);
    for (int i = 0; i < nfolder; i++) copy[i] = sr_pool_text(&spec->pool, folders[i]);
    spec->plugin_folders = copy;
    spec->nplugin_folder = nfolder;
  }
  spec->pool.on_fail = NULL;
  return done;
}

int sr_spec_plugin_folders(const srSpec* spec, const char* const** out) {
  *out = spec->plugin_folders;
  return spec->nplugin_folder;
}

bool sr_spec_add_file(srSpec* spec, const char* path) {
  jmp_buf no_memory;
  spec->pool.on_fail = &no_memory;
  const bool done = setjmp(no_memory) == 0;
  if (done) SR_PUSH(&spec->pool, spec->files, spec->nfile, spec->file_capacity) = sr_pool_text(&spec->pool, path);
  spec->pool.on_fail = NULL;
  return done;
}

int srs_file_count(const srSpec* spec) { return spec->nfile; }

const char* srs_file(const srSpec* spec, int i) { return i >= 0 && i < spec->nfile ? spec->files[i] : NULL; }

// ---------------------------------------------------------------------------------------------------------- names
bool sr_spec_lose(srSpec* spec, const char* name) {
  jmp_buf no_memory;
  spec->pool.on_fail = &no_memory;
  const bool done = setjmp(no_memory) == 0;
  if (done && name) (void)sr_names_put(&spec->lost, sr_pool_text(&spec->pool, name), 0);
  if (!name) spec->lost_all = true;
  spec->pool.on_fail = NULL;
  return done;
}

bool sr_spec_is_lost(const srSpec* spec, const char* name) {
  return spec->lost_all || sr_names_find(&spec->lost, name) >= 0;
}

bool sr_spec_is_partial(const srSpec* spec) { return spec->lost_all || spec->lost.n > 0; }

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

const char* sr_name_problem(const char* name) {
  if (!name || !*name) return "is empty";
  if (is_blank(name[0]) || is_blank(name[strlen(name) - 1])) return "has a blank at its end";
  for (const char* p = name; *p; p++) {
    if ((unsigned char)*p < 0x20 || *p == 0x7f) return "holds a control character";
    if (strchr("/,(){}'\"", *p)) return "holds one of the characters / , ( ) { } ' \", which names may not";
  }
  return NULL;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

const char* sr_identifier_problem(const char* name) {
  static const char* const taken[] = {"pi", "t", "z", "zdot"};
  if (!name || !*name) return "is empty";
  if (!is_letter(name[0])) return "does not begin with a letter, so that no formula could use it";
  for (const char* p = name; *p; p++)
    if (!is_letter(*p) && !(*p >= '0' && *p <= '9'))
      return "holds something other than letters, digits and _, so that no formula could use it";
  for (int i = 0; i < SR_COUNT(taken); i++)
    if (strcmp(name, taken[i]) == 0) return "means something else in formulas";
  return sr_is_builtin(name) ? "is that of a function in formulas" : NULL;
}
