# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE_DIR= -DWORK_DIR= -DPREFIX=<of oneDNN> -P dependencies_test.cmake
# A missing dependency stops the configure step. The message names it and the command that installs
# it.

file(REMOVE_RECURSE "${WORK_DIR}")
file(MAKE_DIRECTORY "${WORK_DIR}")

# An installation of oneDNN of another major version, as on Debian 12 with libdnnl-dev.
set(old "${WORK_DIR}/old/lib/cmake/dnnl")
file(WRITE "${old}/dnnl-config.cmake" "")
file(WRITE "${old}/dnnl-config-version.cmake"
  "set(PACKAGE_VERSION 2.6.0)\nset(PACKAGE_VERSION_COMPATIBLE FALSE)\n")

# expect(<what> "<options>" <regular expression>...): expects that configuring fails with a message
# that matches all expressions.
function(expect what options)
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -S "${SOURCE_DIR}" -B "${WORK_DIR}/build" -G Ninja
      -DCMAKE_PREFIX_PATH=${PREFIX} -DBENCH_TESTS=ON ${options}
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
  if(status EQUAL 0)
    message(FATAL_ERROR "${what}: configuring succeeded")
  endif()
  # CMake wraps its messages.
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  foreach(part IN LISTS ARGN)
    if(NOT output MATCHES "${part}")
      message(FATAL_ERROR "${what}: expected '${part}' in:\n${output}")
    endif()
  endforeach()
endfunction()

set(apt "sudo apt-get install --yes --no-install-recommends")
foreach(row IN ITEMS
    "fmt=libfmt-dev" "nlohmann_json=nlohmann-json3-dev" "yaml-cpp=libyaml-cpp-dev"
    "CLI11=libcli11-dev" "benchmark=libbenchmark-dev" "Hwloc=libhwloc-dev"
    "GTest=libgtest-dev, libgmock-dev" "valijson=libvalijson-dev"
    "ClangFuzzer=clang-14, libclang-rt-14-dev")
  string(REGEX MATCH "^([^=]+)=(.+)$" matched "${row}")
  set(package "${CMAKE_MATCH_1}")
  set(debian "${CMAKE_MATCH_2}")
  string(REPLACE ", " " " words "${debian}")
  expect("without ${package}" "-DCMAKE_DISABLE_FIND_PACKAGE_${package}=ON"
    "Missing dependencies: ${package} \\(Debian: ${debian}\\) Install with: ${apt} ${words} or ")
  execute_process(COMMAND "${CMAKE_COMMAND}" -E rm -f "${WORK_DIR}/build/CMakeCache.txt")
endforeach()

expect("without oneDNN" "-DCMAKE_DISABLE_FIND_PACKAGE_dnnl=ON"
  "oneDNN 3.x \\(PyPI package onednn-devel-cpu-gomp\\)" "Install with: [^ ]*/ci/setup --onednn")
execute_process(COMMAND "${CMAKE_COMMAND}" -E rm -f "${WORK_DIR}/build/CMakeCache.txt")

# Two missing dependencies are reported together. There is no fallback below build/ and none of the
# system here.
expect("with an old oneDNN"
  "-DCMAKE_PREFIX_PATH=${WORK_DIR}/old;-DBENCH_DEFAULT_ONEDNN=${WORK_DIR}/none;-DCMAKE_FIND_USE_CMAKE_ENVIRONMENT_PATH=OFF;-DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON"
  "fmt \\(Debian: libfmt-dev\\) oneDNN 3.x" "found oneDNN 2.6.0, which is not supported"
  "libfmt-dev [^ ]*/ci/setup --onednn")
message(STATUS "dependencies: all checks passed")
