# How much of the library is built. Sets library_sources and, for the parts, SARRUS_SUNDIALS, SARRUS_SUITESPARSE, SARRUS_HDF5, SARRUS_ZLIB.
#   core   from base to reports: needs libm alone; no files, no shared libraries, no threads. For pages (WebAssembly) and embedding
#   io     also model files, meshes, result tables and figures: needs expat
#   full   also plugins, networks in threads, SUNDIALS, SuiteSparse, HDF5, the command line and the tests
set(SARRUS_TARGET full CACHE STRING "How much is built: core, io or full")
set_property(CACHE SARRUS_TARGET PROPERTY STRINGS core io full)
if(NOT SARRUS_TARGET MATCHES "^(core|io|full)$")
  message(FATAL_ERROR "SARRUS_TARGET is '${SARRUS_TARGET}'; there are: core, io, full")
endif()

if(NOT SARRUS_TARGET STREQUAL "full")
  set(SARRUS_SUNDIALS OFF)
  set(SARRUS_SUITESPARSE OFF)
  set(SARRUS_HDF5 OFF) # its library is loaded while the program runs
  set(SARRUS_ZLIB OFF)
  set(SARRUS_TESTS OFF)
  list(FILTER library_sources EXCLUDE REGEX "src/(plugin|network|netfile|generated|batch)/|src/plot/picture\\.c$")
  add_compile_definitions(SARRUS_NO_PLUGINS SARRUS_NO_THREADS)
endif()
if(SARRUS_TARGET STREQUAL "full")
  list(FILTER library_sources EXCLUDE REGEX "src/plot/picture_without\\.c$")
endif()
if(SARRUS_TARGET STREQUAL "core")
  list(FILTER library_sources EXCLUDE REGEX "src/(io|plot|page|live)/|src/base/(file|output)\\.c$")
endif()
