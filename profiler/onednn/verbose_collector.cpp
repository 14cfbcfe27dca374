// SPDX-License-Identifier: Apache-2.0
#include "profiler/onednn/verbose_collector.hpp"

#include "base/lines.hpp"
#include "profiler/onednn/verbose_activity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bench {
namespace {

// How far a timestamp of the library may lie outside its place: its clock counts microseconds, and
// the system may adjust it while a case runs.
constexpr Nanoseconds kTimestampSlack = std::chrono::microseconds(2);

constexpr std::size_t kQuotedCharacters = 200;

bool is_creation(VerboseKind kind) {
  return kind == VerboseKind::create || kind == VerboseKind::create_nested;
}

bool is_execution(VerboseKind kind) {
  return kind == VerboseKind::exec || kind == VerboseKind::external;
}

// Nested in another activity, whose line is printed later.
bool is_nested(VerboseKind kind) {
  return kind == VerboseKind::create_nested || kind == VerboseKind::external;
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

Status VerboseCollector::collect(std::int64_t from, std::int64_t to, const VerbosePlace& place,
                                 VerbosePhases phases) {
  if (to <= from) return Done{};
  const std::string text = capture_.read(from, to);
  next_ = place.begin;
  for (const NumberedLine& line : Lines(text)) {
    BENCH_RETURN_IF_ERROR(take_line(line.text, place, phases));
  }
  return Done{};
}

Status VerboseCollector::take_line(std::string_view line, const VerbosePlace& place,
                                   VerbosePhases phases) {
  if (line.empty()) return Done{};
  if (find_verbose(line) == std::string_view::npos) {
    return capture_.forward(std::string(line) + "\n");
  }
  while (!line.empty()) {
    const VerboseLine& decoded = decoder_.decode(line);
    if (decoded.fault.empty()) {
      take_record(decoded, place, phases);
    } else {
      ++(decoded.kind == VerboseKind::unknown ? unknown_ : malformed_);
      note(decoded.fault, line);
    }
    line = decoded.rest;
  }
  return Done{};
}

void VerboseCollector::take_record(const VerboseLine& line, const VerbosePlace& place,
                                   VerbosePhases phases) {
  if (phases == VerbosePhases::creations && is_execution(line.kind)) return;
  Activity activity;
  if (!fill_activity(line, activity)) return;
  activity.track = place.owner.track;
  activity.case_id = place.owner.case_id;
  activity.scope = place.owner.scope;
  activity.direction = place.owner.direction;
  copy_iteration(place.owner, activity);
  if (is_execution(line.kind)) activity.correlation = place.owner.correlation;
  if (line.kind == VerboseKind::exec && line.primitive == place.primitive) {
    copy_missing(place.owner, activity);
  }
  activity.start = compute_start(line, activity.duration.value_or(Nanoseconds(0)), place);
  recorder_.record(std::move(activity));
  if (line.kind == VerboseKind::exec) ++executions_;
}

Nanoseconds VerboseCollector::compute_start(const VerboseLine& line, Nanoseconds duration,
                                            const VerbosePlace& place) {
  const Nanoseconds latest = std::max(place.begin, place.end - duration);
  if (line.start) {
    const Nanoseconds start = *line.start - since_1970_;
    const bool inside =
        start >= place.begin - kTimestampSlack && start + duration <= place.end + kTimestampSlack;
    if (inside) return std::clamp(start, place.begin, latest);
  }
  const Nanoseconds start = std::clamp(next_, place.begin, latest);
  if (!is_nested(line.kind) && (is_creation(line.kind) || is_execution(line.kind))) {
    next_ = start + duration;
  }
  return start;
}

void VerboseCollector::note(std::string_view fault, std::string_view line) {
  if (notes_.size() >= kMaxNotes) return;
  notes_.push_back(fmt::format("{}: {}", fault, line.substr(0, kQuotedCharacters)));
}

}  // namespace bench
