# SPDX-License-Identifier: Apache-2.0
# Language, warnings, sanitizers and linking of all targets.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)  # ci/tidy reads it
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(BENCH_CCACHE ccache DOC "ccache, which compiles; empty: compile without it")
if(BENCH_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache fails if it cannot create its folder, as in the sandbox of a packager, without a home.
  set(ccache_check "${PROJECT_BINARY_DIR}/CMakeFiles/ccache_check")
  file(WRITE "${ccache_check}.cpp" "int ccache_check;\n")
  execute_process(COMMAND "${BENCH_CCACHE}" "${CMAKE_CXX_COMPILER}" -c "${ccache_check}.cpp" -o "${ccache_check}.o"
    RESULT_VARIABLE ccache_status ERROR_VARIABLE ccache_reason OUTPUT_QUIET ERROR_STRIP_TRAILING_WHITESPACE)
  if(ccache_status EQUAL 0)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${BENCH_CCACHE}")
  else()
    message(STATUS "Compiling without ccache, which does not work here: ${ccache_reason}")
  endif()
endif()

# RUNPATH, not RPATH: LD_LIBRARY_PATH must be able to select another libdnnl.so.3 for a worker.
add_link_options(-Wl,--enable-new-dtags)

add_library(bench_settings INTERFACE)
target_include_directories(bench_settings INTERFACE "${PROJECT_SOURCE_DIR}")
# Users who build only to run do not read warnings, and finding them is 8 % of the compiler's time.
target_compile_options(bench_settings INTERFACE $<IF:$<BOOL:${BENCH_WARNINGS}>,-Wall;-Wextra;-Wshadow,-w>)
if(BENCH_WERROR)
  target_compile_options(bench_settings INTERFACE -Werror)
endif()
if(BENCH_SANITIZE)
  target_compile_options(bench_settings INTERFACE
    -fsanitize=${BENCH_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(bench_settings INTERFACE -fsanitize=${BENCH_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(bench_settings INTERFACE
      "-fsanitize-ignorelist=${CMAKE_CURRENT_LIST_DIR}/sanitizer_ignorelist.txt")
  endif()
endif()
