// Components of third parties: shared libraries that the caller names, with impedances and admittances. The structs are copied;
// their functions, names and tables live in the library, which stays until the network is destroyed.
#include <dlfcn.h>
#include <string.h>

#include "base/file.h"
#include "force/laws.h"
#include "model/private.h"
#include "network/network.h"

static void add_impedance(void* host, const srImpedance* law) {
  srNetwork* n = host;
  if (SR_NET_ROOM(n, impedance)) n->impedance[n->nimpedance++] = *law;
}

static void add_admittance(void* host, const srAdmittance* admittance) {
  srNetwork* n = host;
  if (SR_NET_ROOM(n, admittance)) n->admittance[n->nadmittance++] = *admittance;
}

// Functions are for formulas, which a network has none of.
static void pass_function(void* host, const srFunction* function) { (void)host, (void)function; }

// Laws of friction and contact are for elements of a model.
static void pass_friction(void* host, const struct srFrictionLaw* law) { (void)host, (void)law; }
static void pass_normal(void* host, const struct srNormalLaw* law) { (void)host, (void)law; }

// So are functions of two arguments, closures and sensors.
static void pass_function2(void* host, const srFunction2* function) { (void)host, (void)function; }
static void pass_closure(void* host, const struct srClosureLaw* law) { (void)host, (void)law; }
static void pass_sensor(void* host, const struct srSensorLaw* law) { (void)host, (void)law; }

static void close_library(void* handle) { (void)dlclose(handle); }

srStatus sr_network_plugin(srNetwork* n, const char* path) {
  char real[SR_PATH_SIZE];
  srReason reason = {"cannot be found"};
  if (!sr_net_open(n)) return SR_INPUT;
  // A file, never a name that the linker searches in the system's folders.
  FILE* opened = sr_file_real(path, real) ? sr_file_open(real, &reason) : NULL;
  void* handle = opened ? dlopen(real, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (opened) fclose(opened);
  if (!handle) {
    sr_net_error(n, "the library '%s' cannot be loaded: %s", path, opened ? dlerror() : reason.text);
    return SR_INPUT;
  }
  sr_messages_add(n->messages, SR_SEVERITY_NOTE, (srPlace){0}, "code of the library '%s' runs", real);
  if (!sr_net_own(n, close_library, handle)) return SR_MEMORY;
  srPluginEntry entry;
  void* symbol = dlsym(handle, "sarrus_plugin");
  memcpy(&entry, &symbol, sizeof entry);  // ISO C has no cast from object to function pointers
  srPlugin plugin = {.abi = SR_PLUGIN_ABI,
                     .host = n,
                     .add_impedance = add_impedance,
                     .add_function = pass_function,
                     .add_admittance = add_admittance,
                     .add_friction = pass_friction,
                     .add_normal = pass_normal,
                     .add_function2 = pass_function2,
                     .add_closure = pass_closure,
                     .add_sensor = pass_sensor};
  if (!symbol || entry(&plugin) != 0) {
    sr_net_error(n, "the library '%s' has no function sarrus_plugin, or it refused this version", path);
    return SR_INPUT;
  }
  return n->refused ? SR_INPUT : SR_OK;
}

const srImpedance* sr_network_find_impedance(const srNetwork* n, const char* name) {
  for (int i = 0; i < n->nimpedance; ++i) {
    if (strcmp(n->impedance[i].name, name) == 0) return &n->impedance[i];
  }
  return strcmp(name, sr_law_hinge.name) == 0 ? &sr_law_hinge : sr_builtin_impedance(name);
}

const srAdmittance* sr_network_find_admittance(const srNetwork* n, const char* name) {
  for (int i = 0; i < n->nadmittance; ++i) {
    if (strcmp(n->admittance[i].name, name) == 0) return &n->admittance[i];
  }
  return NULL;
}
