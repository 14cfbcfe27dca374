# SPDX-License-Identifier: Apache-2.0
# Checks of the sources themselves. Quick ones are tests of ctest. Those that compile are targets that
# are excluded from `all` and built by ci/test:
#   header_check         compiles every header without a source of the same name separately; such a
#                        source would include its header first (check.style)
#   onednn_latest_check  compiles the oneDNN sources with the newest known headers

set(header_sources "")
foreach(folder IN ITEMS base profiler ops harness tests)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
    "${PROJECT_SOURCE_DIR}/${folder}/*.hpp")
  foreach(header IN LISTS headers)
    string(REGEX REPLACE "\\.hpp$" "" stem "${PROJECT_SOURCE_DIR}/${header}")
    if(EXISTS "${stem}.cpp" OR EXISTS "${stem}.cu" OR EXISTS "${stem}_test.cpp")
      continue()
    endif()
    if(header MATCHES "^ops/cuda/(cudnn|cublas|plugin)/" AND NOT TARGET bench_cuda_cudnn)
      continue()  # they include NVIDIA's headers
    endif()
    set(source "${PROJECT_BINARY_DIR}/header_check/${header}.cpp")
    # Twice: the second inclusion fails without `#pragma once`.
    file(CONFIGURE OUTPUT "${source}" @ONLY
      CONTENT "#include \"@header@\"\n#include \"@header@\"\n")
    list(APPEND header_sources "${source}")
  endforeach()
endforeach()
add_library(header_check OBJECT EXCLUDE_FROM_ALL ${header_sources})
target_link_libraries(header_check PRIVATE bench_cli GTest::gmock
  $<TARGET_NAME_IF_EXISTS:bench_cuda_cudnn>)
target_compile_definitions(header_check PRIVATE BENCH_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
  BENCH_BINARY="bench" BENCH_FAKE_GPU="libfake_gpu.so")
target_compile_options(header_check PRIVATE -O0 -g0)

set(latest "${PROJECT_SOURCE_DIR}/build/deps/onednn_latest/include")
if(EXISTS "${latest}/oneapi/dnnl/dnnl.hpp")
  file(GLOB_RECURSE onednn_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/ops/*.cpp")
  list(FILTER onednn_sources INCLUDE REGEX "/onednn(/[^/]+)?\\.cpp$")
  list(FILTER onednn_sources EXCLUDE REGEX "_test\\.cpp$")
  # Otherwise the check could succeed with the headers of the main build.
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/onednn_latest_version.cpp" @ONLY CONTENT [[
#include <oneapi/dnnl/dnnl_version.h>
static_assert(DNNL_VERSION_MAJOR == 3 && DNNL_VERSION_MINOR == 13);
]])
  add_library(onednn_latest_check OBJECT EXCLUDE_FROM_ALL ${onednn_sources}
    "${PROJECT_BINARY_DIR}/onednn_latest_version.cpp")
  target_include_directories(onednn_latest_check SYSTEM BEFORE PRIVATE "${latest}")
  target_link_libraries(onednn_latest_check PRIVATE bench_base)
  target_compile_options(onednn_latest_check PRIVATE -O0 -g0)
else()
  add_custom_target(onednn_latest_check
    COMMAND "${CMAKE_COMMAND}" -E echo "No oneDNN 3.13 headers: run ${PROJECT_SOURCE_DIR}/ci/setup"
    COMMAND "${CMAKE_COMMAND}" -E false)
endif()

function(bench_check name)
  add_test(NAME check.${name} COMMAND ${ARGN} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(check.${name} PROPERTIES LABELS check TIMEOUT 300)
endfunction()

bench_check(layers ci/check_layers.py)
bench_check(layers_self_test ci/check_layers.py --self-test)
bench_check(style ci/check_style.py)
bench_check(style_self_test ci/check_style.py --self-test)
bench_check(language ci/check_language.py)
bench_check(language_self_test ci/check_language.py --self-test)
bench_check(format ci/check_format)
# Without check-jsonschema, which ci/setup installs, ctest lists this check as skipped.
bench_check(recipes ci/check_recipes.py)
set_tests_properties(check.recipes PROPERTIES SKIP_RETURN_CODE 77)
bench_check(recipes_self_test ci/check_recipes.py --self-test)
bench_check(launcher tests/launcher_test.sh "${PROJECT_SOURCE_DIR}/bench")
bench_check(perf_gate tests/perf_gate_test.sh "${PROJECT_SOURCE_DIR}/ci/perf_gate.sh" "${PROJECT_SOURCE_DIR}/bench"
  "${PROJECT_SOURCE_DIR}/ci/recipes")
if(TARGET bench_older)
  bench_check(library_gate tests/library_gate_test.sh "${PROJECT_SOURCE_DIR}/ci/recipes" $<TARGET_FILE:bench_older>
    "${PROJECT_SOURCE_DIR}/build/deps/onednn_older/lib/libdnnl.so.3" $<TARGET_FILE:DNNL::dnnl>)
endif()
bench_check(source_archive tests/source_archive_test.sh)
bench_check(setup tests/setup_test.sh "${PROJECT_SOURCE_DIR}/ci/setup")
bench_check(flags_of_speed "${CMAKE_COMMAND}" -P tests/flags_of_speed_test.cmake)
bench_check(dependencies "${CMAKE_COMMAND}" -DSOURCE_DIR=${PROJECT_SOURCE_DIR}
  -DWORK_DIR=${PROJECT_BINARY_DIR}/dependencies_test -DPREFIX=${dnnl_DIR}/../../..
  -P tests/dependencies_test.cmake)
bench_check(cuda_option "${CMAKE_COMMAND}" -DSOURCE_DIR=${PROJECT_SOURCE_DIR}
  -DWORK_DIR=${PROJECT_BINARY_DIR}/cuda_option_test -DPREFIX=${dnnl_DIR}/../../..
  -DCXX=${CMAKE_CXX_COMPILER} -P tests/cuda_option_test.cmake)
if(TARGET bench_profile AND NOT BENCH_SANITIZE)
  bench_check(plugin_example "${CMAKE_COMMAND}" -DBUILD_DIR=${PROJECT_BINARY_DIR}
    -DBENCH=$<TARGET_FILE:bench> -DWORK_DIR=${PROJECT_BINARY_DIR}/plugin_example
    -DCXX=${CMAKE_CXX_COMPILER} -P tests/plugin_example_test.cmake)
  if(BENCH_CUDA_PLUGIN)
    bench_check(plugin_cuda_example "${CMAKE_COMMAND}" -DBUILD_DIR=${PROJECT_BINARY_DIR}
      -DBENCH=$<TARGET_FILE:bench> -DWORK_DIR=${PROJECT_BINARY_DIR}/plugin_cuda_example
      -DCXX=${CMAKE_CXX_COMPILER} -DCUDA_COMPILER=${CMAKE_CUDA_COMPILER}
      -P tests/plugin_cuda_example_test.cmake)
  endif()
  bench_check(package_example "${CMAKE_COMMAND}" -DBUILD_DIR=${PROJECT_BINARY_DIR}
    -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DWORK_DIR=${PROJECT_BINARY_DIR}/package_example
    -DCXX=${CMAKE_CXX_COMPILER} -P tests/package_example_test.cmake)
endif()
if(TARGET bench AND TARGET bench_onednn_program AND NOT BENCH_SANITIZE)
  bench_check(installed_program "${CMAKE_COMMAND}" -DBUILD_DIR=${PROJECT_BINARY_DIR}
    -DPROGRAM=$<TARGET_FILE:bench_onednn_program>
    -DWORK_DIR=${PROJECT_BINARY_DIR}/installed_program -P tests/installed_program_test.cmake)
endif()
if(TARGET bench AND TARGET bench_capture_preload AND TARGET bench_profile)
  set(bench_cuda_plugins "")
  foreach(plugin IN ITEMS bench_cuda_plugin bench_cuda_injection)
    if(TARGET ${plugin})
      list(APPEND bench_cuda_plugins $<TARGET_FILE:${plugin}>)
    endif()
  endforeach()
  bench_check(cuda_symbols tests/cuda_symbols_test.sh "${CMAKE_READELF}"
    $<TARGET_FILE:bench_capture_preload> $<TARGET_FILE:bench>
    $<TARGET_FILE:bench_profile> -- ${bench_cuda_plugins})
endif()
if(TARGET bench AND NOT BENCH_SANITIZE)
  bench_check(bundle tests/bundle_test.sh "${PROJECT_BINARY_DIR}" "${PROJECT_BINARY_DIR}/bundle_test")
endif()
bench_check(gpu_summary tests/gpu_summary_test.py)
if(TARGET bench_fake_gpu AND TARGET bench_cuda_program AND NOT BENCH_SANITIZE)
  bench_check(gpu_check tests/gpu_check_test.sh "${PROJECT_BINARY_DIR}"
    "${PROJECT_BINARY_DIR}/gpu_check_test")
endif()
bench_check(tidy ci/tidy "${PROJECT_BINARY_DIR}")
# First and alone, because it takes longest and uses every core.
set_tests_properties(check.tidy PROPERTIES TIMEOUT 1200 RUN_SERIAL ON COST 1000)
