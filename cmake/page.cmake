# Pages (sarrus run --page). zlib compresses their data, where it is found: without it they are several times as large. The front end, one
# HTML file, is made from page/ by esbuild where Node.js and the packages of page/ are found (tools/setup, or npm ci in page/). Without
# it everything else is built, and --page states what is missing. Sets library_sources and zlib_libraries.
option(SARRUS_ZLIB "Compress the data of pages, where zlib is found" ON)
option(SARRUS_PAGE "Build the front end of pages, where Node.js and its packages are found" ON)

set(zlib_libraries "")
if(SARRUS_ZLIB)
  find_package(ZLIB)
endif()
if(SARRUS_ZLIB AND ZLIB_FOUND)
  set(zlib_libraries ZLIB::ZLIB)
  list(FILTER library_sources EXCLUDE REGEX "src/page/deflate_without\\.c$")
else()
  list(FILTER library_sources EXCLUDE REGEX "src/page/deflate\\.c$")
endif()

set(page_html "")
if(SARRUS_PAGE AND SARRUS_TARGET STREQUAL "full")
  find_program(NODE_PROGRAM NAMES node nodejs)
  mark_as_advanced(NODE_PROGRAM)
  set(page_folder ${PROJECT_SOURCE_DIR}/page)
  if(NODE_PROGRAM AND EXISTS ${page_folder}/node_modules/esbuild/package.json AND EXISTS ${page_folder}/node_modules/three/package.json)
    file(GLOB page_sources CONFIGURE_DEPENDS ${page_folder}/src/*.js ${page_folder}/src/live/*.js ${page_folder}/src/edit/*.js
      ${page_folder}/src/*.css ${page_folder}/src/live/*.css ${page_folder}/src/edit/*.css ${page_folder}/src/*.html)
    set(page_output ${PROJECT_BINARY_DIR}/share/sarrus/page)
    set(page_html ${page_output}/page.html)
    add_custom_command(OUTPUT ${page_html} ${page_output}/view.html ${page_output}/THIRD-PARTY.txt ${page_output}/THIRD-PARTY-view.txt
      COMMAND ${NODE_PROGRAM} build.mjs ${page_output}
      COMMAND ${NODE_PROGRAM} build.mjs --view ${page_output}
      WORKING_DIRECTORY ${page_folder}
      DEPENDS ${page_sources} ${page_folder}/build.mjs ${page_folder}/elements.mjs ${PROJECT_SOURCE_DIR}/docs/using/format.md ${page_folder}/package-lock.json
      COMMENT "Building the front end of pages" VERBATIM)
    # The script of --video, and how it drives a browser, which the tests do too.
    set(page_scripts ${page_folder}/video.mjs ${PROJECT_SOURCE_DIR}/tests/page/browser.mjs)
    foreach(script ${page_scripts})
      get_filename_component(script_name ${script} NAME)
      configure_file(${script} ${page_output}/${script_name} COPYONLY)
    endforeach()
    add_custom_target(sarrus_page ALL DEPENDS ${page_html})
  else()
    message(STATUS "No front end for pages: it needs Node.js and `npm ci` in page/ (tools/setup does both)")
  endif()
endif()
