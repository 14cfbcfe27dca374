// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/device_counters.hpp"

#include "base/function_table.hpp"
#include "ops/cuda/runtime/cupti_tracer.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench::ops::cuda {
namespace {

constexpr const char* kDriver = "libcuda.so.1";

struct ContextFunctions {
  BENCH_FUNCTIONS(ContextFunctions, (get_context, cuCtxGetCurrent), (get_device, cuCtxGetDevice));
};

Error driver_error(std::string what) {
  return {std::move(what), kDriver, "`bench doctor` shows what is available"};
}

// Counters that are not permitted, not supported or in use are not a failure: they are only
// unsupported.
BackendError backend_error(const CounterError& error) {
  const bool failed = error.obstacle == CounterObstacle::failed;
  return {failed ? BackendError::Kind::failed : BackendError::Kind::unsupported,
          error.error.message()};
}

class CuptiCounters final : public DeviceCounters {
 public:
  explicit CuptiCounters(CounterParts parts) : parts_(std::move(parts)) {}
  Result<CounterReadings, BackendError> measure(std::span<Invocation* const> rotation) override;

 private:
  Result<std::unique_ptr<CounterSession>, BackendError> start();

  CounterParts parts_;
  std::optional<Result<CounterLibrary>> library_;
};

Result<std::unique_ptr<CounterSession>, BackendError> CuptiCounters::start() {
  if (!library_) library_.emplace(parts_.load());
  if (!*library_) {
    return BackendError{BackendError::Kind::unsupported, library_->error().message()};
  }
  const auto device = parts_.device();
  if (!device) return BackendError{BackendError::Kind::failed, device.error().message()};
  std::vector<LogicalCounter> counters;
  for (const LogicalCounterRow& row : logical_counters()) counters.push_back(row.counter);
  auto session = CounterSession::start(**library_, *device, counters);
  if (!session) return backend_error(session.error());
  return std::move(session).value();
}

// The session ends here, because at the end of the process the driver may already be unloaded.
Result<CounterReadings, BackendError> CuptiCounters::measure(
    std::span<Invocation* const> rotation) {
  if (rotation.empty()) return BackendError{BackendError::Kind::failed, "nothing to execute"};
  std::size_t next = 0;
  const auto execute = [&]() -> Status {
    Invocation& invocation = *rotation[next++ % rotation.size()];
    if (invocation.run()) return Done{};
    return Error{invocation.error(), "", ""};
  };
  // Run once before counting: the first launch loads code.
  if (Status first = execute(); !first) {
    return BackendError{BackendError::Kind::failed, first.error().message()};
  }
  BENCH_ASSIGN_OR_RETURN(const auto session, start());
  auto readings = session->measure(execute);
  if (!readings) return backend_error(readings.error());
  return std::move(readings).value();
}

}  // namespace

// Uses the driver's own functions, because CUDA's runtime has none for the context. The runtime has
// loaded the driver.
Result<CounterDevice> current_counter_device() {
  const auto driver = DynamicLibrary::find_loaded(kDriver);
  if (!driver) return driver_error("no driver is loaded in this process");
  ContextFunctions functions;
  if (!fill_functions(*driver, functions)) return driver_error("has no functions for contexts");
  CUcontext context = nullptr;
  CUresult result = functions.get_context(&context);
  CUdevice device = 0;
  if (result == CUDA_SUCCESS && context != nullptr) result = functions.get_device(&device);
  if (result != CUDA_SUCCESS || context == nullptr) {
    return driver_error(
        fmt::format("no context is current (CUresult {})", static_cast<int>(result)));
  }
  return CounterDevice{static_cast<std::size_t>(device), context};
}

std::shared_ptr<DeviceCounters> make_device_counters(CounterParts parts) {
  return std::make_shared<CuptiCounters>(std::move(parts));
}

std::shared_ptr<DeviceCounters> make_device_counters(std::vector<SearchStep> search) {
  return make_device_counters({.load = [search = std::move(search)]() -> Result<CounterLibrary> {
    BENCH_ASSIGN_OR_RETURN(const CuptiLibrary cupti, load_cupti(cupti_candidates(search)));
    return load_counter_library(cupti);
  }});
}

}  // namespace bench::ops::cuda
