// SPDX-License-Identifier: Apache-2.0
// MeasuredCase: the measurements of one case, as comparisons, gates and stores use them. The
// sampling unit is the process: the median of a process represents all its iterations.
#pragma once

#include "harness/result/record.hpp"
#include "harness/result/report.hpp"
#include "harness/result/speed.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bench {

// Exact properties of a case do not vary between runs of the same program, so comparisons require
// them to be equal.

// Names in CaseRecord::details: primitives of one iteration, digest of the checked output.
inline constexpr const char* kPrimitivesDetail = "primitives";
inline constexpr const char* kOutputDigestDetail = "output.digest";
// Replaces the digest if processes of one case computed different digests, for example because
// threads add in varying order.
inline constexpr const char* kDigestVaries = "varies";

// The settings that say how the case is measured: "processes 5, max_time 2 s, ...".
inline constexpr const char* kSettingsDetail = "measure.settings";

// Names in EnvironmentRecord::details, which say what measured: the rules of measuring, the file of
// the program, and, behind "library.NAME", the digest of a library's file (digest_file()).
inline constexpr const char* kMeasuringFact = "measure.rules";
inline constexpr const char* kProgramPathFact = "program.path";
inline constexpr const char* kProgramDigestFact = "program.digest";
inline constexpr const char* kDigestSuffix = ".digest";
// Raise this number with a change of how `bench` measures that may change the times of unchanged
// code: the warm-up, the samples, the canaries, the state of the caches.
inline constexpr const char* kMeasuringRules = "bench-1";

// The fact that states a backend's choices: "conv ...: cudnn:engine_4 (2=2)", or for several of
// them "12 choices, DIGEST".
inline constexpr const char* kChoiceFact = "choice";
// Formats the value of this fact from ProcessRecord::choices, which has one line per choice.
std::string format_choices(std::string_view choices);

struct ExactProperties {
  std::string implementation;  // empty if unknown
  // Details that are exact: the two above, "layout.source", "library.cudnn" and the like.
  std::map<std::string, std::string> facts;
  // As in MemoryUse; nullopt if unknown. Files store them among the facts.
  std::optional<Bytes> peak = std::nullopt;
  std::optional<Bytes> weights = std::nullopt;
  std::optional<Bytes> workspace = std::nullopt;
  friend bool operator==(const ExactProperties&, const ExactProperties&) = default;
};

// Returns the exact properties of a case. Omits those that the record lacks.
ExactProperties exact_properties(const CaseRecord& record);

// Returns all facts as texts, as files store them. Adds "memory.peak_bytes",
// "memory.weights_bytes" and "memory.workspace_bytes".
std::map<std::string, std::string> facts_as_texts(const ExactProperties& exact);
// Sets facts and sizes from the texts of a file. A size that is not an integer stays among the
// facts.
void set_facts(std::map<std::string, std::string> texts, ExactProperties& exact);

// One process, the unit of all statistics. Times are those of complete samples, as in result files.
// A short operator's iteration takes a few nanoseconds, so an integer would be too coarse.
struct ProcessSummary {
  std::int64_t samples = 0;
  std::int64_t iterations_per_sample = 1;
  Nanoseconds median{0}, q25{0}, p90{0}, min{0};
  std::optional<Nanoseconds> deviation;  // standard deviation; nullopt for fewer than two samples
  friend bool operator==(const ProcessSummary&, const ProcessSummary&) = default;
};
// Summarises the counted samples. Returns nullopt if there are none.
std::optional<ProcessSummary> summarise(const CountedSamples& process);
// Returns nanoseconds per iteration. Use the result only for logarithms and ratios.
double per_iteration(Nanoseconds sample, const ProcessSummary& process);

// Makes a process of which only the time of an iteration is known. It has one sample, with so many
// iterations that the integer time keeps every digit that a clock can measure.
ProcessSummary process_from_iteration(FractionalNanoseconds iteration);

struct MeasuredCase {
  std::string id;
  std::string group;      // "conv/forward": comparisons average over the cases of a group
  std::string source;     // "configs/resnet.yaml:14"
  std::string case_hash;  // identifies what the case computes; empty if the source has none
  Outcome outcome = Outcome::ok;
  std::optional<std::string> reason;  // set for every outcome except ok
  ExactProperties exact;
  std::vector<Flag> flags;
  // Only for a device with its own clock, as in CaseRecord.
  std::optional<std::int64_t> clock_hz;
  std::optional<std::string> sample_method;
  // The level of speed to which the samples of `processes` were corrected, the number of threads of
  // its canary, and the times by speed, which comparisons use. nullopt without canaries.
  std::optional<SpeedLevel> at;
  std::optional<int> canary_threads;
  std::optional<TimesBySpeed> by_speed;
  std::vector<ProcessSummary> processes;  // counted processes, in their order
  // Median per iteration as the source states it; nullopt if the source states none.
  std::optional<FractionalNanoseconds> median;
  // Facts that identify the kind of machine: "machine_class", or "num_cpus" and "caches" of Google
  // Benchmark. Times of two sides with different values of the same fact are not comparable.
  std::map<std::string, std::string> machine;
  // State of the device that computed: "gpu.name", "gpu.driver", "gpu.ecc", "gpu.mig", if known.
  // nullopt on the CPU and in reports of other tools.
  std::optional<std::map<std::string, std::string>> device;
  std::string choices = {};  // as in ProcessRecord, of the case's first process that has them
  // How often a program executes the case; nullopt for layers and without `multiplicity`.
  std::optional<int> count = {};
  bool is_layer = false;  // the case is a layer of a network
  friend bool operator==(const MeasuredCase&, const MeasuredCase&) = default;
};

// Returns one entry per case record of the report, in their order. A case has the processes of all
// runs in its chain of resumed runs. A case whose outcome is not ok has none.
std::vector<MeasuredCase> measured_cases(const Report& report);

// Sets `group`, `machine` and `device` from the case id and from the environment of its run.
void describe_machine(const EnvironmentRecord& environment, MeasuredCase& measured);

// Returns nanoseconds per iteration, one per process.
std::vector<double> iteration_times(const std::vector<ProcessSummary>& processes,
                                    Nanoseconds ProcessSummary::*time);
// Returns nanoseconds per iteration: the median over processes of their medians, or without
// processes the median that the source states. Returns nullopt if the time is unknown or 0.
std::optional<double> median_iteration(const MeasuredCase& measured);

// Describes the first property of the environment in which two runs differ, so that their processes
// are not processes of one case: machine class, device, libraries, version of this program, seed of
// the data, or a variable of the library. nullopt if there is none.
std::optional<std::string> identity_difference(const RunRecord& earlier, const RunRecord& later);

// Finds runs that belong together: one run and those that resumed it with --resume in the same
// environment (identity_difference()). A run in another environment begins a chain of its own.
class RunChains {
 public:
  explicit RunChains(const std::vector<RunRecord>& runs);
  // Returns the first run of the chain of `run_id`, or `run_id` itself if it resumes no known run.
  const std::string& origin(const std::string& run_id) const;

 private:
  std::unordered_map<std::string, std::string> origin_;
};

// Finds the processes of a case that count: those of the runs in the chain of its record's run. If
// a process number has several records, the last one with samples counts.
class CountedProcesses {
 public:
  // The report must outlive this.
  explicit CountedProcesses(const Report& report);
  // Returns them in the order of their numbers.
  std::vector<const ProcessRecord*> of(const CaseRecord& record) const;

 private:
  std::string make_key(const std::string& run_id, const std::string& id) const;

  RunChains chains_;
  // Processes by make_key() and by process number.
  std::unordered_map<std::string, std::map<int, const ProcessRecord*>> processes_;
};

}  // namespace bench
