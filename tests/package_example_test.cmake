# SPDX-License-Identifier: Apache-2.0
# cmake -DBUILD_DIR= -DSOURCE_DIR= -DWORK_DIR= -DCXX= -P package_example_test.cmake
# Installs only the profiler library, builds a program outside this tree against the installed
# package, and runs it plainly, with pause and resume, and with autostart.

function(run_or_fail)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE failed OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(failed)
    message(FATAL_ERROR "${ARGV} failed:\n${output}")
  endif()
endfunction()

# Runs an example and expects one profile with one event "work".
function(expect_profile name)
  file(MAKE_DIRECTORY "${WORK_DIR}/run/${name}")
  execute_process(COMMAND "${CMAKE_COMMAND}" -E env ${ARGN} "${WORK_DIR}/build/${name}"
    WORKING_DIRECTORY "${WORK_DIR}/run/${name}" RESULT_VARIABLE failed ERROR_VARIABLE message)
  file(GLOB profiles "${WORK_DIR}/run/${name}/profile-*.jsonl")
  list(LENGTH profiles count)
  if(failed OR message OR NOT count EQUAL 1)
    message(FATAL_ERROR "${name}: status '${failed}', ${count} profiles, stderr '${message}'")
  endif()
  file(STRINGS "${profiles}" activities REGEX "\"record\":\"activity\"")
  # The profile also has one record per time in which the program was observed.
  list(FILTER activities EXCLUDE REGEX "\"kind\":\"process\"")
  list(LENGTH activities count)
  if(NOT count EQUAL 1 OR NOT activities MATCHES "\"name\":\"work\"")
    message(FATAL_ERROR "${name}: expected the event `work` alone, found:\n${activities}")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK_DIR}")
run_or_fail("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --component profiler
  --prefix "${WORK_DIR}/first")
file(RENAME "${WORK_DIR}/first" "${WORK_DIR}/prefix")  # packages are also moved
# A copy, so that the example cannot reach the source tree.
file(COPY "${SOURCE_DIR}/tests/package_example/" DESTINATION "${WORK_DIR}/source")
run_or_fail("${CMAKE_COMMAND}" -S "${WORK_DIR}/source" -B "${WORK_DIR}/build"
  "-DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix" "-DCMAKE_CXX_COMPILER=${CXX}")
run_or_fail("${CMAKE_COMMAND}" --build "${WORK_DIR}/build")

expect_profile(plain)
expect_profile(pause)
expect_profile(autostart BENCH_PROFILE_AUTOSTART=1)

file(MAKE_DIRECTORY "${WORK_DIR}/run/silent")
execute_process(COMMAND "${WORK_DIR}/build/autostart" WORKING_DIRECTORY "${WORK_DIR}/run/silent"
  COMMAND_ERROR_IS_FATAL ANY)
file(GLOB left "${WORK_DIR}/run/silent/*")
if(left)
  message(FATAL_ERROR "without autostart the example wrote ${left}")
endif()

# The same program without CMake, in a folder that was moved.
find_program(pkg_config NAMES pkg-config pkgconf)
if(pkg_config)
  file(GLOB pc_file "${WORK_DIR}/prefix/lib*/pkgconfig/bench-profiler.pc"
    "${WORK_DIR}/prefix/lib/*/pkgconfig/bench-profiler.pc")
  execute_process(COMMAND "${pkg_config}" --cflags --libs "${pc_file}"
    OUTPUT_VARIABLE options OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(options)
  run_or_fail("${CXX}" -std=c++17 "${WORK_DIR}/source/plain.cpp" ${options} -o "${WORK_DIR}/by_pc")
endif()
