// SPDX-License-Identifier: Apache-2.0
// Defines the function that the driver calls in cuInit if CUDA_INJECTION64_PATH names this library.
// The program must not notice the library. The library throws nothing, prints nothing, and writes
// every error to its file.
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

// How long the exit handler waits for a dump to end. A dump never ends if another thread left the
// driver locked.
constexpr Nanoseconds kGracePeriod = std::chrono::seconds(10);

std::optional<std::string> read_variable(const std::string& name) {
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
        [] {
          return load_cupti(cupti_candidates(library_search_path(read_variable, own_folder())));
        },
        options, CuptiProcess::current());
    if (process.is_tracing()) dumps.emplace(process, settings.dump_period);
  }

  const pid_t pid;
  TracedProcess process;
  std::optional<DumpThread> dumps;
};

// Returns the injection of this process. It is never destroyed, because its thread may run after
// the destructors of libraries.
Injection*& injection() {
  static Injection* current = nullptr;
  return current;
}

// The exit handler. A forked child runs this handler too, but cannot use CUDA. Comparing the
// process ids excludes the child.
void end_session() {
  Injection* const current = injection();
  if (current == nullptr || current->pid != getpid() || !current->dumps) return;
  try {
    if (current->dumps->stop(kGracePeriod)) current->process.end();
  } catch (const std::exception&) {
    // The file then lacks session_end, which shows the failure.
  }
}

void begin_session() {
  if (injection() != nullptr) return;
  const auto settings = injection_settings(read_variable);
  if (!settings) return;
  auto file = GpuSpoolWriter::create(settings->spool, getpid());
  if (!file.ok()) return;
  injection() = new Injection(std::move(file).value(), *settings);
  // Registered after CUPTI is loaded, because exit handlers run in the opposite order.
  if (injection()->dumps) std::atexit(end_session);
}

}  // namespace
}  // namespace bench::ops::cuda

// 1 means initialised. Any other value might make cuInit fail, which this library must not do.
extern "C" __attribute__((visibility("default"))) int
InitializeInjection() {  // NOLINT: CUDA's name
  try {
    bench::ops::cuda::begin_session();
  } catch (const std::exception&) {
    return 1;
  }
  return 1;
}
