# HDF5, for result files of that kind: used where it is found. Without it `--out result.h5` is refused with a sentence, and
# CSV stays. Sets library_sources and hdf5_include. The serial library: ours runs in one process. It is not linked
# but loaded when it is used (src/io/results/hdf5_library.h).
option(SARRUS_HDF5 "Write and read result files of HDF5, where its library is found" ON)

set(hdf5_include "")
if(SARRUS_HDF5)
  find_path(HDF5_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial)
  find_library(HDF5_LIBRARY NAMES hdf5_serial hdf5 PATH_SUFFIXES hdf5/serial)
  mark_as_advanced(HDF5_INCLUDE_DIR HDF5_LIBRARY)
endif()
if(SARRUS_HDF5 AND HDF5_INCLUDE_DIR AND HDF5_LIBRARY)
  set(hdf5_include ${HDF5_INCLUDE_DIR})
  # The name with the version of its interface, which `libhdf5.so` of the development package lacks.
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${HDF5_LIBRARY} OUTPUT_VARIABLE hdf5_dump ERROR_QUIET)
  if(hdf5_dump MATCHES "SONAME +([^ \n]+)")
    set(hdf5_soname ${CMAKE_MATCH_1})
  else()
    get_filename_component(hdf5_soname ${HDF5_LIBRARY} NAME)
  endif()
  set_source_files_properties(src/io/results/hdf5_library.c PROPERTIES COMPILE_DEFINITIONS
                              "SARRUS_HDF5_SONAME=\"${hdf5_soname}\";SARRUS_HDF5_PATH=\"${HDF5_LIBRARY}\"")
  list(FILTER library_sources EXCLUDE REGEX "src/io/results/hdf5_without\\.c$")
else()
  if(SARRUS_HDF5)
    message(STATUS "HDF5 was not found: results are CSV alone (Debian: apt install libhdf5-dev)")
  endif()
  list(FILTER library_sources EXCLUDE REGEX "src/io/results/hdf5(_library)?\\.c$")
endif()
