// SPDX-License-Identifier: Apache-2.0
// A backend that is created at its first kernel, so that a tracer can start before the first CUDA
// call.
#pragma once

#include "base/result.hpp"
#include "ops/backend/device.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/runtime/kernel.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bench::ops::cuda {

// The one device of a process, shared by its backends. It is created at first use, so that a tracer
// can start before.

// Creates the context on the device, its stream and its sampler.
using DeviceMaker = std::function<Result<DeviceParts, BackendError>()>;

class DeviceSession {
 public:
  explicit DeviceSession(DeviceMaker make);
  ~DeviceSession();
  DeviceSession(const DeviceSession&) = delete;
  DeviceSession& operator=(const DeviceSession&) = delete;

  // Returns the same parts, or the same error, at every call.
  Result<DeviceParts, BackendError> parts();
  // Returns the device's memory. The first allocation creates the device.
  DeviceMemory& memory();
  // Waits for the device. Does nothing before the device is created.
  Status synchronise();

 private:
  class Memory;
  DeviceMaker make_parts_;
  std::optional<Result<DeviceParts, BackendError>> parts_;
  std::unique_ptr<Memory> memory_;
};

struct LazyBackendParts {
  std::string name;
  LibraryInfo library;
  std::vector<LibraryInfo> further_libraries;
  std::shared_ptr<DeviceSession> session;
  std::shared_ptr<DeviceTracer> tracer;  // may be null
  std::function<Result<std::unique_ptr<Backend>, BackendError>(const DeviceParts& device)> make;
  std::shared_ptr<DeviceCounters> counters = nullptr;  // may be null
};

// The name, libraries, memory, tracer and counters are known in advance; settings are forwarded. If
// the device or the backend cannot be created, each creation of a kernel returns that error.
// Problems may come from another copy of this program's code (own_operators.hpp): the backend gets
// them with the operators of this one. A network with a gap is unsupported. No creation throws.
std::unique_ptr<Backend> make_lazy_backend(LazyBackendParts parts);

}  // namespace bench::ops::cuda
