# SPDX-License-Identifier: Apache-2.0
# cmake -DBUILD_DIR= -DPROGRAM= -DWORK_DIR= -P installed_program_test.cmake
# Installs the whole build into a folder, moves the folder, and uses it as a user would: the program
# must find its oneDNN library, its capture library and its configurations. PROGRAM is a program
# that uses oneDNN.

set(bench "${WORK_DIR}/moved/bin/bench")
unset(ENV{LD_LIBRARY_PATH})
unset(ENV{ONEDNN_VERBOSE})

# Runs the installed program in the work folder. Sets `output` and `message`.
function(run status)
  execute_process(COMMAND "${bench}" ${ARGN} WORKING_DIRECTORY "${WORK_DIR}"
    RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT result STREQUAL status)
    message(FATAL_ERROR "bench ${ARGN}: status ${result}, expected ${status}:\n${out}${err}")
  endif()
  set(output "${out}" PARENT_SCOPE)
  set(message "${err}" PARENT_SCOPE)
endfunction()

function(expect text what)
  string(FIND "${text}" "${what}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "expected `${what}` in:\n${text}")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK_DIR}")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD_DIR}" --strip
  --prefix "${WORK_DIR}/first" OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME "${WORK_DIR}/first" "${WORK_DIR}/moved")
file(GLOB_RECURSE installed LIST_DIRECTORIES FALSE RELATIVE "${WORK_DIR}/moved" "${WORK_DIR}/moved/*")
foreach(name IN ITEMS bin/bench lib/bench/libdnnl.so.3 lib/bench/libbench_capture.so
    libbench_profile.so.0.1 include/bench/profiler.hpp cmake/bench/bench-config.cmake
    man/man1/bench.1.gz doc/bench/docs/profiler.md share/bench/configs/resnet.yaml)
  string(REPLACE "." "\\." pattern "${name}")
  if(NOT installed MATCHES "(^|;|/)${pattern}(;|$)")
    message(FATAL_ERROR "${name} is not installed, only:\n${installed}")
  endif()
endforeach()

# The notices of other people's code that is compiled in.
file(GLOB copyright "${WORK_DIR}/moved/share/doc/bench/copyright")
file(READ "${copyright}" text)
foreach(part IN ITEMS "Apache License" "CLI11" "nlohmann" "protozero" "rapidjson")
  expect("${text}" "${part}")
endforeach()
if(EXISTS "${WORK_DIR}/moved/lib/bench/libbench_cuda.so")
  expect("${text}" "NVIDIA Software Development Kits")
endif()

# Each link of an installed document leads to an installed file.
foreach(document IN LISTS installed)
  if(NOT document MATCHES "\\.md$")
    continue()
  endif()
  file(READ "${WORK_DIR}/moved/${document}" text)
  string(REGEX REPLACE "`[^`]*`" "" text "${text}")  # code may contain the same characters
  string(REPLACE "](" "<LINK>" text "${text}")
  string(REGEX REPLACE "[][;]" " " text "${text}")  # CMake's lists treat these specially
  get_filename_component(folder "${WORK_DIR}/moved/${document}" DIRECTORY)
  string(REGEX MATCHALL "<LINK>[A-Za-z0-9_./-]+" links "${text}")
  foreach(link IN LISTS links)
    string(SUBSTRING "${link}" 6 -1 file)
    if(NOT file MATCHES "^https?$" AND NOT EXISTS "${folder}/${file}")
      message(FATAL_ERROR "${document} links to ${file}, which is not installed")
    endif()
  endforeach()
endforeach()

run(0 --version)
run(0 profile --out p.jsonl -- "${PROGRAM}" relu relu)
expect("${message}" "2 primitives executed")
run(0 analyze p.jsonl --aggregate-by type -c type,count --format csv)
expect("${output}" "\"eltwise\",2")
run(0 run conv/forward/c8h8w8k8r3s3p1/f32/onednn/cpu/hot --quick --profile --out r.jsonl)
file(READ "${WORK_DIR}/r.jsonl" result)
expect("${result}" "\"library.onednn.path\":\"${WORK_DIR}/moved/bin/../lib/bench/libdnnl.so.3\"")
expect("${result}" "\"record\":\"profile_pass\"")
run(0 list network/forward/resnet18/f32/onednn/cpu/hot)
# The configurations that the help names come with the program.
run(0 validate resnet quick.yaml configs/resnet.yaml)
run(0 run quick --dry-run)

# Another oneDNN can be tried, also as one side of a gate.
file(COPY "${WORK_DIR}/moved/lib/bench/libdnnl.so.3" DESTINATION "${WORK_DIR}/other" FOLLOW_SYMLINK_CHAIN)
set(ENV{LD_LIBRARY_PATH} "${WORK_DIR}/other")
run(0 run conv/forward/c8h8w8k8r3s3p1/f32/onednn/cpu/hot --quick --out other.jsonl)
file(READ "${WORK_DIR}/other.jsonl" result)
expect("${result}" "\"library.onednn.path\":\"${WORK_DIR}/other/libdnnl.so.3\"")
unset(ENV{LD_LIBRARY_PATH})

file(REMOVE "${WORK_DIR}/moved/lib/bench/libbench_capture.so")
run(2 profile -- "${PROGRAM}" relu)
expect("${message}" "${WORK_DIR}/moved/lib/bench/libbench_capture.so")
expect("${message}" "the capture library is missing")
file(REMOVE_RECURSE "${WORK_DIR}/moved")
