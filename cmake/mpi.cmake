# MPI, for `mpirun sarrus sweep`: a module of its own, built where MPI is found. Neither the library nor the program is linked with it: the program loads the
# module when mpirun has started it, so that all other calls start without MPI.
option(SARRUS_MPI "Sweeps over processes of MPI, where it is found" ON)

if(SARRUS_MPI)
  find_package(MPI QUIET COMPONENTS C)
endif()
if(SARRUS_MPI AND MPI_C_FOUND)
  add_library(sarrus_mpi MODULE cli/mpi/ranks.c)
  target_include_directories(sarrus_mpi SYSTEM PRIVATE ${MPI_C_INCLUDE_DIRS})
  target_link_libraries(sarrus_mpi PRIVATE sarrus_flags)
  set_target_properties(sarrus_mpi PROPERTIES PREFIX "" OUTPUT_NAME sarrus-mpi C_VISIBILITY_PRESET default)
  # The name of its library with the version of its interface, as for HDF5.
  list(GET MPI_C_LIBRARIES 0 mpi_library)
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${mpi_library} OUTPUT_VARIABLE mpi_dump ERROR_QUIET)
  if(mpi_dump MATCHES "SONAME +([^ \n]+)")
    set(mpi_soname ${CMAKE_MATCH_1})
  else()
    get_filename_component(mpi_soname ${mpi_library} NAME)
  endif()
  set_source_files_properties(cli/sweep_ranks.c PROPERTIES COMPILE_DEFINITIONS
                              "SARRUS_MPI_SONAME=\"${mpi_soname}\";SARRUS_MPI_FOLDER=\"${bin_to_lib}/sarrus\"")
elseif(SARRUS_MPI)
  message(STATUS "MPI was not found: sweeps run in processes of one machine (Debian: apt install libopenmpi-dev)")
endif()
