# SPDX-License-Identifier: Apache-2.0
# Which options of the compiler are part of the machine class. Run by ctest with cmake -P.
cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/../cmake/BenchFlagsOfSpeed.cmake")

function(expect flags expected)
  bench_flags_of_speed("${flags}" kept)
  if(NOT kept STREQUAL expected)
    message(SEND_ERROR "of `${flags}`, `${kept}` is kept, not `${expected}`")
  endif()
endfunction()

expect("" "")
expect(" -O2 -DNDEBUG" "-O2 -DNDEBUG")
expect("-O1 -g" "-O1")
expect("-march=native  -ffast-math -g1 -ggdb" "-march=native -ffast-math")
# Two versions of a package of Debian are built in two folders.
foreach(folder IN ITEMS bench-0.1.0 bench-0.2.0)
  expect("-g -O2 -ffile-prefix-map=/build/${folder}=. -fstack-protector-strong -Wformat -Werror=format-security -Wdate-time -D_FORTIFY_SOURCE=2 -O2 -DNDEBUG"
    "-O2 -fstack-protector-strong -D_FORTIFY_SOURCE=2 -O2 -DNDEBUG")
endforeach()
# A package of conda-forge.
expect("-fmessage-length=0 -march=nocona -pipe -isystem /home/a/include -fdebug-prefix-map=/home/a/work=/usr/src -fmacro-prefix-map=/a=b -I /x -Iy -O3"
  "-march=nocona -O3")
# -W passes these on, so they may change the program.
expect("-Wall -Wp,-D_FORTIFY_SOURCE=2 -Wa,--noexecstack -Wl,-O1 -Wpedantic -Wlogical-op -W"
  "-Wp,-D_FORTIFY_SOURCE=2 -Wa,--noexecstack -Wl,-O1")
