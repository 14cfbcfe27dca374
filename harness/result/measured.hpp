// SPDX-License-Identifier: Apache-2.0
// One measured case as everything after a run uses it: comparisons, gates and stores. Its sampling
// unit is the process; the median of a process represents all its iterations.
#pragma once

#include "harness/result/quiet.hpp"
#include "harness/result/record.hpp"
#include "harness/result/report.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace bench {

// The exact properties of a case: they are equal in every run unless something changed, so they are
// compared exactly.

// Names in CaseRecord::details.
inline constexpr const char* kPrimitivesDetail = "primitives";       // primitives of one iteration
inline constexpr const char* kOutputDigestDetail = "output.digest";  // digest of the checked output
// Replaces a digest if processes of one case gave different ones, for example because threads add
// in varying order.
inline constexpr const char* kDigestVaries = "varies";

struct ExactProperties {
  std::string implementation;  // empty: unknown
  // The two details above, "layout.source" and similar ones.
  std::map<std::string, std::string> facts;
  // As in MemoryUse; nullopt if unknown. Files have them among the facts.
  std::optional<Bytes> peak = std::nullopt;
  std::optional<Bytes> weights = std::nullopt;
  std::optional<Bytes> workspace = std::nullopt;
  friend bool operator==(const ExactProperties&, const ExactProperties&) = default;
};

// Omits facts that the record lacks.
ExactProperties exact_properties(const CaseRecord& record);

// All facts as texts, as files have them: also "memory.peak_bytes", "memory.weights_bytes" and
// "memory.workspace_bytes".
std::map<std::string, std::string> facts_as_texts(const ExactProperties& exact);
// The reverse. A size that is not an integer stays a text.
void set_facts(std::map<std::string, std::string> texts, ExactProperties& exact);

// One process, the unit of all statistics. Times are those of whole samples, as in result files: an
// iteration of a short operator takes a few nanoseconds, too few for an integer.
struct ProcessSummary {
  std::int64_t samples = 0;
  std::int64_t iterations_per_sample = 1;
  Nanoseconds median{0}, q25{0}, p90{0}, min{0};
  std::optional<Nanoseconds> deviation;  // standard deviation; nullopt for fewer than two samples
  friend bool operator==(const ProcessSummary&, const ProcessSummary&) = default;
};
// Summarises the samples that count; returns nullopt if there are none.
std::optional<ProcessSummary> summarise(const CountedSamples& process);
// Returns nanoseconds per iteration; use only for logarithms and ratios.
double per_iteration(Nanoseconds sample, const ProcessSummary& process);

// The time of an iteration as another tool states it, with a fraction of a nanosecond.
using FractionalNanoseconds = std::chrono::duration<double, std::nano>;
// A process of which only the time of an iteration is known. It has one sample, of so many
// iterations that no digit is lost that a clock could have measured.
ProcessSummary process_from_iteration(FractionalNanoseconds iteration);

struct MeasuredCase {
  std::string id;
  std::string group;      // "conv/forward": the group over which a mean is taken
  std::string source;     // "configs/resnet.yaml:14"
  std::string case_hash;  // identifies what is computed; empty if the source has none
  Outcome outcome = Outcome::ok;
  std::optional<std::string> reason;  // with every outcome but ok
  ExactProperties exact;
  std::vector<Flag> flags;
  // Only for a device with its own clock, as in CaseRecord.
  std::optional<std::int64_t> clock_hz;
  std::optional<std::string> sample_method;
  std::optional<QuietSummary> quiet;          // summary of the samples behind `processes`
  std::vector<ProcessSummary> processes;      // those that count, in their order
  std::vector<ProcessSummary> all_processes;  // the disturbed ones, too; empty without canaries
  // As the source states it, per iteration. nullopt if it states none.
  std::optional<FractionalNanoseconds> median;
  // Facts that identify the kind of machine: "machine_class", or "num_cpus" and "caches" of Google
  // Benchmark. Times of two sides with different values of the same fact are not comparable.
  std::map<std::string, std::string> machine;
  // State of the device that computed: "gpu.name", "gpu.driver", "gpu.ecc", "gpu.mig", if known.
  // nullopt on the CPU and in reports of other tools.
  std::optional<std::map<std::string, std::string>> device;
  friend bool operator==(const MeasuredCase&, const MeasuredCase&) = default;
};

// Returns one entry per case record of the report, in their order. A case has the processes of all
// runs of its chain; one that has no result has none.
std::vector<MeasuredCase> measured_cases(const Report& report);

// Sets `group`, `machine` and `device`, which follow from the id and from where the case ran.
void describe_machine(const EnvironmentRecord& environment, MeasuredCase& measured);

// Returns nanoseconds per iteration, one per process.
std::vector<double> iteration_times(const std::vector<ProcessSummary>& processes,
                                    Nanoseconds ProcessSummary::*time);
// Medians over the processes of the median, and of the lower quartile, per iteration. Without
// processes, the median is the one that the source states. nullopt if unknown or 0.
std::optional<double> median_iteration(const MeasuredCase& measured);
std::optional<double> q25_iteration(const MeasuredCase& measured);

// Finds runs that belong together: one run and those that resumed it with --resume.

class RunChains {
 public:
  explicit RunChains(const std::vector<RunRecord>& runs);
  // Returns the first run of the chain of `run_id`, or `run_id` itself if it resumes no known run.
  const std::string& origin(const std::string& run_id) const;

 private:
  std::unordered_map<std::string, std::string> origin_;
};

}  // namespace bench
