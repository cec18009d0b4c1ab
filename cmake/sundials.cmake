# SUNDIALS, which the methods cvode and ida are made of. Without it they are words that sri_create refuses, and the library
# needs libm, libdl, expat and, for pages, zlib alone. Sets library_sources, sundials_include, sundials_libraries, sundials_flags.
option(SARRUS_SUNDIALS "Build the methods cvode and ida, on SUNDIALS" ON)

set(sundials_include "")
set(sundials_libraries "")
set(sundials_flags "") # what a program linking the static library needs
if(SARRUS_SUNDIALS)
  find_path(SUNDIALS_INCLUDE_DIR cvodes/cvodes.h)
  find_library(SUNDIALS_CVODES_LIBRARY sundials_cvodes)
  find_library(SUNDIALS_IDAS_LIBRARY sundials_idas)
  foreach(wanted SUNDIALS_INCLUDE_DIR SUNDIALS_CVODES_LIBRARY SUNDIALS_IDAS_LIBRARY)
    if(NOT ${wanted})
      message(FATAL_ERROR "SUNDIALS was not found (${wanted}). Debian: apt install libsundials-dev, or tools/setup. "
                          "To build without the methods cvode and ida: -DSARRUS_SUNDIALS=OFF")
    endif()
  endforeach()
  # Contexts came with version 6; version 7 took other words for its types and for its errors.
  file(STRINGS ${SUNDIALS_INCLUDE_DIR}/sundials/sundials_config.h sundials_version REGEX "define SUNDIALS_VERSION_MAJOR")
  string(REGEX MATCH "[0-9]+" sundials_version "${sundials_version}")
  if(NOT sundials_version EQUAL 6)
    message(FATAL_ERROR "SUNDIALS ${sundials_version} was found in ${SUNDIALS_INCLUDE_DIR}: the methods cvode and ida are "
                        "written for version 6. To build without them: -DSARRUS_SUNDIALS=OFF")
  endif()
  mark_as_advanced(SUNDIALS_INCLUDE_DIR SUNDIALS_CVODES_LIBRARY SUNDIALS_IDAS_LIBRARY)
  set(sundials_include ${SUNDIALS_INCLUDE_DIR})
  set(sundials_libraries ${SUNDIALS_CVODES_LIBRARY} ${SUNDIALS_IDAS_LIBRARY})
  get_filename_component(sundials_directory ${SUNDIALS_CVODES_LIBRARY} DIRECTORY)
  set(sundials_flags "-L${sundials_directory} -lsundials_cvodes -lsundials_idas")
  list(FILTER library_sources EXCLUDE REGEX "src/sundials/without\\.c$")
else()
  list(FILTER library_sources EXCLUDE REGEX "src/sundials/(bdf|cvode|ida|iteration|newton|norm)\\.c$")
endif()
