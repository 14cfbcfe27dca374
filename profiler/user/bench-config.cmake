# SPDX-License-Identifier: Apache-2.0
# find_package(bench) provides the targets of the components that are installed: bench::profiler, the
# profiler for other programs (bench/profiler.hpp), and bench::plugin, the headers of the plugin
# interface (bench/plugin.hpp).
include("${CMAKE_CURRENT_LIST_DIR}/bench-targets.cmake" OPTIONAL)
include("${CMAKE_CURRENT_LIST_DIR}/bench-plugin-targets.cmake" OPTIONAL)
foreach(bench_component IN LISTS bench_FIND_COMPONENTS)
  if(TARGET bench::${bench_component})
    set(bench_${bench_component}_FOUND TRUE)
  elseif(bench_FIND_REQUIRED_${bench_component})
    set(bench_FOUND FALSE)
    set(bench_NOT_FOUND_MESSAGE "the component ${bench_component} of bench is not installed")
  endif()
endforeach()
