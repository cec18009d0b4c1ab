// Plugins: shared libraries named in the model file, looked for in the model's folder: NAME, NAME.so, libNAME.so. They
// stay inside that folder, so that a model from elsewhere cannot name a library of the system.
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "model/compile.h"

static void add_impedance(void* host, const srImpedance* law) { sr_c_register_impedance(host, law); }

static void add_function(void* host, const srFunction* function) { sr_c_register_function(host, function); }

static void add_friction(void* host, const srFrictionLaw* law) { sr_c_register_friction(host, law); }

static void add_normal(void* host, const srNormalLaw* law) { sr_c_register_normal(host, law); }

static void pass_admittance(void* host, const struct srAdmittance* admittance) { (void)host, (void)admittance; }

static bool stays_inside(const char* path) {
  if (path[0] == '/' || strncmp(path, "../", 3) == 0 || strcmp(path, "..") == 0) return false;
  return !strstr(path, "/../");
}

// Path of the library in the model's folder, in the scratch pool; NULL when there is no such file.
static const char* find_library(srCompiler* c, const char* library) {
  static const char* const prefix[] = {"", "", "lib"};
  static const char* const suffix[] = {"", ".so", ".so"};
  const char* folder = srs_folder(c->spec);
  const char* slash = strrchr(library, '/');
  const char* file = slash ? slash + 1 : library;
  const char* sub = sr_pool_text_n(&c->scratch, library, (size_t)(file - library));
  for (int k = 0; k < SR_COUNT(prefix); k++) {
    const char* path =
        sr_pool_printf(&c->scratch, "%s/%s%s%s%s", folder ? folder : ".", sub, prefix[k], file, suffix[k]);
    if (access(path, R_OK) == 0) return path;
  }
  return NULL;
}

static bool call_entry(srCompiler* c, void* handle) {
  srPluginEntry entry;
  void* symbol = dlsym(handle, "sarrus_plugin");
  memcpy(&entry, &symbol, sizeof entry);  // ISO C has no cast from object to function pointers
  srPlugin plugin = {.abi = SR_PLUGIN_ABI,
                     .host = c,
                     .add_impedance = add_impedance,
                     .add_function = add_function,
                     .add_admittance = pass_admittance,
                     .add_friction = add_friction,
                     .add_normal = add_normal};
  return symbol && entry(&plugin) == 0;
}

void sr_plugin_load(srCompiler* c, const char* library, srPlace place) {
  if (!stays_inside(library)) {
    sr_c_error(c, place, "the library '%s' must lie in the folder of the model", library);
    return;
  }
  const char* path = find_library(c, library);
  if (!path) {
    sr_c_error(c, place, "there is no library '%s' (nor '%s.so', 'lib%s.so') in the folder of the model", library,
               library, library);
    return;
  }
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    sr_c_error(c, place, "the library '%s' cannot be loaded: %s", library, dlerror());
    return;
  }
  c->priv->plugins[c->priv->nplugin++] = handle;
  c->registering = place;
  if (!call_entry(c, handle)) {
    sr_c_error(c, place, "the library '%s' has no function sarrus_plugin, or it refused this version", library);
  }
}

void sr_plugins_close(struct srModelPrivate* priv) {
  for (int i = 0; i < priv->nplugin; i++) dlclose(priv->plugins[i]);
  priv->nplugin = 0;
}
