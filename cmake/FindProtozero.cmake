# SPDX-License-Identifier: Apache-2.0
# Protozero::protozero, Protozero_VERSION: the header-only protozero, whose packages have no CMake
# files.
find_path(Protozero_INCLUDE_DIR protozero/pbf_reader.hpp)
mark_as_advanced(Protozero_INCLUDE_DIR)
if(Protozero_INCLUDE_DIR)
  file(STRINGS "${Protozero_INCLUDE_DIR}/protozero/version.hpp" version
    REGEX "^#define PROTOZERO_VERSION_STRING \"")
  string(REGEX REPLACE ".*\"([0-9.]+).*" "\\1" Protozero_VERSION "${version}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Protozero
  REQUIRED_VARS Protozero_INCLUDE_DIR VERSION_VAR Protozero_VERSION)
if(Protozero_FOUND AND NOT TARGET Protozero::protozero)
  add_library(Protozero::protozero INTERFACE IMPORTED)
  target_include_directories(Protozero::protozero SYSTEM INTERFACE "${Protozero_INCLUDE_DIR}")
endif()
