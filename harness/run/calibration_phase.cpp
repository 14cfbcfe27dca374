// SPDX-License-Identifier: Apache-2.0
#include "harness/run/calibration_phase.hpp"

#include "base/text.hpp"
#include "harness/result/device_samples.hpp"
#include "harness/result/summary.hpp"
#include "harness/run/case_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace bench {
namespace {

// Returns the ceiling by the shortest sample, since a ceiling is the best measured rate. Returns
// nullopt if nothing was measured.
std::optional<Ceiling> find_ceiling(const CalibrationCase& entry,
                                    const std::optional<ProcessRecord>& record) {
  if (!record || record->samples.empty()) return std::nullopt;
  const Nanoseconds shortest = std::ranges::min(record->samples);
  const auto& work = std::get<ops::Problem>(entry.spec.work).work;
  const auto value =
      ceiling_value(entry.peak, work, per_iteration(shortest, record->iterations_per_sample));
  if (!value || shortest <= Nanoseconds(0)) return std::nullopt;
  std::vector<Nanoseconds> samples = record->samples;
  const auto middle = samples.begin() + std::ssize(samples) / 2;
  std::ranges::nth_element(samples, middle);
  const double precision =
      static_cast<double>((*middle - shortest).count()) / static_cast<double>(middle->count());
  return Ceiling{entry.peak.name, entry.peak.level, entry.peak.threads, *value, precision};
}

}  // namespace

Nanoseconds calibration_limit(std::optional<Nanoseconds> budget) {
  constexpr int kBudgetShare = 5;
  return std::min(kCalibrationLimit, budget.value_or(Nanoseconds::max()) / kBudgetShare);
}

Result<Ceilings> calibrate(const CalibrationTask& task, WorkerSession& session, Clock& clock) {
  Ceilings ceilings = task.machine;
  const Nanoseconds started = clock.now();
  Nanoseconds longest{0}, begin = started;
  std::optional<int> threads;
  for (const CalibrationCase& entry : task.cases) {
    const Nanoseconds previous_begin = std::exchange(begin, clock.now());
    longest = std::max(longest, begin - previous_begin);
    if (begin - started + longest > task.limit) break;
    if (threads && threads != entry.peak.threads) session.finish();
    threads = entry.peak.threads;
    BENCH_ASSIGN_OR_RETURN(const bool is_running,
                           task.ensure_worker(worker_threads(entry.spec.key)));
    if (!is_running) break;
    StepRequest request{&entry.spec};
    request.check = CheckKind::none;
    const StepResult step = run_step(session, request, clock);
    if (step.completion == StepResult::Completion::aborted) break;
    if (auto ceiling = find_ceiling(entry, step.record))
      ceilings.rows.push_back(*std::move(ceiling));
  }
  session.finish();
  return ceilings;
}

std::string format_calibration(const Ceilings& ceilings, Nanoseconds time) {
  if (ceilings.rows.empty())
    return "ceilings: none are stored for this machine, and none could be measured";
  const auto precision = calibration_precision(ceilings);
  return fmt::format(
      "ceilings: none are stored for this machine, so {} were measured in {}{}; `bench peak` "
      "measures and stores them once",
      ceilings.rows.size(), format_time(time), precision_suffix(precision));
}

}  // namespace bench
