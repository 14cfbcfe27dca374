// SPDX-License-Identifier: Apache-2.0
// The records of a result file (schema bench.result/1) as plain data. docs/result_file.md explains
// their fields.
#pragma once

#include "base/enumerators.hpp"
#include "base/units.hpp"
#include "ops/problem.hpp"
#include "ops/regret.hpp"

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

// The exit statuses of every command (docs/manual.md). If several apply, the first in this order
// wins: usage, regression, not_measured, nothing_comparable, undecided, success.
enum class ExitStatus {
  success = 0,
  regression = 1,
  usage = 2,  // wrong command line or configuration
  // a case failed, crashed, timed out, gave a wrong result, or the budget ended before it
  not_measured = 3,
  // the measurements decide no case; with --strict also if they leave one undecided, or if both
  // sides are the same program and libraries
  undecided = 4,
  // no case has a base or a comparable stored run; accepted for the first run of a configuration
  // unless --require-baseline demands one, and with --allow-incomparable
  nothing_comparable = 5,
};

// The parts of a case id as text. They are not validated, since reports may contain operators and
// backends that this build does not know.
struct IdSegments {
  std::string op, direction, parameters, dtype, backend, device, cache;
  std::string options;  // the part after the cache mode: "t1/nhwc"
};

// Splits a case id at its slashes. Missing segments are empty.
IdSegments split_id(std::string_view id);

inline constexpr std::string_view kResultSchema = "bench.result/1";
inline constexpr std::string_view kWorkConvention = "bench-1";  // docs/work_model.md

BENCH_ENUM(Outcome, ok, wrong_result, unsupported, skipped, crashed, timed_out, failed);
BENCH_ENUM(Flag, noisy, unsteady, above_ceiling, throttled, interrupted, voided_samples,
           launch_bound, disturbed);
// Flag::disturbed: the machine never had the speed at which the time is stated.

// Why a process stopped measuring a case. precision: it sufficed. max_time: nothing ended it before
// its limit, which is a time, the maximum number of samples, or the fixed number of a run under a
// profiler. voided: the device gave no more valid samples.
BENCH_ENUM(StopReason, precision, max_time, budget, interrupted, voided);
// Why a run or a gate ended before it completed all requested measurements.
BENCH_ENUM(StopCause, budget, interruption);
// Returns "stopped by the budget", "stopped by Ctrl-C", or "the evidence ends" if the cause is
// unknown, as after a killed run.
std::string_view format_stop_cause(const std::optional<StopCause>& cause);
// Returns whether the case crashed, timed out, failed or gave a wrong result.
bool is_failure(Outcome outcome);

// Prefix of names of environment variables in EnvironmentRecord::details.
inline constexpr const char* kVariableDetail = "env.";
// Environment variable of a worker: the fraction by which the worker lengthens each timed sample.
// Only the gate's self-test uses it (docs/worker_protocol.md).
inline constexpr const char* kSlowdownVariable = "BENCH_SLOWDOWN";

// Facts about the machine, its libraries and its settings.
struct EnvironmentRecord {
  std::string machine_class;  // "icelake-server-2c-3fa4b21c": readable name, cores, 8 hex digits of
                              // the fingerprint
  std::string cpu;            // model name
  std::optional<int> threads;
  std::map<std::string, std::string> libraries;  // name -> version
  // Name -> value: "library.onednn.path", "governor", "aslr", "kernel", "arena.bytes", ...
  std::map<std::string, std::string> details;
  friend bool operator==(const EnvironmentRecord&, const EnvironmentRecord&) = default;
};

// How the cases of a plan were assigned to its shards. stored: by stored times, where a case has
// none by an estimate. estimated: by estimates only. order: every n-th case, since no case is
// expected to take longer than another one.
BENCH_ENUM(AssignmentRule, stored, estimated, order);

// What one shard was to measure (shard_positions.hpp).
struct ShardAssignment {
  std::int64_t plan_cases = 0;  // number of cases of all shards together
  // The positions of this shard's cases in the plan, from 1: "1,5,9-12". Empty: it has none.
  std::string positions;
  AssignmentRule rule = AssignmentRule::order;
  friend bool operator==(const ShardAssignment&, const ShardAssignment&) = default;
};

struct RunRecord {
  std::string run_id;
  std::optional<std::string> resumes;  // run_id of the run that this one resumes
  std::string tool_version;
  std::string tool_commit;
  std::string started;  // time in UTC
  std::string config_name;
  std::vector<std::string> config_files;
  std::string config_hash;
  std::uint64_t seed = 0;
  std::string convention = std::string(kWorkConvention);  // rules for counting work
  std::vector<std::string> arguments;         // the command's arguments, for reproduction
  std::optional<std::string> shard;           // "1/4"
  std::optional<ShardAssignment> assignment;  // nullopt without a shard, and in older files
  // The profiler's command (`--under`). Times of such a run are not comparable with other runs.
  std::optional<std::string> under;
  // The other measurements of `bench` that ran on this machine when this one began.
  std::vector<std::string> beside = {};
  EnvironmentRecord environment;
  friend bool operator==(const RunRecord&, const RunRecord&) = default;
};

// Remarks of a device about samples, counted by reason. Reasons that differ only in their numbers
// are counted together under the first one (device_samples.hpp).
struct SampleRemarks {
  std::int64_t count = 0;                       // all remarks
  std::map<std::string, std::int64_t> reasons;  // reason -> number of remarks
  friend bool operator==(const SampleRemarks&, const SampleRemarks&) = default;
};

// The canaries of a process's samples (docs/decisions/0019). A canary is a fixed piece of work
// before and after each sample. Its time is the slower one of both, on the slowest thread, and
// shows the speed of the machine. The time is 0 if the operating system took a processor away
// during the sample, since canaries cannot observe this.
struct SampleCanaries {
  std::vector<Nanoseconds> times;  // one per sample; empty if none were measured
  std::optional<int> threads;      // number of threads that ran them
  // Time to start and join the threads: the median of a round, and the shortest of all rounds. It
  // shows how far apart their processors are, which a host may change. nullopt for one thread.
  std::optional<Nanoseconds> join = std::nullopt;
  friend bool operator==(const SampleCanaries&, const SampleCanaries&) = default;
};

// The energy that the machine's counters measured during the rounds of a process.
struct ProcessEnergy {
  std::int64_t microjoules = 0;
  Nanoseconds time{0};  // duration of all rounds, including the time between samples
  std::string source;   // "rapl:package-0+dram-0", "nvml"
  friend bool operator==(const ProcessEnergy&, const ProcessEnergy&) = default;
};

// The times of a preparation. A worker measures all of them. In files of other versions some may be
// nullopt.
struct PreparationTimes {
  std::optional<Nanoseconds> create;      // primitive creation that misses the library's cache
  std::optional<Nanoseconds> create_hit;  // repeated creation, which hits the library's cache
  std::optional<Nanoseconds> reorder;     // packing inputs and weights into the kernel's layouts
  std::optional<Nanoseconds> first_run;
  friend bool operator==(const PreparationTimes&, const PreparationTimes&) = default;
};
struct PreparationTime {
  std::string_view name;  // name of the field in records and messages
  std::optional<Nanoseconds> PreparationTimes::*time;
};
inline constexpr std::array<PreparationTime, 4> kPreparationTimes = {
    {{"create_ns", &PreparationTimes::create},
     {"create_hit_ns", &PreparationTimes::create_hit},
     {"reorder_ns", &PreparationTimes::reorder},
     {"first_run_ns", &PreparationTimes::first_run}}};

// What samples on a device's clock report besides their time. Empty for samples on the host's
// clock. Remarks with count 0 mean that there are none.
struct DeviceSamples {
  // The host's launch time, and the clock of the device's processors during the sample. One value
  // per sample. In a process record, a list is empty if any of its values is unknown.
  std::vector<Nanoseconds> host_launch;
  std::vector<std::int64_t> clock_hz;
  std::optional<std::string> sample_method;  // "stream", "graph"
  SampleRemarks voided;                      // about discarded samples, which have no time
  SampleRemarks throttled, unsteady_clock;   // about samples that count
  friend bool operator==(const DeviceSamples&, const DeviceSamples&) = default;
};

// The latencies of all iterations that ran within the windows of a case with streams
// (harness/worker/stream_sampler.hpp), each with the number of iterations that had it. Nothing is
// rounded, so that percentiles are exact.
struct LatencyCounts {
  std::vector<Nanoseconds> times;    // ascending, distinct
  std::vector<std::int64_t> counts;  // one per time, at least 1
  Nanoseconds clock{0};              // of reading the clock once, which each latency contains
  friend bool operator==(const LatencyCounts&, const LatencyCounts&) = default;
};

struct ProcessRecord {
  std::string run_id;
  std::string id;
  int process = 0;                   // number of the round, from 0
  std::vector<Nanoseconds> samples;  // time per sample, which has iterations_per_sample iterations
  std::int64_t iterations_per_sample = 1;
  std::int64_t warmup_iterations = 0;
  bool steady = true;  // whether the last warm-up samples had similar times
  StopReason stop = StopReason::precision;
  PreparationTimes preparation;
  std::string implementation;
  SampleCanaries canaries;  // empty on a device's clock and from older workers
  DeviceSamples device;
  std::map<std::string, Nanoseconds> setup;  // parts of the creation: "context_ns"
  std::optional<ProcessEnergy> energy;       // nullopt if the counters cannot be read
  std::optional<LatencyCounts> latencies;    // only for cases with streams
  // What the case's backend chose by measuring, as text of its own (ops::Backend::choices()). Empty
  // if it chose nothing, or the same as in an earlier process of the case.
  std::string choices;
  friend bool operator==(const ProcessRecord&, const ProcessRecord&) = default;
};

struct MemoryUse {
  Bytes peak;  // all buffers of the case and the kernel's workspace, without cold copies
  Bytes weights;
  Bytes workspace;
  // Inputs, outputs and intermediate results; nullopt in files of earlier versions.
  std::optional<Bytes> activations = std::nullopt;
  friend bool operator==(const MemoryUse&, const MemoryUse&) = default;
};

// The layers of one network that a case represents.
struct NetworkLayers {
  std::string network;
  std::vector<std::string> layers;
  friend bool operator==(const NetworkLayers&, const NetworkLayers&) = default;
};

// Where the level of speed at which a time is stated comes from: the store of this machine class,
// or the run itself.
BENCH_ENUM(LevelSource, stored, run);

// The speed of a machine at which times are stated, as the time of a canary.
struct SpeedLevel {
  Nanoseconds canary{0};
  LevelSource source = LevelSource::run;
  friend bool operator==(const SpeedLevel&, const SpeedLevel&) = default;
};

// A case's time per iteration.
struct TimeSummary {
  // At the level of speed `at`, if the samples have canaries (harness/stats/equal_speed.hpp). The
  // other times are those of samples that were corrected to this level. Without canaries, it is the
  // median of process medians.
  Nanoseconds median;
  // Over the pooled samples of all processes, each divided by its number of iterations.
  Nanoseconds q25, q75, min, max;
  // Confidence interval of the median; nullopt for fewer than 5 processes.
  std::optional<Nanoseconds> low, high;
  // Coverage of the interval, 0 to 1: exact without canaries, else calibrated between runs.
  std::optional<double> confidence;
  // nullopt without canaries, and for times as measured.
  std::optional<SpeedLevel> at = std::nullopt;
  // Over the same pooled samples: mean, standard deviation (nullopt for fewer than two) and
  // percentiles. nullopt in records of earlier versions.
  std::optional<Nanoseconds> mean = std::nullopt, deviation = std::nullopt;
  std::optional<Nanoseconds> p90 = std::nullopt, p99 = std::nullopt;
  friend bool operator==(const TimeSummary&, const TimeSummary&) = default;
};

// What limits a case, by the roofline model.
BENCH_ENUM(Bound, compute, memory, cache, launch);
// Where the ceilings of a roofline come from: `bench peak`, a calibration within the run, or the
// manufacturer's data of the device.
BENCH_ENUM(CeilingSource, stored, calibrated, datasheet);

// How near a case comes to the ceilings of its machine.
struct Roofline {
  double intensity_flops_per_byte = 0;
  Bound bound = Bound::compute;
  // "l1", "l2", "l3" or "dram": the level that causes most of the time of the data traffic.
  std::string level;
  Nanoseconds ideal{0};   // shortest time of one iteration that the ceilings permit
  double efficiency = 0;  // ideal / median time; above 1 if a ceiling or the work is wrong
  // The ceilings that apply; nullopt if they were not measured or the case has no such work.
  std::optional<FlopsPerSecond> peak_flops_per_s;
  std::optional<BytesPerSecond> peak_bytes_per_s;
  CeilingSource source = CeilingSource::stored;
  // How uncertain calibrated ceilings are (Ceiling::precision). nullopt for others.
  std::optional<double> precision = std::nullopt;
  friend bool operator==(const Roofline&, const Roofline&) = default;
};

// The total energy of the package or board, including idle power (energy.hpp).
struct Energy {
  double joules_per_iteration = 0;
  std::optional<double> flops_per_joule;  // nullopt if the case has no FLOPs
  std::string source;                     // as in ProcessEnergy
  friend bool operator==(const Energy&, const Energy&) = default;
};

// A rate of what a user counts: images, sequences or iterations.
struct ItemsPerSecond {
  double value = 0;
  friend auto operator<=>(const ItemsPerSecond&, const ItemsPerSecond&) = default;
};

// A percentile of the latencies of all iterations of all processes, and its interval: order
// statistics of the percentiles of the processes, nullopt for fewer than 5 processes.
struct LatencyPercentile {
  Nanoseconds time{0};
  std::optional<Nanoseconds> low = std::nullopt, high = std::nullopt;
  friend bool operator==(const LatencyPercentile&, const LatencyPercentile&) = default;
};

// How long one iteration takes while all streams of the case run. As measured: unlike
// TimeSummary::median, not corrected to a level of speed.
struct Latency {
  std::int64_t iterations = 0;
  LatencyPercentile p50, p90, p99;
  Nanoseconds min{0}, max{0};
  std::optional<double> confidence;  // exact coverage of the intervals
  Nanoseconds clock{0};              // as in LatencyCounts; the largest of the processes
  friend bool operator==(const Latency&, const Latency&) = default;
};
struct LatencyPercentileRow {
  std::string_view name;  // "p50"
  double probability;
  LatencyPercentile Latency::*value;
};
inline constexpr std::array<LatencyPercentileRow, 3> kLatencyPercentiles = {
    {{"p50", 0.50, &Latency::p50}, {"p90", 0.90, &Latency::p90}, {"p99", 0.99, &Latency::p99}}};

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
  std::optional<std::string> network;   // network of a layer; the first one if there are several
  std::vector<std::string> layers;      // layers in `network`
  std::vector<NetworkLayers> networks;  // all networks, only if there are several
  std::optional<int> multiplicity;
  // For a layer of a network in training: directions of a training step that no case measures.
  std::vector<std::string> unmeasured_gradients;
  Outcome outcome = Outcome::ok;
  std::optional<std::string> reason;  // set for every outcome except ok
  std::vector<Flag> flags;
  std::optional<std::string> implementation;
  std::optional<ops::Work> work;
  std::optional<MemoryUse> memory;
  std::optional<TimeSummary> time;
  // Over all samples as they were measured; nullopt if `time` already covers them.
  std::optional<TimeSummary> time_all;
  std::optional<FlopsPerSecond> flops_per_s;
  std::optional<BytesPerSecond> bytes_per_s;
  // Set for networks and for cases with streams: the images or sequences of one iteration, and how
  // many the case processes per second with all its streams.
  std::optional<std::int64_t> items;
  std::optional<ItemsPerSecond> items_per_s;
  // Set for cases with streams. Their `time` is the time per iteration at the throughput of all
  // streams together; the time from begin to end of one iteration is the latency.
  std::optional<int> streams;
  std::optional<Latency> latency;
  std::optional<Roofline> roofline;  // nullopt without a time, work or a ceiling
  std::optional<Energy> energy;      // nullopt with the reason in details["energy"]
  PreparationTimes preparation;      // medians over processes
  // Set for samples on a device's clock, as in DeviceSamples. host_launch (per iteration) and
  // clock_hz are medians over processes. Remarks are sums.
  std::optional<Nanoseconds> host_launch;
  std::optional<std::int64_t> clock_hz;
  std::optional<std::string> sample_method;
  std::optional<SampleRemarks> voided, throttled, unsteady_clock;
  std::map<std::string, Nanoseconds> setup;  // medians over processes
  // How the worker verified the result: "full, 200704 elements, worst 0.12 of tolerance".
  std::optional<std::string> check;
  std::optional<Nanoseconds> launch_floor;  // time of an empty launch; files store it as a detail
  // Set for a case with `tune`: the measured candidates, and what the library's own choice costs.
  // The case itself runs the best one.
  std::optional<ops::Regret> regret;
  // Buffer layouts, cold sets and the like: "layout.source": "acdb", "cold.sets": "12".
  std::map<std::string, std::string> details;
  friend bool operator==(const CaseRecord&, const CaseRecord&) = default;
};

// Details of a case on a GPU about tensor cores (harness/run/case_progress.hpp): whether tensor
// cores can compute the case, the reason if not, and the value that means yes.
inline constexpr const char* kTensorCoresDetail = "tensor_cores.eligible";
inline constexpr const char* kTensorCoresReason = "tensor_cores.reason";
inline constexpr std::string_view kTensorCoresEligible = "eligible";

// Prefix of the reason if a case has no time because the run's budget ended.
inline constexpr std::string_view kBudgetReason = "the budget of the run ended";
// Returns whether the budget ended before the case was measured. A resumed run measures such a
// case. A gate treats it as undecided.
bool is_unmeasured(const CaseRecord& record);
bool has_flag(std::span<const Flag> flags, Flag flag);
bool has_flag(const CaseRecord& record, Flag flag);

// One profiling pass over a case, in a separate worker. The file has its activities before this
// record.
struct ProfilePassRecord {
  std::string run_id;
  std::string id;
  Outcome outcome = Outcome::ok;
  std::optional<std::string> reason;  // set for every outcome except ok
  std::int64_t iterations = 0;        // recorded iterations
  // Median times of an iteration in this worker with and without collectors.
  std::optional<Nanoseconds> profiled, unprofiled;
  std::int64_t activities = 0;
  std::int64_t unread = 0;  // unreadable lines of a library's log
  // Total times of the recorded iterations: wall = attributed + unattributed.
  std::optional<Nanoseconds> wall, attributed, unattributed;
  std::map<std::string, std::string> details;  // such as "isa", "threads" from the library's log
  friend bool operator==(const ProfilePassRecord&, const ProfilePassRecord&) = default;
};

// How workers spent their time, summed over workers. `wall` is the sum of the other values.
struct Accounting {
  Nanoseconds wall{0}, timed{0}, warmup{0}, setup{0}, check{0}, profile{0}, idle{0};
  friend bool operator==(const Accounting&, const Accounting&) = default;
};

struct EndRecord {
  std::string run_id;
  std::string finished;  // time in UTC
  bool interrupted = false;
  int exit = 0;                   // ExitStatus
  std::int64_t not_measured = 0;  // cases without a time because of the budget or an interruption
  Accounting accounting;
  // The other measurements of `bench` that began on this machine while this one ran.
  std::vector<std::string> beside = {};
  friend bool operator==(const EndRecord&, const EndRecord&) = default;
};

using Record = std::variant<RunRecord, ProcessRecord, CaseRecord, ProfilePassRecord, EndRecord>;

}  // namespace bench
