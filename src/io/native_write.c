// Writer of model files: every attribute that was given, by the tables of srs_element. Bodies hold their joints,
// inertias, points and shapes, in the order they were added. Reading the file again gives the same model.
#include <errno.h>
#include <sarrus/io.h>
#include <stdio.h>
#include <string.h>

#include "expr/expr.h"
#include "io/file.h"
#include "model/spec.h"

typedef struct Writer {
  srPool pool;
  const srSpec* spec;
  const char* folder;  // that the file is written into; NULL: that of the model
  bool inline_files;   // points instead of the file they came from: the new file stands in another folder
  char* text;
  size_t n, capacity;
  // Elements inside bodies, by owner: first[kind][owner + 1] (0: the ground) and the next of the same owner, or -1.
  int* first[SR_ELEMENT_KINDS];
  int* next[SR_ELEMENT_KINDS];
} Writer;

// ------------------------------------------------------------------------------------------------------------- text
static void put_n(Writer* w, const char* text, size_t n) {
  if (w->n + n + 1 > w->capacity) {
    size_t capacity = w->capacity ? 2 * w->capacity : 1 << 14;
    while (capacity < w->n + n + 1) capacity *= 2;
    char* larger = sr_alloc(capacity);
    if (!larger) longjmp(*w->pool.on_fail, 1);
    if (w->n > 0) memcpy(larger, w->text, w->n);
    sr_free(w->text);
    w->text = larger;
    w->capacity = capacity;
  }
  memcpy(w->text + w->n, text, n);
  w->n += n;
}

static void put(Writer* w, const char* text) { put_n(w, text, strlen(text)); }

// Inside of a quoted value. Blanks other than ' ' would be read as ' ', so they are written by number; other control
// characters cannot stand in XML at all.
static void put_escaped(Writer* w, const char* text) {
  for (; *text; text++) {
    switch (*text) {
      case '&': put(w, "&amp;"); break;
      case '<': put(w, "&lt;"); break;
      case '>': put(w, "&gt;"); break;
      case '"': put(w, "&quot;"); break;
      case '\n': put(w, "&#10;"); break;
      case '\r': put(w, "&#13;"); break;
      case '\t': put(w, "&#9;"); break;
      default: put_n(w, (unsigned char)*text < 0x20 ? "?" : text, 1);
    }
  }
}

static void put_attribute(Writer* w, const char* word, const srAttr* a) {
  put(w, " "), put(w, word), put(w, "=\"");
  if (a->text) put_escaped(w, a->text);
  for (int i = 0; !a->text && i < a->n; i++) {
    char number[SR_NUMBER_TEXT];
    sr_number_text(a->numbers ? a->numbers[i] : a->number, number, sizeof number);
    if (i > 0) put(w, " ");
    put(w, number);
  }
  put(w, "\"");
}

// A PATH that is seen from the folder of the model, as it is seen from the new one.
static void put_path(Writer* w, const char* word, const srAttr* a) {
  srAttr moved = *a;
  const bool stays = !w->inline_files || !a->text || strstr(a->text, "://");
  if (!stays) moved.text = sr_path_seen_from(&w->pool, w->folder, srs_folder(w->spec), a->text);
  put_attribute(w, word, &moved);
}

// A motion or a mesh from a file has its points too: only one of both is written.
static bool is_skipped(const Writer* w, srElementKind kind, const srAttr* values, const char* word) {
  if (kind == SR_ELEMENT_MESH)
    return sr_given(((const srMeshDef*)values)->file) && (strcmp(word, "vertices") == 0 || strcmp(word, "faces") == 0);
  if (kind != SR_ELEMENT_MOTION) return false;
  const srMotionDef* motion = (const srMotionDef*)values;
  if (!sr_given(motion->file)) return false;
  const bool has_points = sr_given(motion->points);
  if (strcmp(word, "points") == 0) return !w->inline_files;
  return (strcmp(word, "file") == 0 || strcmp(word, "column") == 0) && w->inline_files && has_points;
}

static void put_start(Writer* w, srElementKind kind, int i, int indent) {
  const srElement* e = srs_element(kind);
  const srAttr* values = sr_spec_attributes(w->spec, kind, i);
  for (int k = 0; k < indent; k++) put(w, "  ");
  put(w, "<"), put(w, e->word);
  for (int k = 0; k < e->nfield; k++) {
    if (!sr_given(values[k]) || is_skipped(w, kind, values, e->fields[k].word)) continue;
    if (strcmp(e->fields[k].kind, "PATH") == 0)
      put_path(w, e->fields[k].word, &values[k]);
    else
      put_attribute(w, e->fields[k].word, &values[k]);
  }
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
      continue;  // belongs to nothing: cannot stand in a file
    next[i] = first[slot];
    first[slot] = i;
  }
}

// What stands inside a body (slot = its index + 1) or the ground (slot 0); false: nothing.
static bool put_content(Writer* w, int slot, const char* start_end) {
  bool any = false;
  for (int k = 0; k < SR_ELEMENT_KINDS; k++) {
    if (!w->first[k]) continue;
    for (int i = w->first[k][slot]; i >= 0; i = w->next[k][i]) {
      if (!any) put(w, start_end);
      put_start(w, (srElementKind)k, i, 2);
      put(w, "/>\n");
      any = true;
    }
  }
  return any;
}

static void put_bodies(Writer* w) {
  if (put_content(w, 0, "  <ground>\n")) put(w, "  </ground>\n");
  for (int i = 0; i < srs_count(w->spec, SR_ELEMENT_BODY); i++) {
    put_start(w, SR_ELEMENT_BODY, i, 1);
    put(w, put_content(w, i + 1, ">\n") ? "  </body>\n" : "/>\n");
  }
}

static void put_root(Writer* w) {
  static const srAttr version = {.text = "1"};
  if (srs_count(w->spec, SR_ELEMENT_MODEL) > 0 && sr_given(*sr_spec_attributes(w->spec, SR_ELEMENT_MODEL, 0))) {
    put_start(w, SR_ELEMENT_MODEL, 0, 0);
  } else {
    put(w, "<sarrus");
    put_attribute(w, "version", &version);
    const srModelDef* def = srs_get(w->spec, SR_ELEMENT_MODEL, 0);
    if (def && sr_given(def->name)) put_attribute(w, "name", &def->name);
  }
  put(w, ">\n");
}

static void write_model(Writer* w) {
  put_root(w);
  for (int k = 0; k < SR_ELEMENT_KINDS; k++)
    if (is_inside((srElementKind)k)) chain_by_owner(w, (srElementKind)k);
  for (int k = 0; k < SR_ELEMENT_KINDS; k++) {
    if (k == SR_ELEMENT_BODY) put_bodies(w);
    if (k == SR_ELEMENT_MODEL || k == SR_ELEMENT_BODY || is_inside((srElementKind)k)) continue;
    for (int i = 0; i < srs_count(w->spec, (srElementKind)k); i++) {
      put_start(w, (srElementKind)k, i, 1);
      put(w, "/>\n");
    }
  }
  put(w, "</sarrus>\n");
  put_n(w, "", 1);  // the end of the text, not counted
  w->n--;
}

static bool guarded(Writer* w) {
  jmp_buf no_memory;
  w->pool.on_fail = &no_memory;
  if (setjmp(no_memory) != 0) return false;
  write_model(w);
  return true;
}

// The text, or NULL when out of memory. folder: a new one, where files of the model are not found; NULL: its own.
static char* save_text(const srSpec* spec, const char* folder, size_t* size) {
  Writer w = {.spec = spec, .folder = folder, .inline_files = folder != NULL};
  const bool done = guarded(&w);
  sr_pool_free(&w.pool);
  if (!done) {
    sr_free(w.text);
    return NULL;
  }
  if (size) *size = w.n;
  return w.text;
}

char* sr_save_text(const srSpec* spec, size_t* size) { return save_text(spec, NULL, size); }

void sr_free_text(char* text) { sr_free(text); }

// ------------------------------------------------------------------------------------------------------------- file
srStatus sr_save(const srSpec* spec, const char* path, srMessages* messages) {
  size_t size;
  srPool pool;
  sr_pool_init(&pool);
  const char* folder = sr_path_folder(&pool, path);
  char* text = NULL;
  if (folder) text = save_text(spec, sr_path_same_folder(folder, srs_folder(spec)) ? NULL : folder, &size);
  sr_pool_free(&pool);
  if (!text) return SR_MEMORY;
  errno = 0;
  FILE* file = fopen(path, "wb");
  bool done = file && fwrite(text, 1, size, file) == size;
  if (file && fclose(file) != 0) done = false;
  if (!done)
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){.file = path}, "cannot be written: %s", strerror(errno));
  sr_free(text);
  return done ? SR_OK : SR_IO;
}
