// SPDX-License-Identifier: Apache-2.0
// The one device of a process, as its backends share it. Made at the first use, so that a tracer
// can begin before.
#pragma once

#include "base/result.hpp"
#include "ops/backend/device.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/runtime/kernel.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace bench::ops::cuda {

// Makes the context on the device, its stream and its sampler.
using DeviceMaker = std::function<Result<DeviceParts, Refusal>()>;

class DeviceSession {
 public:
  explicit DeviceSession(DeviceMaker make);
  ~DeviceSession();
  DeviceSession(const DeviceSession&) = delete;
  DeviceSession& operator=(const DeviceSession&) = delete;

  // The same parts, or the same refusal, at every call.
  Result<DeviceParts, Refusal> parts();
  // Of the device; makes it at the first allocation.
  DeviceMemory& memory();
  // Nothing to wait for before the device is made.
  Status synchronise();

 private:
  class Memory;
  DeviceMaker make_;
  std::optional<Result<DeviceParts, Refusal>> made_;
  std::unique_ptr<Memory> memory_;
};

}  // namespace bench::ops::cuda
