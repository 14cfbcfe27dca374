// SPDX-License-Identifier: Apache-2.0
// The coordinator: carries out a Plan through worker processes and appends records as it goes. It
// controls order, seed, number of processes and stop rule, and never calls a backend.
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

// Receives the records: the result file, or a vector in tests.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual Status append(const Record& record) = 0;
  // Appends an activity as its JSON line. Activities are a stream and are not kept in memory.
  virtual Status append_activity(std::string_view line) = 0;
};

// Receives progress; draws a bar, prints a line, or does nothing.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  // Called before each (case, process), when `done` of `total` such steps are finished. `remaining`
  // is an estimate, once one is possible.
  virtual void step(std::int64_t done, std::int64_t total, const std::string& id,
                    std::optional<Nanoseconds> remaining) = 0;
  // Called after the last process of a case, or when its outcome is known.
  virtual void case_finished(const CaseRecord& record) = 0;
  virtual void message(const std::string& text) = 0;
};

struct RunOptions {
  std::string worker_program;  // a `bench` with the same protocol; run as `PROGRAM worker`
  std::map<std::string, std::string> worker_environment;  // override the inherited ones
  std::uint64_t seed = 1;
  std::optional<Nanoseconds> budget;  // overrides the plan's
  std::string run_id;
  std::string tool_version, tool_commit;
  std::vector<std::string> arguments;
  std::optional<std::string> shard;
  // Folder of stored baselines, whose runs know the quiet level of this machine, and which has its
  // ceilings. It need not exist. nullopt: records have no roofline.
  std::optional<std::string> store;
  std::optional<std::string> required_device;  // a case without this device is a failure
  std::optional<ProfileSwitches> profile;      // nullopt: no profiling pass
  // Folder for traces: each failed case runs once more with the profiler and writes its trace
  // there.
  std::optional<std::string> trace_failures;
  // A shell command under which the workers run. Each case is then one round of min_iterations in
  // one process, inside a range that the command's tool sees. Nothing is profiled here.
  std::optional<std::string> under;
  // An earlier, unfinished run of the same plan; its finished cases are not measured again.
  const Report* resume = nullptr;
  std::function<bool()>
      interrupted;  // Ctrl-C was seen; polled at least 10 times per second, even during work
};

struct RunSummary {
  EndRecord end;
  bool any_failed = false;      // a case with outcome crashed, timed_out, wrong_result or failed
  bool any_unmeasured = false;  // fewer processes, or the required device is missing
  std::optional<StopCause> stopped_by;
  std::int64_t cases = 0;  // in the plan
  // Cases that have fewer processes than requested because the run was stopped. A process that was
  // cut short counts as missing. One that its stop rule or its share of the budget ended does not.
  // end.not_measured counts those of them without a time.
  std::int64_t fewer_processes = 0;
  std::int64_t not_profiled = 0;  // cases whose profiling pass was omitted because of the stop
};

// For example "stopped by the budget: 3 of 12 cases have fewer processes than asked for, 1 of them
// none". Empty if nothing stopped the run, or if everything was done when the budget ended.
std::string format_stop(const RunSummary& summary);

// Order of records: the run record; process records as processes finish cases; case records in the
// order of the plan, each as soon as all before it are known; the end record. An error means that
// the run could not continue (the sink failed, or no worker starts). The sink then has what was
// measured.
Result<RunSummary> execute_plan(const Plan& plan, const RunOptions& options, RecordSink& sink,
                                RunObserver& observer, Env& env);

// --shard index/count (1 <= index <= count): every count-th case in the order of the plan. The plan
// keeps the hash of the whole plan, so that the files of the shards belong together.
Plan shard_cases(Plan plan, int index, int count);

// For RunOptions::under: each case in one process, because a second one would overwrite the report
// of the command's tool.
Plan with_one_process(Plan plan);

}  // namespace bench
