# SPDX-License-Identifier: Apache-2.0
# Only targets that are created if BENCH_CUDA_FOUND is true may use CUDA. `bench` and its libraries
# never link any of it; a plugin does, and loads the rest at run time.
#
#   BENCH_CUDA        AUTO: build the parts that the installed toolkit supports; ON: fail without a
#                     toolkit and report what is missing; OFF: do not search for it
#   BENCH_CUDA_FOUND  whether a toolkit with all required parts was found
#   bench_cuda_headers  its headers as system headers, without libraries to link
#   BENCH_CUPTI_LIBRARY the toolkit's libcupti, for tests: programs search for it at run time
#   BENCH_CUDA_PLUGIN whether libbench_cuda.so is built: also needs nvcc, which is then enabled; not
#                     with sanitizers, with which CUDA's own libraries do not run
#   BENCH_CUDNN_INCLUDE_DIR  folder of cudnn.h, if found: cuDNN itself is loaded at run time
#   BENCH_CUDA_ARCHITECTURES the architectures for which kernels are compiled

set(BENCH_CUDA AUTO CACHE STRING "GPU parts: AUTO (if the CUDA toolkit is found), ON or OFF")
set_property(CACHE BENCH_CUDA PROPERTY STRINGS AUTO ON OFF)
if(NOT BENCH_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "BENCH_CUDA is '${BENCH_CUDA}', expected AUTO, ON or OFF")
endif()

# CUPTI's records are structures of one version: 13.0 is the first with the structures that are
# read.
set(BENCH_CUDA_LEAST_VERSION 13.0)
set(BENCH_CUDA_FOUND FALSE)
set(bench_cuda_missing "")
# CMake 3.25 refers to a target that CUDA 13 no longer has, and so fails, if the project requires
# 3.25.
macro(bench_find_cuda_toolkit)
  set(bench_required_version "${CMAKE_MINIMUM_REQUIRED_VERSION}")
  set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
  find_package(CUDAToolkit QUIET)
  set(CMAKE_MINIMUM_REQUIRED_VERSION "${bench_required_version}")
endmacro()

# The folder in which ci/setup --cuda puts a toolkit; used if no other is named or installed.
set(BENCH_DEFAULT_CUDA "${PROJECT_SOURCE_DIR}/build/deps/cuda/toolkit" CACHE PATH
  "Where ci/setup puts the default CUDA toolkit")
if(NOT BENCH_CUDA STREQUAL "OFF")
  bench_find_cuda_toolkit()
  if(NOT CUDAToolkit_FOUND AND NOT CUDAToolkit_ROOT AND EXISTS "${BENCH_DEFAULT_CUDA}/bin/nvcc")
    set(CUDAToolkit_ROOT "${BENCH_DEFAULT_CUDA}")
    bench_find_cuda_toolkit()
  endif()
  if(NOT CUDAToolkit_FOUND)
    set(bench_cuda_missing "no CUDA toolkit (set CUDAToolkit_ROOT to its folder, or install one with "
      "ci/setup --cuda)")
  elseif(CUDAToolkit_VERSION VERSION_LESS BENCH_CUDA_LEAST_VERSION)
    set(bench_cuda_missing "CUDA toolkit ${CUDAToolkit_VERSION} at ${CUDAToolkit_BIN_DIR}, "
      "${BENCH_CUDA_LEAST_VERSION} or later is needed")
  else()
    find_path(BENCH_CUPTI_INCLUDE_DIR cupti.h NO_DEFAULT_PATH
      HINTS ${CUDAToolkit_INCLUDE_DIRS} "${CUDAToolkit_BIN_DIR}/../extras/CUPTI/include")
    find_library(BENCH_CUPTI_LIBRARY cupti NO_DEFAULT_PATH
      HINTS "${CUDAToolkit_LIBRARY_DIR}" "${CUDAToolkit_BIN_DIR}/../extras/CUPTI/lib64")
    mark_as_advanced(BENCH_CUPTI_INCLUDE_DIR BENCH_CUPTI_LIBRARY)
    if(BENCH_CUPTI_INCLUDE_DIR AND BENCH_CUPTI_LIBRARY)
      set(BENCH_CUDA_FOUND TRUE)
    else()
      set(bench_cuda_missing "no CUPTI (cupti.h, libcupti.so) in the CUDA toolkit "
        "${CUDAToolkit_VERSION} at ${CUDAToolkit_BIN_DIR}")
    endif()
  endif()
endif()
list(JOIN bench_cuda_missing "" bench_cuda_missing)

# Listed explicitly, because `native` queries a GPU, and the default is only the oldest. Daily
# builds compile for one and leave the others to the driver: nvcc's time grows with the list.
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(bench_cuda_architectures "90-real;75-virtual")
else()
  set(bench_cuda_architectures
    "75-real;80-real;86-real;89-real;90-real;100-real;120-real;120-virtual")
endif()
set(BENCH_CUDA_ARCHITECTURES "${bench_cuda_architectures}" CACHE STRING
  "GPU architectures of libbench_cuda.so")
set(BENCH_CUDA_PLUGIN FALSE)
if(BENCH_CUDA_FOUND AND NOT BENCH_SANITIZE)
  if(BENCH_CCACHE AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
    set(CMAKE_CUDA_COMPILER_LAUNCHER "${BENCH_CCACHE}")
  endif()
  include(CheckLanguage)
  if(NOT CMAKE_CUDA_COMPILER AND CUDAToolkit_NVCC_EXECUTABLE)
    set(CMAKE_CUDA_COMPILER "${CUDAToolkit_NVCC_EXECUTABLE}")
  endif()
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES "${BENCH_CUDA_ARCHITECTURES}")
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER AND TARGET CUDA::cudart_static)
    enable_language(CUDA)
    set(BENCH_CUDA_PLUGIN TRUE)
  else()
    set(bench_cuda_missing "no usable nvcc or libcudart_static.a in the CUDA toolkit "
      "${CUDAToolkit_VERSION} at ${CUDAToolkit_BIN_DIR}")
    list(JOIN bench_cuda_missing "" bench_cuda_missing)
  endif()
endif()

if(BENCH_CUDA_FOUND)
  message(STATUS "CUDA ${CUDAToolkit_VERSION}: ${CUDAToolkit_BIN_DIR}")
  add_library(bench_cuda_headers INTERFACE)
  target_include_directories(bench_cuda_headers SYSTEM INTERFACE
    ${CUDAToolkit_INCLUDE_DIRS} "${BENCH_CUPTI_INCLUDE_DIR}")
  find_path(BENCH_CUDNN_INCLUDE_DIR cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  mark_as_advanced(BENCH_CUDNN_INCLUDE_DIR)
endif()
if(bench_cuda_missing AND BENCH_CUDA STREQUAL "ON")
  message(FATAL_ERROR "BENCH_CUDA=ON, but: ${bench_cuda_missing}")
elseif(bench_cuda_missing)
  message(STATUS "CUDA: ${bench_cuda_missing}; parts that need it are not built")
endif()
