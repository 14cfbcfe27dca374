// SPDX-License-Identifier: Apache-2.0
// Interposes the calls with which a CUDA program selects the part to be profiled. These definitions
// precede those of the CUDA runtime and driver if the program links them as shared libraries, and
// forward to them.
#include "profiler/capture/preload/module.hpp"
#include "profiler/capture/preload/spool.hpp"

#include <dlfcn.h>

#define BENCH_EXPORT __attribute__((visibility("default")))

namespace bench::capture {
namespace {

// The same value in cudaError_t and CUresult. Returned if the process contains no such library.
constexpr int kNotSupported = 801;

// The runtime may have been loaded in a separate scope, which RTLD_NEXT does not search. Another
// capture library that searches in the same way may find this library's function; `calling` then
// ends the recursion.
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

// If a tool listens, the call itself takes long, so it is not part of the window.
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
