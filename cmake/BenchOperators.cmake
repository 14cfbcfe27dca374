# SPDX-License-Identifier: Apache-2.0
# The libraries bench_ops (operators), bench_backend (the interface to any library, plugins),
# bench_onednn (the interface to oneDNN), bench_native (loops of this program) and bench_blas
# (libraries of matrix products, loaded at run time); only workers call the last four.
# ops/CMakeLists.txt has one line per operator:
#
#   bench_operator(conv onednn)      # ops/conv/op.cpp, its other files and ops/conv/onednn.cpp
#   bench_operator(softmax onednn cuda_native kernel)
#   bench_operators()
#
# The words name further files of the operator's folder: onednn.cpp, its kernel in oneDNN;
# cudnn.cpp, its graph in cuDNN and what cuDNN lacks (in the library of ops/cuda/cudnn);
# cuda_native.cpp, its native form on a CUDA device, and kernel.cu, the native kernel that is only
# its own (in the libraries of ops/cuda/kernels). The word cpu_rows says that cuda_native.cpp has a
# row kernel that backend `native` also runs on the CPU (ops/cuda/kernels/cpu_rows.hpp).
#
# The tables of operators, of kernels, of the operators' verbose lines in oneDNN (ops/<op>/verbose.cpp,
# if it exists) and of the functions of frameworks that they compute (ops/<op>/framework.cpp, if it
# exists) are generated from these lines, in their order.

set(BENCH_KNOWN_BACKENDS onednn cudnn cuda_native kernel cpu_rows)
set(BENCH_BACKEND_FILE_kernel kernel.cu)
set(BENCH_BACKEND_FILE_cpu_rows cuda_native.cpp)
# The libraries bench_ops, bench_backend and bench_onednn do not contain their files.
set(BENCH_BACKENDS_ON_CUDA cudnn cuda_native kernel)

# The options of sources with the word cpu_rows: the compiler vectorises their loops and may add in
# any order. Neither the build type nor a sanitizer changes them. With -O3 they take a fifteenth of
# CI's time to build, which measures nothing with them.
set(bench_vector_optimisation "$<IF:$<BOOL:${BENCH_QUICK_BUILD}>,-O1,-O3>")
set(BENCH_VECTOR_OPTIONS
  "${bench_vector_optimisation};-fno-math-errno;-fno-trapping-math;-fno-signed-zeros;-fassociative-math;-fno-sanitize=all")

# Folders of ops/ that are not operators.
set(BENCH_SHARED_FOLDERS backend blas native onednn network plugin recurrent tensor_core)

# The name of the file that a word of bench_operator() stands for.
function(bench_backend_file backend result)
  if(BENCH_BACKEND_FILE_${backend})
    set(${result} "${BENCH_BACKEND_FILE_${backend}}" PARENT_SCOPE)
  else()
    set(${result} "${backend}.cpp" PARENT_SCOPE)
  endif()
endfunction()

# bench_operator(<name> [<backend>...]): adds the operator in the folder <name> and its kernels.
function(bench_operator name)
  set(folder "${CMAKE_CURRENT_SOURCE_DIR}/${name}")
  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.cpp")
  if(NOT "${folder}/op.cpp" IN_LIST sources)
    message(FATAL_ERROR "bench_operator(${name}): ops/${name}/op.cpp is missing")
  endif()
  foreach(backend IN LISTS ARGN)
    if(NOT backend IN_LIST BENCH_KNOWN_BACKENDS)
      message(FATAL_ERROR "bench_operator(${name}): unknown backend '${backend}', "
        "known: ${BENCH_KNOWN_BACKENDS}")
    endif()
    bench_backend_file(${backend} file)
    if(NOT EXISTS "${folder}/${file}")
      message(FATAL_ERROR "bench_operator(${name} ${backend}): ops/${name}/${file} is missing")
    endif()
    set_property(DIRECTORY APPEND PROPERTY BENCH_KERNELS_${backend} ${name})
  endforeach()
  foreach(backend IN LISTS BENCH_KNOWN_BACKENDS)
    set(files ${sources})
    list(FILTER files INCLUDE REGEX "/${backend}(_test)?\\.cpp$")
    if(backend IN_LIST ARGN AND backend IN_LIST BENCH_BACKENDS_ON_CUDA)
      set_property(DIRECTORY APPEND PROPERTY BENCH_SOURCES_${backend} ${files})
    endif()
    if(NOT backend IN_LIST ARGN OR backend IN_LIST BENCH_BACKENDS_ON_CUDA)
      list(REMOVE_ITEM sources ${files})
    endif()
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY BENCH_OPERATORS ${name})
  foreach(table IN ITEMS verbose framework)
    if("${folder}/${table}.cpp" IN_LIST sources)
      string(TOUPPER "${table}" upper)
      set_property(DIRECTORY APPEND PROPERTY BENCH_${upper}_OPERATORS ${name})
    endif()
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY BENCH_OPERATOR_SOURCES ${sources})
endfunction()

# bench_operators_with(<backend> <names> SOURCES <variable> TESTS <variable>): sets the variables to
# the operators whose line in ops/CMakeLists.txt has the word, and to these files of their folders.
function(bench_operators_with backend names)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "SOURCES;TESTS" "")
  get_property(operators DIRECTORY "${PROJECT_SOURCE_DIR}/ops" PROPERTY BENCH_KERNELS_${backend})
  get_property(sources DIRECTORY "${PROJECT_SOURCE_DIR}/ops" PROPERTY BENCH_SOURCES_${backend})
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  set(${names} ${operators} PARENT_SCOPE)
  set(${arg_SOURCES} ${sources} PARENT_SCOPE)
  set(${arg_TESTS} ${tests} PARENT_SCOPE)
endfunction()

# Writes the table `<function>()` over objects `<name><suffix>` of `type`, for `names` in order, in
# `namespace` (default bench::ops).
function(bench_write_table file)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "HEADER;TYPE;FUNCTION;SUFFIX;NAMESPACE" "NAMES")
  if(NOT arg_NAMESPACE)
    set(arg_NAMESPACE bench::ops)
  endif()
  set(declarations "")
  set(rows "")
  foreach(name IN LISTS arg_NAMES)
    string(APPEND declarations "extern const ${arg_TYPE} ${name}${arg_SUFFIX};\n")
    string(APPEND rows "    &${name}${arg_SUFFIX},\n")
  endforeach()
  list(LENGTH arg_NAMES count)
  file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT [[
// Generated from ops/CMakeLists.txt.
#include "@arg_HEADER@"

#include <array>
#include <span>

namespace @arg_NAMESPACE@ {

@declarations@
std::span<const @arg_TYPE@* const> @arg_FUNCTION@() {
  static constexpr std::array<const @arg_TYPE@*, @count@> kTable = {
@rows@  };
  return kTable;
}

}  // namespace @arg_NAMESPACE@
]])
endfunction()

# bench_operators(): creates these libraries and ops_test from the lines above and from all shared
# files.
function(bench_operators)
  get_property(operators DIRECTORY PROPERTY BENCH_OPERATORS)
  get_property(verbose_operators DIRECTORY PROPERTY BENCH_VERBOSE_OPERATORS)
  get_property(framework_operators DIRECTORY PROPERTY BENCH_FRAMEWORK_OPERATORS)
  get_property(onednn_kernels DIRECTORY PROPERTY BENCH_KERNELS_onednn)
  get_property(sources DIRECTORY PROPERTY BENCH_OPERATOR_SOURCES)
  set(patterns "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  foreach(folder IN LISTS BENCH_SHARED_FOLDERS)
    list(APPEND patterns "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp")
  endforeach()
  file(GLOB shared CONFIGURE_DEPENDS ${patterns})
  list(APPEND sources ${shared})

  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  bench_write_table("${CMAKE_CURRENT_BINARY_DIR}/operators_table.cpp"
    HEADER ops/operator.hpp TYPE Operator FUNCTION all_operators SUFFIX _operator
    NAMES ${operators})
  bench_write_table("${CMAKE_CURRENT_BINARY_DIR}/onednn_table.cpp"
    HEADER ops/onednn/primitive.hpp TYPE OnednnKernelEntry FUNCTION onednn_kernels
    SUFFIX _onednn_kernel NAMES ${onednn_kernels})
  bench_write_table("${CMAKE_CURRENT_BINARY_DIR}/verbose_table.cpp"
    HEADER ops/verbose.hpp TYPE VerboseMapping FUNCTION verbose_mappings SUFFIX _verbose
    NAMES ${verbose_operators})
  bench_write_table("${CMAKE_CURRENT_BINARY_DIR}/framework_table.cpp"
    HEADER ops/framework_row.hpp TYPE FrameworkMapping FUNCTION framework_mappings SUFFIX _framework
    NAMES ${framework_operators})
  list(APPEND sources "${CMAKE_CURRENT_BINARY_DIR}/operators_table.cpp"
    "${CMAKE_CURRENT_BINARY_DIR}/onednn_table.cpp" "${CMAKE_CURRENT_BINARY_DIR}/verbose_table.cpp"
    "${CMAKE_CURRENT_BINARY_DIR}/framework_table.cpp")
  set(onednn ${sources})
  set(onednn_files "/onednn/[^/]*$|/onednn[^/]*\\.cpp$")
  list(FILTER onednn INCLUDE REGEX "${onednn_files}")
  list(FILTER sources EXCLUDE REGEX "${onednn_files}")
  set(backend ${sources})
  set(backend_files "/(backend|plugin)/[^/]*$")
  list(FILTER backend INCLUDE REGEX "${backend_files}")
  list(FILTER sources EXCLUDE REGEX "${backend_files}")
  set(blas ${sources})
  set(blas_files "/blas/[^/]*$")
  list(FILTER blas INCLUDE REGEX "${blas_files}")
  list(FILTER sources EXCLUDE REGEX "${blas_files}")
  set(native ${sources})
  set(native_files "/native/[^/]*$")
  list(FILTER native INCLUDE REGEX "${native_files}")
  list(FILTER sources EXCLUDE REGEX "${native_files}")
  # Neither the build type nor a sanitizer may change the loops, and GNU OpenMP is not compiled with
  # the thread sanitizer.
  set_source_files_properties(native/arithmetic.cpp native/movement.cpp PROPERTIES
    SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS "-O2;-fno-tree-vectorize;-fno-sanitize=all")
  set_source_files_properties(native/backend.cpp PROPERTIES
    SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS "${OpenMP_CXX_FLAGS};-fno-sanitize=thread")
  bench_add_library(ops DEPENDS profiler SOURCES ${sources})
  bench_add_library(backend DEPENDS ops LINK ${CMAKE_DL_LIBS} SOURCES ${backend})
  bench_add_library(onednn DEPENDS backend LINK DNNL::dnnl SOURCES ${onednn})
  bench_add_library(blas DEPENDS backend LINK ${OpenMP_CXX_LIBRARIES} SOURCES ${blas})
  bench_add_library(native DEPENDS backend cuda_kernels version LINK ${OpenMP_CXX_LIBRARIES} SOURCES ${native})
  bench_add_tests(ops LIBRARIES bench_onednn bench_native bench_blas SOURCES ${tests})
endfunction()
