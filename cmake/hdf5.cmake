# HDF5, for result files of that kind: used where it is found. Without it `--out result.h5` is refused with a sentence, and
# CSV stays. Sets library_sources, hdf5_include, hdf5_libraries, hdf5_flags. The serial library: ours runs in one process.
option(SARRUS_HDF5 "Write and read result files of HDF5, where its library is found" ON)

set(hdf5_include "")
set(hdf5_libraries "")
set(hdf5_flags "") # what a program linking the static library needs
if(SARRUS_HDF5)
  find_path(HDF5_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial)
  find_library(HDF5_LIBRARY NAMES hdf5_serial hdf5 PATH_SUFFIXES hdf5/serial)
  mark_as_advanced(HDF5_INCLUDE_DIR HDF5_LIBRARY)
endif()
if(SARRUS_HDF5 AND HDF5_INCLUDE_DIR AND HDF5_LIBRARY)
  set(hdf5_include ${HDF5_INCLUDE_DIR})
  set(hdf5_libraries ${HDF5_LIBRARY})
  set(hdf5_flags ${HDF5_LIBRARY})
  list(FILTER library_sources EXCLUDE REGEX "src/io/hdf5_without\\.c$")
else()
  if(SARRUS_HDF5)
    message(STATUS "HDF5 was not found: results are CSV alone (Debian: apt install libhdf5-dev)")
  endif()
  list(FILTER library_sources EXCLUDE REGEX "src/io/hdf5\\.c$")
endif()
