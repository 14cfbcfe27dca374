// SPDX-License-Identifier: Apache-2.0
// What samples on a device's clock say beside their time: from the sampler to the process record.
#pragma once

#include "harness/result/record.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// As in ProcessRecord, but for `details`, which are the case's; remarks without a count are none.
struct DeviceSamples {
  std::vector<Nanoseconds> host_launch;
  std::vector<std::int64_t> clock_hz;
  std::optional<std::string> sample_method;
  SampleRemarks voided, throttled, unsteady_clock;
  // Details of the kernel that it has only since it was sampled, or that are others since then.
  std::map<std::string, std::string> details{};
  friend bool operator==(const DeviceSamples&, const DeviceSamples&) = default;
};

// Those of another round behind those of earlier ones.
void append(DeviceSamples& samples, const DeviceSamples& more);
// A list that does not tell of every sample is left out. `record` has its samples already.
void describe(const DeviceSamples& samples, ProcessRecord& record);

// "all 18 samples were void, most often: SM clock ..."
std::string void_text(const SampleRemarks& voided);

}  // namespace bench
