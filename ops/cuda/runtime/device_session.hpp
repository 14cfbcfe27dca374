// SPDX-License-Identifier: Apache-2.0
// The one device of a process, shared by its backends. It is created at first use, so that a tracer
// can start before.
#pragma once

#include "base/result.hpp"
#include "ops/backend/device.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/runtime/kernel.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace bench::ops::cuda {

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

}  // namespace bench::ops::cuda
