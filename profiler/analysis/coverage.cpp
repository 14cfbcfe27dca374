// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/coverage.hpp"

#include "base/text.hpp"
#include "profiler/analysis/kinds.hpp"
#include "profiler/analysis/saturating.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace bench {
namespace {

// A buffer and the value of a counter exist while the process does something else.
bool occupies_a_thread(const Activity& activity) {
  return !activity.track.device && activity.kind != ActivityKind::allocation &&
         activity.kind != ActivityKind::counter && activity.kind != ActivityKind::process;
}

// A primitive of the library has the phase that the library printed. A step of another backend in a
// chain of primitives has only the operator.
bool is_onednn_primitive(const Activity& activity) {
  return activity.kind == ActivityKind::primitive &&
         (!activity.attributes.text(Attribute::phase).empty() ||
          activity.attributes.text(Attribute::op).empty());
}

// Returns the subject of the first sentence: "oneDNN was 24.01 ms"; nullopt if it has no time.
std::vector<std::pair<std::string, Nanoseconds>> name_parts(const WallCoverage& coverage) {
  std::vector<std::pair<std::string, Nanoseconds>> parts;
  if (coverage.primitives > Nanoseconds(0)) parts.emplace_back("oneDNN was", coverage.primitives);
  for (const auto& [device, busy] : coverage.devices) {
    parts.emplace_back(fmt::format("GPU {} was busy for", device), busy);
  }
  if (parts.empty() && coverage.recorded > Nanoseconds(0)) {
    parts.emplace_back("What was recorded was", coverage.recorded);
  }
  return parts;
}

std::string describe_wall(const WallCoverage& coverage) {
  const std::size_t count = coverage.processes.size();
  const std::string processes =
      count > 1 ? fmt::format(" of {} processes together", count) : std::string();
  if (coverage.source == WallSource::processes) {
    return fmt::format("{} of wall time{}", format_time(coverage.wall), processes);
  }
  return fmt::format("{} from the first to the last activity{}", format_time(coverage.wall),
                     processes);
}

// Returns the last clause, about what remains.
std::string describe_rest(const WallCoverage& coverage) {
  const bool has_others = coverage.recorded > coverage.primitives;
  const bool is_named = coverage.primitives > Nanoseconds(0) || !coverage.devices.empty();
  std::string text;
  if (has_others && is_named) {
    text =
        fmt::format("; the host was recorded in {}", format_part(coverage.recorded, coverage.wall));
  }
  if (coverage.recorded >= coverage.wall) return text + ".";
  text += "; the rest is invisible to this profile.";
  if (coverage.source == WallSource::activities) {
    text += " How long the process ran before and after is unknown.";
  }
  return text;
}

}  // namespace

void WallCoverage::add(const ProcessCoverage& process) {
  source = processes.empty() ? process.source : std::max(source, process.source);
  wall = saturating_sum(wall, process.wall);
  primitives = saturating_sum(primitives, process.primitives);
  recorded = saturating_sum(recorded, process.recorded);
  for (const auto& [device, busy] : process.devices)
    devices[device] = saturating_sum(devices[device], busy);
  processes.push_back(process);
}

void WallCoverage::add(const WallCoverage& other) {
  for (const ProcessCoverage& process : other.processes) add(process);
  others += other.others;
}

Status CoverageSink::consume(const Activity& activity) {
  Process& process = processes_[activity.track.pid];
  const Nanoseconds begin = activity.start;
  const Nanoseconds end = saturating_sum(begin, activity.duration.value_or(Nanoseconds(0)));
  if (activity.kind == ActivityKind::process) {
    process.name = activity.name;
    process.has_span = process.has_span || activity.duration.has_value();
    process.spans.add(begin, end);
  } else if (activity.kind != ActivityKind::counter) {
    process.first = std::min(process.first.value_or(begin), begin);
    process.last = std::max(process.last.value_or(end), end);
  }
  if (occupies_a_thread(activity)) {
    process.recorded.add(begin, end);
    if (is_onednn_primitive(activity)) process.primitives.add(begin, end);
  } else if (activity.track.device && analysis::is_work(activity.kind)) {
    // oneDNN's primitives on a GPU are work of the device as well.
    process.devices[*activity.track.device].add(begin, end);
  }
  return next_ != nullptr ? next_->consume(activity) : Status(Done{});
}

ProcessCoverage CoverageSink::measure(std::int64_t pid, const Process& process, StartTimes starts) {
  ProcessCoverage result;
  result.pid = pid;
  result.name = process.name;
  result.primitives = process.primitives.total();
  result.recorded = process.recorded.total();
  for (const auto& [device, busy] : process.devices) result.devices[device] = busy.total();
  if (starts == StartTimes::computed) {
    result.source = WallSource::unknown;
    return result;
  }
  result.source = process.has_span ? WallSource::processes : WallSource::activities;
  result.wall = process.has_span ? process.spans.total() : *process.last - *process.first;
  // An activity that begins in a window may end after it.
  result.wall = std::max(result.wall, result.recorded);
  return result;
}

WallCoverage CoverageSink::coverage(StartTimes starts) const {
  WallCoverage sum;
  const bool has_any = std::ranges::any_of(
      processes_, [](const auto& entry) { return entry.second.first.has_value(); });
  for (const auto& [pid, process] : processes_) {
    if (!process.has_span && !process.first) continue;  // counters only
    if (has_any && !process.first) {
      ++sum.others;
      continue;
    }
    sum.add(measure(pid, process, starts));
  }
  return sum;
}

std::string format_part(Nanoseconds part, Nanoseconds whole) {
  if (whole <= Nanoseconds(0)) return std::string(kUnknown);
  const double percent =
      100 * static_cast<double>(part.count()) / static_cast<double>(whole.count());
  if (part > Nanoseconds(0) && percent < 0.1) return "less than 0.1 %";
  return fmt::format("{:.1f} %", percent);
}

std::string describe_coverage(const WallCoverage& coverage) {
  const auto parts = name_parts(coverage);
  if (coverage.source == WallSource::unknown) {
    if (parts.empty()) return "";
    std::string text;
    for (const auto& [what, time] : parts) {
      text += fmt::format("{}{} {}", text.empty() ? "" : "; ", what, format_time(time));
    }
    return text + ". The file has no start times, so the share of the process is unknown.";
  }
  if (coverage.wall <= Nanoseconds(0)) return "";
  if (parts.empty()) {
    return fmt::format("Nothing that was recorded explains the {}.", describe_wall(coverage));
  }
  std::string text;
  for (const auto& [what, time] : parts) {
    const std::string of =
        text.empty() ? fmt::format(" of {}", describe_wall(coverage)) : std::string();
    text += fmt::format("{}{} {}{}, {}", text.empty() ? "" : "; ", what, format_time(time), of,
                        format_part(time, coverage.wall));
  }
  text += describe_rest(coverage);
  if (coverage.others == 0) return text;
  return text + fmt::format(" {} recorded nothing.", pluralise(coverage.others, "more process"));
}

}  // namespace bench

namespace bench::analysis {

void IntervalUnion::add(Nanoseconds begin, Nanoseconds end) {
  if (end <= begin) return;
  auto first = parts_.upper_bound(begin);
  if (first != parts_.begin() && std::prev(first)->second.end >= begin) --first;
  Part merged{end, Nanoseconds(0)};
  Nanoseconds merged_begin = begin;
  Nanoseconds gaps{0};
  auto last = first;
  for (; last != parts_.end() && last->first <= end; ++last) {
    const auto& [part_begin, part] = *last;
    total_ -= part.covered;
    // The new interval fills the gaps of a part that it encloses.
    if (part_begin < begin || part.end > end) gaps += part.end - part_begin - part.covered;
    merged_begin = std::min(merged_begin, part_begin);
    merged.end = std::max(merged.end, part.end);
  }
  merged.covered = merged.end - merged_begin - gaps;
  total_ += merged.covered;
  parts_.erase(first, last);
  parts_.emplace(merged_begin, merged);
  if (parts_.size() > limit_) join_oldest();
}

// Joins pairs in the older half, so that this is rare.
void IntervalUnion::join_oldest() {
  auto part = parts_.begin();
  for (std::size_t i = 0; i < limit_ / 4; ++i) {
    const auto next = std::next(part);
    if (next == parts_.end()) return;
    part->second.end = next->second.end;
    part->second.covered += next->second.covered;
    part = parts_.erase(next);
  }
}

Nanoseconds sum_durations(const Durations& durations) {
  Nanoseconds sum{0};
  for (const auto& [name, time] : durations) sum = saturating_sum(sum, time);
  return sum;
}

Durations divide_wall(const Durations& times, Nanoseconds occupied) {
  const Nanoseconds sum = sum_durations(times);
  if (sum <= occupied) return times;
  const long double part =
      static_cast<long double>(occupied.count()) / static_cast<long double>(sum.count());
  Durations divided;
  Nanoseconds rest = occupied;
  for (const auto& [name, time] : times) {
    const Nanoseconds share(std::llroundl(static_cast<long double>(time.count()) * part));
    divided[name] = std::min(share, rest);
    rest -= divided[name];
  }
  divided.begin()->second += rest;  // a few nanoseconds, so that the sum is exact
  return divided;
}

}  // namespace bench::analysis
