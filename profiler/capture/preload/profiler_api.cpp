// SPDX-License-Identifier: Apache-2.0
// The calls by which a CUDA program says which part of it is to be profiled. They stand before the
// CUDA runtime's and driver's where these are shared libraries that the program links, and go on to
// them.
#include "profiler/capture/preload/module.hpp"
#include "profiler/capture/preload/process.hpp"
#include "profiler/capture/preload/spool.hpp"

#include <dlfcn.h>

#define BENCH_EXPORT __attribute__((visibility("default")))

namespace bench::capture {
namespace {

// Of both, cudaError_t and CUresult: there is no such library in the process.
constexpr int kNotSupported = 801;

// The runtime may have been loaded in a scope of its own, where RTLD_NEXT does not look. Another
// capture library that looks for the function in the same way may find ours.
__thread bool calling __attribute__((tls_model("initial-exec"))) = false;

int call(const char* name) {
  using Function = int();
  void* next = dlsym(RTLD_NEXT, name);
  if (next == nullptr && !calling) next = find_function(name);
  if (next == nullptr) return kNotSupported;
  const bool before = calling;
  calling = true;
  const int status = reinterpret_cast<Function*>(next)();
  calling = before;
  return status;
}

// The call itself takes long where a tool listens: it is no part of the window.
int begin(const char* name) {
  const int status = call(name);
  note_fork();
  write_record("profiler_start", {}, {});
  return status;
}

int end(const char* name) {
  note_fork();
  write_record("profiler_stop", {}, {});
  return call(name);
}

}  // namespace
}  // namespace bench::capture

// NOLINTBEGIN(readability-identifier-naming): the names of the interposed functions
extern "C" {
BENCH_EXPORT int cudaProfilerStart() { return bench::capture::begin("cudaProfilerStart"); }
BENCH_EXPORT int cudaProfilerStop() { return bench::capture::end("cudaProfilerStop"); }
BENCH_EXPORT int cuProfilerStart() { return bench::capture::begin("cuProfilerStart"); }
BENCH_EXPORT int cuProfilerStop() { return bench::capture::end("cuProfilerStop"); }
}
// NOLINTEND(readability-identifier-naming)
