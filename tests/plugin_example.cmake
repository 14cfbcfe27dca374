# SPDX-License-Identifier: Apache-2.0
# Shared by the tests of plugin examples. Needs BUILD_DIR, WORK_DIR and CXX.

# Runs a command in WORK_DIR. Sets `output` to its output.
function(run_or_fail)
  execute_process(COMMAND ${ARGV} WORKING_DIRECTORY "${WORK_DIR}" RESULT_VARIABLE failed
    OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    message(FATAL_ERROR "${ARGV} failed:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# build_example(<name> [<option of cmake>...]): installs only the plugin interface, and builds
# examples/<name> in WORK_DIR/source/build, outside this tree, against it.
function(build_example name)
  file(REMOVE_RECURSE "${WORK_DIR}")
  file(MAKE_DIRECTORY "${WORK_DIR}")
  run_or_fail("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --component plugin
    --prefix "${WORK_DIR}/prefix")
  # A copy of the installed example, so that it cannot reach the source tree.
  file(RENAME "${WORK_DIR}/prefix/share/bench/examples/${name}" "${WORK_DIR}/source")
  run_or_fail("${CMAKE_COMMAND}" -S source -B source/build
    "-DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix" "-DCMAKE_CXX_COMPILER=${CXX}" ${ARGN})
  run_or_fail("${CMAKE_COMMAND}" --build source/build)
endfunction()
