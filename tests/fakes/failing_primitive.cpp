// SPDX-License-Identifier: Apache-2.0
// A oneDNN for LD_PRELOAD that fails only in the profiling pass. Executions fail once the library
// is set to print, which only that pass does, and after BENCH_FAIL_AFTER of them succeeded.
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
  const char* const good = std::getenv("BENCH_FAIL_AFTER");
  if (printing && good != nullptr && executed++ >= std::atoi(good)) return dnnl_runtime_error;
  return next<decltype(dnnl_primitive_execute)>("dnnl_primitive_execute")(primitive, stream, count,
                                                                          arguments);
}
