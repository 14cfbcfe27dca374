// SPDX-License-Identifier: Apache-2.0
// Measures what decide() requests and calls decide() again. Stops if nothing is requested, the
// budget is spent or the user interrupts. All judging is in decide().
#pragma once

#include "harness/config/plan.hpp"
#include "harness/gate/duet.hpp"
#include "harness/judge/decide.hpp"
#include "harness/run/coordinator.hpp"
#include "harness/run/network_layouts.hpp"
#include "harness/run/run.hpp"
#include "harness/run/time_limit.hpp"
#include "harness/run/worker_session.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

// Maximum number of cases that are measured interleaved, so that one disturbance does not affect
// all duets of a case. With more of them, more cases would be unfinished at the end of the budget.
inline constexpr std::size_t kInterleavedCases = 8;
// Minimum time between two windows of a case, so that each sees another state of the machine.
inline constexpr Nanoseconds kWindowGap = std::chrono::seconds(5);

// Receives each step of a gate before its measurement.
using DuetProgress = std::function<void(const GateStep& step)>;
// Returns a function that reports each step to `observer`. The observer must outlive the function.
DuetProgress duet_progress(RunObserver& observer);

// What a GateMeasurer needs to measure.
struct GateParts {
  WorkerFactory start_candidate;
  WorkerFactory start_base;  // empty without a base
  HelloRequest hello;
  std::function<void(Nanoseconds)> pause;  // sleeps
  std::function<bool()> interrupted;       // whether the user has interrupted the gate
  // Receives the lines of the gate's file: each duet, window, side of the base and failure, right
  // after its measurement.
  std::function<Status(std::string_view line)> append;
  // Called before each measurement; may be empty.
  DuetProgress progress;
};

struct GateTask {
  const Plan* plan;  // its cases have the same order as GateEvidence::cases
  std::string run_id;
  std::uint64_t seed = 1;
  // Time limit from the construction of the GateMeasurer on. It bounds every wait for a worker.
  std::optional<Nanoseconds> budget;
};

class GateMeasurer {
 public:
  // Keeps references to all three arguments.
  GateMeasurer(const GateTask& task, const GateParts& parts, Clock& clock);

  // Adds evidence until every case is decided. Sets `evidence.stopped` if the budget or an
  // interruption ends the measurements early. Returns an error if GateParts::append fails.
  Result<Decision> settle(GateEvidence& evidence);
  // Returns a layer's input layouts in its network; empty for other cases. Asks a worker of the
  // candidate once per network. Returns an error if the worker does not start.
  Result<ops::InputLayouts> find_input_layouts(const Case& spec);
  // Returns what a side has chosen for a case by measuring; empty if it chose nothing.
  const std::string& choices(SideFailure::Side side, const std::string& id) const;
  // Total warm-up and sample time of all workers so far.
  Nanoseconds spent_on_samples() const;

 private:
  Status measure(std::vector<MeasurementRequest> requests, GateEvidence& evidence);
  // The next functions update `request.count`: a duet decrements it; a window, a check of the base
  // or a failure sets it to 0.
  // Lets a side choose by measuring, before it is timed.
  Status choose_way(SideFailure::Side side, const ops::InputLayouts& input_layouts,
                    MeasurementRequest& request, CaseEvidence& entry);
  Status measure_duet(MeasurementRequest& request, CaseEvidence& entry);
  Status measure_window(MeasurementRequest& request, CaseEvidence& entry);
  Status check_base(MeasurementRequest& request, CaseEvidence& entry);
  // Records the failure of a side whose worker did not start, unless the budget or the user ended
  // its start.
  Status note_start_failure(MeasurementRequest& request, SideFailure::Side side, const Error& error,
                            CaseEvidence& entry);
  Status note_failure(MeasurementRequest& request, SideFailure failure, CaseEvidence& entry);
  void report_progress(const CaseEvidence& entry, MeasurementRequest::Kind kind,
                       std::size_t steps_left) const;
  const GateTask& task_;
  const GateParts& parts_;
  Clock& clock_;
  TimeLimit limit_;
  WorkerSession candidate_;
  WorkerSession base_;
  DuetWorkers workers_;  // uses base_ and candidate_
  NetworkLayouts layouts_;
  std::map<std::string, OutputSample> outputs_;  // by case id, from its first measurement
  // Choices that each side made by measuring, by case id. Those of the candidate are from its run.
  std::map<SideFailure::Side, std::map<std::string, std::string>> choices_;
  std::map<std::string, Nanoseconds> window_ends_;  // by case id
  std::uint64_t duets_ = 0;                         // number of duets started so far
  std::size_t steps_done_ = 0;  // duets, processes of windows, and checks of the base
};

}  // namespace bench
