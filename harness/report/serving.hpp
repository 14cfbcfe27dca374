// SPDX-License-Identifier: Apache-2.0
// The throughput and latency of cases with streams, as text. Pure functions of a report.
#pragma once

#include "base/terminal_text.hpp"
#include "harness/result/report.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// The rates of the cases of a report. A record of an operator with one stream does not state how
// many items an iteration has; here it takes them from the same case with streams.
class ServedRates {
 public:
  explicit ServedRates(const std::vector<CaseRecord>& cases);
  // Returns nullopt if the case has no time, or if its items are unknown.
  std::optional<ItemsPerSecond> of(const CaseRecord& record) const;

 private:
  std::map<std::string, std::int64_t> items_;  // by id without the number of streams
};

// Returns for each workload which number of streams (and batch) processed the most items per
// second, and at what latency: "resnet50_v1_5: 31.2 items/s with 2 streams; 99 % of the iterations
// take at most 71.0 ms." Empty if no case has streams.
std::string serving_sentence(const Report& report);

// Returns a table of the cases with streams and of the same cases with one stream: items per
// second, percentiles of the latency, and the time of an iteration alone, which is n/a if the run
// did not measure it. Below it, a note says what the columns are. Empty if no case has streams.
std::string serving_table(const Report& report, std::size_t width, Colour colour);

}  // namespace bench
