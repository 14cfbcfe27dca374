# SPDX-License-Identifier: Apache-2.0
# Nvtx3::nvtx3: the header-only NVTX 3, from the CUDA toolkit or else from ci/setup
# (build/deps/nvtx).
find_path(Nvtx3_INCLUDE_DIR nvtx3/nvToolsExt.h
  HINTS ENV CUDA_HOME ENV CUDA_PATH
  PATHS /usr/local/cuda
  PATH_SUFFIXES include targets/x86_64-linux/include)
if(NOT Nvtx3_INCLUDE_DIR)
  file(GLOB nvtx_folders
    "${PROJECT_SOURCE_DIR}/build/deps/nvtx/lib/python3*/site-packages/nvidia/*/include")
  find_path(Nvtx3_INCLUDE_DIR nvtx3/nvToolsExt.h PATHS ${nvtx_folders} NO_DEFAULT_PATH)
endif()
mark_as_advanced(Nvtx3_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Nvtx3 REQUIRED_VARS Nvtx3_INCLUDE_DIR)
if(Nvtx3_FOUND AND NOT TARGET Nvtx3::nvtx3)
  add_library(Nvtx3::nvtx3 INTERFACE IMPORTED)
  target_include_directories(Nvtx3::nvtx3 INTERFACE "${Nvtx3_INCLUDE_DIR}")
  target_link_libraries(Nvtx3::nvtx3 INTERFACE ${CMAKE_DL_LIBS})
endif()
