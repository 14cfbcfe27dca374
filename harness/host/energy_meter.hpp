// SPDX-License-Identifier: Apache-2.0
// Reads the machine's energy counters: RAPL through powercap for a CPU (Intel and AMD), NVML for a
// GPU. The counters include idle power and the energy of other programs on the same package or
// board.
#pragma once

#include "base/result.hpp"
#include "harness/host/environment.hpp"
#include "ops/cuda/nvml.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// The value of a counter at one moment. After the value `wrap_at`, the counter continues at 0. If
// `wrap_at` is nullopt, the counter does not wrap around.
struct EnergyCount {
  std::int64_t microjoules = 0;
  std::optional<std::int64_t> wrap_at = std::nullopt;
};

// Returns the energy in microjoules between two readings of the same counters. Assumes that each
// counter wrapped around at most once. Returns nullopt if the readings are inconsistent, for
// example if a counter without `wrap_at` has decreased.
std::optional<std::int64_t> energy_between(std::span<const EnergyCount> before,
                                           std::span<const EnergyCount> after);

// Reads the energy counters of one device.
class EnergyMeter {
 public:
  virtual ~EnergyMeter() = default;
  // Returns the interface and its counters, such as "rapl:package-0+dram-0".
  virtual const std::string& source() const = 0;
  // Returns the values of all counters. This takes some microseconds. Returns nullopt if a counter
  // can no longer be read.
  virtual std::optional<std::vector<EnergyCount>> read() = 0;
};
using EnergyMeterResult = Result<std::unique_ptr<EnergyMeter>>;

// Functions that read /sys. Tests replace them, because root can read files without read
// permission.
struct EnergyFiles {
  struct Failure {
    int code;  // value of errno
  };
  // Returns the names in a folder, in any order. Returns an empty list if the folder does not
  // exist.
  std::function<std::vector<std::string>(const std::string& folder)> list;
  std::function<Result<std::string, Failure>(const std::string& path)> read;
};
// Returns the functions for the real /sys.
EnergyFiles system_energy_files();

// Opens the counters of all packages, and of their memory if it has separate counters. Returns an
// error if there are no counters. If only root may read them, the error has a remedy.
EnergyMeterResult open_powercap_meter(EnergyFiles files);

// Opens the meter of the GPU with this bus id. Returns an error if the GPU has no energy counter
// (older than Volta).
EnergyMeterResult open_nvml_meter(ops::cuda::Nvml nvml, std::string bus_id);

// Opens the meter of a device in a configuration: "cpu" or "cuda". "cuda" is the first device of
// this process; the driver must be loaded. Returns an error for an unknown device. Forwards the
// errors of open_powercap_meter() and open_nvml_meter().
EnergyMeterResult open_energy_meter(std::string_view device);

// Returns the finding of `doctor` about a meter.
Finding energy_finding(const EnergyMeterResult& meter);

}  // namespace bench
