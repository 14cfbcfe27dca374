// SPDX-License-Identifier: Apache-2.0
#include "harness/run/peak_run.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <variant>

namespace bench {
namespace {

// Time limit for measuring again what was slower with all threads than with one.
constexpr Nanoseconds kRepetitionLimit = std::chrono::seconds(30);

// Returns whether `a` is a better ceiling than `b`: a higher rate, or a shorter time of a call.
bool is_better(const CeilingValue& a, const CeilingValue& b) {
  if (std::holds_alternative<Nanoseconds>(a)) return a < b;
  return b < a;
}

// Returns the record of the same rate with one thread if it is higher; else nullptr. Ignores the
// time of a call, which takes longer with more threads.
const PeakRecord* find_faster_thread(const std::vector<PeakRecord>& records,
                                     const PeakRecord& all_threads) {
  const Ceiling& ceiling = all_threads.ceiling;
  if (ceiling.threads == 1 || std::holds_alternative<Nanoseconds>(ceiling.value)) return nullptr;
  const auto found = std::ranges::find_if(records, [&](const PeakRecord& record) {
    return record.gpu == all_threads.gpu && record.ceiling.name == ceiling.name &&
           record.ceiling.level == ceiling.level && record.ceiling.threads == 1 &&
           record.ceiling.value.index() == ceiling.value.index() &&
           ceiling.value < record.ceiling.value;
  });
  return found == records.end() ? nullptr : &*found;
}

// For the ceiling of a launch, returns the time of an empty kernel if it is shorter than the copy.
// The sampler of the device measures it. Returns `value` for other ceilings.
std::optional<CeilingValue> apply_launch_floor(const PeakCase& entry, const CaseRecord& measured,
                                               std::optional<CeilingValue> value) {
  const std::optional<Nanoseconds>& floor = measured.launch_floor;
  if (entry.name != kDispatchCeiling || !floor || !value) return value;
  return CeilingValue(std::min(*floor, std::get<Nanoseconds>(*value)));
}

std::vector<PeakRecord> make_peak_records(const std::vector<PeakCase>& cases,
                                          const Report& report) {
  std::vector<PeakRecord> records;
  if (report.runs.empty()) return records;
  const RunRecord& run_record = report.runs.front();
  for (const PeakCase& entry : cases) {
    const auto measured = std::ranges::find(report.cases, entry.id, &CaseRecord::id);
    if (measured == report.cases.end() || measured->outcome != Outcome::ok || !measured->time ||
        !measured->work)
      continue;
    const auto value_at = [&](Nanoseconds time) {
      return ceiling_value(entry, *measured->work, time);
    };
    const auto value = apply_launch_floor(entry, *measured, value_at(measured->time->median));
    // A long time is a low rate, so the upper quartile of the time gives the low end. If the
    // ceiling itself is a time, the ends are swapped.
    auto low = value_at(measured->time->q75), high = value_at(measured->time->q25);
    if (!value || !low || !high) continue;
    if (std::holds_alternative<Nanoseconds>(*value)) std::swap(low, high);
    low = std::min(*low, *value);  // an empty kernel may be shorter than the copy
    PeakRecord& record = records.emplace_back();
    record.run_id = run_record.run_id;
    record.time = run_record.started;
    record.machine_class = run_record.environment.machine_class;
    record.cpu = run_record.environment.cpu;
    record.gpu = entry.gpu;
    record.tool_version = run_record.tool_version;
    record.commit = run_record.tool_commit;
    record.id = entry.id;
    record.implementation = measured->implementation.value_or("");
    record.ceiling = {entry.name, entry.level, entry.threads, *value};
    record.low = *low;
    record.high = *high;
  }
  return records;
}

}  // namespace

std::vector<Plan> group_by_value(const Plan& plan, std::span<const std::string> first) {
  const auto is_first = [&](const Case& spec) {
    return std::ranges::find(first, spec.id) != first.end();
  };
  std::vector<Plan> groups = {plan, plan};
  std::erase_if(groups[0].cases, [&](const Case& spec) { return !is_first(spec); });
  std::erase_if(groups[1].cases, is_first);
  std::erase_if(groups, [](const Plan& group) { return group.cases.empty(); });
  return groups;
}

Result<PeakPasses> measure_in_passes(std::span<const Plan> groups, const PeakLimits& limits,
                                     const PeakRunner& measure, Clock& clock) {
  PeakPasses result;
  const Nanoseconds started = clock.now();
  bool is_interrupted = false;
  for (int pass = 0; pass < limits.passes; ++pass) {
    for (const Plan& group : groups) {
      const Nanoseconds rest = limits.time - (clock.now() - started);
      const Nanoseconds needed = pass == 0 ? Nanoseconds(1) : kMinPeakRepetition;
      if (is_interrupted || rest < needed) {
        if (pass > 0) return result;
        std::ranges::transform(group.cases, std::back_inserter(result.unreached), &Case::id);
        continue;
      }
      BENCH_ASSIGN_OR_RETURN(PeakPart part, measure(group, rest));
      is_interrupted = part.summary.stopped_by == StopCause::interruption;
      (pass == 0 ? result.first : result.repeated).push_back(std::move(part));
    }
  }
  return result;
}

PeakPart join_first_pass(const PeakPasses& passes) {
  PeakPart all;
  for (const PeakPart& part : passes.first) {
    std::ranges::copy(part.report.runs, std::back_inserter(all.report.runs));
    std::ranges::copy(part.report.cases, std::back_inserter(all.report.cases));
    all.summary.any_failed = all.summary.any_failed || part.summary.any_failed;
    all.summary.any_unmeasured = all.summary.any_unmeasured || part.summary.any_unmeasured;
    if (part.summary.stopped_by) all.summary.stopped_by = part.summary.stopped_by;
    all.summary.cases += part.summary.cases;
    all.summary.fewer_processes += part.summary.fewer_processes;
    all.summary.end.not_measured += part.summary.end.not_measured;
  }
  if (passes.unreached.empty()) return all;
  const auto unreached = std::ssize(passes.unreached);
  all.summary.any_unmeasured = true;
  all.summary.stopped_by = all.summary.stopped_by.value_or(StopCause::budget);
  all.summary.cases += unreached;
  all.summary.fewer_processes += unreached;
  all.summary.end.not_measured += unreached;
  return all;
}

std::vector<std::string> cases_slower_with_all_threads(const std::vector<PeakRecord>& records) {
  std::vector<std::string> ids;
  for (const PeakRecord& record : records) {
    const PeakRecord* one = find_faster_thread(records, record);
    if (one != nullptr) ids.insert(ids.end(), {one->id, record.id});
  }
  return ids;
}

void keep_better(const std::vector<PeakRecord>& again, std::vector<PeakRecord>& records) {
  for (const PeakRecord& repeated : again) {
    const auto first = std::ranges::find(records, repeated.id, &PeakRecord::id);
    if (first != records.end() && is_better(repeated.ceiling.value, first->ceiling.value))
      *first = repeated;
  }
}

std::vector<RaisedCeiling> raise_to_one_thread(std::vector<PeakRecord>& records) {
  std::vector<RaisedCeiling> raised;
  for (PeakRecord& record : records) {
    const PeakRecord* one = find_faster_thread(records, record);
    if (one == nullptr) continue;
    raised.push_back({record.ceiling, one->ceiling.value});
    record.ceiling.value = one->ceiling.value;
    record.low = one->low;
    record.high = one->high;
  }
  return raised;
}

Result<PeakRun> measure_peaks(const Plan& plan, const std::vector<PeakCase>& cases,
                              std::span<const std::string> valuable, const PeakLimits& limits,
                              const PeakRunner& measure, Clock& clock) {
  const Nanoseconds started = clock.now();
  const std::vector<Plan> groups = group_by_value(plan, valuable);
  BENCH_ASSIGN_OR_RETURN(PeakPasses passes, measure_in_passes(groups, limits, measure, clock));
  PeakPart first = join_first_pass(passes);
  PeakRun run{std::move(first.report), first.summary, {}, {}, std::move(passes.unreached)};
  run.records = make_peak_records(cases, run.report);
  for (const PeakPart& part : passes.repeated)
    keep_better(make_peak_records(cases, part.report), run.records);
  const std::vector<std::string> doubtful = cases_slower_with_all_threads(run.records);
  const Nanoseconds rest = std::min(kRepetitionLimit, limits.time - (clock.now() - started));
  if (!doubtful.empty() && rest >= kMinPeakRepetition && !run.summary.stopped_by) {
    BENCH_ASSIGN_OR_RETURN(const PeakPart again,
                           measure(group_by_value(plan, doubtful).front(), rest));
    keep_better(make_peak_records(cases, again.report), run.records);
  }
  run.raised = raise_to_one_thread(run.records);
  return run;
}

}  // namespace bench
