# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE_DIR= -DWORK_DIR= -DPREFIX=<of oneDNN> -DCXX= -P cuda_option_test.cmake
# Tests the effect of BENCH_CUDA=OFF, ON and AUTO: OFF has no CUDA target and still builds user
# plugins, ON reports what is missing, AUTO continues without it.

file(REMOVE_RECURSE "${WORK_DIR}")
file(MAKE_DIRECTORY "${WORK_DIR}/no_toolkit")

# configure(<folder> <option>...): sets `output` and `status`.
function(configure folder)
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -S "${SOURCE_DIR}" -B "${WORK_DIR}/${folder}" -G Ninja
      "-DCMAKE_PREFIX_PATH=${PREFIX}" "-DCMAKE_CXX_COMPILER=${CXX}" -DCMAKE_BUILD_TYPE=Debug -DBENCH_TESTS=ON ${ARGN}
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
  string(REGEX REPLACE "[ \n]+" " " output "${output}") # CMake wraps its messages
  set(output "${output}" PARENT_SCOPE)
  set(status "${status}" PARENT_SCOPE)
endfunction()

# expect_targets(<folder>): expects the targets of a build without CUDA.
function(expect_targets folder)
  execute_process(COMMAND "${CMAKE_COMMAND}" --build "${WORK_DIR}/${folder}" --target help
    OUTPUT_VARIABLE targets COMMAND_ERROR_IS_FATAL ANY)
  foreach(name IN ITEMS bench_cli bench_capture_preload bench_scale_shift bench_fake_gpu)
    if(NOT targets MATCHES "\n${name}: ")
      message(FATAL_ERROR "${folder}: no target ${name}")
    endif()
  endforeach()
  if(targets MATCHES "\n(bench_cuda_plugin|bench_cuda_injection|cuda_device_test): ")
    message(FATAL_ERROR "${folder}: there is a target ${CMAKE_MATCH_1}")
  endif()
endfunction()

configure(off -DBENCH_CUDA=OFF)
if(status)
  message(FATAL_ERROR "BENCH_CUDA=OFF: ${output}")
endif()
if(output MATCHES "CUDA")
  message(FATAL_ERROR "BENCH_CUDA=OFF looks for CUDA: ${output}")
endif()
expect_targets(off)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${WORK_DIR}/off" --target bench_scale_shift
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

# An empty folder in place of the toolkit.
set(hidden "-DCUDAToolkit_ROOT=${WORK_DIR}/no_toolkit" -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON)
configure(on -DBENCH_CUDA=ON ${hidden})
if(status EQUAL 0 OR NOT output MATCHES "BENCH_CUDA=ON, but: no CUDA toolkit \\(set CUDAToolkit_ROOT")
  message(FATAL_ERROR "BENCH_CUDA=ON without a toolkit: ${output}")
endif()
configure(auto ${hidden})
if(status OR NOT output MATCHES "CUDA: no CUDA toolkit .*; parts that need it are not built")
  message(FATAL_ERROR "BENCH_CUDA=AUTO without a toolkit: ${output}")
endif()
expect_targets(auto)
# CMake 3.25.1 fails with CUDA 13 for projects that require 3.25.
file(WRITE "${WORK_DIR}/module/FindCUDAToolkit.cmake" [[
if(CMAKE_MINIMUM_REQUIRED_VERSION VERSION_GREATER_EQUAL 3.25)
  message(FATAL_ERROR "set_property could not find TARGET CUDA::nvToolsExt")
endif()
set(CUDAToolkit_FOUND FALSE)
]])
configure(module "-DCMAKE_MODULE_PATH=${WORK_DIR}/module" "-DCUDAToolkit_ROOT=${WORK_DIR}/no_toolkit")
if(status OR NOT output MATCHES "CUDA: no CUDA toolkit")
  message(FATAL_ERROR "CMake 3.25.1 with CUDA 13: ${output}")
endif()
configure(wrong -DBENCH_CUDA=YES)
if(status EQUAL 0 OR NOT output MATCHES "BENCH_CUDA is 'YES', expected AUTO, ON or OFF")
  message(FATAL_ERROR "BENCH_CUDA=YES: ${output}")
endif()
