# SPDX-License-Identifier: Apache-2.0
# bench_version: the definitions of base/version.hpp. A separate library, so that a commit rebuilds
# one tiny file and relinks only its users (the worker, run, report, cli, the CUDA plugin).

# What decides about the layout of types besides the headers. CMAKE_CXX_FLAGS may select another ABI.
string(JOIN " " bench_compiler ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_CXX_STANDARD}
  "${CMAKE_SYSTEM_PROCESSOR}" "${CMAKE_CXX_FLAGS}" "${BENCH_SANITIZE}")
set(version_source "${PROJECT_BINARY_DIR}/generated/version.cpp")
add_custom_target(bench_version_source
  COMMAND "${CMAKE_COMMAND}" -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DVERSION=${PROJECT_VERSION}
    "-DCOMPILER=${bench_compiler}" -DOUTPUT=${version_source} -P "${PROJECT_SOURCE_DIR}/cmake/write_version.cmake"
  BYPRODUCTS "${version_source}"
  COMMENT "Looking up the commit"
  VERBATIM)
add_library(bench_version STATIC "${version_source}")
add_dependencies(bench_version bench_version_source)
target_link_libraries(bench_version PUBLIC bench_settings)
