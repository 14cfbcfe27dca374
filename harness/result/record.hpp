// SPDX-License-Identifier: Apache-2.0
// The records of a result file (schema bench.result/1) as plain data. docs/result_file.md gives
// their meaning.
#pragma once

#include "base/units.hpp"
#include "ops/problem.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bench {

inline constexpr std::string_view kResultSchema = "bench.result/1";
inline constexpr std::string_view kWorkConvention = "bench-1";  // docs/work_model.md

enum class Outcome { ok, wrong_result, unsupported, skipped, crashed, timed_out, failed };
enum class Flag {
  noisy,
  unsteady,
  above_ceiling,
  throttled,
  interrupted,
  voided_samples,
  launch_bound,
  disturbed
};
// disturbed: the canaries beside its samples were never quiet for long enough to measure it.
// voided: the device gave no valid sample any more.
enum class StopReason { precision, max_time, budget, interrupted, voided };
// What ended a run or a gate before it had measured all that was asked for.
enum class StopCause { budget, interruption };
// "stopped by the budget", "stopped by Ctrl-C", or "the evidence ends" if no cause is known, as
// after one that was killed.
std::string_view stop_text(const std::optional<StopCause>& cause);
// Names in the order of the enumerators ("ok", ...).
std::span<const std::string_view> outcome_names();
std::string_view name_of(Outcome outcome);
// Crashed, timed out, a wrong result, or failed.
bool is_failure(Outcome outcome);
std::span<const std::string_view> flag_names();
std::span<const std::string_view> stop_reason_names();

// Begins the names of environment variables in EnvironmentRecord::details.
inline constexpr const char* kVariableDetail = "env.";
// Environment variable of a worker: the share by which each of its timed samples gets longer. Set
// for the gate's self-test alone: docs/worker_protocol.md.
inline constexpr const char* kSlowdownVariable = "BENCH_SLOWDOWN";

// Facts about the machine as name -> value, grouped; values are text or integers. Written as a JSON
// object.
struct EnvironmentRecord {
  std::string machine_class;  // "icelake-server-2c-3fa4b21c": readable name, cores, 8 hex digits of
                              // the fingerprint
  std::string cpu;            // model name
  std::optional<int> threads;
  std::map<std::string, std::string> libraries;  // name -> version
  std::map<std::string, std::string> details;    // flat "library.onednn.path", "governor", "aslr",
                                                 // "kernel", "arena.bytes", "gomp_spincount", ...
  friend bool operator==(const EnvironmentRecord&, const EnvironmentRecord&) = default;
};

struct RunRecord {
  std::string run_id;
  std::optional<std::string> resumes;  // run_id of the run that this one continues
  std::string tool_version;
  std::string tool_commit;
  std::string started;  // UTC
  std::string config_name;
  std::vector<std::string> config_files;
  std::string config_hash;
  std::uint64_t seed = 0;
  std::string convention = std::string(kWorkConvention);  // by which work was counted
  std::vector<std::string> arguments;                     // of the command, for reproduction
  std::optional<std::string> shard;                       // "1/4"
  std::optional<std::string> under;  // ran below this command: no times to compare with
  EnvironmentRecord environment;
  friend bool operator==(const RunRecord&, const RunRecord&) = default;
};

// Samples that a device had something to say of, and how often it said what. Reasons that differ in
// their numbers alone are one, named by the first (sample_remarks.hpp).
struct SampleRemarks {
  std::int64_t count = 0;
  std::map<std::string, std::int64_t> reasons;
  friend bool operator==(const SampleRemarks&, const SampleRemarks&) = default;
};

// The canary beside each sample of a process (docs/decisions/0019): the slower of those before and
// after it, of the slowest thread. On a machine that nothing disturbs it takes always the same. 0
// where the kernel took a processor away during the sample: no canary was there to see it.
struct SampleCanaries {
  std::vector<Nanoseconds> times;  // one a sample; empty where none were taken
  std::optional<int> threads;      // that took them
  std::optional<Nanoseconds>
      level;  // the quiet level, as far as it was known when the process ended
  // Median of what starting and joining the threads took: it tells how far apart their processors
  // are, which a host may change. Absent of one thread.
  std::optional<Nanoseconds> join = std::nullopt;
  friend bool operator==(const SampleCanaries&, const SampleCanaries&) = default;
};

struct ProcessRecord {
  std::string run_id;
  std::string id;
  int process = 0;                   // number of the process round, from 0
  std::vector<Nanoseconds> samples;  // whole samples
  std::int64_t iterations_per_sample = 1;
  std::int64_t warmup_iterations = 0;
  bool steady = true;  // the last warm-up samples agreed
  StopReason stop = StopReason::precision;
  std::optional<Nanoseconds> create;      // primitive creation, cache miss
  std::optional<Nanoseconds> create_hit;  // again, from the library's cache
  std::optional<Nanoseconds> reorder;     // packing inputs and weights into the kernel's layouts
  std::optional<Nanoseconds> first_run;
  std::string implementation;
  SampleCanaries canaries;  // none on a device's clock and from older workers
  // Of samples on a device's clock: what the host spent on launching each, and the clock of the
  // device's processors meanwhile. One a sample, or empty where one of them is not known.
  std::vector<Nanoseconds> host_launch;
  std::vector<std::int64_t> clock_hz;
  std::optional<std::string> sample_method;  // "stream", "graph"; absent: the host's clock
  std::optional<SampleRemarks> voided;       // not among the samples
  std::optional<SampleRemarks> throttled, unsteady_clock;  // among them
  std::map<std::string, Nanoseconds> setup;                // parts of the creation: "context_ns"
  friend bool operator==(const ProcessRecord&, const ProcessRecord&) = default;
};

struct MemoryUse {
  Bytes peak;  // all buffers of the case and the kernel's workspace, cold copies apart
  Bytes weights;
  Bytes workspace;
  // Inputs, outputs and intermediate results; absent in files of earlier versions.
  std::optional<Bytes> activations = std::nullopt;
  friend bool operator==(const MemoryUse&, const MemoryUse&) = default;
};

// What a case is to one network.
struct NetworkLayers {
  std::string network;
  std::vector<std::string> layers;
  friend bool operator==(const NetworkLayers&, const NetworkLayers&) = default;
};

// A case's time, of the samples that count: quartiles over their iterations, of all processes;
// median, low and high over process medians.
struct TimeSummary {
  Nanoseconds median;  // median of process medians
  Nanoseconds q25, q75, min,
      max;  // of single iterations' means (sample / iterations_per_sample), pooled
  std::optional<Nanoseconds> low, high;  // absent below 5 processes
  std::optional<double> confidence;
  friend bool operator==(const TimeSummary&, const TimeSummary&) = default;
};

// What the canaries say of a case's samples (quiet.hpp).
struct QuietSummary {
  Nanoseconds level{0};      // of the canary on the quiet machine
  int threads = 0;           // of the canary
  std::int64_t samples = 0;  // quiet ones
  std::int64_t all_samples = 0;
  std::int64_t processes = 0;  // with enough quiet samples for a median; 0: all samples count
  std::int64_t all_processes = 0;
  Nanoseconds waited{0};                           // samples of the other processes took so long
  std::optional<Nanoseconds> join = std::nullopt;  // lowest of the processes that count
  friend bool operator==(const QuietSummary&, const QuietSummary&) = default;
};

struct CaseRecord {
  std::string run_id;
  std::string id;
  std::string op;
  std::string direction;
  std::string dtype;
  std::string device;
  std::string backend;
  std::string source;  // "configs/resnet.yaml:14"
  std::string case_hash;
  std::optional<std::string> network;   // of a layer; the first one when there are several
  std::vector<std::string> layers;      // in `network`
  std::vector<NetworkLayers> networks;  // all of them, only when there are several
  std::optional<int> multiplicity;
  // Of a layer of a network in training: directions that a step computes and that no case measures.
  std::vector<std::string> unmeasured_gradients;
  Outcome outcome = Outcome::ok;
  std::optional<std::string> reason;  // with every outcome but ok
  std::vector<Flag> flags;
  std::optional<std::string> implementation;
  std::optional<ops::Work> work;
  std::optional<MemoryUse> memory;
  // Of the quiet samples; of all where there are too few of them (Flag::disturbed) or no canaries.
  std::optional<TimeSummary> time;
  std::optional<TimeSummary> time_all;  // of all samples; only where `time` is of a part
  std::optional<double> quiet_share;    // of all samples; absent without canaries
  std::optional<QuietSummary> quiet;
  std::optional<FlopsPerSecond> flops_per_s;
  std::optional<BytesPerSecond> bytes_per_s;
  std::optional<Nanoseconds> create, create_hit, reorder, first_run;  // medians over processes
  // On a device's clock, as of ProcessRecord: medians over processes, of an iteration; sums.
  std::optional<Nanoseconds> host_launch;
  std::optional<std::int64_t> clock_hz;
  std::optional<std::string> sample_method;
  std::optional<SampleRemarks> voided, throttled, unsteady_clock;
  std::map<std::string, Nanoseconds> setup;
  std::optional<std::string>
      check;  // how the result was verified: "full, 200704 elements, worst 0.12 of tolerance"
  std::map<std::string, std::string>
      details;  // buffer layouts, cold sets and bytes ("layout.source": "acdb", "cold.sets": "12")
  friend bool operator==(const CaseRecord&, const CaseRecord&) = default;
};

// Beginning of the reason of a case that the budget of a run left without a time.
inline constexpr std::string_view kBudgetReason = "the budget of the run ended";
// Whether the budget ended before the case was measured: a resumed run measures it, a gate has not
// decided it.
bool is_unmeasured(const CaseRecord& record);
bool has_flag(const CaseRecord& record, Flag flag);

// One profiling pass over a case, in a worker of its own. Its activities stand before it in the
// file.
struct ProfilePassRecord {
  std::string run_id;
  std::string id;
  Outcome outcome = Outcome::ok;
  std::optional<std::string> reason;                // with every outcome but ok
  std::int64_t iterations = 0;                      // recorded
  std::optional<Nanoseconds> profiled, unprofiled;  // medians of an iteration in this worker, with
                                                    // and without collectors
  std::int64_t activities = 0;
  std::int64_t unread = 0;  // lines of a library's log that could not be read
  // Of the recorded iterations: wall = attributed + unattributed.
  std::optional<Nanoseconds> wall, attributed, unattributed;
  std::map<std::string, std::string> details;  // "isa", "threads": what the library's log says
  friend bool operator==(const ProfilePassRecord&, const ProfilePassRecord&) = default;
};

// Beyond this a canary did not come back to where it was: what was measured in between stands for
// two machines (2 % is more than undisturbed repetitions differ by, and the effect that a gate
// looks for).
inline constexpr double kMovedShare = 0.02;

// The machine's own speed: times of fixed pieces of work that know no operator and no library
// (harness/worker/canary.hpp). The same on the same machine, whatever the run measures.
struct Canaries {
  Nanoseconds fma{0};    // multiply-adds in registers
  Nanoseconds l2{0};     // a triad that fits the second cache
  Nanoseconds dram{0};   // a triad larger than the last cache
  Nanoseconds timer{0};  // reads of the clock
  friend bool operator==(const Canaries&, const Canaries&) = default;
};
struct CanaryField {
  std::string_view name;
  Nanoseconds Canaries::*time;
};
inline constexpr std::array<CanaryField, 4> kCanaryFields = {{{"fma", &Canaries::fma},
                                                              {"l2", &Canaries::l2},
                                                              {"dram", &Canaries::dram},
                                                              {"timer", &Canaries::timer}}};
enum class CanaryMoment { before, midway, after };  // all else that the run measures
std::span<const std::string_view> canary_moment_names();
struct CanaryRecord {
  std::string run_id;
  CanaryMoment moment = CanaryMoment::before;
  Canaries time;
  friend bool operator==(const CanaryRecord&, const CanaryRecord&) = default;
};

struct Accounting {
  Nanoseconds wall{0}, timed{0}, warmup{0}, setup{0}, check{0}, profile{0},
      idle{0};  // summed over workers, wall = the rest together
  friend bool operator==(const Accounting&, const Accounting&) = default;
};

struct EndRecord {
  std::string run_id;
  std::string finished;  // UTC
  bool interrupted = false;
  int exit = 0;
  std::int64_t not_measured = 0;  // cases that the budget or an interrupt left without a time
  Accounting accounting;
  friend bool operator==(const EndRecord&, const EndRecord&) = default;
};

using Record =
    std::variant<RunRecord, ProcessRecord, CaseRecord, ProfilePassRecord, CanaryRecord, EndRecord>;

}  // namespace bench
