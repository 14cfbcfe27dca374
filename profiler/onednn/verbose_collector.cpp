// SPDX-License-Identifier: Apache-2.0
#include "profiler/onednn/verbose_collector.hpp"

#include "base/lines.hpp"
#include "profiler/onednn/verbose_activity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bench {
namespace {

// How far a timestamp of the library may lie outside its origin: its clock counts microseconds, and
// the system may adjust it while a case runs.
constexpr Nanoseconds kTimestampSlack = std::chrono::microseconds(2);

constexpr std::size_t kQuotedCharacters = 200;

// Whether such lines are printed during an execution.
bool is_of_execution(VerboseKind kind) {
  return kind == VerboseKind::exec || kind == VerboseKind::external;
}

void copy_iteration(const Activity& from, Activity& to) {
  if (const auto iteration = from.attributes.integer(Attribute::iteration)) {
    to.attributes.set(Attribute::iteration, *iteration);
  }
}

// Copies the attributes that `to` does not have.
void copy_missing(const Activity& from, Activity& to) {
  for (const auto& [attribute, value] : from.attributes) {
    if (to.attributes.find(attribute) != nullptr) continue;
    std::visit([&, key = attribute](const auto& known) { to.attributes.set(key, known); }, value);
  }
}

}  // namespace

Status VerboseCollector::collect(std::int64_t from, std::int64_t to, const VerboseOrigin& origin,
                                 VerbosePhases phases) {
  if (to <= from) return Done{};
  const std::string text = capture_.read(from, to);
  next_ = origin.begin;
  for (const NumberedLine& line : Lines(text)) {
    BENCH_RETURN_IF_ERROR(take_line(line.text, origin, phases));
  }
  return Done{};
}

Status VerboseCollector::take_line(std::string_view line, const VerboseOrigin& origin,
                                   VerbosePhases phases) {
  if (line.empty()) return Done{};
  if (find_verbose(line) == std::string_view::npos) {
    return capture_.forward(std::string(line) + "\n");
  }
  while (!line.empty()) {
    const VerboseLine& decoded = decoder_.decode(line);
    if (decoded.fault.empty()) {
      take_record(decoded, origin, phases);
    } else {
      ++(decoded.kind == VerboseKind::unknown ? unknown_ : malformed_);
      note(decoded.fault, line);
    }
    line = decoded.rest;
  }
  return Done{};
}

void VerboseCollector::take_record(const VerboseLine& line, const VerboseOrigin& origin,
                                   VerbosePhases phases) {
  if (phases == VerbosePhases::creations && is_of_execution(line.kind)) return;
  Activity activity;
  if (!fill_activity(line, activity)) return;
  activity.track = origin.owner.track;
  activity.case_id = origin.owner.case_id;
  activity.scope = origin.owner.scope;
  activity.direction = origin.owner.direction;
  copy_iteration(origin.owner, activity);
  if (is_of_execution(line.kind)) activity.correlation = origin.owner.correlation;
  if (line.kind == VerboseKind::exec && line.primitive == origin.primitive) {
    copy_missing(origin.owner, activity);
  }
  activity.start = compute_start(line, activity.duration.value_or(Nanoseconds(0)), origin);
  recorder_.record(std::move(activity));
  if (line.kind == VerboseKind::exec) ++executions_;
}

Nanoseconds VerboseCollector::compute_start(const VerboseLine& line, Nanoseconds duration,
                                            const VerboseOrigin& origin) {
  const Nanoseconds latest = std::max(origin.begin, origin.end - duration);
  if (line.start) {
    const Nanoseconds start = *line.start - since_1970_;
    const bool inside =
        start >= origin.begin - kTimestampSlack && start + duration <= origin.end + kTimestampSlack;
    if (inside) return std::clamp(start, origin.begin, latest);
  }
  const Nanoseconds start = std::clamp(next_, origin.begin, latest);
  // What these contain was printed before them.
  if (line.kind == VerboseKind::exec || line.kind == VerboseKind::create) next_ = start + duration;
  return start;
}

void VerboseCollector::note(std::string_view fault, std::string_view line) {
  if (notes_.size() >= kMaxNotes) return;
  notes_.push_back(fmt::format("{}: {}", fault, line.substr(0, kQuotedCharacters)));
}

}  // namespace bench
