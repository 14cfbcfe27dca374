# SPDX-License-Identifier: Apache-2.0
# ClangFuzzer_EXECUTABLE: a clang++ 14 with the run-time library of libFuzzer.
find_program(ClangFuzzer_EXECUTABLE clang++-14)
mark_as_advanced(ClangFuzzer_EXECUTABLE)
set(ClangFuzzer_RUNTIME "")
if(ClangFuzzer_EXECUTABLE)
  execute_process(COMMAND "${ClangFuzzer_EXECUTABLE}" --print-resource-dir
    OUTPUT_VARIABLE resources OUTPUT_STRIP_TRAILING_WHITESPACE)
  file(GLOB ClangFuzzer_RUNTIME "${resources}/lib/linux/libclang_rt.fuzzer-*.a")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ClangFuzzer
  REQUIRED_VARS ClangFuzzer_EXECUTABLE ClangFuzzer_RUNTIME)
