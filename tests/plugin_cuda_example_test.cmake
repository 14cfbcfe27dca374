# SPDX-License-Identifier: Apache-2.0
# cmake -DBUILD_DIR= -DBENCH= -DWORK_DIR= -DCXX= -DCUDA_COMPILER= -P plugin_cuda_example_test.cmake
# Installs the plugin interface alone and builds the example on a GPU outside of this tree against
# it. Where CUDA shows no device its cases are skipped with CUDA's reason; where it does they are ok.

function(run_or_fail)
  execute_process(COMMAND ${ARGV} WORKING_DIRECTORY "${WORK_DIR}" RESULT_VARIABLE failed
    OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    message(FATAL_ERROR "${ARGV} failed:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# Sets `count` to the number of cases whose record matches.
function(count_cases file pattern)
  file(STRINGS "${WORK_DIR}/${file}" cases REGEX "\"record\":\"case\".*${pattern}")
  list(LENGTH cases count)
  set(count ${count} PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK_DIR}")
file(MAKE_DIRECTORY "${WORK_DIR}")
run_or_fail("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --component plugin
  --prefix "${WORK_DIR}/prefix")
# A copy of the installed example: nothing of the source tree may be in its reach.
file(RENAME "${WORK_DIR}/prefix/share/bench/examples/plugin_cuda" "${WORK_DIR}/source")
run_or_fail("${CMAKE_COMMAND}" -S source -B source/build "-DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix"
  "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CUDA_COMPILER=${CUDA_COMPILER}")
run_or_fail("${CMAKE_COMMAND}" --build source/build)

set(no_device "no CUDA device: cudaGetDeviceCount: ")
set(hidden "${CMAKE_COMMAND}" -E env CUDA_VISIBLE_DEVICES=-1 "${BENCH}")
run_or_fail(${hidden} list source/axpy.yaml)
if(NOT output MATCHES "no: ${no_device}.*4 cases, 0 can run here")
  message(FATAL_ERROR "bench list says:\n${output}")
endif()
run_or_fail(${hidden} run source/axpy.yaml --quick --quiet --out hidden.jsonl)
count_cases(hidden.jsonl "\"outcome\":\"skipped\".*${no_device}")
if(NOT count EQUAL 4)
  message(FATAL_ERROR "${count} of 4 cases are skipped without a device:\n${output}")
endif()

run_or_fail("${BENCH}" run source/axpy.yaml --quick --quiet --out here.jsonl)
count_cases(here.jsonl "(\"outcome\":\"ok\"|\"outcome\":\"skipped\".*${no_device})")
if(NOT count EQUAL 4)
  message(FATAL_ERROR "${count} of 4 cases are ok, or skipped without a device:\n${output}")
endif()
