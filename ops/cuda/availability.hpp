// SPDX-License-Identifier: Apache-2.0
// Whether CUDA can run here, decided from what the CUDA runtime answers: a pure function, so that
// every case is tested without a driver.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bench::ops::cuda {

enum class Availability {
  available,
  no_driver,        // libcuda.so.1 is not there
  driver_too_old,   // it is, for an older CUDA than this build's
  stub_driver,      // the toolkit's stub stands in its place
  no_device,        // a driver without a device, or with all devices hidden
  driver_mismatch,  // kernel module and libraries of different versions, or not ready
  failed,           // anything else
};
std::string_view availability_name(Availability availability);  // "no_driver"
std::optional<Availability> availability_from_name(std::string_view name);

// What cudaGetDeviceCount, cudaDriverGetVersion and cudaRuntimeGetVersion said.
struct RuntimeAnswers {
  int status = 0;           // cudaError_t of cudaGetDeviceCount
  std::string status_name;  // "cudaErrorInsufficientDriver"
  std::string status_text;  // cudaGetErrorString
  int devices = 0;
  int driver = 0;                              // 13000 for CUDA 13.0; 0: no driver
  int runtime = 0;                             // that this build was linked with
  std::optional<std::string> visible_devices;  // CUDA_VISIBLE_DEVICES
};

struct Verdict {
  Availability availability = Availability::failed;
  std::string reason;  // empty where available: "no NVIDIA driver: libcuda.so.1 was not found"
  std::string remedy;  // may be empty
};

Verdict decide(const RuntimeAnswers& answers);

// "13.0" of 13000; "n/a" of 0.
std::string cuda_version_text(int version);

}  // namespace bench::ops::cuda
