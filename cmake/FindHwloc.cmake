# SPDX-License-Identifier: Apache-2.0
# Hwloc::hwloc, Hwloc_VERSION. Debian's hwloc has no CMake files.
find_path(Hwloc_INCLUDE_DIR hwloc.h)
find_path(Hwloc_CONFIG_DIR hwloc/autogen/config.h)
find_library(Hwloc_LIBRARY hwloc)
mark_as_advanced(Hwloc_INCLUDE_DIR Hwloc_CONFIG_DIR Hwloc_LIBRARY)
if(Hwloc_CONFIG_DIR)
  file(STRINGS "${Hwloc_CONFIG_DIR}/hwloc/autogen/config.h" version
    REGEX "^#define HWLOC_VERSION \"")
  string(REGEX REPLACE ".*\"([0-9.]+).*" "\\1" Hwloc_VERSION "${version}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Hwloc
  REQUIRED_VARS Hwloc_LIBRARY Hwloc_INCLUDE_DIR Hwloc_CONFIG_DIR VERSION_VAR Hwloc_VERSION)
if(Hwloc_FOUND AND NOT TARGET Hwloc::hwloc)
  add_library(Hwloc::hwloc UNKNOWN IMPORTED)
  set_target_properties(Hwloc::hwloc PROPERTIES
    IMPORTED_LOCATION "${Hwloc_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${Hwloc_INCLUDE_DIR}")
endif()
