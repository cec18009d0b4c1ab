# The manual page and the shell completions, made by the command line from its own tables of options; the Debian package.
if(TARGET sarrus_cli AND NOT CMAKE_CROSSCOMPILING)
  set(manual ${PROJECT_BINARY_DIR}/manual)
  set(manual_files "")
  # pairs of a file and the options that print it; the names are those that the shells search for
  foreach(page "sarrus.1 --man" "bash/sarrus --completion=bash" "zsh/_sarrus --completion=zsh"
               "fish/sarrus.fish --completion=fish")
    string(REPLACE " " ";" page "${page}")
    list(GET page 0 file)
    list(GET page 1 option)
    get_filename_component(folder ${manual}/${file} DIRECTORY)
    add_custom_command(
      OUTPUT ${manual}/${file}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
      COMMAND sarrus_cli help ${option} > ${manual}/${file}
      DEPENDS sarrus_cli
      VERBATIM)
    list(APPEND manual_files ${manual}/${file})
  endforeach()
  add_custom_target(manual ALL DEPENDS ${manual_files})
  install(FILES ${manual}/sarrus.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${manual}/bash/sarrus DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${manual}/zsh/_sarrus DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${manual}/fish/sarrus.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

# `cpack -G DEB` in the build folder: one package with command line, library, headers, Python module, models and documentation.
set(CPACK_PACKAGE_NAME sarrus)
set(CPACK_PACKAGE_VENDOR Sarrus)
set(CPACK_PACKAGE_CONTACT "The Sarrus authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3-numpy, libhdf5-103-1, librsvg2-2, libcivetweb1")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libopenmpi3, openmpi-bin")
include(CPack)
