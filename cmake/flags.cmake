# How C is compiled here: the standard, the warnings, and what the options and presets add.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)

option(SARRUS_WERROR "Treat warnings as errors (for developers; users' compilers differ)" OFF)
option(SARRUS_SANITIZE "Address and undefined-behaviour sanitizers" OFF)
option(SARRUS_SANITIZE_THREADS "The sanitizer of threads" OFF)
option(SARRUS_COVERAGE "Instrument for gcov" OFF)
set(SARRUS_MARCH "" CACHE STRING "Processor to compile for, as in -march (example: x86-64-v3); empty: the default")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo" FORCE)
endif()
if(CMAKE_C_FLAGS_RELEASE STREQUAL "-O3 -DNDEBUG") # CMake's default
  set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
endif()

# Linked privately by every target of ours; never installed.
add_library(sarrus_flags INTERFACE)
target_compile_options(sarrus_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wmissing-prototypes
  -Wno-psabi # vector types never cross the library's boundary
  # clang counts NAN and INFINITY, which are exact; and a & b, which is meant where both report errors
  $<IF:$<C_COMPILER_ID:Clang>,-Wno-bitwise-instead-of-logical;-Wno-unknown-warning-option,-Wdouble-promotion>
  -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/= # paths in messages begin at the source tree
  $<$<BOOL:${SARRUS_WERROR}>:-Werror> $<$<BOOL:${SARRUS_MARCH}>:-march=${SARRUS_MARCH}>)

if(SARRUS_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
if(SARRUS_SANITIZE_THREADS)
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
endif()
if(SARRUS_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()
