// SPDX-License-Identifier: Apache-2.0
// One side of a comparison: a result file, stored baselines or another tool's report.
#pragma once

#include "base/result.hpp"
#include "harness/result/measured.hpp"
#include "harness/result/report.hpp"
#include "harness/store/baseline_file.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Returns the facts of a machine ("machine_class", "library.onednn", "governor", ...) without empty
// ones.
std::map<std::string, std::string> environment_facts(const EnvironmentRecord& environment);

struct Measurement {
  std::string name;                          // name of the file
  std::map<std::string, std::string> facts;  // "machine_class", "library.onednn", "config", ...
  // Why no time of this measurement is comparable; rarely set.
  std::optional<std::string> not_comparable;
  // Facts that the other side must also have, with equal values; otherwise no time is compared. For
  // a store: the facts by which it is organised.
  std::vector<std::string> binding;
  std::vector<MeasuredCase> cases;
  // For a store: unreadable files by name (harness/store/baseline_file.hpp), with the first reason.
  std::map<std::string, std::string> unreadable;
  std::vector<std::string> warnings;  // from reading
};

// Returns the case of a stored run as measured_cases() returns that of a report.
MeasuredCase measured_case(const BaselineRecord& record);

Measurement make_measurement(const Report& report, const std::string& name);
// Returns the last run of the present epoch of each history. Histories of different machines must
// not be mixed: the facts come from the last record.
Measurement make_measurement(const std::vector<BaselineHistory>& histories,
                             const std::string& name);

// Parses `text` of the file `name` in one of the formats of the table in measurement.cpp. Returns
// an error if the format is unknown or the text is malformed.
Result<Measurement> read_measurement(std::string_view text, const std::string& name);

// A folder of stored baselines, or of one machine class within it. With an anchor, only runs with
// that anchor.
struct StoredRuns {
  std::string folder;
  std::optional<std::string> anchor;
};
// Reads the runs of `machine_class` if the folder has several classes. Returns an error if the
// class is missing or ambiguous, or if no run has the anchor.
Result<Measurement> read_stored(const StoredRuns& runs,
                                const std::optional<std::string>& machine_class);

// Parses a report of Google Benchmark (--benchmark_format=json). Repetitions are treated as
// processes, although they share one process.
Result<Measurement> read_google_benchmark(std::string_view text, const std::string& name);

}  // namespace bench
