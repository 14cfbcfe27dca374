# SPDX-License-Identifier: Apache-2.0
# Soci::soci, Soci_VERSION: the core of SOCI, which loads the library of a kind of database at run
# time. Debian's package has no CMake files.
find_path(Soci_INCLUDE_DIR soci/soci.h)
find_library(Soci_LIBRARY soci_core)
mark_as_advanced(Soci_INCLUDE_DIR Soci_LIBRARY)
if(Soci_INCLUDE_DIR)
  file(STRINGS "${Soci_INCLUDE_DIR}/soci/version.h" version REGEX "^#define SOCI_LIB_VERSION \"")
  string(REGEX REPLACE ".*\"([0-9_]+).*" "\\1" version "${version}")
  string(REPLACE "_" "." Soci_VERSION "${version}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Soci
  REQUIRED_VARS Soci_LIBRARY Soci_INCLUDE_DIR VERSION_VAR Soci_VERSION)
if(Soci_FOUND AND NOT TARGET Soci::soci)
  add_library(Soci::soci UNKNOWN IMPORTED)
  set_target_properties(Soci::soci PROPERTIES
    IMPORTED_LOCATION "${Soci_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${Soci_INCLUDE_DIR}")
endif()
