# SPDX-License-Identifier: Apache-2.0
# find_package(bench) provides bench::profiler, the profiler for other programs (bench/profiler.hpp).
include("${CMAKE_CURRENT_LIST_DIR}/bench-targets.cmake")
