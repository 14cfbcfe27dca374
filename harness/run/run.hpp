// SPDX-License-Identifier: Apache-2.0
// The coordinator: carries out a Plan through worker processes and appends records as it goes. Owns
// order, seed, number of processes and stop rule; never calls a backend.
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

// Where records go: the result file, or a vector in tests.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual Status append(const Record& record) = 0;
  // An activity as its JSON line: a stream that nobody keeps in memory.
  virtual Status append_activity(std::string_view line) = 0;
};

// Told about progress; draws a bar, prints a line, or does nothing.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  // Before each (case, process): `done` of `total` such steps are behind; `remaining` is an
  // estimate once one can be made.
  virtual void step(std::int64_t done, std::int64_t total, const std::string& id,
                    std::optional<Nanoseconds> remaining) = 0;
  // After the last process of a case, or when its outcome is known.
  virtual void case_finished(const CaseRecord& record) = 0;
  virtual void message(const std::string& text) = 0;
};

struct RunOptions {
  std::string worker_program;  // a `bench` of the same protocol; run as `PROGRAM worker`
  std::map<std::string, std::string>
      worker_environment;  // added to and overriding the inherited one
  std::uint64_t seed = 1;
  std::optional<Nanoseconds> budget;  // overrides the plan's
  std::string run_id;
  std::string tool_version, tool_commit;
  std::vector<std::string> arguments;
  std::optional<std::string> shard;
  // Folder of stored baselines: what their runs know of this machine's quiet level. It may be none.
  std::optional<std::string> store;
  std::optional<std::string> required_device;  // a case that finds none there is a failure
  std::optional<ProfileSwitches> profile;      // absent: no profiling pass
  // Folder: each case that fails runs once more with the profiler, and leaves its trace there.
  std::optional<std::string> trace_failures;
  // A shell command below which workers run. Then each case is one round of min_iterations in one
  // process, inside a range that the command's tool sees, and nothing is profiled here.
  std::optional<std::string> under;
  const Report* resume = nullptr;  // of an earlier, unfinished run of the same plan: what it
                                   // finished is not measured again
  std::function<bool()>
      interrupted;  // Ctrl-C seen; polled at least 10 times a second, also while a worker works
};

struct RunSummary {
  EndRecord end;
  bool any_failed = false;      // a case with outcome crashed, timed_out, wrong_result or failed
  bool any_unmeasured = false;  // fewer processes, or the required device is missing
  std::optional<StopCause> stopped_by;
  std::int64_t cases = 0;  // of the plan
  // Cases that the stop left with fewer processes than asked for. A process that it cut short is
  // missing; one that its stop rule or its share of the budget ended is not. end.not_measured are
  // those among them without a time.
  std::int64_t fewer_processes = 0;
  std::int64_t not_profiled = 0;  // cases whose profiling pass the stop left out
};

// "stopped by the budget: 3 of 12 cases have fewer processes than asked for, 1 of them none". Empty
// if nothing stopped the run, and if the budget ended when all was done.
std::string format_stop(const RunSummary& summary);

// Order of events: run record; process records as processes finish cases; case records in the order
// of the plan, each as soon as all before it are known; end record. An error means that the run
// could not go on (sink failed, no worker starts): what was measured is in the sink.
Result<RunSummary> execute_plan(const Plan& plan, const RunOptions& options, RecordSink& sink,
                                RunObserver& observer, Env& env);

// --shard index/count (1 <= index <= count): every count-th case in the order of the plan. The
// plan's hash stays that of the whole, so that the parts' files belong together.
Plan shard_cases(Plan plan, int index, int count);

// For RunOptions::under: each case in one process, since a second one would overwrite the report of
// the command's tool.
Plan with_one_process(Plan plan);

}  // namespace bench
