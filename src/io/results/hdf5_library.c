// Loading the HDF5 library by the name that the linker would have written down (SARRUS_HDF5_SONAME), or by its path when this
// program was built (SARRUS_HDF5_PATH), for libraries outside the usual folders.
#include "io/results/hdf5_library.h"

#include <dlfcn.h>
#include <string.h>

srHdf5Library h5;

// ISO C has no cast from the void* of dlsym to a function.
static bool take(void* library, const char* symbol, void* member) {
  void* address = dlsym(library, symbol);
  memcpy(member, &address, sizeof address);
  return address != NULL;
}

static bool take_all(void* library) {
  bool all = true;
#define SR_TEXT(symbol) #symbol
#define SR_TAKE(member, symbol) all = take(library, SR_TEXT(symbol), &h5.member) && all;
  SR_HDF5_FUNCTIONS(SR_TAKE)
  SR_HDF5_IDS(SR_TAKE)
#undef SR_TAKE
#undef SR_TEXT
  return all;
}

// At the end of the program it would try, and crash on, what a full disk has refused; every file is closed by its user. It must
// be disabled before the library is opened.
static bool open_library(void) { return h5.dont_atexit() >= 0 && h5.open() >= 0; }

bool sr_hdf5_load(const char* path, srMessages* messages) {
  static bool loaded;
  if (loaded) return true;
  void* library = dlopen(SARRUS_HDF5_SONAME, RTLD_NOW | RTLD_LOCAL);
  if (!library) library = dlopen(SARRUS_HDF5_PATH, RTLD_NOW | RTLD_LOCAL);
  loaded = library && take_all(library) && open_library();
  if (!loaded)
    sr_messages_add(
        messages, SR_SEVERITY_ERROR, (srPlace){.file = path},
        "this is HDF5, and its library %s cannot be loaded: install it (Debian: libhdf5-103-1), or take CSV "
        "(another name)",
        SARRUS_HDF5_SONAME);
  return loaded;
}
