# SPDX-License-Identifier: Apache-2.0
# cmake --install and the Debian package: the program with man page, completion, configurations and
# manual, and in lib/bench its own libdnnl.so.3 with its notices.

if(NOT TARGET bench)
  return()
endif()
include(GNUInstallDirs)

install(TARGETS bench RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")

# The library that `bench profile` preloads, in the folder of libdnnl.so.3.
install(TARGETS bench_capture_preload LIBRARY DESTINATION lib/bench)
# The plugin that workers load for cases on a GPU; NVIDIA's libraries are found at run time
# (docs/cuda.md).
if(TARGET bench_cuda_plugin)
  install(TARGETS bench_cuda_plugin LIBRARY DESTINATION lib/bench)
endif()
# The library that the CUDA driver loads into programs under `bench profile`.
if(TARGET bench_cuda_injection)
  install(TARGETS bench_cuda_injection LIBRARY DESTINATION lib/bench)
endif()

# The profiler as a library of other programs, with its CMake package. Install it separately with
# `cmake --install BUILD --component profiler`.
install(TARGETS bench_profile EXPORT bench-targets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT profiler
  NAMELINK_COMPONENT profiler)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/profiler/user/include/bench"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT profiler)
set(bench_package "${CMAKE_INSTALL_LIBDIR}/cmake/bench")
install(EXPORT bench-targets NAMESPACE bench:: DESTINATION "${bench_package}" COMPONENT profiler)

# The plugin interface, and the example of docs/plugins.md.
install(FILES ${BENCH_PLUGIN_HEADERS} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/bench"
  COMPONENT plugin)
install(TARGETS bench_plugin_interface EXPORT bench-plugin-targets COMPONENT plugin)
install(EXPORT bench-plugin-targets NAMESPACE bench:: DESTINATION "${bench_package}"
  COMPONENT plugin)

# The package for CMake provides the target of each component that is installed, and so do the files
# for pkg-config. Their folder may be deeper than lib/pkgconfig, as on Debian: lib/x86_64-linux-gnu.
file(RELATIVE_PATH to_prefix "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" to_prefix "${to_prefix}")
foreach(component IN ITEMS profiler plugin)
  install(FILES "${PROJECT_SOURCE_DIR}/profiler/user/bench-config.cmake"
    "${PROJECT_BINARY_DIR}/profiler/user/bench-config-version.cmake"
    DESTINATION "${bench_package}" COMPONENT ${component})
  set(libraries "")
  if(component STREQUAL "profiler")
    set(libraries "-L\${libdir} -lbench_profile")
  endif()
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/bench-${component}.pc" @ONLY CONTENT
[[prefix=${pcfiledir}/@to_prefix@
libdir=${prefix}/@CMAKE_INSTALL_LIBDIR@
includedir=${prefix}/@CMAKE_INSTALL_INCLUDEDIR@

Name: bench-@component@
Description: @PROJECT_DESCRIPTION@ (@component@)
Version: @PROJECT_VERSION@
Cflags: -I${includedir}
Libs: @libraries@
]])
  install(FILES "${PROJECT_BINARY_DIR}/bench-${component}.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT ${component})
endforeach()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples" DESTINATION "${CMAKE_INSTALL_DATADIR}/bench"
  COMPONENT plugin)

# The program writes its own man page and completion.
set(documents "${PROJECT_BINARY_DIR}/documents")
file(MAKE_DIRECTORY "${documents}")
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  message(STATUS "Without man page and completion: the program writes them, and cannot run here "
    "(CMAKE_CROSSCOMPILING_EMULATOR)")
else()
  add_custom_command(
    OUTPUT "${documents}/bench.1.gz" "${documents}/bench.bash" "${documents}/_bench"
    COMMAND bench manual > "${documents}/bench.1"
    COMMAND gzip -9nf "${documents}/bench.1"
    COMMAND bench completion bash > "${documents}/bench.bash"
    COMMAND bench completion zsh > "${documents}/_bench"
    DEPENDS bench
    COMMENT "Writing man page and completion"
    VERBATIM)
  add_custom_target(bench_documents ALL DEPENDS "${documents}/bench.1.gz")
  install(FILES "${documents}/bench.1.gz" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
  install(FILES "${documents}/bench.bash"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME bench)
  install(FILES "${documents}/_bench" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions")
endif()

install(DIRECTORY "${PROJECT_SOURCE_DIR}/configs" DESTINATION "${CMAKE_INSTALL_DATADIR}/bench"
  OPTIONAL)
# In the folders of the checkout, so that links between the documents work.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/ci/recipes" "${PROJECT_SOURCE_DIR}/ci/slurm" "${PROJECT_SOURCE_DIR}/ci/kubernetes"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}/ci" OPTIONAL)
install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
  "${PROJECT_SOURCE_DIR}/CONTRIBUTING.md" "${PROJECT_SOURCE_DIR}/LICENSE"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}" OPTIONAL)

# The licence, and those of other people's code that is compiled in.
set(copyright "${documents}/copyright")
set(notices cli11 nlohmann-json protozero rapidjson)
if(TARGET bench_cuda_plugin)
  list(APPEND notices nvidia-cuda)
endif()
file(READ "${PROJECT_SOURCE_DIR}/LICENSE" text)
file(WRITE "${copyright}" "bench\n\n${text}")
foreach(notice IN LISTS notices)
  file(READ "${PROJECT_SOURCE_DIR}/licenses/${notice}.txt" text)
  file(APPEND "${copyright}" "\n\nCompiled in: ${notice}\n\n${text}")
endforeach()
install(FILES "${copyright}" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# A distribution has a package of oneDNN. Without a copy, the program finds it as every other library.
option(BENCH_BUNDLE_ONEDNN "Install a copy of oneDNN for this program" ON)
get_filename_component(onednn_prefix "${dnnl_DIR}/../../.." ABSOLUTE)
get_target_property(onednn_type DNNL::dnnl TYPE)
if(BENCH_BUNDLE_ONEDNN AND NOT onednn_type STREQUAL "STATIC_LIBRARY")
  install(FILES "$<TARGET_FILE:DNNL::dnnl>" DESTINATION lib/bench RENAME libdnnl.so.3)
endif()
if(BENCH_BUNDLE_ONEDNN OR onednn_type STREQUAL "STATIC_LIBRARY")
  foreach(notice IN ITEMS LICENSE THIRD-PARTY-PROGRAMS)
    set(file "${onednn_prefix}/share/doc/onednn/${notice}")
    if(EXISTS "${file}")
      install(FILES "${file}" DESTINATION lib/bench)
    else()
      message(STATUS "oneDNN comes without ${notice}: an installed copy will lack it")
    endif()
  endforeach()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME bench)
set(CPACK_PACKAGE_VENDOR "bench developers")
# As of Debian's tools. An address of the project would receive the questions about packages of others.
set(packager "a local build <root@localhost>")
if(DEFINED ENV{DEBEMAIL})
  set(packager "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(BENCH_PACKAGE_CONTACT "${packager}" CACHE STRING "Who maintains the package: NAME <ADDRESS>")
set(CPACK_PACKAGE_CONTACT "${BENCH_PACKAGE_CONTACT}")
# The version contains the commit, so that a package manager replaces one by another.
set(CPACK_BENCH_SOURCE_DIR "${PROJECT_SOURCE_DIR}")
set(CPACK_PROJECT_CONFIG_FILE "${CMAKE_CURRENT_LIST_DIR}/package_version.cmake")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION
  "Measures neural-network operators and small networks: how fast, why, and whether they got slower.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
get_filename_component(onednn_folder "${onednn_prefix}/lib" REALPATH)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${onednn_folder}")
include(CPack)
