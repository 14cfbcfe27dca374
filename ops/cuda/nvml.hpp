// SPDX-License-Identifier: Apache-2.0
// NVML, the driver's management library: clocks, power, temperature, modes. Declared here, since
// toolkits come without nvml.h; only read, never set. What NVML does not say is absent.
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

// NVML's names of its libraries, for library_report too.
inline constexpr std::string_view kNvmlFiles[] = {"libnvidia-ml.so.1"};

// Of one device, at one moment.
struct NvmlFacts {
  std::optional<bool> ecc, mig, persistence;
  std::optional<std::int64_t> sm_clock_mhz, sm_clock_limit_mhz;
  std::optional<std::int64_t> memory_clock_mhz, memory_clock_limit_mhz;
  std::optional<std::int64_t> temperature_celsius;
  std::optional<std::int64_t> power_milliwatt, power_limit_milliwatt;
  std::optional<std::int64_t> performance_state;  // 0 is the fastest
  std::optional<std::int64_t> clock_reasons;      // bits, see clock_reason_names
  friend bool operator==(const NvmlFacts&, const NvmlFacts&) = default;
};

// Of one device, at one moment: what is compared around a measurement.
struct NvmlCounters {
  // Nanoseconds for which the clock was held back since the driver was loaded, by reason.
  std::optional<std::int64_t> power_cap, sync_boost, hot_software, hot_hardware, power_brake;
  std::optional<std::int64_t> power_milliwatt;           // at this moment, no average
  std::optional<std::int64_t> clock_reasons;             // bits, see clock_reason_names
  std::optional<std::int64_t> performance_state;         // 0 is the fastest
  std::optional<std::int64_t> memory_errors;             // uncorrected, since the driver was loaded
  std::optional<std::vector<std::int64_t>> processes{};  // that compute there: process ids
  friend bool operator==(const NvmlCounters&, const NvmlCounters&) = default;
};

// Memory that a process has on a device.
struct NvmlProcessMemory {
  std::int64_t pid = 0;
  std::optional<std::int64_t> bytes;  // absent: NVML lists the process, and does not count
  friend bool operator==(const NvmlProcessMemory&, const NvmlProcessMemory&) = default;
};

// Of one device, at one moment: what changes all the time.
struct NvmlReading {
  std::optional<std::int64_t> sm_clock_mhz;
  // At this moment; where the driver only has it, the average of the last second.
  std::optional<std::int64_t> power_milliwatt;
  std::optional<std::int64_t> memory_used_bytes;  // by everybody
  std::optional<std::vector<NvmlProcessMemory>> processes;
  friend bool operator==(const NvmlReading&, const NvmlReading&) = default;
};

// NVML's numbers of three counters: other ones from driver 590 on (nvml.h of CUDA 13.1), where the
// old ones mean something else; none before driver 575.
struct HeldBackFields {
  unsigned hot_software, hot_hardware, power_brake;
  friend bool operator==(const HeldBackFields&, const HeldBackFields&) = default;
};
std::optional<HeldBackFields> held_back_fields(std::string_view driver_version);

// What holds the clock below its limit, in words: {"power cap", "hot (hardware)"}. Unknown bits as
// "0x400".
std::vector<std::string> clock_reason_names(std::int64_t bits);

struct NvmlFunctions;  // nvml.cpp
class XidEvents;

class Nvml {
 public:
  // Loads and initialises. Error: the library is not there, or its initialisation fails.
  static Result<Nvml, LoadFailure> open(std::span<const SearchStep> search);
  Nvml(Nvml&& other) noexcept;
  Nvml& operator=(Nvml&&) = delete;
  ~Nvml();

  const std::string& path() const { return path_; }
  std::optional<std::string> driver_version() const;   // "580.82.07"
  std::optional<std::string> library_version() const;  // "13.580.82.07"
  // By PCI bus id ("0000:1B:00.0"), never by index: CUDA_VISIBLE_DEVICES renumbers. Error: NVML
  // does not know the device, or may not be asked about it.
  Result<NvmlFacts> facts(const std::string& bus_id) const;
  // Error as of facts().
  Result<NvmlCounters> counters(const std::string& bus_id) const;
  // Error as of facts().
  Result<NvmlReading> reading(const std::string& bus_id) const;
  // From now on; outlived by this. Error: this driver or this device tells of none.
  Result<XidEvents> watch_xids(const std::string& bus_id) const;

 private:
  Result<void*> device(const std::string& bus_id) const;
  Nvml(std::unique_ptr<const NvmlFunctions> functions, std::string path);
  std::unique_ptr<const NvmlFunctions> functions_;
  std::string path_;
  std::optional<HeldBackFields> held_back_;
};

// Critical errors of a device that the driver numbers (Xid), as they come.
class XidEvents {
 public:
  XidEvents(XidEvents&& other) noexcept;
  XidEvents& operator=(XidEvents&&) = delete;
  ~XidEvents();
  // Numbers of those since the last call, without waiting. Absent: they cannot be read any more.
  std::optional<std::vector<std::int64_t>> take();

 private:
  friend class Nvml;
  XidEvents(const NvmlFunctions& functions, void* set) : functions_(functions), set_(set) {}
  const NvmlFunctions& functions_;
  void* set_;
};

}  // namespace bench::ops::cuda
