// Generated code in use: the functions of a model are written as C, compiled, loaded, and stand in place of the recursions (srKernels).
// Reading a model runs no code of others: the text holds numbers and names that Sarrus makes; names of the model are in comments alone, and cannot
// end one (sr_sym_comment).
#define _XOPEN_SOURCE 700
#include "generated/load.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "generated/cache.h"
#include "generated/compiler.h"

enum { MOST_COORDINATES = 200, LARGE = 1000000, LARGEST = 4000000 };  // bytes of code: optimized less; not compiled

// ---- a file ---------------------------------------------------------------------------------------------------------

static bool write_files(const srGenerated* g, const char* work) {
  char path[SR_PATH_SIZE + 300];
  bool good = true;
  for (int i = 0; i < g->nfile && good; i++) {
    const int n = snprintf(path, sizeof path, "%s/%s", work, g->file[i].name);
    FILE* file = n > 0 && (size_t)n < sizeof path ? fopen(path, "w") : NULL;
    good = file != NULL && fwrite(g->file[i].text, 1, g->file[i].size, file) == g->file[i].size;
    if (file != NULL) good = fclose(file) == 0 && good;
  }
  return good;
}

static void key_of(const srGenerated* g, const srCompilerCall* c, char key[65]) {
  srSha256 x;
  sr_sha256_begin(&x);
  sr_compiler_hash(c, &x);
  for (int i = 0; i < g->nfile; i++) {
    sr_sha256_add(&x, g->file[i].name, strlen(g->file[i].name) + 1);
    sr_sha256_add(&x, g->file[i].text, g->file[i].size);
  }
  sr_sha256_end(&x, key);
}

static void* load(const char* path, srReason* reason) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const char* why = library == NULL ? dlerror() : NULL;
  if (library == NULL) (void)snprintf(reason->text, sizeof reason->text, "it cannot be loaded: %.120s", why ? why : "");
  return library;
}

// Compiled in a folder of its own. Then it is renamed to its place in the cache, whatever is there; without a place it is loaded from here.
static void* build(const srGenerated* g, const srCompilerCall* c, const char* folder, const char* place,
                   const char* key, srReason* reason) {
  char work[SR_PATH_SIZE], path[SR_PATH_SIZE];
  void* library = NULL;
  if (!sr_cache_work(folder, work)) {
    (void)snprintf(reason->text, sizeof reason->text, "no file can be written in '%.80s'", folder);
    return NULL;
  }
  (void)snprintf(path, sizeof path, "%.*s/code.so", SR_PATH_SIZE - 10, work);
  if (!write_files(g, work)) {
    (void)snprintf(reason->text, sizeof reason->text, "no file can be written in '%.80s'", work);
  } else if (sr_compiler_run(c, work, g->file[1].name, reason)) {
    const bool kept = place[0] != '\0' && sr_cache_seal(path, key) && rename(path, place) == 0;
    library = load(kept ? place : path, reason);
  }
  sr_cache_work_end(work);
  return library;
}

void* sr_code_load(const srGenerated* g, int lanes, srReason* reason) {
  char folder[SR_PATH_SIZE], place[SR_PATH_SIZE] = "", key[65];
  srReason ignored;
  srCompilerCall compiler;
  if (g->file[1].size > LARGEST) {
    (void)snprintf(reason->text, sizeof reason->text, "the code would have %zu bytes, more than %d", g->file[1].size,
                   LARGEST);
    return NULL;
  }
  if (!sr_compiler_find(&compiler, g->file[1].size > LARGE, lanes, reason)) return NULL;
  key_of(g, &compiler, key);
  if (sr_cache_folder(folder, &ignored)) {
    (void)snprintf(place, sizeof place, "%.*s/%s.so", SR_PATH_SIZE - 80, folder, key);
    void* library = sr_cache_holds(place, key) ? load(place, reason) : NULL;
    if (library != NULL) return library;
  } else {
    const char* temporary = getenv("TMPDIR");
    (void)snprintf(folder, sizeof folder, "%.*s", SR_PATH_SIZE - 80,
                   temporary != NULL && temporary[0] == '/' ? temporary : "/tmp");
  }
  return build(g, &compiler, folder, place, key, reason);
}

void sr_code_close(void* library) { (void)dlclose(library); }

bool sr_code_function(void* library, const srGenerated* g, const char* name, void* function) {
  char symbol[512];
  const size_t stem = strlen(g->file[0].name) - 2;  // NAME.h
  (void)snprintf(symbol, sizeof symbol, "%.*s_%s", (int)stem, g->file[0].name, name);
  void* found = dlsym(library, symbol);
  memcpy(function, &found, sizeof found);  // ISO C has no cast from object to function pointers
  return found != NULL;
}

// ---- kernels of a model ---------------------------------------------------------------------------------------------

static const char* functions_of(const srModel* m) {
  if (m->constrained) return m->elimination != NULL && m->ndriver == 0 ? "accel,bias,entries" : "bias,entries";
  return m->ndriver > 0 ? "invdyna,bias,mass" : "accel,invdyna,bias,mass";
}

// With limbs in lanes where that has fewer operations.
static bool take_functions(const srGenerated* g, srLoadedCode* code) {
  srKernels* k = &code->kernels;
  const struct {
    const char* name;
    void* function;
  } all[] = {
      {"accel", &k->accel}, {"invdyna", &k->invdyna}, {"bias", &k->bias}, {"mass", &k->mass}, {"entries", &k->entries}};
  bool good = true;
  for (int i = 0; i < g->nfunction; i++) {
    const srGeneratedFunction* f = &g->function[i];
    char name[64];
    (void)snprintf(name, sizeof name, f->lanes > 0 ? "%s_lanes%d" : "%s", f->name, f->lanes);
    for (int j = 0; j < SR_COUNT(all); j++) {
      if (strcmp(f->name, all[j].name) == 0) good = sr_code_function(code->library, g, name, all[j].function) && good;
    }
  }
  return good;
}

static const char* refusal(const srModel* m) {
  if (m->absolute) return "code is generated for relative coordinates alone";
  if (m->nv == 0) return "nothing moves";
  if (m->nmassless > 0) return "some joints move nothing with mass";
  return m->nv > MOST_COORDINATES ? "the model has too many coordinates for straight-line code" : NULL;
}

// The code of the model in its library; else the reason.
static srStatus load_kernels(const srModel* m, srLoadedCode* code, srReason* reason) {
  srGenerated* g = NULL;
  srMessages* messages = sr_messages_create();
  if (messages == NULL) return SR_MEMORY;
  const srGenerateOptions options = {.what = functions_of(m), .language = "c", .limbs = SR_LIMBS_FEWEST};
  const srStatus status = sr_generate(m, &options, messages, &g);
  if (status == SR_OK) {
    code->library = sr_code_load(g, 0, reason);
    code->close = sr_code_close;
    code->used = code->library != NULL && take_functions(g, code);
    if (code->library != NULL && !code->used)
      (void)snprintf(reason->text, sizeof reason->text, "functions are missing");
  } else if (sr_messages_count(messages) > 0) {
    (void)snprintf(reason->text, sizeof reason->text, "%.150s", sr_messages_get(messages, 0)->text);
  }
  sr_generated_destroy(g);
  sr_messages_destroy(messages);
  return status == SR_MEMORY ? SR_MEMORY : SR_OK;
}

srStatus sr_generated_use(srModel* m, bool on, srMessages* messages) {
  srLoadedCode* code = &m->priv->generated;
  m->priv->kernels = NULL;
  const bool first = on && code->library == NULL;
  code->asked = on;
  if (first) {
    srReason reason = {""};
    const char* why = refusal(m);
    if (why != NULL) {
      (void)snprintf(reason.text, sizeof reason.text, "%s", why);
    } else if (load_kernels(m, code, &reason) != SR_OK) {
      return SR_MEMORY;
    }
    (void)snprintf(code->reason, sizeof code->reason, "%s", reason.text);
    if (!code->used)
      sr_messages_add(messages, SR_SEVERITY_WARNING, (srPlace){0},
                      "no generated code is used: %s; the equations are interpreted", code->reason);
  }
  if (on && code->used) m->priv->kernels = &code->kernels;
  return SR_OK;
}

bool sr_generated_used(const srModel* m) { return m->priv->kernels != NULL; }
