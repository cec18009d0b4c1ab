# What `cmake --install` puts where: headers, library, command line, models, documentation, bindings, CMake package, pkg-config file.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Sarrus)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(TARGETS sarrus EXPORT SarrusTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
                                            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sarrus)
install(FILES LICENSE README.md CHANGELOG.md CITATION.cff SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR}) # in a folder of that name: the README's links hold
install(DIRECTORY models/ DESTINATION ${CMAKE_INSTALL_DATADIR}/sarrus/models OPTIONAL)
# Python's module and Octave's functions: they find the library from where they lie.
set(SARRUS_PYTHON_DIR ${CMAKE_INSTALL_DATADIR}/sarrus/python CACHE STRING "Folder of the Python module, below the prefix")
install(DIRECTORY bindings/python/sarrus DESTINATION ${SARRUS_PYTHON_DIR} PATTERN __pycache__ EXCLUDE)
install(DIRECTORY bindings/octave/ DESTINATION ${CMAKE_INSTALL_DATADIR}/sarrus/octave)
if(page_html)
  install(FILES ${page_html} ${page_output}/view.html ${page_output}/THIRD-PARTY.txt ${page_output}/THIRD-PARTY-view.txt ${page_scripts} DESTINATION ${CMAKE_INSTALL_DATADIR}/sarrus/page)
  install(FILES ${app_html} ${page_output}/THIRD-PARTY-sarrus.txt DESTINATION ${CMAKE_INSTALL_DATADIR}/sarrus/page OPTIONAL)
endif()
if(TARGET sarrus_cli)
  install(TARGETS sarrus_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET sarrus_mpi)
  install(TARGETS sarrus_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/sarrus)
endif()

# A static library hands its own dependencies on; a shared one keeps them to itself.
if(NOT BUILD_SHARED_LIBS AND io_sources)
  set(package_needs "find_dependency(EXPAT)")
  set(pkgconfig_needs "Requires: expat")
  if(zlib_libraries)
    string(APPEND package_needs "\nfind_dependency(ZLIB)")
    string(APPEND pkgconfig_needs ", zlib")
  endif()
  set(pkgconfig_libs "${sundials_flags} ${suitesparse_flags} ${CMAKE_THREAD_LIBS_INIT} -l${CMAKE_DL_LIBS} -lm")
  string(REPLACE "-l " "" pkgconfig_libs "${pkgconfig_libs}") # where libdl is part of libc
endif()

install(EXPORT SarrusTargets NAMESPACE Sarrus:: DESTINATION ${package_dir})
configure_package_config_file(cmake/SarrusConfig.cmake.in ${PROJECT_BINARY_DIR}/SarrusConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/SarrusConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/SarrusConfig.cmake ${PROJECT_BINARY_DIR}/SarrusConfigVersion.cmake
        DESTINATION ${package_dir})

# Found from where sarrus.pc lies, so that the installed tree may be moved.
file(RELATIVE_PATH pkgconfig_to_prefix /${pkgconfig_dir} /)
configure_file(cmake/sarrus.pc.in ${PROJECT_BINARY_DIR}/sarrus.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/sarrus.pc DESTINATION ${pkgconfig_dir})
