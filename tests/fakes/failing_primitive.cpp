// SPDX-License-Identifier: Apache-2.0
// A library for LD_PRELOAD that makes oneDNN fail only in the profiling pass. Only that pass sets
// oneDNN to print. From then on, BENCH_FAIL_AFTER executions succeed, and all later ones fail.
#include <oneapi/dnnl/dnnl.h>

#include <atomic>
#include <cstdlib>
#include <dlfcn.h>

namespace {

std::atomic<bool> printing{false};
std::atomic<int> executed{0};

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" dnnl_status_t dnnl_set_verbose(int level) {
  if (level > 0) printing = true;
  return next<decltype(dnnl_set_verbose)>("dnnl_set_verbose")(level);
}

extern "C" dnnl_status_t dnnl_primitive_execute(const_dnnl_primitive_t primitive,
                                                dnnl_stream_t stream, int count,
                                                const dnnl_exec_arg_t* arguments) {
  const char* const successes = std::getenv("BENCH_FAIL_AFTER");
  if (printing && successes != nullptr && executed++ >= std::atoi(successes))
    return dnnl_runtime_error;
  return next<decltype(dnnl_primitive_execute)>("dnnl_primitive_execute")(primitive, stream, count,
                                                                          arguments);
}
