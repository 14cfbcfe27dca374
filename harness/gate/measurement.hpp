// SPDX-License-Identifier: Apache-2.0
// One side of a comparison, wherever it comes from: a result file or another tool's report. The
// sampling unit is the process; a median stands for all its iterations.
#pragma once

#include "base/result.hpp"
#include "harness/report/report.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct MeasuredCase {
  std::string id;
  std::string group;      // "conv/forward": what a mean is taken over
  std::string case_hash;  // of what is computed; empty where the source has none
  Outcome outcome = Outcome::ok;
  std::optional<std::string> reason;    // with every outcome but ok
  std::vector<double> process_medians;  // nanoseconds of one iteration, in the order of processes
  std::optional<double> median;         // of them, or what the source gives instead
  std::optional<std::string> implementation;
  std::map<std::string, std::string> facts;  // exact ones: "layout.source", "memory.peak_bytes"
};

struct Measurement {
  std::string name;                          // of the file
  std::map<std::string, std::string> facts;  // "machine_class", "library.onednn", "config", ...
  // Why its times are not to be compared with any; absent for most.
  std::optional<std::string> not_comparable;
  std::vector<MeasuredCase> cases;
  std::vector<std::string> warnings;  // of reading
};

Measurement measurement_of(const Report& report, const std::string& name);

// `text` of a file called `name`, in one of the formats of the table in measurement.cpp. Error:
// none of them, or damaged.
Result<Measurement> read_measurement(std::string_view text, const std::string& name);

// Reports of Google Benchmark (--benchmark_format=json). Its repetitions take the place of
// processes, though they share one.
Result<Measurement> read_google_benchmark(std::string_view text, const std::string& name);

}  // namespace bench
