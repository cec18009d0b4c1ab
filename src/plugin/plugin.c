// Plugins: shared libraries named in the model file, searched in the model's folder and in those that the caller allows:
// NAME, NAME.so, libNAME.so. Reading a model runs no code: a library is loaded only at the caller's request
// (srs_allow_plugins), and only when its real path is in an allowed folder. The rule: SECURITY.md.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "model/compile.h"
#include "model/spec.h"
#include "plugin/plugin.h"

static void add_impedance(void* host, const srImpedance* law) { sr_c_register_impedance(host, law); }

static void add_function(void* host, const srFunction* function) { sr_c_register_function(host, function); }

static void add_friction(void* host, const srFrictionLaw* law) { sr_c_register_friction(host, law); }

static void add_normal(void* host, const srNormalLaw* law) { sr_c_register_normal(host, law); }

static void add_function2(void* host, const srFunction2* function) { sr_c_register_function2(host, function); }

static void add_closure(void* host, const srClosureLaw* law) { sr_c_register_closure(host, law); }

static void add_sensor(void* host, const srSensorLaw* law) { sr_c_register_sensor(host, law); }

static void pass_admittance(void* host, const struct srAdmittance* admittance) { (void)host, (void)admittance; }

// ------------------------------------------------------------------------------------------------------------- search
typedef struct Search {
  srPool* pool;
  const char* const* allowed;  // folders
  int nallowed;
  const char* outside;  // a library that was found, but is in none of them
} Search;

// Is a real path in a folder that the caller allows?
static bool is_allowed(const Search* s, const char* real) {
  char folder[SR_PATH_SIZE];
  for (int i = 0; i < s->nallowed; i++)
    if (sr_file_real(s->allowed[i], folder) && sr_file_is_inside(folder, real)) return true;
  return false;
}

// The real path of folder/sub/NAME, NAME.so or libNAME.so, in the pool; NULL: none that may be loaded.
static const char* find_in(Search* s, const char* folder, const char* library) {
  static const char* const prefix[] = {"", "", "lib"};
  static const char* const suffix[] = {"", ".so", ".so"};
  const char* slash = strrchr(library, '/');
  const char* file = slash ? slash + 1 : library;
  for (int k = 0; k < SR_COUNT(prefix); k++) {
    char real[SR_PATH_SIZE];
    srReason reason;
    const char* path =
        sr_pool_printf(s->pool, "%s/%.*s%s%s%s", folder, (int)(file - library), library, prefix[k], file, suffix[k]);
    FILE* opened = sr_file_real(path, real) ? sr_file_open(real, &reason) : NULL;  // no pipe, no device, no folder
    if (!opened) continue;
    fclose(opened);
    if (is_allowed(s, real)) return sr_pool_text(s->pool, real);
    s->outside = sr_pool_text(s->pool, real);
  }
  return NULL;
}

static bool leaves_folder(const char* path) {
  return path[0] == '/' || strncmp(path, "../", 3) == 0 || strcmp(path, "..") == 0 || strstr(path, "/../");
}

const char* sr_plugin_path(srPool* pool, const char* home, const char* const* folders, int nfolder, const char* library,
                           const char** reason) {
  if (!home) home = ".";
  Search s = {.pool = pool, .allowed = folders, .nallowed = nfolder};
  if (leaves_folder(library)) {
    *reason = sr_pool_printf(
        pool, "the library '%s' must be in the folder of the model, or in one that --plugins names", library);
    return NULL;
  }
  if (nfolder == 0) s.allowed = &home, s.nallowed = 1;
  const char* path = find_in(&s, home, library);
  for (int i = 0; !path && i < nfolder; i++) path = find_in(&s, folders[i], library);
  if (path) return path;
  if (s.outside)
    *reason = sr_pool_printf(pool,
                             "the library '%s' is not loaded: its file, links resolved, is '%s', and is in no folder "
                             "that is allowed; --plugins=FOLDER allows one",
                             library, s.outside);
  else
    *reason = sr_pool_printf(pool, "there is no library '%s' (nor '%s.so', 'lib%s.so') in the folder of the model%s",
                             library, library, library, nfolder > 0 ? ", nor in those of --plugins" : "");
  return NULL;
}

const char* sr_plugin_untrusted(srPool* pool, const char* library) {
  return sr_pool_printf(
      pool,
      "the library '%s' is not loaded: code that a model names runs only on request. If you trust it: --plugins on "
      "the command line, plugins=True in Python, srLoadOptions.plugins in C",
      library);
}

// The file to load; NULL after an error.
static const char* find_library(srCompiler* c, const char* library, srPlace place) {
  const char* const* folders = NULL;
  const int nfolder = sr_spec_plugin_folders(c->spec, &folders);
  const char *reason = NULL, *path = NULL;
  if (folders)
    path = sr_plugin_path(&c->scratch, srs_folder(c->spec), folders, nfolder, library, &reason);
  else
    reason = sr_plugin_untrusted(&c->scratch, library);
  if (!path) sr_c_error(c, place, "%s", reason);
  return path;
}

// ------------------------------------------------------------------------------------------------------------ loading
// The sentence on what is wrong with the library, NULL: nothing.
static const char* call_entry(srCompiler* c, void* handle) {
  srPluginEntry entry;
  void* symbol = dlsym(handle, "sarrus_plugin");
  memcpy(&entry, &symbol, sizeof entry);  // ISO C has no cast from object to function pointers
  srPlugin plugin = {.abi = SR_PLUGIN_ABI,
                     .host = c,
                     .add_impedance = add_impedance,
                     .add_function = add_function,
                     .add_admittance = pass_admittance,
                     .add_friction = add_friction,
                     .add_normal = add_normal,
                     .add_function2 = add_function2,
                     .add_closure = add_closure,
                     .add_sensor = add_sensor};
  if (!symbol) return "has no function sarrus_plugin";
  return entry(&plugin) == 0 ? NULL : "refused this version of Sarrus: compile it again with the headers of this one";
}

static void load(srCompiler* c, const char* library, srPlace place) {
  const int before = sr_c_errors(c);
  const char* path = find_library(c, library, place);
  void* handle = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (path && !handle) sr_c_error(c, place, "the library '%s' cannot be loaded: %s", library, dlerror());
  if (handle) {
    // A note on what the program does, not on the file: those are not shown one by one.
    if (!c->absolute)
      sr_messages_add(c->messages, SR_SEVERITY_NOTE, (srPlace){0}, "code of the library '%s' runs", path);
    c->priv->plugins[c->priv->nplugin++] = handle;
    c->registering = place;
    const char* problem = call_entry(c, handle);
    if (problem) sr_c_error(c, place, "the library '%s' %s", library, problem);
  }
  if (sr_c_errors(c) > before) c->lacks_plugin = true;
}

static void close(void* handle) { (void)dlclose(handle); }

const srPluginLoader sr_plugin_loader = {load, close};
