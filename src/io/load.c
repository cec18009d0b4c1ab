// Model files: opened here, recognised by their root element, and passed to their reader.
#include <sarrus/model.h>
#include <string.h>

#include "io/file.h"
#include "io/mesh/mesh.h"
#include "io/native/native.h"
#include "io/package.h"
#include "io/root.h"
#include "io/xml/reader.h"
#include "model/spec.h"

static const srFormat formats[] = {
#define FORMAT_ROW(reader, root, word, name) {root, word, name " (root <" root ">)", sr_read_##reader},
    SR_FORMAT_LIST(FORMAT_ROW)
#undef FORMAT_ROW
};

const srFormat* sr_format_find(const char* root) {
  for (int i = 0; i < SR_COUNT(formats); i++)
    if (strcmp(formats[i].root, root) == 0) return &formats[i];
  return NULL;
}

const srXmlNode* sr_reader_open(srReader* r, const char* path, srPlace place) {
  const char* reason = NULL;
  size_t size;
  const char* text = sr_reader_read(r, path, SR_XML_MAX_SIZE, &size, &reason);
  if (text) return sr_xml_read(&r->pool, text, size, path, r->messages);
  sr_reader_error(r, place, "the file '%.200s' %s", path, reason);
  return NULL;
}

// ---------------------------------------------------------------------------------------------------------- settings
static void report_setting(srReader* r, const char* name) {
  enum { SHOWN = 10 };
  const int nparameter = srs_count(r->spec, SR_ELEMENT_PARAMETER), n = nparameter + r->noffered;
  const char** words = sr_pool_alloc(&r->pool, (size_t)(n + 1) * sizeof *words);
  const char* all = NULL;
  for (int k = 0; k < n; k++) {
    words[k] = k < nparameter ? ((const srParameterDef*)srs_get(r->spec, SR_ELEMENT_PARAMETER, k))->name.text
                              : r->offered[k - nparameter];
    if (k < SHOWN) all = all ? sr_pool_printf(&r->pool, "%s, %s", all, words[k]) : words[k];
  }
  const char* nearest = sr_nearest_word(name, words, n);
  const srPlace place = sr_reader_setting_place(r, name);
  if (nearest)
    sr_reader_error(r, place, "the model has no parameter '%.60s'; did you mean '%s'?", name, nearest);
  else
    sr_reader_error(r, place, "the model has no parameter '%.60s'; it has %s%s", name, all ? all : "none",
                    n > SHOWN ? ", ..." : "");
}

void sr_reader_check_settings(srReader* r) {
  for (int i = 0; i < r->options->nsetting; i++)
    if (!r->used[i]) report_setting(r, r->options->settings[i].name);
}

// ------------------------------------------------------------------------------------------------------------- entry
typedef struct Source {
  const char* path;  // a file, or NULL:
  const char* text;
  size_t size;
  const char* name;
} Source;

static const char* base_of(srReader* r, const srFormat* format) {
  const char* base = r->options->base;
  if (!base) return "fixed";
  const srPlace place = {.file = "--base"};
  if (strcmp(base, "fixed") != 0 && strcmp(base, "floating") != 0)
    sr_reader_error(r, place, "unknown word '%.60s'; expected fixed or floating", base);
  else if (strcmp(format->word, "urdf") != 0)
    sr_reader_error(r, place, "this is %s; only URDF leaves open how the robot is attached to the ground",
                    format->title);
  return base;
}

static void read_root(srReader* r, const srXmlNode* root) {
  const srFormat* format = sr_format_find(root->name);
  if (!format && strcmp(root->name, "network") == 0) {
    sr_reader_error(
        r, root->place,
        "<network> is a network of components, not a model: `check` and `run` take it (docs/using/network.md)");
    return;
  }
  if (!format) {
#define FORMAT_NAME(reader, root, word, name) "<" root "> (" name "), "
    sr_reader_error(r, root->place, "the root element must be one of " SR_FORMAT_LIST(FORMAT_NAME) "not <%.60s>",
                    root->name);
#undef FORMAT_NAME
    return;
  }
  const srImport how = {.folder = r->folder, .base = base_of(r, format)};
  sr_package_check(r);
  format->read(r, root, &how);
  sr_reader_end(r);
  sr_mesh_tell_missing(r);
  sr_reader_tell_ignored(r);
  if (sr_reader_errors(r) == 0) sr_reader_check_settings(r);
}

static bool is_same_place(const srPlace* a, const srPlace* b) {
  return a->line == b->line && a->column == b->column && a->file && b->file && strcmp(a->file, b->file) == 0;
}

// An error of the compiler that repeats what the reader has said of the same value, or follows from an element that lacks some.
static bool is_repeated(const srReader* r, int count, const srMessage* message) {
  for (int i = 0; i < count; i++) {
    const srMessage* before = sr_messages_get(r->messages, i);
    if (before->severity == SR_SEVERITY_ERROR && is_same_place(&before->place, &message->place)) return true;
  }
  for (int i = 0; i < r->ndamaged; i++)
    if (is_same_place(&r->damaged[i], &message->place)) return true;
  return false;
}

// The reader has found errors: the compiler looks at what could be read, so that unknown names and wrong formulas are reported
// with them and not one edit later.
static void find_more_errors(srReader* r) {
  const int count = sr_messages_count(r->messages);
  srMessages* more = sr_messages_create();
  srModel* model = NULL;
  if (!more) return;  // the reader's own errors are what there is memory for
  (void)sr_compile(r->spec, more, &model);
  sr_model_destroy(model);
  for (int i = 0; i < sr_messages_count(more); i++) {
    const srMessage* message = sr_messages_get(more, i);
    if (message->severity == SR_SEVERITY_ERROR && !is_repeated(r, count, message))
      sr_messages_pass(r->messages, more, i, SR_SEVERITY_ERROR);
  }
  sr_messages_destroy(more);
}

static srStatus read_model(srReader* r, const Source* source) {
  const char *text = source->text, *reason = NULL;
  size_t size = source->size;
  r->used = sr_pool_alloc(&r->pool, (size_t)(r->options->nsetting + 1) * sizeof *r->used);
  sr_names_init(&r->ignored_names, &r->pool);
  sr_names_init(&r->friction_names, &r->pool);
  if (source->path) {
    text = sr_reader_read(r, source->path, SR_XML_MAX_SIZE, &size, &reason);
    if (!text) {
      sr_reader_error(r, (srPlace){.file = source->path}, "%s", reason);
      return SR_IO;
    }
    r->folder = sr_path_folder(&r->pool, source->path);
    sr_root_model(r, source->path);
  }
  if (r->folder && !srs_set_folder(r->spec, r->folder)) return SR_MEMORY;
  const srLoadOptions* o = r->options;
  if (o->plugins && !srs_allow_plugins(r->spec, o->plugin_folders, o->nplugin_folder)) return SR_MEMORY;
  srXmlExtent extent;
  const srXmlNode* root = sr_xml_read_part(&r->pool, text, size, source->name, r->messages, &extent);
  if (!root) return SR_INPUT;
  const srFormat* format = sr_format_find(root->name);
  const bool native = format && format->read == sr_read_native;
  if (extent != SR_XML_WHOLE && !native) return SR_INPUT;
  r->cut = extent == SR_XML_CUT;
  if (r->cut && !sr_spec_lose(r->spec, NULL)) return SR_MEMORY;
  read_root(r, root);
  if (sr_reader_errors(r) == 0) return SR_OK;
  if (native && !r->stopped) find_more_errors(r);
  return SR_INPUT;
}

static srStatus guarded(srReader* r, const Source* source) {
  jmp_buf no_memory;
  if (setjmp(no_memory) != 0) return SR_MEMORY;
  r->pool.on_fail = r->text.on_fail = &no_memory;
  return read_model(r, source);
}

static srStatus load(const Source* source, const char* folder, const srLoadOptions* options, srMessages* messages,
                     srSpec** out) {
  static const srLoadOptions none = {0};
  srReader r = {.folder = folder, .options = options ? options : &none, .budget = SR_READER_MAX_ELEMENTS};
  *out = NULL;
  r.messages = messages ? messages : sr_messages_create();  // errors are counted there
  r.errors_before = sr_messages_errors(r.messages);
  r.spec = srs_create();
  const srStatus status = r.messages && r.spec ? guarded(&r, source) : SR_MEMORY;
  sr_pool_free(&r.text);
  sr_pool_free(&r.pool);
  if (!messages) sr_messages_destroy(r.messages);
  if (status == SR_OK)
    *out = r.spec;
  else
    srs_destroy(r.spec);
  return status;
}

srStatus sr_load(const char* path, const srLoadOptions* options, srMessages* messages, srSpec** out) {
  return load(&(Source){.path = path, .name = path}, NULL, options, messages, out);
}

srStatus sr_load_text(const char* text, size_t size, const char* name, const char* folder, const srLoadOptions* options,
                      srMessages* messages, srSpec** out) {
  return load(&(Source){.text = text, .size = size, .name = name}, folder, options, messages, out);
}
