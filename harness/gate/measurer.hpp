// SPDX-License-Identifier: Apache-2.0
// Measures what decide() requests and calls it again. Stops if nothing is requested, the time is
// over or the user interrupts. Does not judge anything itself.
#pragma once

#include "harness/config/plan.hpp"
#include "harness/gate/duet.hpp"
#include "harness/judge/decide.hpp"
#include "harness/result/quiet.hpp"
#include "harness/run/coordinator.hpp"
#include "harness/run/network_layouts.hpp"
#include "harness/run/run.hpp"
#include "harness/run/worker_session.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

// Number of cases whose duets are interleaved, so that one disturbance does not affect all duets of
// a case. With more interleaved cases, more would be unfinished at the end of the budget.
inline constexpr std::size_t kInterleavedCases = 8;
// Minimum time between two windows of a case, so that they see different states of the machine.
inline constexpr Nanoseconds kWindowGap = std::chrono::seconds(5);

// Receives each step of a gate before its measurement. duet_progress() returns a function that
// reports them to `observer`, which must outlive the function.
using DuetProgress = std::function<void(const GateStep& step)>;
DuetProgress duet_progress(RunObserver& observer);

struct GateParts {
  WorkerFactory start_candidate;
  WorkerFactory start_base;  // empty without a base
  HelloRequest hello;
  std::function<void(Nanoseconds)> pause;  // sleeps
  std::function<bool()> interrupted;
  QuietLevels levels = {};  // known from the store and from the candidate's run (stage 1)
  // Receives each duet and each window as a line of the gate's file, right after its measurement.
  std::function<Status(std::string_view line)> append;
  // Called before each measurement; may be empty.
  DuetProgress progress;
};

struct GateTask {
  const Plan* plan;  // `evidence.cases` are in the order of its cases
  std::string run_id;
  std::uint64_t seed = 1;
  std::optional<Nanoseconds> budget;  // starts at construction
};

class GateMeasurer {
 public:
  GateMeasurer(const GateTask& task, const GateParts& parts, Clock& clock);

  // Adds to the evidence until it is complete. Sets `stopped` if the budget or an interruption ends
  // it early. Returns an error if `append` fails.
  Result<Decision> settle(GateEvidence& evidence);
  // Returns a layer's input layouts in its network, which are queried once; empty for other cases.
  Result<ops::InputLayouts> find_input_layouts(const Case& spec);
  // Total warm-up and sample time of all workers so far.
  Nanoseconds spent_on_samples() const;

 private:
  Status measure(std::vector<MeasurementRequest> wanted, GateEvidence& evidence);
  Status measure_duet(MeasurementRequest& wanted, CaseEvidence& entry);
  Status measure_window(MeasurementRequest& wanted, CaseEvidence& entry);
  Status ask_base(MeasurementRequest& wanted, CaseEvidence& entry);
  // Records a side whose worker did not start, unless the user interrupted.
  Status note_start_failure(MeasurementRequest& wanted, SideFailure::Side side, const Error& error,
                            CaseEvidence& entry);
  Status note_failure(MeasurementRequest& wanted, SideFailure failure, CaseEvidence& entry);
  void tell_progress(const CaseEvidence& entry, MeasurementRequest::Kind kind,
                     std::size_t left) const;
  bool out_of_time() const;
  bool is_interrupted() const { return parts_.interrupted && parts_.interrupted(); }
  bool stopped() const { return is_interrupted() || out_of_time(); }

  const GateTask& task_;
  const GateParts& parts_;
  Clock& clock_;
  Nanoseconds started_;
  WorkerSession candidate_;
  WorkerSession base_;
  DuetWorkers workers_;  // run base_ and candidate_
  QuietLevels levels_;
  NetworkLayouts layouts_;
  std::map<std::string, OutputSample> outputs_;     // by case, from its first duet
  std::map<std::string, Nanoseconds> window_ends_;  // by case
  std::uint64_t duets_ = 0;
  std::size_t done_ = 0;  // measured so far: duets, and processes of windows
};

}  // namespace bench
