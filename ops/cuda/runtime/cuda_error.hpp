// SPDX-License-Identifier: Apache-2.0
// What CUDA errors mean for the process. The functions have no side effects.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/backend/kernel.hpp"

#include <cuda_runtime_api.h>

#include <optional>
#include <string>
#include <string_view>

namespace bench::ops::cuda {

// A failed call and its error, as CUDA reports it.
struct CudaFailure {
  std::string_view call;  // "cudaLaunchKernel"
  int code = 0;
  std::string_view name;  // "cudaErrorIllegalAddress"
  std::string_view text;  // "an illegal memory access was encountered"
};

// Whether an error with this code makes the context unusable until the process ends.
bool is_sticky(int code);

// lost: every later call of this process fails.
enum class DeviceHealth { usable, lost };

// Formats "cudaMemcpyAsync: an illegal memory access was encountered (cudaErrorIllegalAddress,
// 700)".
Error cuda_error(const CudaFailure& failure, DeviceHealth health);

// The error of an allocation of `requested` bytes. `free` and `total` are nullopt if the device
// does not report them.
BackendError out_of_memory(Bytes requested, std::optional<Bytes> free, std::optional<Bytes> total);

}  // namespace bench::ops::cuda
