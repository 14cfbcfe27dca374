// SPDX-License-Identifier: Apache-2.0
// Reads clocks, power, temperature and modes from NVML, the driver's management library. Never
// changes a setting. nvml_functions.hpp declares NVML's functions, because toolkits do not include
// nvml.h. A value that NVML does not report is nullopt.
#pragma once

#include "base/result.hpp"
#include "ops/cuda/library_search.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops::cuda {

// NVML's library file names; library_report uses them too.
inline constexpr std::string_view kNvmlFiles[] = {"libnvidia-ml.so.1"};

// State of one device at one moment.
struct NvmlProperties {
  std::optional<bool> ecc, mig, persistence;
  std::optional<std::int64_t> sm_clock_mhz, sm_clock_limit_mhz;
  std::optional<std::int64_t> memory_clock_mhz, memory_clock_limit_mhz;
  std::optional<std::int64_t> temperature_celsius;
  std::optional<std::int64_t> power_milliwatt, power_limit_milliwatt;
  std::optional<std::int64_t> performance_state;  // 0 is the fastest
  std::optional<std::int64_t> clock_reasons;      // bits, see clock_reason_names
  friend bool operator==(const NvmlProperties&, const NvmlProperties&) = default;
};

// Counters of one device at one moment. They are compared before and after a measurement.
struct NvmlCounters {
  // Nanoseconds for which the clock was throttled since the driver was loaded, by reason.
  std::optional<std::int64_t> power_cap, sync_boost, software_thermal, hardware_thermal,
      power_brake;
  std::optional<std::int64_t> power_milliwatt;    // at this moment, not an average
  std::optional<std::int64_t> clock_reasons;      // bits, see clock_reason_names
  std::optional<std::int64_t> performance_state;  // 0 is the fastest
  std::optional<std::int64_t> memory_errors;      // uncorrected errors since the driver was loaded
  // process ids of compute processes on the device
  std::optional<std::vector<std::int64_t>> processes{};
  friend bool operator==(const NvmlCounters&, const NvmlCounters&) = default;
};

// Device memory that a process uses.
struct NvmlProcessMemory {
  std::int64_t pid = 0;
  std::optional<std::int64_t> bytes;  // nullopt if NVML lists the process without its memory
  friend bool operator==(const NvmlProcessMemory&, const NvmlProcessMemory&) = default;
};

// Values of one device that change fast, read at one moment.
struct NvmlReading {
  std::optional<std::int64_t> sm_clock_mhz;
  // Power at this moment. If the driver reports only averages, the average of the last second.
  std::optional<std::int64_t> power_milliwatt;
  std::optional<std::int64_t> memory_used_bytes;  // used by all processes
  std::optional<std::vector<NvmlProcessMemory>> processes;
  friend bool operator==(const NvmlReading&, const NvmlReading&) = default;
};

// NVML's ids of three throttling counters. Driver 590 (nvml.h of CUDA 13.1) changed the ids and
// gave the old ids another meaning. Before driver 575 the counters do not exist.
struct ThrottlingFields {
  unsigned software_thermal, hardware_thermal, power_brake;
  friend bool operator==(const ThrottlingFields&, const ThrottlingFields&) = default;
};
// Returns nullopt if the driver has no such counters, or if the version cannot be read.
std::optional<ThrottlingFields> find_throttling_fields(std::string_view driver_version);

// Returns the names of the reasons why the clock is below its limit. Unknown bits are formatted as
// one name: {"power cap", "hot (hardware)", "0x400"}.
std::vector<std::string> clock_reason_names(std::int64_t bits);

struct NvmlFunctions;  // nvml_functions.hpp
class XidEvents;

class Nvml {
 public:
  // Loads and initialises NVML. Error: the library was not found, or its initialisation fails.
  static Result<Nvml, LoadFailure> open(std::span<const SearchStep> search);
  Nvml(Nvml&& other) noexcept;
  Nvml& operator=(Nvml&&) = delete;
  ~Nvml();

  const std::string& path() const { return path_; }
  std::optional<std::string> driver_version() const;   // "580.82.07"
  std::optional<std::string> library_version() const;  // "13.580.82.07"
  // Reads the properties of the device with this PCI bus id ("0000:1B:00.0"). Does not use the
  // index, because CUDA_VISIBLE_DEVICES renumbers devices. Error: NVML does not know the device or
  // denies access.
  Result<NvmlProperties> facts(const std::string& bus_id) const;
  // Errors as for facts().
  Result<NvmlCounters> counters(const std::string& bus_id) const;
  // Errors as for facts().
  Result<NvmlReading> reading(const std::string& bus_id) const;
  // Returns the energy that the whole board used since the driver was loaded. Returns nullopt if
  // NVML does not know the device, or if the device has no such counter (before Volta).
  std::optional<std::int64_t> energy_millijoule(const std::string& bus_id) const;
  // Watches for Xid errors from now on. This object must outlive the result. Error: the driver or
  // the device cannot report Xid errors.
  Result<XidEvents> watch_xids(const std::string& bus_id) const;

 private:
  Result<void*> device(const std::string& bus_id) const;
  Nvml(std::unique_ptr<const NvmlFunctions> functions, std::string path);
  std::unique_ptr<const NvmlFunctions> functions_;
  std::string path_;
  std::optional<ThrottlingFields> throttling_fields_;
};

// Critical device errors that the driver reports by number (Xid), as they occur.
class XidEvents {
 public:
  XidEvents(XidEvents&& other) noexcept;
  XidEvents& operator=(XidEvents&&) = delete;
  ~XidEvents();
  // Returns the numbers of the errors since the last call, without waiting. Returns nullopt if they
  // can no longer be read.
  std::optional<std::vector<std::int64_t>> take();

 private:
  friend class Nvml;
  XidEvents(const NvmlFunctions& functions, void* set) : functions_(functions), set_(set) {}
  const NvmlFunctions& functions_;
  void* set_;
};

}  // namespace bench::ops::cuda
