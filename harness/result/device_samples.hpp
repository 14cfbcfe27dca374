// SPDX-License-Identifier: Apache-2.0
// What samples on a device's clock report besides their time, on the way from the sampler to the
// process record.
#pragma once

#include "harness/result/record.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// Fields as in ProcessRecord, except `details`, which belong to the case. Remarks with count 0 mean
// that there are none.
struct DeviceSamples {
  std::vector<Nanoseconds> host_launch;
  std::vector<std::int64_t> clock_hz;
  std::optional<std::string> sample_method;
  SampleRemarks voided, throttled, unsteady_clock;
  // Details of the kernel that sampling added or changed.
  std::map<std::string, std::string> details{};
  friend bool operator==(const DeviceSamples&, const DeviceSamples&) = default;
};

// Appends the samples of a further round.
void append(DeviceSamples& samples, const DeviceSamples& more);
// Writes `samples` to `record`, which already has its sample times. Omits a list that does not
// cover every sample.
void describe(const DeviceSamples& samples, ProcessRecord& record);

// Returns "all 18 samples were discarded, most often: SM clock ...".
std::string void_text(const SampleRemarks& voided);

}  // namespace bench
