// Writer of model files: every attribute that was given, by the tables of srs_element. Bodies hold their joints,
// inertias, points and shapes, in the order they were added. Reading the file again gives the same model.
#include <sarrus/io.h>
#include <string.h>

#include "io/file.h"
#include "io/native/native.h"
#include "io/xml/write.h"
#include "model/spec.h"

typedef struct Writer {
  srPool pool;
  const srSpec* spec;
  const char* folder;  // that the file is written into; NULL: that of the model
  bool inline_files;   // points instead of the file they came from: the new file is in another folder
  srXmlWriter xml;
  // Elements inside bodies, by owner: first[kind][owner + 1] (0: the ground) and the next of the same owner, or -1.
  int* first[SR_ELEMENT_KINDS];
  int* next[SR_ELEMENT_KINDS];
} Writer;

// -------------------------------------------------------------------------------------------------------- attributes
static void put_attribute(Writer* w, const char* word, const srAttr* a) {
  if (a->text)
    sr_xml_text(&w->xml, word, a->text);
  else
    sr_xml_numbers(&w->xml, word, a->numbers ? a->numbers : &a->number, a->n);
}

// A PATH that is seen from the folder of the model, as it is seen from the new one.
static void put_path(Writer* w, const char* word, const srAttr* a) {
  srAttr moved = *a;
  const bool stays = !w->inline_files || !a->text || strstr(a->text, "://");
  if (!stays) moved.text = sr_path_seen_from(&w->pool, w->folder, srs_folder(w->spec), a->text);
  put_attribute(w, word, &moved);
}

// A motion, a table, a mesh or a height field from a file has its points too: only one of both is written.
static bool is_skipped(const Writer* w, srElementKind kind, const srAttr* values, const char* word) {
  if (kind == SR_ELEMENT_MESH)
    return sr_given(((const srMeshDef*)values)->file) && (strcmp(word, "vertices") == 0 || strcmp(word, "faces") == 0);
  if (kind == SR_ELEMENT_SHAPE) {
    const srShapeDef* shape = (const srShapeDef*)values;
    if (!sr_given(shape->file)) return false;
    if (strcmp(word, "file") == 0) return w->inline_files && sr_given(shape->heights);
    return !w->inline_files && (strcmp(word, "heights") == 0 || strcmp(word, "columns") == 0);
  }
  if (kind == SR_ELEMENT_TABLE) {
    const srTableDef* table = (const srTableDef*)values;
    if (!sr_given(table->file)) return false;
    if (strcmp(word, "file") == 0) return w->inline_files && sr_given(table->values);
    return !w->inline_files && (strcmp(word, "x") == 0 || strcmp(word, "y") == 0 || strcmp(word, "values") == 0);
  }
  if (kind != SR_ELEMENT_MOTION) return false;
  const srMotionDef* motion = (const srMotionDef*)values;
  if (!sr_given(motion->file)) return false;
  const bool has_points = sr_given(motion->points);
  if (strcmp(word, "points") == 0) return !w->inline_files;
  return (strcmp(word, "file") == 0 || strcmp(word, "column") == 0) && w->inline_files && has_points;
}

static void put_attributes(Writer* w, srElementKind kind, int i) {
  const srElement* e = srs_element(kind);
  const srAttr* values = sr_spec_attributes(w->spec, kind, i);
  for (int k = 0; k < e->nfield; k++) {
    if (!sr_given(values[k]) || is_skipped(w, kind, values, e->fields[k].word)) continue;
    if (strcmp(e->fields[k].kind, "PATH") == 0)
      put_path(w, e->fields[k].word, &values[k]);
    else
      put_attribute(w, e->fields[k].word, &values[k]);
  }
}

static void begin(Writer* w, srElementKind kind, int i) {
  sr_xml_begin(&w->xml, srs_element(kind)->word);
  put_attributes(w, kind, i);
}

// --------------------------------------------------------------------------------------------------------- elements
static bool is_inside(srElementKind kind) { return strncmp(srs_element(kind)->where, "body", 4) == 0; }

// Chains of the elements of each owner, in the order they were added.
static void chain_by_owner(Writer* w, srElementKind kind) {
  const int n = srs_count(w->spec, kind), nowner = srs_count(w->spec, SR_ELEMENT_BODY) + 1;
  int* first = w->first[kind] = sr_pool_alloc(&w->pool, (size_t)nowner * sizeof *first);
  int* next = w->next[kind] = sr_pool_alloc(&w->pool, (size_t)n * sizeof *next);
  for (int i = 0; i < nowner; i++) first[i] = -1;
  for (int i = n - 1; i >= 0; i--) {
    const int owner = srs_owner(w->spec, kind, i);
    const int slot = owner == SR_GROUND ? 0 : owner + 1;
    if (slot < 0 || slot >= nowner || (slot == 0 && owner != SR_GROUND))
      continue;  // belongs to nothing: cannot be in a file
    next[i] = first[slot];
    first[slot] = i;
  }
}

// The content of a body (slot = its index + 1) or the ground (slot 0).
static void put_content(Writer* w, int slot) {
  for (int k = 0; k < SR_ELEMENT_KINDS; k++) {
    if (!w->first[k]) continue;
    for (int i = w->first[k][slot]; i >= 0; i = w->next[k][i]) {
      begin(w, (srElementKind)k, i);
      sr_xml_end(&w->xml);
    }
  }
}

static bool has_ground(const Writer* w) {
  for (int k = 0; k < SR_ELEMENT_KINDS; k++)
    if (w->first[k] && w->first[k][0] >= 0) return true;
  return false;
}

static void put_bodies(Writer* w) {
  if (has_ground(w)) {
    sr_xml_begin(&w->xml, "ground");
    put_content(w, 0);
    sr_xml_end(&w->xml);
  }
  for (int i = 0; i < srs_count(w->spec, SR_ELEMENT_BODY); i++) {
    begin(w, SR_ELEMENT_BODY, i);
    put_content(w, i + 1);
    sr_xml_end(&w->xml);
  }
}

static void begin_root(Writer* w) {
  if (srs_count(w->spec, SR_ELEMENT_MODEL) > 0 && sr_given(*sr_spec_attributes(w->spec, SR_ELEMENT_MODEL, 0))) {
    begin(w, SR_ELEMENT_MODEL, 0);
    return;
  }
  const srModelDef* def = srs_get(w->spec, SR_ELEMENT_MODEL, 0);
  sr_xml_begin(&w->xml, srs_element(SR_ELEMENT_MODEL)->word);
  sr_xml_text(&w->xml, "version", "1");
  if (def && sr_given(def->name)) put_attribute(w, "name", &def->name);
}

static void write_model(Writer* w) {
  begin_root(w);
  for (int k = 0; k < SR_ELEMENT_KINDS; k++)
    if (is_inside((srElementKind)k)) chain_by_owner(w, (srElementKind)k);
  for (int k = 0; k < SR_ELEMENT_KINDS; k++) {
    if (k == SR_ELEMENT_BODY) put_bodies(w);
    if (k == SR_ELEMENT_MODEL || k == SR_ELEMENT_BODY || is_inside((srElementKind)k)) continue;
    for (int i = 0; i < srs_count(w->spec, (srElementKind)k); i++) {
      begin(w, (srElementKind)k, i);
      sr_xml_end(&w->xml);
    }
  }
}

// The text, for sr_free; NULL when out of memory.
static char* guarded(Writer* w, size_t* size) {
  jmp_buf no_memory;
  w->pool.on_fail = &no_memory;
  w->xml = (srXmlWriter){.pool = &w->pool, .keeps_minus_zero = true};
  if (setjmp(no_memory) != 0) return NULL;
  write_model(w);
  const char* text = sr_xml_finish(&w->xml);
  const size_t n = (size_t)w->xml.n;
  char* copy = sr_alloc(n + 1);
  if (copy) memcpy(copy, text, n);
  if (size) *size = n;
  return copy;
}

char* sr_native_text(const srSpec* spec, const char* folder, size_t* size) {
  const bool moved = folder && !sr_path_same_folder(folder, srs_folder(spec));
  Writer w = {.spec = spec, .folder = folder, .inline_files = moved};
  char* text = guarded(&w, size);
  sr_pool_free(&w.pool);
  return text;
}

// ------------------------------------------------------------------------------------------------------------- public
char* sr_save_text(const srSpec* spec, size_t* size) { return sr_native_text(spec, NULL, size); }

srStatus sr_save(const srSpec* spec, const char* path, srMessages* messages) {
  size_t size = 0;
  srPool pool;
  sr_pool_init(&pool);
  const char* folder = sr_path_folder(&pool, path);
  char* text = folder ? sr_native_text(spec, folder, &size) : NULL;
  sr_pool_free(&pool);
  const srStatus status = text ? sr_file_write(path, text, size, messages) : SR_MEMORY;
  sr_free(text);
  return status;
}
