// SPDX-License-Identifier: Apache-2.0
// What the driver calls in cuInit, where CUDA_INJECTION64_PATH names this library. The program must
// not notice: nothing is thrown, nothing printed, and whatever goes wrong is told in the file.
#include "ops/cuda/injection/settings.hpp"
#include "ops/cuda/injection/traced_process.hpp"
#include "ops/cuda/library_search.hpp"
#include "ops/cuda/runtime/cupti_tracer.hpp"

#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <unistd.h>

namespace bench::ops::cuda {
namespace {

// A thread that is inside of a driver which another one left locked never comes back.
constexpr Nanoseconds kPatience = std::chrono::seconds(10);

std::optional<std::string> variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

std::string own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0) return {};
  return std::filesystem::path(info.dli_fname).parent_path().string();
}

struct Injection {
  Injection(GpuSpoolWriter file, const InjectionSettings& settings)
      : pid(getpid()), process(std::move(file)) {
    CuptiOptions options;
    options.groups = settings.groups;
    process.begin(
        [] { return load_cupti(cupti_candidates(library_search_path(variable, own_folder()))); },
        options, CuptiProcess::current());
    if (process.traces()) dumps.emplace(process, settings.dump_period);
  }

  const pid_t pid;
  TracedProcess process;
  std::optional<DumpThread> dumps;
};

// Of the one program; never destroyed, since its thread may outlive the destructors of libraries.
Injection*& injection() {
  static Injection* current = nullptr;
  return current;
}

// After fork the child runs the same handlers, and has no CUDA.
void end_session() {
  Injection* const current = injection();
  if (current == nullptr || current->pid != getpid() || !current->dumps) return;
  try {
    if (current->dumps->stop(kPatience)) current->process.end();
  } catch (const std::exception&) {
    // The file has no end, which says enough.
  }
}

void begin_session() {
  if (injection() != nullptr) return;
  const auto settings = injection_settings(variable);
  if (!settings) return;
  auto file = GpuSpoolWriter::create(settings->spool, getpid());
  if (!file.ok()) return;
  injection() = new Injection(std::move(file).value(), *settings);
  // Now, after CUPTI has been loaded: handlers run in the opposite order.
  if (injection()->dumps) std::atexit(end_session);
}

}  // namespace
}  // namespace bench::ops::cuda

// 1: initialised. Anything else might end in an error of cuInit, which is none of ours to make.
extern "C" __attribute__((visibility("default"))) int
InitializeInjection() {  // NOLINT: CUDA's name
  try {
    bench::ops::cuda::begin_session();
  } catch (const std::exception&) {
    return 1;
  }
  return 1;
}
