// SPDX-License-Identifier: Apache-2.0
// A backend that is made at its first kernel, so that a tracer can begin before the first call of
// CUDA.
#pragma once

#include "base/result.hpp"
#include "ops/backend/device.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/runtime/device_session.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bench::ops::cuda {

struct LazyBackendParts {
  std::string name;
  LibraryInfo library;
  std::vector<LibraryInfo> further_libraries;
  std::shared_ptr<DeviceSession> session;
  std::shared_ptr<DeviceTracer> tracer;  // may be null
  std::function<Result<std::unique_ptr<Backend>, Refusal>(const DeviceParts& device)> make;
  std::shared_ptr<DeviceCounters> counters = nullptr;  // may be null
};

// Its name, libraries, memory, tracer and counters are known before; what it is set to is handed
// on. Where the device or the backend cannot be made, every kernel is refused for that reason.
std::unique_ptr<Backend> make_lazy_backend(LazyBackendParts parts);

}  // namespace bench::ops::cuda
