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
    "Protozero=libprotozero-dev" "SQLite3=libsqlite3-dev"
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
  "oneDNN 3.x \\(PyPI package onednn-devel-cpu-gomp; an installed one: -DCMAKE_PREFIX_PATH=DIR\\)" "Install with: [^ ]*/ci/setup --onednn")
execute_process(COMMAND "${CMAKE_COMMAND}" -E rm -f "${WORK_DIR}/build/CMakeCache.txt")

# The headers are needed without a GPU, too.
expect("without NVTX" "-DCMAKE_DISABLE_FIND_PACKAGE_Nvtx3=ON"
  "NVTX 3 headers \\(PyPI package nvidia-nvtx; installed ones: -DNvtx3_INCLUDE_DIR=DIR\\)")
execute_process(COMMAND "${CMAKE_COMMAND}" -E rm -f "${WORK_DIR}/build/CMakeCache.txt")

# Two missing dependencies are reported together. There is no fallback below build/ and none of the
# system here.
expect("with an old oneDNN"
  "-DCMAKE_PREFIX_PATH=${WORK_DIR}/old;-DBENCH_DEFAULT_ONEDNN=${WORK_DIR}/none;-DCMAKE_FIND_USE_CMAKE_ENVIRONMENT_PATH=OFF;-DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON"
  "fmt \\(Debian: libfmt-dev\\) oneDNN 3.x" "found oneDNN 2.6.0, which is not supported"
  "libfmt-dev [^ ]*/ci/setup --onednn")
# What a packager configures: without the presets, without what only tests need, for another machine (the
# program cannot write its man page), with oneDNN in an archive (there is no library to copy), and in a
# sandbox in which ccache cannot create its folder.
set(ccache "${WORK_DIR}/ccache")
set(static "${WORK_DIR}/static/lib/cmake/dnnl")
file(WRITE "${static}/dnnl-config.cmake" "if(NOT TARGET DNNL::dnnl)\n  add_library(DNNL::dnnl STATIC IMPORTED)\nendif()\n"
  "set_target_properties(DNNL::dnnl PROPERTIES IMPORTED_LOCATION ${WORK_DIR}/static/lib/libdnnl.a)\n")
file(WRITE "${static}/dnnl-config-version.cmake"
  "set(PACKAGE_VERSION 3.2.0)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n")
file(WRITE "${ccache}" "#!/bin/sh\necho 'ccache: error: Failed to create directory' >&2\nexit 1\n")
file(CHMOD "${ccache}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
execute_process(
  COMMAND "${CMAKE_COMMAND}" -S "${SOURCE_DIR}" -B "${WORK_DIR}/plain" -G Ninja
    "-DCMAKE_PREFIX_PATH=${WORK_DIR}/static" "-DBENCH_CCACHE=${ccache}" -DBENCH_CUDA=OFF -DCMAKE_SYSTEM_NAME=Linux
    -DCMAKE_INSTALL_LIBDIR=lib/x86_64-linux-gnu
    -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON -DCMAKE_DISABLE_FIND_PACKAGE_valijson=ON
    -DCMAKE_DISABLE_FIND_PACKAGE_ClangFuzzer=ON -DCMAKE_DISABLE_FIND_PACKAGE_Soci=ON
  OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
if(NOT status EQUAL 0 OR NOT output MATCHES "Compiling without ccache, which does not work here: ccache: error: Failed")
  message(FATAL_ERROR "a plain build:\n${output}")
endif()
# Only `bench history --db` needs SOCI, and a program without it says so.
file(STRINGS "${WORK_DIR}/plain/build.ninja" databases REGEX "store/(no_)?database\\.cpp")
if(NOT output MATCHES "Without databases" OR databases MATCHES "store/database\\.cpp" OR
    NOT databases MATCHES "store/no_database\\.cpp|^$")
  message(FATAL_ERROR "a build without SOCI: ${databases}\n${output}")
endif()
file(STRINGS "${WORK_DIR}/plain/build.ninja" launched REGEX "LAUNCHER = .*ccache")
if(launched)
  message(FATAL_ERROR "a ccache that fails compiles: ${launched}")
endif()
file(STRINGS "${WORK_DIR}/plain/cmake_install.cmake" pages REGEX "bench\\.1\\.gz")
if(pages OR NOT output MATCHES "Without man page and completion")
  message(FATAL_ERROR "a program for another machine writes its man page here:\n${output}")
endif()
file(STRINGS "${WORK_DIR}/plain/cmake_install.cmake" copied REGEX "libdnnl")
if(copied)
  message(FATAL_ERROR "an archive is installed as a shared library: ${copied}")
endif()
# The folder of the file for pkg-config led to PREFIX/lib as the prefix.
file(STRINGS "${WORK_DIR}/plain/bench-profiler.pc" prefix REGEX "^prefix=")
if(NOT prefix STREQUAL "prefix=\${pcfiledir}/../../..")
  message(FATAL_ERROR "bench-profiler.pc: ${prefix}")
endif()
message(STATUS "dependencies: all checks passed")
