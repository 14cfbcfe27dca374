// SPDX-License-Identifier: Apache-2.0
// One step of a run: one case in one worker process, from preparation to its process record.
#pragma once

#include "base/env.hpp"
#include "base/units.hpp"
#include "harness/config/plan.hpp"
#include "harness/result/record.hpp"
#include "harness/run/worker_session.hpp"
#include "harness/wire/messages.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace bench {

// Makes the request that precedes every kind of measurement of a case. It requests a check against
// the reference. `input_layouts`: layouts of a layer's inputs; empty for other cases.
PrepareRequest prepare_request(const Case& spec, std::uint64_t seed,
                               ops::InputLayouts input_layouts);

// Whether the kernel of a case is chosen by measuring several: of an operator with `tune`, and of a
// network on a device, whose backend measures which way each layer is fastest. A worker of its own
// chooses: the memory that candidates are measured in changes where the buffers of the case are,
// and with it its time by up to 5 %. The workers that measure the case repeat the choice.
bool chooses_by_measuring(const Case& spec);

struct StepRequest {
  enum class Extent { prepare_only, measure };
  const Case* spec;
  int process = 0;
  std::uint64_t seed = 1;
  CheckKind check = CheckKind::reference;
  // The output of the first process. Set if `check` is CheckKind::expected.
  const OutputSample* expected = nullptr;
  Extent extent = Extent::measure;
  ops::InputLayouts input_layouts{};  // layouts of a layer's inputs; empty for other cases
  // If not empty, the worker runs one round of min_iterations inside a range of this name, which a
  // profiler can select.
  std::string range{};
  // The step starts no further round after this time and ends with StopReason::budget. It always
  // runs at least one round.
  Nanoseconds deadline = Nanoseconds::max();
  std::string choices{};  // what a worker chose for the case by measuring
};

struct StepResult {
  std::optional<PreparedReply> prepared;
  // Why the case ended: the worker refused it, or the worker failed.
  std::optional<ErrorReply> failure;
  // Set if at least one sample was taken, even if all were discarded, and `failure` is not set.
  // Also set if the step was aborted after a round.
  std::optional<ProcessRecord> record;
  enum class Completion { complete, aborted };
  Completion completion = Completion::complete;  // aborted while the worker was busy
};

// Runs the step in the session's worker, which must be running.
StepResult run_step(WorkerSession& session, const StepRequest& request, Clock& clock);

// Decides when a process has measured a case long enough, and how many samples its next round has.
// Pure functions.
struct StopRule {
  double precision = 0;             // sufficient relative half width of the median's interval
  std::int64_t min_samples = 1;     // number of samples before the precision may end a process
  Nanoseconds time_per_process{0};  // maximum sum of sample times
};

// Coverage of the median's interval for the precision.
inline constexpr double kStopCoverage = 0.95;
// Approximate maximum time of a round. Interrupts, the budget and the stop rule are checked between
// rounds. The overhead of about 100 us per round is negligible.
inline constexpr Nanoseconds kRoundTime = std::chrono::milliseconds(100);
// Approximate maximum time of the first round. It is longer, so that one round often suffices.
inline constexpr Nanoseconds kFirstRoundTime = std::chrono::milliseconds(200);
// Maximum number of samples, for kernels without measurable time, which never reach
// time_per_process.
inline constexpr std::int64_t kMaxSamples = 1'000'000;

// Returns why the process ends, or nullopt if it continues. `samples`: times of the samples that
// count. `measured` and `timed`: number and total time of all samples.
std::optional<StopReason> stop_reason(const StopRule& rule, std::span<const Nanoseconds> samples,
                                      std::int64_t measured, Nanoseconds timed);

// Returns the number of samples of the next round, at least 1. The first round has min_samples, and
// each further round as many as all rounds before it. The time of a round and the remaining
// time_per_process limit this number. `measured` and `timed`: as above. `sample`: expected time of
// one sample.
std::int64_t next_round(const StopRule& rule, std::int64_t measured, Nanoseconds timed,
                        Nanoseconds sample);

}  // namespace bench
