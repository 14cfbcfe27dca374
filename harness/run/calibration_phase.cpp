// SPDX-License-Identifier: Apache-2.0
#include "harness/run/calibration_phase.hpp"

#include "harness/result/device_samples.hpp"
#include "harness/result/summary.hpp"
#include "harness/run/case_step.hpp"

#include <algorithm>
#include <utility>

namespace bench {
namespace {

// Returns the time per iteration of the shortest sample, since a ceiling is the best measured rate.
std::optional<Nanoseconds> find_shortest_iteration(const std::optional<ProcessRecord>& record) {
  if (!record || record->samples.empty()) return std::nullopt;
  return per_iteration(*std::ranges::min_element(record->samples), record->iterations_per_sample);
}

}  // namespace

Result<Ceilings> calibrate(const CalibrationTask& task, WorkerSession& session, Clock& clock) {
  Ceilings ceilings = task.machine;
  const Nanoseconds started = clock.now();
  std::optional<int> threads;
  for (const CalibrationCase& entry : task.cases) {
    if (clock.now() - started > task.limit) break;
    if (threads && threads != entry.peak.threads) session.finish();
    threads = entry.peak.threads;
    BENCH_ASSIGN_OR_RETURN(const bool is_running, task.ensure_worker(entry.spec.key.threads));
    if (!is_running) break;
    StepRequest request{&entry.spec};
    request.check = CheckKind::none;
    const StepResult step = run_step(session, request, clock);
    if (step.completion == StepResult::Completion::aborted) break;
    const auto time = find_shortest_iteration(step.record);
    const auto& work = std::get<ops::Problem>(entry.spec.work).work;
    const auto value = time ? ceiling_value(entry.peak, work, *time) : std::nullopt;
    if (!value) continue;
    ceilings.rows.push_back({entry.peak.name, entry.peak.level, entry.peak.threads, *value});
  }
  session.finish();
  return ceilings;
}

}  // namespace bench
