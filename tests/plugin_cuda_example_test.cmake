# SPDX-License-Identifier: Apache-2.0
# cmake -DBUILD_DIR= -DBENCH= -DWORK_DIR= -DCXX= -DCUDA_COMPILER= -P plugin_cuda_example_test.cmake
# Installs only the plugin interface and builds the GPU example outside this tree against it. If
# CUDA shows no device, its cases are skipped with CUDA's reason; otherwise they are ok.

include("${CMAKE_CURRENT_LIST_DIR}/plugin_example.cmake")

# Sets `count` to the number of cases whose record matches.
function(count_cases file pattern)
  file(STRINGS "${WORK_DIR}/${file}" cases REGEX "\"record\":\"case\".*${pattern}")
  list(LENGTH cases count)
  set(count ${count} PARENT_SCOPE)
endfunction()

build_example(plugin_cuda "-DCMAKE_CUDA_COMPILER=${CUDA_COMPILER}")

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
