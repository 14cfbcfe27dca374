// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/counter_api.hpp"

#include "profiler/cupti/cupti_api.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace bench {
namespace {

constexpr const char* kHostLibrary = "libnvperf_host.so";
constexpr std::string_view kCounterSubject = "GPU counters";

// Same wording as `bench doctor`.
constexpr std::string_view kAllow =
    "load the nvidia module with NVreg_RestrictProfilingToAdminUsers=0, or run with CAP_SYS_ADMIN "
    "(RmProfilingAdminOnly in /proc/driver/nvidia/params shows the setting)";
constexpr std::string_view kOtherProfiler = "end the other profiler";

struct KnownResult {
  CUptiResult result;
  CounterObstacle obstacle;
  std::string_view meaning;
  std::string_view next;
};

using Obstacle = CounterObstacle;

constexpr std::array<KnownResult, 13> kKnownResults = {{
    {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, Obstacle::not_permitted,
     "only administrators may read them (ERR_NVGPUCTRPERM)", kAllow},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, Obstacle::not_permitted,
     "the virtual machine may not read them", "its host can allow profiling of the virtual GPU"},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, Obstacle::not_supported,
     "a virtual GPU has none", "run on a GPU that is passed through"},
    {CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED, Obstacle::not_supported,
     "not while the GPU is partitioned (MIG)", "run on a GPU without MIG"},
    {CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED, Obstacle::not_supported,
     "not with confidential computing", ""},
    {CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED, Obstacle::not_supported, "not on mining processors", ""},
    {CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED, Obstacle::not_supported, "not with SLI", ""},
    {CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED, Obstacle::not_supported, "not in WSL", ""},
    {CUPTI_ERROR_NOT_SUPPORTED, Obstacle::not_supported, "this device or driver has none", ""},
    {CUPTI_ERROR_INVALID_CHIP_NAME, Obstacle::not_supported, "CUPTI does not know this chip",
     "use the CUPTI of a later CUDA"},
    {CUPTI_ERROR_HARDWARE_BUSY, Obstacle::occupied, "another profiler has them", kOtherProfiler},
    {CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, Obstacle::occupied,
     "another profiler is attached to this process", kOtherProfiler},
    {CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED, Obstacle::occupied,
     "another profiler has begun in this process", kOtherProfiler},
}};

Status load_host_library(const std::string& cupti) {
  const std::size_t folder = cupti.rfind('/');
  if (folder != std::string::npos) {
    const std::string beside = cupti.substr(0, folder + 1) + kHostLibrary;
    if (DynamicLibrary::load(beside)) return Done{};
  }
  const auto loaded = DynamicLibrary::load(kHostLibrary);
  if (loaded) return Done{};
  return Error{fmt::format("cannot be read: {}", loaded.error()), std::string(kCounterSubject),
               fmt::format("put {} of the same CUDA version next to {}", kHostLibrary, cupti)};
}

}  // namespace

Result<CounterLibrary> load_counter_library(const CuptiLibrary& cupti) {
  // The library is already loaded and stays loaded.
  const auto loaded = DynamicLibrary::load(cupti.path);
  if (!loaded) return Error{"cannot be loaded again", cupti.path, ""};
  CounterLibrary library{cupti.api, {}, cupti.path};
  const auto missing = find_functions(*loaded, library.api);
  if (!missing.empty()) {
    return Error{fmt::format("has no function {}", missing.front()), library.path,
                 "this CUPTI cannot read counters"};
  }
  BENCH_RETURN_IF_ERROR(load_host_library(cupti.path));
  return library;
}

CounterError counter_error(const CuptiApi& api, std::string_view what, CUptiResult result) {
  const auto* const known =
      std::find_if(kKnownResults.begin(), kKnownResults.end(),
                   [&](const KnownResult& row) { return row.result == result; });
  const std::string said = format_cupti_result(api, result);
  if (known == kKnownResults.end()) {
    return {Obstacle::failed,
            {fmt::format("{}: {}", what, said), std::string(kCounterSubject), ""}};
  }
  return {known->obstacle,
          {fmt::format("{}: {}", known->meaning, said), std::string(kCounterSubject),
           std::string(known->next)}};
}

}  // namespace bench
