// SPDX-License-Identifier: Apache-2.0
#include "harness/run/run.hpp"

#include "base/available_memory.hpp"
#include "base/text.hpp"
#include "harness/host/environment.hpp"
#include "harness/host/placement.hpp"
#include "harness/run/ceilings_phase.hpp"
#include "harness/run/coordinator.hpp"
#include "harness/run/devices.hpp"
#include "harness/run/gpu_peak_plan.hpp"
#include "harness/run/peak_plan.hpp"
#include "harness/run/run_estimate.hpp"
#include "harness/run/time_limit.hpp"
#include "harness/run/worker_link.hpp"
#include "harness/store/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace bench {
namespace {

// A GPU's context and the data of a large product take seconds.
constexpr Nanoseconds kGpuCeilingTimeout = std::chrono::seconds(60);

// Returns the stored ceilings of this machine; without rows if none are stored.
Ceilings load_ceilings(const RunOptions& options, const CpuFacts& cpu,
                       const EnvironmentRecord& environment, RunObserver& observer) {
  const int threads = environment.threads.value_or(1);
  Ceilings no_rows;
  no_rows.threads = threads;
  no_rows.caches = cache_sizes(cpu);
  if (!options.store) return no_rows;
  const auto stored = find_peaks(*options.store, environment.machine_class);
  if (!stored.ok()) {
    observer.message("ceilings: " + stored.error().message());
    return no_rows;
  }
  const PeakHistory& history = stored->history;
  if (!history.problems.empty()) observer.message("ceilings: " + history.problems.front());
  return stored_ceilings(history.records, threads, cache_sizes(cpu));
}

// Returns the stored ceilings of the GPU; without rows if none are stored. A run does not calibrate
// a GPU, since it would have to load and check large products.
Ceilings load_gpu_ceilings(const RunOptions& options, const std::string& machine_class,
                           const std::map<std::string, std::string>& details) {
  Ceilings ceilings = select_gpu_ceilings(details);
  if (!options.store || ceilings.gpu.empty()) return ceilings;
  const auto stored = find_peaks(*options.store, machine_class);
  // load_ceilings() has already reported the error of an unreadable store.
  return stored.ok() ? stored_gpu_ceilings(stored->history.records, std::move(ceilings)) : ceilings;
}

// Returns the ceilings that a run of these cases measures if none are stored. Returns none for runs
// under a profiler (--under) and for runs without a store or without a CPU case. `plan`: has only
// the cases that this machine can run.
std::vector<PeakCase> find_calibration(const Plan& plan, const RunOptions& options,
                                       const CpuFacts& cpu, int threads) {
  if (!options.store || options.under) return {};
  return calibration_peaks(cpu, threads, calibration_extent(plan, threads));
}

// Returns the plan without the cases that the run skips without asking a worker.
Plan runnable_part(Plan plan, const CoordinatorParts& parts) {
  std::erase_if(plan.cases, [&](const Case& spec) { return skip_reason(spec, parts).has_value(); });
  return plan;
}

// Adds what the scheduler calls this machine. A container has a host name of its own.
void add_node_name(const Env& env, EnvironmentRecord& environment) {
  for (const char* variable : {"BENCH_NODE", "SLURMD_NODENAME"}) {
    const auto name = env.variable(variable);
    if (!name || name->empty()) continue;
    environment.details["node"] = *name;
    return;
  }
}

}  // namespace

std::string make_run_id(Env& env) {
  return content_hash(fmt::format("{}/{}/{}", env.utc_now(), env.clock->now().count(), getpid()))
      .substr(0, 12);
}

std::string format_stop(const RunSummary& summary) {
  const auto count_of_cases = [&](std::int64_t count) {
    return fmt::format("{} of {} {}", count, pluralise(summary.cases, "case"),
                       count == 1 ? "has" : "have");
  };
  if (!summary.stopped_by) return "";
  std::string text;
  if (summary.fewer_processes > 0) {
    text = count_of_cases(summary.fewer_processes) + " fewer processes than asked for";
    const std::int64_t unmeasured = summary.end.not_measured;
    if (unmeasured > 0) text += fmt::format(", {} of them none", unmeasured);
  } else if (summary.not_profiled > 0) {
    text = count_of_cases(summary.not_profiled) + " no profile";
  }
  if (text.empty() && summary.stopped_by == StopCause::interruption)
    text = "every case is measured";
  return text.empty() ? "" : fmt::format("{}: {}", format_stop_cause(summary.stopped_by), text);
}

Nanoseconds estimate_calibration(const Plan& plan, const RunOptions& options,
                                 RunObserver& observer) {
  const SystemRoot root{};
  const CpuFacts cpu = read_cpu(root);
  EnvironmentRecord environment = read_environment(root, cpu);
  environment.threads = count_processors(allowed_cores());
  const Ceilings stored = load_ceilings(options, cpu, environment, observer);
  if (!stored.rows.empty()) return Nanoseconds(0);
  const auto peaks = find_calibration(plan, options, cpu, stored.threads);
  return std::min(calibration_limit(options.budget ? options.budget : plan.budget),
                  kCalibrationCaseTime * std::ssize(peaks));
}

Result<RunSummary> execute_plan(const Plan& plan, const RunOptions& options, RecordSink& sink,
                                RunObserver& observer, Env& env) {
  const SystemRoot root{};
  const CpuFacts cpu = read_cpu(root);
  const TimeLimit limit(options.budget ? options.budget : plan.budget, options.interrupted,
                        *env.clock);
  const auto must_abort = [&limit] { return limit.must_abort(); };
  const WorkerProgram program{options.worker_program, options.worker_environment,
                              allowed_cores(),        options.under,
                              plan.plugins,           must_abort};
  CoordinatorParts parts;
  parts.cores = program.cores;
  parts.last_level_cache = cpu.last_level;
  parts.memory = available_memory("");
  parts.environment = read_environment(root, cpu);
  if (const auto environment = make_environment(program, {})) {
    parts.environment.details.merge(environment_details(*environment));
  }
  add_node_name(env, parts.environment);
  parts.environment.threads = count_processors(program.cores);
  Devices devices([&] {
    return ask_cuda(options.worker_program, options.worker_environment,
                    ops::cuda::ProbeExtent::devices, env, must_abort);
  });
  parts.device_missing = [&](const CaseKey& key) { return devices.unavailable_reason(key); };
  parts.device_details = [&] { return devices.details(); };
  if (options.store) {
    parts.levels = BaselineStore(*options.store).speed_levels(parts.environment.machine_class);
  }
  parts.ceilings = load_ceilings(options, cpu, parts.environment, observer);
  parts.gpu_ceilings = [&](const std::map<std::string, std::string>& details) {
    return load_gpu_ceilings(options, parts.environment.machine_class, details);
  };
  parts.calibration = make_calibration_cases(
      find_calibration(runnable_part(plan, parts), options, cpu, parts.ceilings.threads));
  if (options.store && !options.under) {
    parts.ceiling_cases = [&](const std::string& device) {
      if (device == "cpu")
        return make_calibration_cases(calibration_peaks(cpu, parts.ceilings.threads));
      const auto gpu = devices.properties();
      return make_calibration_cases(gpu ? gpu_peaks(*gpu).cases : std::vector<PeakCase>{},
                                    kGpuCeilingTimeout);
    };
  }
  parts.start_worker = process_workers(program, env);
  return execute_plan_with(plan, options, parts, sink, observer, env);
}

}  // namespace bench
