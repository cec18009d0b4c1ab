# The page of models (share/sarrus/page/sarrus.html): an editor with the core in it as WebAssembly. The core is a build of its own, of the
# target io by emscripten with the sources of expat, in BUILD/wasm; this file is included in both. `tools/setup --wasm` has what it needs.
#   cmake --build BUILD --target sarrus_app       makes the page; with -DSARRUS_APP=ON it is made with everything else
# Without emscripten or expat's sources the page is made without the core: it edits models, and says what is missing.
option(SARRUS_APP "Build the page of models with everything else (it compiles the library once more)" OFF)
set(SARRUS_EXPAT_SOURCE ${PROJECT_SOURCE_DIR}/build/sources/expat CACHE PATH "Folder of expat's sources (xmlparse.c) for WebAssembly")

if(EMSCRIPTEN AND SARRUS_TARGET STREQUAL "io")
  # Here: the core itself. expat's sources are compiled into it alone.
  if(NOT EXISTS ${SARRUS_EXPAT_SOURCE}/xmlparse.c)
    message(FATAL_ERROR "No sources of expat in ${SARRUS_EXPAT_SOURCE} (SARRUS_EXPAT_SOURCE): tools/setup --wasm fetches those of Debian")
  endif()
  set(expat_sources ${SARRUS_EXPAT_SOURCE}/xmlparse.c ${SARRUS_EXPAT_SOURCE}/xmlrole.c ${SARRUS_EXPAT_SOURCE}/xmltok.c)
  file(WRITE ${PROJECT_BINARY_DIR}/expat/expat_config.h.new
    "#define XML_NS 1\n#define XML_DTD 1\n#define XML_CONTEXT_BYTES 1024\n#define XML_POOR_ENTROPY 1\n#define BYTEORDER 1234\n")
  configure_file(${PROJECT_BINARY_DIR}/expat/expat_config.h.new ${PROJECT_BINARY_DIR}/expat/expat_config.h COPYONLY)
  add_library(EXPAT::EXPAT INTERFACE IMPORTED)
  target_include_directories(EXPAT::EXPAT INTERFACE ${SARRUS_EXPAT_SOURCE})
  function(sarrus_add_core)
    add_executable(sarrus_core ${PROJECT_SOURCE_DIR}/page/core/core.c ${expat_sources})
    target_include_directories(sarrus_core PRIVATE ${PROJECT_BINARY_DIR}/expat)
    set_source_files_properties(${expat_sources} PROPERTIES COMPILE_OPTIONS "-DHAVE_EXPAT_CONFIG_H;-w")
    target_link_libraries(sarrus_core PRIVATE sarrus)
    target_link_options(sarrus_core PRIVATE --no-entry -sMODULARIZE=1 -sEXPORT_NAME=SarrusCore -sENVIRONMENT=worker,node -sALLOW_MEMORY_GROWTH=1
      -sTOTAL_STACK=8MB -sEXPORTED_FUNCTIONS=_malloc,_free -sINCOMING_MODULE_JS_API=instantiateWasm,wasmBinary,print,printErr,onAbort)
    set_target_properties(sarrus_core PROPERTIES OUTPUT_NAME core)
  endfunction()
  return()
endif()

# Here: the page, in the build that has the front end of pages.
if(NOT page_html)
  return()
endif()
find_program(EMCC_PROGRAM emcc)
mark_as_advanced(EMCC_PROGRAM)
set(app_html ${page_output}/sarrus.html)
set(core_folder ${PROJECT_BINARY_DIR}/wasm)
set(core_files "")
set(core_argument -)
if(EMCC_PROGRAM AND EXISTS ${SARRUS_EXPAT_SOURCE}/xmlparse.c)
  get_filename_component(emscripten_root ${EMCC_PROGRAM} REALPATH)
  get_filename_component(emscripten_root ${emscripten_root} DIRECTORY)
  set(core_files ${core_folder}/core.wasm ${core_folder}/core.js)
  set(core_argument ${core_folder})
  # Debian's cache of emscripten is frozen: EM_CACHE would send it elsewhere; its optimizer looks for acorn where Debian has it.
  set(core_environment ${CMAKE_COMMAND} -E env --unset=EM_CACHE NODE_PATH=/usr/share/nodejs)
  add_custom_target(sarrus_core
    COMMAND ${core_environment} ${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR} -B ${core_folder} -G ${CMAKE_GENERATOR}
      -DCMAKE_TOOLCHAIN_FILE=${emscripten_root}/cmake/Modules/Platform/Emscripten.cmake -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS=-msimd128
      -DBUILD_SHARED_LIBS=OFF -DSARRUS_TARGET=io -DSARRUS_EXPAT_SOURCE=${SARRUS_EXPAT_SOURCE}
    COMMAND ${core_environment} ${CMAKE_COMMAND} --build ${core_folder} --target sarrus_core
    BYPRODUCTS ${core_files} USES_TERMINAL COMMENT "Compiling the core to WebAssembly" VERBATIM)
else()
  add_custom_target(sarrus_core)
  if(SARRUS_APP)
    message(STATUS "The page of models is built without its core: it needs emscripten and the sources of expat (tools/setup --wasm)")
  endif()
endif()
file(GLOB app_models CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/models/*.xml ${PROJECT_SOURCE_DIR}/models/*/*.xml)
add_custom_command(OUTPUT ${app_html} ${page_output}/THIRD-PARTY-sarrus.txt
  COMMAND ${NODE_PROGRAM} build.mjs --app ${page_output} ${core_argument} ${SARRUS_EXPAT_SOURCE}
  WORKING_DIRECTORY ${page_folder}
  DEPENDS sarrus_core ${core_files} ${page_sources} ${page_folder}/build.mjs ${page_folder}/elements.mjs ${page_folder}/examples.mjs
    ${PROJECT_SOURCE_DIR}/docs/using/format.md ${page_folder}/package-lock.json ${app_models}
  COMMENT "Building the page of models" VERBATIM)
if(SARRUS_APP)
  add_custom_target(sarrus_app ALL DEPENDS ${app_html})
else()
  add_custom_target(sarrus_app DEPENDS ${app_html})
endif()
