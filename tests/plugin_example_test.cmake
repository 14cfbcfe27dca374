# SPDX-License-Identifier: Apache-2.0
# cmake -DBUILD_DIR= -DBENCH= -DWORK_DIR= -DCXX= -P plugin_example_test.cmake
# Installs the plugin interface alone, builds the example outside of this tree against it, and lists
# and runs its configuration.

function(run_or_fail)
  execute_process(COMMAND ${ARGV} WORKING_DIRECTORY "${WORK_DIR}" RESULT_VARIABLE failed
    OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    message(FATAL_ERROR "${ARGV} failed:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK_DIR}")
file(MAKE_DIRECTORY "${WORK_DIR}")
run_or_fail("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --component plugin
  --prefix "${WORK_DIR}/prefix")
# A copy of the installed example: nothing of the source tree may be in its reach.
file(RENAME "${WORK_DIR}/prefix/share/bench/examples/plugin" "${WORK_DIR}/source")
run_or_fail("${CMAKE_COMMAND}" -S source -B source/build "-DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix"
  "-DCMAKE_CXX_COMPILER=${CXX}")
run_or_fail("${CMAKE_COMMAND}" --build source/build)

run_or_fail("${BENCH}" list source/plugin.yaml)
if(NOT output MATCHES "4 cases, 4 can run here")
  message(FATAL_ERROR "bench list says:\n${output}")
endif()
run_or_fail("${BENCH}" run source/plugin.yaml --quick --quiet --out r.jsonl)
file(STRINGS "${WORK_DIR}/r.jsonl" cases REGEX "\"record\":\"case\".*\"outcome\":\"ok\"")
list(LENGTH cases count)
if(NOT count EQUAL 4)
  message(FATAL_ERROR "${count} of 4 cases are ok:\n${output}")
endif()
