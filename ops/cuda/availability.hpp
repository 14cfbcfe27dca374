// SPDX-License-Identifier: Apache-2.0
// Decides from the CUDA runtime's answers whether CUDA can run here. The functions are pure, so
// tests cover every case without a driver.
#pragma once

#include "base/enumerators.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bench::ops::cuda {

BENCH_ENUM(Availability, available,
           no_driver,        // libcuda.so.1 was not found
           driver_too_old,   // the driver supports only a CUDA older than this build's
           stub_driver,      // the toolkit's stub was found instead of the driver
           no_device,        // the driver reports no device, or all devices are hidden
           driver_mismatch,  // kernel module and libraries differ in version, or are not ready
           failed            // any other failure
);

// The answers of cudaGetDeviceCount, cudaDriverGetVersion and cudaRuntimeGetVersion.
struct RuntimeAnswers {
  int status = 0;           // cudaError_t of cudaGetDeviceCount
  std::string status_name;  // "cudaErrorInsufficientDriver"
  std::string status_text;  // cudaGetErrorString
  int devices = 0;
  int driver = 0;                              // 13000 for CUDA 13.0; 0: no driver
  int runtime = 0;                             // version that this build was linked with
  std::optional<std::string> visible_devices;  // CUDA_VISIBLE_DEVICES
};

struct Verdict {
  Availability availability = Availability::failed;
  std::string reason;  // empty if available: "no NVIDIA driver: libcuda.so.1 was not found"
  std::string remedy;  // may be empty
};

Verdict decide(const RuntimeAnswers& answers);

// Formats 13000 as "13.0" and 0 as "n/a".
std::string format_cuda_version(int version);

// Returns why a CUDA binary has no code for a device of capability major.minor, or an empty string
// if it has. `architectures` is the binary's list as CMake writes it:
// "75-real;90-real;120-virtual". An entry without a suffix means both. Machine code ("real") runs
// on devices with the same major version and at least the same minor version. The driver translates
// intermediate code ("virtual") for any later device.
std::string code_unavailable_reason(std::string_view architectures, int major, int minor);

}  // namespace bench::ops::cuda
