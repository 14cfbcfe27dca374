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

// What holds the clock below its limit, in words: {"power cap", "hot (hardware)"}. Unknown bits as
// "0x400".
std::vector<std::string> clock_reason_names(std::int64_t bits);

struct NvmlFunctions;  // nvml.cpp

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

 private:
  Nvml(std::unique_ptr<const NvmlFunctions> functions, std::string path);
  std::unique_ptr<const NvmlFunctions> functions_;
  std::string path_;
};

}  // namespace bench::ops::cuda
