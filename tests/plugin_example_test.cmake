# SPDX-License-Identifier: Apache-2.0
# cmake -DBUILD_DIR= -DBENCH= -DWORK_DIR= -DCXX= -P plugin_example_test.cmake
# Installs only the plugin interface, builds the example outside this tree against it, and lists and
# runs its configuration.

include("${CMAKE_CURRENT_LIST_DIR}/plugin_example.cmake")

build_example(plugin)

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
