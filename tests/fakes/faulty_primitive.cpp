// SPDX-License-Identifier: Apache-2.0
// A library for LD_PRELOAD that makes oneDNN's matrix multiplications fail. From execution number
// BENCH_FAULT_AFTER of a process on, each does what BENCH_FAULT requests: crash, hang, wrong, or
// interrupt (Ctrl-C for the parent process).
#include <oneapi/dnnl/dnnl.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <string_view>
#include <unistd.h>

namespace {

std::atomic<int> executed{0};

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool is_matmul(const_dnnl_primitive_t primitive) {
  const_dnnl_primitive_desc_t descriptor = nullptr;
  dnnl_primitive_kind_t kind = dnnl_undefined_primitive;
  return dnnl_primitive_get_primitive_desc(primitive, &descriptor) == dnnl_success &&
         dnnl_primitive_desc_query(descriptor, dnnl_query_primitive_kind, 0, &kind) ==
             dnnl_success &&
         kind == dnnl_matmul;
}

void spoil_output(int count, const dnnl_exec_arg_t* arguments) {
  for (int i = 0; i < count; ++i) {
    void* data = nullptr;
    if (arguments[i].arg != DNNL_ARG_DST) continue;
    if (dnnl_memory_get_data_handle(arguments[i].memory, &data) != dnnl_success) continue;
    *static_cast<float*>(data) += 1000;
  }
}

void die() {
  std::signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would exit instead of dying
  std::raise(SIGSEGV);
}

}  // namespace

extern "C" dnnl_status_t dnnl_primitive_execute(const_dnnl_primitive_t primitive,
                                                dnnl_stream_t stream, int count,
                                                const dnnl_exec_arg_t* arguments) {
  const char* const fault = std::getenv("BENCH_FAULT");
  const char* const after = std::getenv("BENCH_FAULT_AFTER");
  const bool strikes = fault != nullptr && after != nullptr && is_matmul(primitive) &&
                       executed++ >= std::atoi(after);
  const std::string_view what = strikes ? fault : "";
  if (what == "crash") die();
  if (what == "interrupt") kill(getppid(), SIGINT);
  while (what == "hang") pause();
  const dnnl_status_t status = next<decltype(dnnl_primitive_execute)>("dnnl_primitive_execute")(
      primitive, stream, count, arguments);
  if (what == "wrong") spoil_output(count, arguments);
  return status;
}
