// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/profiler_window.hpp"

#include <dlfcn.h>

namespace bench {
namespace {

ProfilerCalls calls_of(void* library) {
  using Call = int (*)();
  return {reinterpret_cast<Call>(::dlsym(library, "cuProfilerStart")),
          reinterpret_cast<Call>(::dlsym(library, "cuProfilerStop"))};
}

bool complete(const ProfilerCalls& calls) {
  return calls.start != nullptr && calls.stop != nullptr;
}

}  // namespace

std::optional<ProfilerCalls> profiler_calls() {
  if (const ProfilerCalls calls = calls_of(RTLD_DEFAULT); complete(calls)) return calls;
  // CUDA's runtime loads the driver privately, so its names are not in the global scope.
  void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return std::nullopt;
  const ProfilerCalls calls = calls_of(driver);
  ::dlclose(driver);  // its first user still holds it
  return complete(calls) ? std::optional(calls) : std::nullopt;
}

ProfilerWindow::ProfilerWindow(const std::optional<ProfilerCalls>& calls) : calls_(calls) {
  if (calls_) calls_->start();
}

ProfilerWindow::~ProfilerWindow() {
  if (calls_) calls_->stop();
}

}  // namespace bench
