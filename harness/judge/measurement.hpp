// SPDX-License-Identifier: Apache-2.0
// One side of a comparison: a result file, stored baselines or another tool's report.
#pragma once

#include "base/result.hpp"
#include "harness/judge/change.hpp"
#include "harness/judge/program_comparison.hpp"
#include "harness/result/measured.hpp"
#include "harness/result/report.hpp"
#include "harness/store/baseline_file.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct BenchmarkFormat;
class TextSource;

// Returns the facts of a machine: "machine_class", "library.onednn", "governor", ... Omits facts
// with an empty value.
std::map<std::string, std::string> environment_facts(const EnvironmentRecord& environment);
// Returns the facts of a run: those of its machine, of the program ("tool.commit") and of the
// configuration.
std::map<std::string, std::string> run_facts(const RunRecord& run);
std::map<std::string, std::string> stored_facts(const BaselineRecord& record);

// One side of a comparison.
struct Measurement {
  std::string name;                          // name of the file or of the store's folder
  std::map<std::string, std::string> facts;  // "machine_class", "library.onednn", "config", ...
  // Why no time of this measurement is comparable; nullopt for most measurements.
  std::optional<std::string> incomparable_reason;
  // Names of the facts that must be equal on both sides; if one differs, no time is compared. A
  // store requires the machine class.
  std::vector<std::string> required_facts;
  std::vector<MeasuredCase> cases;
  // The runs of a result file, as a store names them (BaselineRecord::run_id).
  std::set<std::string> run_ids;
  // For a store: the run of each case.
  std::map<std::string, std::string> stored_runs;
  // For a store: the files without a readable record, by name (store_file_name()), with the first
  // problem of each.
  std::map<std::string, std::string> unreadable;
  std::optional<ProgramTime> program;  // the whole program of a profile or log
  std::vector<std::string> warnings;   // problems of the files
};

// Returns the case of a stored run with all members that measured_cases() sets for a report.
MeasuredCase measured_case(const BaselineRecord& record);

Measurement make_measurement(const Report& report, const std::string& name);
// Removes the runs from the histories, so that a run is not compared with itself. Returns a
// sentence that says so; nullopt if no history has such a run.
std::optional<std::string> leave_out_runs(const std::set<std::string>& run_ids,
                                          std::vector<BaselineHistory>& histories);
// Makes a measurement from the last run of each history. The histories must be of one machine
// class: the facts come from the run to which most of these cases belong.
Measurement make_measurement(const std::vector<BaselineHistory>& histories,
                             const std::string& name);

// Parses `text`, the contents of the file `name`, in one of the formats of kReaders
// (measurement.cpp) or of benchmark_formats(). Returns an error if the format is unknown or the
// text is malformed.
Result<Measurement> read_measurement(std::string_view text, const std::string& name);

// Reads a log or profile of a program. A case is a primitive or kernel with its direction, shapes,
// types, algorithm and post-ops; its implementation may differ between two sides. The number of
// executions is a fact of the case. Each rank is a process. With one rank, blocks of consecutive
// executions are treated as processes, although they share one. Returns an error if nothing was
// executed and nothing sampled.
Result<Measurement> measure_activities(TextSource& source);

// Stored baselines to compare with.
struct StoredRuns {
  std::string folder;                 // a store, or the folder of one machine class within a store
  std::optional<std::string> anchor;  // if set, only runs with this anchor count
};
// The other side of a comparison with a store.
struct OtherSide {
  std::optional<std::string> machine_class;
  std::set<std::string> run_ids;  // as Measurement::run_ids
};
// Reads the stored runs, without those of the other side. If the folder has several machine
// classes, reads those of `other.machine_class`. Returns an error if the class is missing or
// ambiguous, or if no run has the anchor.
Result<Measurement> read_stored(const StoredRuns& runs, const OtherSide& other);

// The facts that make the machine class of two machines and that differ, as far as both are known:
// processor, caches, compiler and its flags. Runs of earlier versions do not state the last two.
std::vector<Change> class_changes(const EnvironmentRecord& from, const EnvironmentRecord& to);
// Returns whether it is a fact about the compiler: someone may judge that it does not change times.
bool is_of_build(const Change& change);
// Says in what the machine class `from` of a store differs from this one: "build.flags -O2 -> -O3".
// If only the build differs, also says how to adopt its runs.
std::string describe_class_changes(const EnvironmentRecord& from, const EnvironmentRecord& to);

// Parses a report of Google Benchmark, nvbench or hyperfine. Repetitions are treated as processes,
// although those of Google Benchmark share one process.
Result<Measurement> measure_benchmarks(const BenchmarkFormat& format, std::string_view text,
                                       const std::string& name);

}  // namespace bench
