// SPDX-License-Identifier: Apache-2.0
// One side of a comparison: a result file, stored baselines or another tool's report. The sampling
// unit is the process; its median represents all its iterations.
#pragma once

#include "base/result.hpp"
#include "harness/judge/change.hpp"
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

struct MeasuredCase {
  std::string id;
  std::string group;      // "conv/forward": the group over which a mean is taken
  std::string case_hash;  // identifies what is computed; empty if the source has none
  Outcome outcome = Outcome::ok;
  std::optional<std::string> reason;    // with every outcome but ok
  std::vector<double> process_medians;  // nanoseconds per iteration, in the order of processes
  // The same over all samples and processes, including disturbed ones. Empty if the source does not
  // distinguish them.
  std::vector<double> all_process_medians;
  // Lower quartile of each process's samples that count, in nanoseconds per iteration, if canaries
  // found some of them quiet. Otherwise empty.
  std::vector<double> process_lower_quartiles;
  std::optional<double> median;  // of process_medians, or as given by the source
  std::optional<std::string> implementation;
  // Exact properties: "layout.source", "memory.peak_bytes"
  std::map<std::string, std::string> facts;
  std::optional<DeviceConditions> device;  // nullopt on the CPU and in reports of other tools
  std::optional<Nanoseconds> join;         // time to join the threads, as in QuietSummary
  // Facts that identify the kind of machine: "machine_class", or "num_cpus" and "caches" of Google
  // Benchmark. Times of two sides with different values of the same fact are not comparable.
  std::map<std::string, std::string> machine;
};

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

Measurement measurement_of(const Report& report, const std::string& name);
// Returns the last run of the present epoch of each history. Histories of different machines must
// not be mixed: the facts come from the last record.
Measurement measurement_of(const std::vector<BaselineHistory>& histories, const std::string& name);

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
