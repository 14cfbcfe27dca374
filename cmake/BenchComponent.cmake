# SPDX-License-Identifier: Apache-2.0

# bench_precompile(<target> HEADERS <header>... | REUSE <target>)
# With BENCH_PRECOMPILE the headers are compiled once for all the target's sources, or taken from
# another target with the same options. Daily builds do without: ccache works better that way, and a
# missing include is noticed.
function(bench_precompile target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "REUSE" "HEADERS")
  if(NOT BENCH_PRECOMPILE)
    return()
  endif()
  if(arg_REUSE)
    target_precompile_headers(${target} REUSE_FROM ${arg_REUSE})
  else()
    target_precompile_headers(${target} PRIVATE ${arg_HEADERS})
  endif()
  # GCC 12 loses the origin of inlined code of the standard library, and warns about it.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow
      -Wno-stringop-overread -Wno-restrict -Wno-maybe-uninitialized -Wno-nonnull)
  endif()
endfunction()

# bench_unite(<target> SOURCES <file>...)
# Compiles up to BENCH_UNITY sources of one folder as one, which parses their headers only once.
# Names of unnamed namespaces and of `using` declarations must be unique within the folder. Sources
# with their own definitions or options are compiled separately (CMake excludes them).
function(bench_unite target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES")
  list(FILTER arg_SOURCES INCLUDE REGEX "\\.cpp$")
  set(folders "")
  foreach(source IN LISTS arg_SOURCES)
    cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE path)
    cmake_path(GET path PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    # Sources that call oneDNN are separated from the others. A program links whole objects of an
    # archive, and the CUDA plugin must not need oneDNN for an operator's parameters.
    cmake_path(GET path FILENAME file)
    if(file MATCHES "^onednn")
      string(APPEND folder "/onednn")
    endif()
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    if(NOT folder IN_LIST folders)
      list(APPEND folders ${folder})
      set(${folder} "")
    endif()
    list(APPEND ${folder} "${source}")
  endforeach()
  foreach(folder IN LISTS folders)
    # Parts of equal size: with 13 sources and N=12, none is compiled alone.
    list(LENGTH ${folder} count)
    math(EXPR parts "(${count} + ${BENCH_UNITY} - 1) / ${BENCH_UNITY}")
    set(index 0)
    foreach(source IN LISTS ${folder})
      math(EXPR part "${index} * ${parts} / ${count}")
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${folder}_${part}")
      math(EXPR index "${index} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # GCC takes united sources for headers, whose types must not contain types of unnamed namespaces.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# bench_add_tests(<name> LIBRARIES <target>... SOURCES <file>...)
# One GoogleTest executable <name>_test, with each of its tests registered in ctest.
function(bench_add_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBRARIES;SOURCES")
  if(NOT BENCH_TESTS OR NOT arg_SOURCES)
    return()
  endif()
  add_executable(${name}_test ${arg_SOURCES})
  target_link_libraries(${name}_test PRIVATE ${arg_LIBRARIES} GTest::gmock GTest::gtest_main
    nlohmann_json::nlohmann_json fmt::fmt)
  target_compile_definitions(${name}_test PRIVATE BENCH_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  if(BENCH_UNITY)
    bench_unite(${name}_test SOURCES ${arg_SOURCES})
  endif()
  if(BENCH_QUICK_BUILD)
    target_compile_options(${name}_test PRIVATE -O0)
  endif()
  # base_test is the first of all.
  if(name STREQUAL "base")
    bench_precompile(base_test HEADERS <gmock/gmock.h> <gtest/gtest.h> <fmt/format.h> <functional>
      <map> <optional> <string> <vector>)
  else()
    bench_precompile(${name}_test REUSE base_test)
  endif()
  gtest_discover_tests(${name}_test TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST
    # Several tests share the processors: OpenMP threads that spin while waiting would starve them.
    PROPERTIES TIMEOUT 300 LABELS ${name} ENVIRONMENT "GOMP_SPINCOUNT=0")
endfunction()

# bench_add_library(<name> DEPENDS <component>... LINK <target>... SOURCES <file>...)
# The static library bench_<name>, or an interface library while the folder has no sources.
function(bench_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;LINK;SOURCES")
  list(TRANSFORM arg_DEPENDS PREPEND bench_)
  if(arg_SOURCES)
    add_library(bench_${name} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
    if(BENCH_UNITY)
      bench_unite(bench_${name} SOURCES ${arg_SOURCES})
    endif()
    # All depend on base, the first of them.
    if(name STREQUAL "base")
      bench_precompile(bench_base HEADERS <fmt/format.h> <algorithm> <functional> <map> <memory>
        <optional> <string> <variant> <vector>)
    else()
      bench_precompile(bench_${name} REUSE bench_base)
    endif()
  else()
    add_library(bench_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_link_libraries(bench_${name} ${scope} bench_settings ${arg_DEPENDS} ${arg_LINK})
endfunction()

# bench_component(<name> [DEPENDS <component>...] [LINK <target>...])
# Creates the library bench_<name> from the *.cpp of the current folder and the executable
# <name>_test from its *_test.cpp. DEPENDS names components to the left in the include direction,
# LINK third parties. A new file needs no edit, because the build searches for it
# (CONFIGURE_DEPENDS).
function(bench_component name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;LINK")
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cpp$")
  bench_add_library(${name} DEPENDS ${arg_DEPENDS} LINK ${arg_LINK} SOURCES ${sources})
  bench_add_tests(${name} LIBRARIES bench_${name} SOURCES ${tests})
endfunction()
