// SPDX-License-Identifier: Apache-2.0
// The machine's energy counters: RAPL through powercap for a CPU (Intel and AMD), NVML for a GPU.
// They count all energy of the package or the board, idle power and other programs included.
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

// One counter at one moment. After it reached `wrap_at` it continues at 0. If `wrap_at` is nullopt,
// it does not wrap around.
struct EnergyCount {
  std::int64_t microjoules = 0;
  std::optional<std::int64_t> wrap_at = std::nullopt;
};

// Returns the energy between two readings of the same counters, each of which wrapped around at
// most once. nullopt if a counter without `wrap_at` went back.
std::optional<std::int64_t> energy_between(std::span<const EnergyCount> before,
                                           std::span<const EnergyCount> after);

class EnergyMeter {
 public:
  virtual ~EnergyMeter() = default;
  virtual const std::string& source() const = 0;  // "rapl:package-0+dram-0"
  // Takes some microseconds. Returns nullopt if a counter can no longer be read.
  virtual std::optional<std::vector<EnergyCount>> read() = 0;
};
using EnergyMeterResult = Result<std::unique_ptr<EnergyMeter>>;

// Functions that read /sys. Tests replace them, since a test that runs as root could not provoke a
// file without read permission.
struct EnergyFiles {
  struct Failure {
    int code;  // value of errno
  };
  // Names in a folder, in any order; empty if there is no such folder.
  std::function<std::vector<std::string>(const std::string& folder)> list;
  std::function<Result<std::string, Failure>(const std::string& path)> read;
};
EnergyFiles system_energy_files();

// Opens all packages, and their memory if it has a counter of its own. The error says why there are
// none: no counters, or only root may read them, with the remedy.
EnergyMeterResult open_powercap_meter(EnergyFiles files);

// Opens the meter of the GPU with this bus id. Returns an error if the GPU has no energy counter
// (older than Volta).
EnergyMeterResult open_nvml_meter(ops::cuda::Nvml nvml, std::string bus_id);

// Opens the meter of a device of the configuration: "cpu", or "cuda" for the device that this
// process uses; its driver must be loaded. Returns an error for an unknown device. Forwards the
// errors of open_powercap_meter() and open_nvml_meter().
EnergyMeterResult open_energy_meter(std::string_view device);

// What `doctor` reports about a meter.
Finding energy_finding(const EnergyMeterResult& meter);

}  // namespace bench
