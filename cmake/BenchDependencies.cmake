# SPDX-License-Identifier: Apache-2.0
# Searches for everything that the build needs and reports all missing packages, with the one
# command that installs them.

set(bench_missing_packages "")
set(bench_missing_text "")

# bench_need(<find_package name> [<version>] DEBIAN <package>...)
macro(bench_need package)
  cmake_parse_arguments(need "" "" "DEBIAN" ${ARGN})
  find_package(${package} ${need_UNPARSED_ARGUMENTS} QUIET)
  if(NOT ${package}_FOUND)
    list(APPEND bench_missing_packages ${need_DEBIAN})
    list(JOIN need_DEBIAN ", " bench_names)
    string(APPEND bench_missing_text "\n  ${package} (Debian: ${bench_names})")
  endif()
endmacro()

bench_need(Threads DEBIAN libc6-dev)
bench_need(OpenMP DEBIAN g++)
bench_need(fmt 9 DEBIAN libfmt-dev)
bench_need(nlohmann_json 3.11 DEBIAN nlohmann-json3-dev)
bench_need(yaml-cpp 0.7 DEBIAN libyaml-cpp-dev)
bench_need(CLI11 2.1 DEBIAN libcli11-dev)
bench_need(benchmark 1.7 DEBIAN libbenchmark-dev)
bench_need(Hwloc 2 DEBIAN libhwloc-dev)
bench_need(Protozero 1.7 DEBIAN libprotozero-dev)
bench_need(RapidJSON DEBIAN rapidjson-dev)
bench_need(SQLite3 3.31 DEBIAN libsqlite3-dev)
bench_need(ZLIB DEBIAN zlib1g-dev)
if(BENCH_TESTS)
  bench_need(GTest 1.12 DEBIAN libgtest-dev libgmock-dev)
  bench_need(valijson DEBIAN libvalijson-dev)
  bench_need(ClangFuzzer DEBIAN clang-14 libclang-rt-14-dev)
endif()

# oneDNN: any 3.x in CMAKE_PREFIX_PATH, else the pinned one that ci/setup puts into build/.
set(BENCH_DEFAULT_ONEDNN "${PROJECT_SOURCE_DIR}/build/deps/venv" CACHE PATH
  "Where ci/setup puts the default oneDNN")
find_package(dnnl 3 CONFIG QUIET PATHS "${BENCH_DEFAULT_ONEDNN}")
if(NOT dnnl_FOUND)
  string(APPEND bench_missing_text
    "\n  oneDNN 3.x (PyPI package onednn-devel-cpu-gomp; an installed one: -DCMAKE_PREFIX_PATH=DIR)")
  foreach(config version IN ZIP_LISTS dnnl_CONSIDERED_CONFIGS dnnl_CONSIDERED_VERSIONS)
    string(APPEND bench_missing_text
      "\n    found oneDNN ${version}, which is not supported (Debian 12's libdnnl-dev is 2.6): "
      "${config}")
  endforeach()
endif()

# Only headers: from a CUDA toolkit, else the pinned ones that ci/setup puts into build/.
find_package(Nvtx3 QUIET)
if(NOT Nvtx3_FOUND)
  string(APPEND bench_missing_text
    "\n  NVTX 3 headers (PyPI package nvidia-nvtx; installed ones: -DNvtx3_INCLUDE_DIR=DIR)")
endif()

if(bench_missing_text)
  set(commands "")
  if(bench_missing_packages)
    list(JOIN bench_missing_packages " " packages)
    string(APPEND commands "\n  sudo apt-get install --yes --no-install-recommends ${packages}")
  endif()
  if(NOT dnnl_FOUND)
    string(APPEND commands "\n  ${PROJECT_SOURCE_DIR}/ci/setup --onednn")
  endif()
  if(NOT Nvtx3_FOUND)
    string(APPEND commands "\n  ${PROJECT_SOURCE_DIR}/ci/setup --build")
  endif()
  message(FATAL_ERROR "Missing dependencies:${bench_missing_text}\nInstall with:${commands}\n"
    "or everything at once with ${PROJECT_SOURCE_DIR}/ci/setup")
endif()
# Debian's package of RapidJSON 1.1 has no target.
if(NOT TARGET rapidjson)
  add_library(rapidjson INTERFACE IMPORTED)
  target_include_directories(rapidjson SYSTEM INTERFACE ${RAPIDJSON_INCLUDE_DIRS})
endif()
message(STATUS "oneDNN ${dnnl_VERSION}: ${dnnl_DIR}")

# Debian's package of yaml-cpp 0.7 exports the target without a namespace.
if(NOT TARGET yaml-cpp)
  add_library(yaml-cpp ALIAS yaml-cpp::yaml-cpp)
endif()

# Only `bench history --db` needs it; a program without it says so.
find_package(Soci 4 QUIET)
if(Soci_FOUND)
  message(STATUS "SOCI ${Soci_VERSION}: ${Soci_LIBRARY}")
else()
  message(STATUS "Without databases (bench history --db): no SOCI 4 (Debian: libsoci-dev)")
endif()
