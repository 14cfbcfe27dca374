# SPDX-License-Identifier: Apache-2.0
# The headers of the plugin interface under their public names: ops/plugin/bench_plugin*.h* become
# <bench/plugin*.h*>, in ${BENCH_PLUGIN_INCLUDE}.

set(BENCH_PLUGIN_INCLUDE "${PROJECT_BINARY_DIR}/plugin_include")
set(BENCH_PLUGIN_HEADERS "")
foreach(name IN ITEMS plugin.h plugin_operator.hpp plugin_kernel.hpp plugin.hpp)
  set(source "${PROJECT_SOURCE_DIR}/ops/plugin/bench_${name}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
  file(READ "${source}" text)
  string(REPLACE "\"ops/plugin/bench_" "\"bench/" text "${text}")
  file(CONFIGURE OUTPUT "${BENCH_PLUGIN_INCLUDE}/bench/${name}" @ONLY CONTENT [[@text@]])
  list(APPEND BENCH_PLUGIN_HEADERS "${BENCH_PLUGIN_INCLUDE}/bench/${name}")
endforeach()

# What a plugin needs: the headers and C++17.
add_library(bench_plugin_interface INTERFACE)
add_library(bench::plugin ALIAS bench_plugin_interface)
target_include_directories(bench_plugin_interface INTERFACE
  "$<BUILD_INTERFACE:${BENCH_PLUGIN_INCLUDE}>" "$<INSTALL_INTERFACE:include>")
target_compile_features(bench_plugin_interface INTERFACE cxx_std_17)
set_target_properties(bench_plugin_interface PROPERTIES EXPORT_NAME plugin)
