# SPDX-License-Identifier: Apache-2.0
# Read by CPack when it packs. A package of a commit that is not a release has the version
# VERSION~TIME+COMMIT: it is newer than the packages of older commits and older than the release.
include("${CPACK_BENCH_SOURCE_DIR}/cmake/source_commit.cmake")
bench_source_commit("${CPACK_BENCH_SOURCE_DIR}" "${CPACK_PACKAGE_VERSION}" COMMIT commit TIME time
  IS_RELEASE is_release)
if(commit AND NOT is_release)
  set(epoch "$ENV{SOURCE_DATE_EPOCH}")
  set(ENV{SOURCE_DATE_EPOCH} "${time}")
  string(TIMESTAMP time "%Y%m%d.%H%M%S" UTC)
  set(ENV{SOURCE_DATE_EPOCH} "${epoch}")
  if(NOT epoch)
    unset(ENV{SOURCE_DATE_EPOCH})
  endif()
  string(REPLACE "-" "." commit "${commit}")  # a hyphen would separate the revision of a distribution
  set(CPACK_PACKAGE_VERSION "${CPACK_PACKAGE_VERSION}~${time}+${commit}")
endif()
