// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/availability.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace bench::ops::cuda {
namespace {

// Values of cudaError_t, from the runtime's ABI. They are repeated here because this code compiles
// without the runtime's header.
constexpr int kCudaSuccess = 0;
constexpr int kStubLibrary = 34;
constexpr int kInsufficientDriver = 35;
constexpr int kNoDevice = 100;

// Statuses with one meaning and a specific remedy.
struct KnownStatus {
  int status;
  Availability availability;
  std::string_view reason;
  std::string_view remedy;
};
constexpr KnownStatus kKnownStatuses[] = {
    {3, Availability::failed, "the NVIDIA driver could not be initialised",
     "see `nvidia-smi` and the kernel's log"},
    {46, Availability::failed, "all devices are busy or unavailable",
     "a device in exclusive mode is in use by another process: see `nvidia-smi`"},
    {101, Availability::no_device, "the requested devices do not exist",
     "check CUDA_VISIBLE_DEVICES"},
    {802, Availability::driver_mismatch, "the devices are not ready yet",
     "machines with NVSwitch need a running nvidia-fabricmanager of the driver's version"},
    {803, Availability::driver_mismatch,
     "the kernel module and the libraries of the NVIDIA driver have different versions",
     "reboot, or reload the nvidia modules after an update of the driver"},
    {804, Availability::driver_mismatch,
     "the forward-compatibility libraries do not support this device",
     "install a newer driver, or remove cuda-compat from LD_LIBRARY_PATH"},
    {999, Availability::failed, "the NVIDIA driver reports an unknown error",
     "see `nvidia-smi` and the kernel's log for Xid messages"},
};

Verdict describe_insufficient_driver(const RuntimeAnswers& answers) {
  if (answers.driver == 0) {
    return {Availability::no_driver,
            "no NVIDIA driver: libcuda.so.1 was not found, or its kernel module is not loaded",
            "install the NVIDIA driver on a machine that has a GPU"};
  }
  return {
      Availability::driver_too_old,
      fmt::format("the NVIDIA driver is too old: it supports CUDA {}, this build needs {}",
                  format_cuda_version(answers.driver), format_cuda_version(answers.runtime)),
      fmt::format("install a driver for CUDA {} or newer", format_cuda_version(answers.runtime))};
}

Verdict describe_no_device(const RuntimeAnswers& answers) {
  const std::string version = format_cuda_version(answers.driver);
  if (answers.visible_devices) {
    return {Availability::no_device,
            fmt::format("a driver for CUDA {}, but no device: CUDA_VISIBLE_DEVICES is `{}`",
                        version, *answers.visible_devices),
            "unset CUDA_VISIBLE_DEVICES"};
  }
  return {Availability::no_device, fmt::format("a driver for CUDA {}, but no device", version),
          "see `nvidia-smi -L`; a container needs its devices passed in (--gpus all)"};
}

Verdict describe_other_status(const RuntimeAnswers& answers) {
  const auto* known_status =
      std::find_if(std::begin(kKnownStatuses), std::end(kKnownStatuses),
                   [&](const KnownStatus& row) { return row.status == answers.status; });
  const std::string name =
      answers.status_name.empty() ? fmt::format("error {}", answers.status) : answers.status_name;
  if (known_status != std::end(kKnownStatuses)) {
    return {known_status->availability, fmt::format("{} ({})", known_status->reason, name),
            std::string(known_status->remedy)};
  }
  const std::string text = answers.status_text.empty() ? "" : ": " + answers.status_text;
  return {Availability::failed, fmt::format("the CUDA runtime fails with {}{}", name, text),
          "see `nvidia-smi` and the kernel's log"};
}

}  // namespace

Verdict decide(const RuntimeAnswers& answers) {
  switch (answers.status) {
    case kCudaSuccess:
      if (answers.devices > 0) return {Availability::available, "", ""};
      return describe_no_device(answers);
    case kNoDevice:
      return describe_no_device(answers);
    case kInsufficientDriver:
      return describe_insufficient_driver(answers);
    case kStubLibrary:
      return {Availability::stub_driver,
              "the libcuda.so.1 that was loaded is the toolkit's stub, not a driver",
              "remove the toolkit's stubs folder from LD_LIBRARY_PATH"};
    default:
      return describe_other_status(answers);
  }
}

std::string format_cuda_version(int version) {
  if (version <= 0) return std::string(kUnknown);
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

namespace {

// Returns 90 for "90-real" and "90a-virtual".
int parse_architecture(std::string_view entry) {
  int number = 0;
  std::from_chars(entry.data(), entry.data() + entry.size(), number);
  return number;
}

bool has_code(std::string_view entry, int device) {
  const int compiled = parse_architecture(entry);
  if (compiled == 0 || device < compiled) return false;
  return !entry.ends_with("-real") || device / 10 == compiled / 10;
}

}  // namespace

std::string code_unavailable_reason(std::string_view architectures, int major, int minor) {
  const int device = major * 10 + minor;
  std::string_view remaining = architectures;
  while (!remaining.empty()) {
    const std::size_t end = std::min(remaining.find(';'), remaining.size());
    if (has_code(remaining.substr(0, end), device)) return "";
    remaining.remove_prefix(std::min(end + 1, remaining.size()));
  }
  return fmt::format("compute capability {}.{}, for which this build has no code ({})", major,
                     minor, architectures);
}

}  // namespace bench::ops::cuda
