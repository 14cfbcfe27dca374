// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/audit.hpp"

#include "base/text.hpp"
#include "profiler/analysis/audit_rows.hpp"
#include "profiler/analysis/saturating.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

namespace bench {
namespace {

// Malformed files must not use up memory.
constexpr std::size_t kMaxIterations = 100'000;
constexpr std::size_t kMaxPrimitives = 1'000'000;

// Overheads that a program has without a tracer as well.
constexpr std::array<std::string_view, 4> kOverheadsOfPrograms = {"ompiler", "oading", "unified",
                                                                  "UVM"};

bool is_of_tracer(const Activity& activity) {
  return activity.kind == ActivityKind::overhead && activity.duration &&
         std::ranges::none_of(kOverheadsOfPrograms, [&](std::string_view part) {
           return activity.name.find(part) != std::string::npos;
         });
}

// Returns a hash of what distinguishes a primitive in oneDNN's lines.
std::size_t hash_primitive(const Activity& activity) {
  constexpr std::array kParts = {Attribute::primitive,
                                 Attribute::implementation,
                                 Attribute::propagation,
                                 Attribute::memory_descriptors,
                                 Attribute::primitive_attributes,
                                 Attribute::auxiliary,
                                 Attribute::problem};
  std::size_t hash = std::hash<std::int64_t>()(activity.track.pid);
  for (const Attribute part : kParts) {
    const std::size_t value = std::hash<std::string_view>()(activity.attributes.text(part));
    hash ^= value + 0x9E3779B97F4A7C15U + (hash << 6U) + (hash >> 2U);
  }
  return hash;
}

}  // namespace

AuditVerdict ProfileAudit::verdict() const {
  if (rows.empty()) return AuditVerdict::not_checkable;
  AuditVerdict worst = AuditVerdict::not_checkable;
  const bool has_ok = std::ranges::any_of(
      rows, [](const AuditRow& row) { return row.verdict == AuditVerdict::ok; });
  for (const AuditRow& row : rows) worst = std::max(worst, row.verdict);
  return worst == AuditVerdict::not_checkable && has_ok ? AuditVerdict::ok : worst;
}

Status ProfileAuditor::consume(const Activity& activity) {
  launches_.add(activity);
  order_.add(activity);
  count_iteration(activity);
  if (activity.kind == ActivityKind::primitive) count_primitive(activity);
  if (is_of_tracer(activity)) {
    tracer_time_ = saturating_sum(tracer_time_, *activity.duration);
    has_tracer_time_ = true;
  }
  return next_ != nullptr ? next_->consume(activity) : Status(Done{});
}

void ProfileAuditor::count_iteration(const Activity& activity) {
  const auto number = activity.attributes.integer(Attribute::iteration);
  if (!number) return;
  const bool is_range = activity.kind == ActivityKind::range && activity.duration;
  if (is_range) {
    Nanoseconds& sum = iteration_times_[activity.case_id];
    sum = saturating_sum(sum, *activity.duration);
  }
  const bool is_line = activity.kind == ActivityKind::primitive &&
                       activity.attributes.text(Attribute::phase) == "exec";
  const bool is_kernel = activity.kind == ActivityKind::kernel;
  if (!is_range && !is_line && !is_kernel) return;
  if (iterations_.size() >= kMaxIterations) {
    is_partial_ = true;
    return;
  }
  // An iteration that lost all of its records has a range only.
  PerIteration& counts = iterations_[{activity.case_id, *number}];
  if (!is_range) ++(is_line ? counts.primitives : counts.kernels);
}

void ProfileAuditor::count_primitive(const Activity& activity) {
  const std::string_view phase = activity.attributes.text(Attribute::phase);
  const bool is_creation = phase.starts_with("create");
  if (!is_creation && phase != "exec") return;
  auto& primitives = is_creation ? created_ : executed_;
  if (primitives.size() >= kMaxPrimitives) {
    is_partial_ = true;
    return;
  }
  primitives.insert(hash_primitive(activity));
}

// The iterations of a case execute the same primitives and kernels.
void ProfileAuditor::add_iteration_rows(const ReadReport& report,
                                        std::vector<AuditRow>& rows) const {
  if (report.repeated_passes > 0) {
    rows.push_back({"equal work in each iteration", "", "", AuditVerdict::not_checkable,
                    fmt::format("{} in several files, and activities do not state their run",
                                pluralise(report.repeated_passes, "case is", "cases are"))});
    return;
  }
  struct Sum {
    std::int64_t largest = 0, iterations = 0, found = 0;
  };
  std::map<std::string, std::pair<Sum, Sum>> cases;
  const auto add = [](Sum& sum, std::int64_t count) {
    ++sum.iterations;
    sum.found += count;
    sum.largest = std::max(sum.largest, count);
  };
  for (const auto& [key, counts] : iterations_) {
    add(cases[key.first].first, counts.primitives);
    add(cases[key.first].second, counts.kernels);
  }
  const auto add_row = [&](std::string check, std::string_view lost, AuditVerdict verdict,
                           Sum std::pair<Sum, Sum>::*part) {
    std::int64_t expected = 0, found = 0;
    std::string worst;
    for (const auto& [id, sums] : cases) {
      const Sum& sum = sums.*part;
      if (sum.found < sum.largest * sum.iterations && worst.empty()) worst = id;
      expected += sum.largest * sum.iterations;
      found += sum.found;
    }
    if (expected == 0) return;
    AuditRow row{std::move(check), format_with_commas(expected), format_with_commas(found),
                 AuditVerdict::ok, ""};
    if (found < expected) {
      row.verdict = verdict;
      row.reason = fmt::format("{} {}, as in {}", expected - found, lost, worst);
    } else if (is_partial_) {
      row.verdict = AuditVerdict::not_checkable;
      row.reason = fmt::format("only the first {} iterations were checked", kMaxIterations);
    }
    rows.push_back(std::move(row));
  };
  add_row("primitives, equal in each iteration",
          "executions of primitives have no line of oneDNN in some iterations",
          AuditVerdict::broken, &std::pair<Sum, Sum>::first);
  add_row("kernels, equal in each iteration",
          "kernels of other iterations are missing in some iterations", AuditVerdict::doubtful,
          &std::pair<Sum, Sum>::second);
}

void ProfileAuditor::add_creation_row(const ReadReport& report, std::vector<AuditRow>& rows) const {
  if (created_.empty()) return;
  const auto executed = static_cast<std::int64_t>(
      std::ranges::count_if(created_, [&](std::size_t hash) { return executed_.contains(hash); }));
  const auto created = static_cast<std::int64_t>(created_.size());
  AuditRow row{"created primitives that ran", format_with_commas(created),
               format_with_commas(executed), AuditVerdict::ok, ""};
  if (executed < created) {
    const bool is_part = report.format == "result" || report.facts.contains("window");
    // Programs often create primitives that they never execute. Without any execution, the records
    // of all are missing.
    row.verdict = is_part || is_partial_ || executed > 0 ? AuditVerdict::not_checkable
                                                         : AuditVerdict::doubtful;
    row.reason =
        is_part ? "the profile has creations and only a part of the executions"
                : fmt::format(
                      "{} executed: the program did not use {}, or the records of "
                      "executions are missing",
                      pluralise(created - executed, "primitive was never", "primitives were never"),
                      created - executed == 1 ? "it" : "them");
  }
  rows.push_back(std::move(row));
}

ProfileAudit ProfileAuditor::finish(const ReadReport& report) {
  ProfileAudit audit;
  const analysis::LaunchMatch match = launches_.finish();
  const analysis::TimeOrderFindings order = order_.finish();
  analysis::add_launch_rows(match, report, audit);
  analysis::add_record_rows(report, audit);
  add_iteration_rows(report, audit.rows);
  add_creation_row(report, audit.rows);
  analysis::add_sum_rows(report, iteration_times_, audit.rows);
  analysis::add_order_rows(order, report, audit.rows);
  analysis::add_clock_rows(match, report, audit.rows);
  analysis::add_cost_rows(
      report,
      {has_tracer_time_ ? std::optional(tracer_time_) : std::nullopt, order.extent, match.records},
      audit);
  return audit;
}

}  // namespace bench
