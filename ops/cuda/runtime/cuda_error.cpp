// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/cuda_error.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace bench::ops::cuda {
namespace {

// Errors after which driver_types.h requires the process to be terminated and relaunched, and
// errors of a device that has been lost.
constexpr std::array kSticky = {cudaErrorDevicesUnavailable,
                                cudaErrorECCUncorrectable,
                                cudaErrorNvlinkUncorrectable,
                                cudaErrorIllegalAddress,
                                cudaErrorLaunchTimeout,
                                cudaErrorContextIsDestroyed,
                                cudaErrorAssert,
                                cudaErrorHardwareStackError,
                                cudaErrorIllegalInstruction,
                                cudaErrorMisalignedAddress,
                                cudaErrorInvalidAddressSpace,
                                cudaErrorInvalidPc,
                                cudaErrorLaunchFailure,
                                cudaErrorTensorMemoryLeak,
                                cudaErrorContained,
                                cudaErrorMpsConnectionFailed,
                                cudaErrorMpsRpcFailure,
                                cudaErrorMpsServerNotReady,
                                cudaErrorMpsClientTerminated,
                                cudaErrorExternalDevice,
                                cudaErrorCudartUnloading};

}  // namespace

bool is_sticky(int code) {
  return std::any_of(kSticky.begin(), kSticky.end(),
                     [&](cudaError_t sticky_code) { return sticky_code == code; });
}

Error cuda_error(const CudaFailure& failure, DeviceHealth health) {
  const std::string message =
      fmt::format("{}: {} ({}, {})", failure.call, failure.text, failure.name, failure.code);
  if (health == DeviceHealth::usable) return Error{message, "", ""};
  return Error{fmt::format("the device is lost: {}; later cases run in a fresh worker", message),
               "",
               "compute-sanitizer names the kernel of an illegal access; `dmesg` names a fault of "
               "the hardware (Xid)"};
}

BackendError out_of_memory(Bytes requested, std::optional<Bytes> free, std::optional<Bytes> total) {
  std::string memory_text = "the device does not have this much free";
  if (free && total) {
    memory_text =
        fmt::format("the device has {} of {} free", format_bytes(*free), format_bytes(*total));
  }
  return {BackendError::Kind::skipped,
          fmt::format("not enough memory: {} requested, {}", format_bytes(requested), memory_text)};
}

}  // namespace bench::ops::cuda
