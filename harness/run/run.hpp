// SPDX-License-Identifier: Apache-2.0
// The coordinator: executes a Plan through worker processes and appends each record as soon as it
// is complete. Controls the order, the seed, the number of processes and the stop rule. Never calls
// a backend.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/config/plan.hpp"
#include "harness/result/record.hpp"
#include "harness/result/report.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Receives the records of a run. Implementations are the result file, and a vector in tests.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual Status append(const Record& record) = 0;
  // Appends an activity as its JSON line. Activities are a stream and are not kept in memory.
  virtual Status append_activity(std::string_view line) = 0;
};

// Receives the progress of a run. Implementations draw a bar, print lines, or do nothing.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  // Called before each step, which measures one process of one case. `done` of `total` steps are
  // finished. `remaining`: estimated time until the end of the run; nullopt if unknown.
  virtual void step(std::int64_t done, std::int64_t total, const std::string& id,
                    std::optional<Nanoseconds> remaining) = 0;
  // Called after the last process of a case, or when its outcome is known.
  virtual void case_finished(const CaseRecord& record) = 0;
  virtual void message(const std::string& text) = 0;
  // Called before work outside the steps, such as a profiling pass: "profiling CASE". The text is
  // outdated at the next call of any function, so a terminal need not keep it.
  virtual void phase(const std::string& text) { message(text); }
};

// Returns an id of 12 characters. It depends on the time and on the process id, so that runs have
// different ids.
std::string make_run_id(Env& env);

struct RunOptions {
  std::string worker_program;  // a `bench` with the same protocol; run as `PROGRAM worker`
  std::map<std::string, std::string> worker_environment;  // overrides inherited variables
  std::uint64_t seed = 1;
  std::optional<Nanoseconds> budget;  // overrides the budget of the plan
  std::string run_id;
  std::string tool_version, tool_commit;
  std::vector<std::string> arguments;
  std::optional<std::string> shard;
  std::optional<ShardAssignment> assignment = {};
  // Folder of stored baselines, with quiet levels and ceilings of this machine. It need not exist.
  // If it has no ceilings, those of the default store count. If nullopt, records have no roofline.
  std::optional<std::string> store;
  std::optional<std::string> required_device;  // if it is missing, the run counts as not measured
  std::optional<ProfileSwitches> profile;      // nullopt means no profiling pass
  // Folder for traces. If set, each failed case runs once more with the profiler, which writes its
  // trace there.
  std::optional<std::string> trace_failures;
  // A shell command under which the workers run, usually a profiler. Each process of a case then
  // runs one round of min_iterations, inside a range that the profiler can select. Requires a plan
  // of with_one_process() (schedule.hpp).
  std::optional<std::string> under;
  // The other measurements on this machine that this one did not wait for, for the run record.
  std::vector<std::string> beside = {};
  // Returns the measurements that began beside this one, for the end record. May be empty.
  std::function<std::vector<std::string>()> joined = {};
  // An earlier, unfinished run of the same plan; its finished cases are not measured again.
  const Report* resume = nullptr;
  // Returns whether the user pressed Ctrl-C. Polled at least 10 times per second, even while a
  // worker is busy. May be empty.
  std::function<bool()> interrupted;
};

struct RunSummary {
  EndRecord end;
  bool any_failed = false;      // whether a case or a profiling pass failed (is_failure())
  bool any_unmeasured = false;  // whether cases lack processes or the required device
  std::optional<StopCause> stopped_by;
  std::int64_t cases = 0;  // number of cases in the plan
  // Number of cases with fewer processes than requested because the run was stopped. An aborted
  // process counts as missing, but not a process that ended by its stop rule or its deadline.
  // end.not_measured is the number of these cases without a time.
  std::int64_t fewer_processes = 0;
  std::int64_t not_profiled = 0;  // number of cases without a profiling pass because of the stop
};

// Returns a text such as "stopped by the budget: 3 of 12 cases have fewer processes than asked for,
// 1 of them none". Empty if nothing stopped the run, or if the run was complete when the budget
// ended.
std::string format_stop(const RunSummary& summary);

// Executes the plan. The first record is the run record. Process records follow when a process has
// measured a case. Case records are in the order of the plan, each as soon as all cases before it
// are decided. The end record is the last one. Returns an error if the run cannot continue, because
// the sink fails or no worker starts. The sink then has all records up to this time.
Result<RunSummary> execute_plan(const Plan& plan, const RunOptions& options, RecordSink& sink,
                                RunObserver& observer, Env& env);

// Estimates how long a run of the plan calibrates the ceilings before the first case; 0 if they are
// stored or not needed. `plan`: has only the cases that this machine can run. Reports problems of
// the store to `observer`.
Nanoseconds estimate_calibration(const Plan& plan, const RunOptions& options,
                                 RunObserver& observer);

}  // namespace bench
