// SPDX-License-Identifier: Apache-2.0
// One side of a comparison, wherever it comes from: a result file or another tool's report. The
// sampling unit is the process; a median stands for all its iterations.
#pragma once

#include "base/result.hpp"
#include "harness/judge/device_conditions.hpp"
#include "harness/result/report.hpp"
#include "harness/store/baseline_file.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Facts of a machine: "machine_class", "library.onednn", "governor", ...; empty ones left out.
std::map<std::string, std::string> environment_facts(const EnvironmentRecord& environment);

struct MeasuredCase {
  std::string id;
  std::string group;      // "conv/forward": what a mean is taken over
  std::string case_hash;  // of what is computed; empty where the source has none
  Outcome outcome = Outcome::ok;
  std::optional<std::string> reason;    // with every outcome but ok
  std::vector<double> process_medians;  // nanoseconds of one iteration, in the order of processes
  // The same over all samples and processes, also disturbed ones; empty where nothing tells them
  // apart.
  std::vector<double> all_process_medians;
  std::optional<double> median;  // of process_medians, or what the source gives instead
  std::optional<std::string> implementation;
  std::map<std::string, std::string> facts;  // exact ones: "layout.source", "memory.peak_bytes"
  std::optional<DeviceConditions> device;    // absent on the CPU, and in reports of other tools
  std::optional<Nanoseconds> join;           // of the threads, as in QuietSummary
  // Facts that tell the kind of machine: "machine_class"; "num_cpus", "caches" of Google Benchmark.
  // Times of two sides that both give one and differ in it are not comparable.
  std::map<std::string, std::string> machine;
};

struct Measurement {
  std::string name;                          // of the file
  std::map<std::string, std::string> facts;  // "machine_class", "library.onednn", "config", ...
  // Why its times are not to be compared with any; absent for most.
  std::optional<std::string> not_comparable;
  // Facts that the other side must give and share, or no time is compared: what a store is sorted
  // by.
  std::vector<std::string> binding;
  std::vector<MeasuredCase> cases;
  // Of a store: files of which nothing can be read, by their names (harness/store/file_name.hpp),
  // with the first reason.
  std::map<std::string, std::string> unreadable;
  std::vector<std::string> warnings;  // of reading
};

Measurement measurement_of(const Report& report, const std::string& name);
// Of each history the last run of its present epoch. Those of different machines cannot be one
// measurement: the last record's facts are taken for all of them.
Measurement measurement_of(const std::vector<BaselineHistory>& histories, const std::string& name);

// `text` of a file called `name`, in one of the formats of the table in measurement.cpp. Error:
// none of them, or damaged.
Result<Measurement> read_measurement(std::string_view text, const std::string& name);

// A folder of stored baselines, or of one machine class in it; with an anchor only runs of that
// name.
struct StoredRuns {
  std::string folder;
  std::optional<std::string> anchor;
};
// Of several machine classes that of `machine_class` is taken; error: it is not there, which one is
// meant is not known, or no run bears the anchor.
Result<Measurement> read_stored(const StoredRuns& runs,
                                const std::optional<std::string>& machine_class);

// Reports of Google Benchmark (--benchmark_format=json). Its repetitions take the place of
// processes, though they share one.
Result<Measurement> read_google_benchmark(std::string_view text, const std::string& name);

}  // namespace bench
