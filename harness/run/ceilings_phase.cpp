// SPDX-License-Identifier: Apache-2.0
#include "harness/run/ceilings_phase.hpp"

#include "base/text.hpp"
#include "harness/config/case_work.hpp"
#include "harness/result/device_samples.hpp"
#include "harness/result/roofline.hpp"
#include "harness/result/summary.hpp"
#include "harness/run/case_progress.hpp"
#include "harness/run/case_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace bench {
namespace {

// Time limit of a calibration.
constexpr Nanoseconds kCalibrationLimit = std::chrono::seconds(2);

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

// Returns the message about a calibration that took `time`.
std::string format_calibration(const Ceilings& ceilings, Nanoseconds time) {
  if (ceilings.rows.empty())
    return "ceilings: none are stored for this machine, and none could be measured";
  const auto precision = calibration_precision(ceilings);
  return fmt::format(
      "ceilings: none are stored for this machine, so {} were measured in {}{}; `bench peak` "
      "measures and stores them once",
      ceilings.rows.size(), format_time(time), precision_suffix(precision));
}

}  // namespace

Nanoseconds calibration_limit(std::optional<Nanoseconds> budget) {
  constexpr int kBudgetShare = 5;
  return std::min(kCalibrationLimit, budget.value_or(Nanoseconds::max()) / kBudgetShare);
}

Result<std::string> RunCeilings::calibrate(std::optional<Nanoseconds> budget) {
  const Nanoseconds limit = calibration_limit(budget);
  if (!cpu_.now.rows.empty() || parts_.calibration.empty() || limit < kCalibrationCaseTime)
    return std::string();
  cpu_.now.source = CeilingSource::calibrated;
  const Nanoseconds start = clock_.now();
  BENCH_RETURN_IF_ERROR(measure(parts_.calibration, limit, cpu_.now));
  cpu_.first = cpu_.now;
  return format_calibration(cpu_.now, clock_.now() - start);
}

Status RunCeilings::calibrate_in_another_moment(Nanoseconds since, Judged judged) {
  if (cpu_.now.source != CeilingSource::calibrated || cpu_.now.rows.empty()) return Done{};
  constexpr int kTimeShare = 10;
  const Nanoseconds limit = std::min((clock_.now() - since) / kTimeShare, kCalibrationLimit);
  BENCH_RETURN_IF_ERROR(measure(parts_.calibration, limit, cpu_.now));
  if (judged == Judged::none) cpu_.first = cpu_.now;
  return Done{};
}

std::vector<CalibrationCase> RunCeilings::find_doubtful(const CaseRecord& record) const {
  constexpr int kRepetitions = 3;
  const Ceilings& ceilings = of(record.device).now;
  if (!parts_.ceiling_cases || !ceilings_are_doubtful(record, ceilings)) return {};
  std::vector<CalibrationCase> cases = parts_.ceiling_cases(record.device);
  std::erase_if(cases, [&](const CalibrationCase& entry) {
    const auto value = ceiling_value(entry.peak, case_work(entry.spec), Nanoseconds(1));
    const Ceiling row{entry.peak.name, entry.peak.level, entry.peak.threads,
                      value.value_or(Nanoseconds(1))};
    const auto repeated = repetitions_.find(entry.spec.id);
    return (repeated != repetitions_.end() && repeated->second >= kRepetitions) ||
           !limits(row, record, ceilings);
  });
  return cases;
}

Status RunCeilings::repeat(std::span<const CalibrationCase> cases, const std::string& device) {
  for (const CalibrationCase& entry : cases) ++repetitions_[entry.spec.id];
  return measure(cases, kCalibrationLimit, device == "cuda" ? gpu_.now : cpu_.now);
}

void RunCeilings::complete_roofline(CaseRecord& record) const {
  const Known& known = of(record.device);
  complete_roofline_again(record, known.first, known.now);
}

// Adds the measured rows to `ceilings`. The first case always starts; another one only if the
// longest one so far would end within the limit.
Status RunCeilings::measure(std::span<const CalibrationCase> cases, Nanoseconds limit,
                            Ceilings& ceilings) {
  const Nanoseconds started = clock_.now();
  Nanoseconds longest{0}, begin = started;
  std::optional<int> threads;
  for (const CalibrationCase& entry : cases) {
    const Nanoseconds previous_begin = std::exchange(begin, clock_.now());
    longest = std::max(longest, begin - previous_begin);
    if (begin - started + longest > limit) break;
    if (threads && threads != entry.peak.threads) session_.finish();
    threads = entry.peak.threads;
    BENCH_ASSIGN_OR_RETURN(const bool is_running, ensure_worker_(worker_threads(entry.spec.key)));
    if (!is_running) break;
    StepRequest request{&entry.spec};
    request.check = CheckKind::none;
    const StepResult step = run_step(session_, request, clock_);
    if (step.completion == StepResult::Completion::aborted) break;
    if (auto ceiling = find_ceiling(entry, step.record))
      ceilings.rows.push_back(*std::move(ceiling));
  }
  session_.finish();
  return Done{};
}

}  // namespace bench
