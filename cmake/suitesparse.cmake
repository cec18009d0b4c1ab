# KLU of SuiteSparse, for sparse systems of nets of loops: used where it is found. Without it they are solved by math/sparse_lu.c.
# Sets library_sources, suitesparse_include, suitesparse_libraries, suitesparse_flags.
option(SARRUS_SUITESPARSE "Solve sparse systems by KLU, where its library is found" ON)

set(suitesparse_include "")
set(suitesparse_libraries "")
set(suitesparse_flags "") # what a program linking the static library needs
if(SARRUS_SUITESPARSE)
  find_path(SUITESPARSE_INCLUDE_DIR klu.h PATH_SUFFIXES suitesparse)
  find_library(SUITESPARSE_KLU_LIBRARY klu)
  mark_as_advanced(SUITESPARSE_INCLUDE_DIR SUITESPARSE_KLU_LIBRARY)
endif()
if(SARRUS_SUITESPARSE AND SUITESPARSE_INCLUDE_DIR AND SUITESPARSE_KLU_LIBRARY)
  set(suitesparse_include ${SUITESPARSE_INCLUDE_DIR})
  set(suitesparse_libraries ${SUITESPARSE_KLU_LIBRARY})
  get_filename_component(suitesparse_directory ${SUITESPARSE_KLU_LIBRARY} DIRECTORY)
  set(suitesparse_flags "-L${suitesparse_directory} -lklu")
  list(FILTER library_sources EXCLUDE REGEX "src/suitesparse/without\\.c$")
else()
  if(SARRUS_SUITESPARSE)
    message(STATUS "KLU was not found: sparse systems are solved by our own LU (Debian: apt install libsuitesparse-dev)")
  endif()
  list(FILTER library_sources EXCLUDE REGEX "src/suitesparse/klu\\.c$")
endif()
