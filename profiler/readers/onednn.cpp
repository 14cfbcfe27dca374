// SPDX-License-Identifier: Apache-2.0
// Reads oneDNN's verbose lines as printed by any program, mixed with its own output.
//
// If the lines have no timestamps, the log does not contain start times. Records are then placed
// end to end, in their order, from 0 on. A nested creation or another library's routine is printed
// before the record that includes it, and is placed at the beginning of that record. Partitions of
// the graph interface, whose time includes that of their primitives, have their own track. If lines
// have timestamps, the few kinds without them are placed at the end of the previous record. Before
// the first record, they are placed at its beginning.
#include "profiler/onednn/verbose_activity.hpp"
#include "profiler/onednn/verbose_line.hpp"
#include "profiler/readers/readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace bench {
namespace {

// Not a real thread: the log contains no thread ids.
constexpr std::int64_t kGraphTrack = -1;

class LogReader {
 public:
  LogReader(TextSource& source, ActivitySink& sink) : source_(source), sink_(sink) {
    report_.format = "onednn";
  }

  Result<ReadReport> read() {
    TextSource::Line line;
    while (source_.next(line)) {
      ++report_.lines;
      number_ = line.number;
      BENCH_RETURN_IF_ERROR(read_line(line));
    }
    drop_pending();
    BENCH_RETURN_IF_ERROR(release(Nanoseconds(0)));
    if (const Status status = source_.status(); !status.ok()) {
      ++report_.malformed;
      report_.note(status.error().message());
    }
    report_.facts = decoder_.facts();
    if (report_.ignored == report_.lines && report_.malformed == 0) {
      return Error{"unknown profile format, and no oneDNN verbose line found", source_.name(),
                   "run the program with ONEDNN_VERBOSE=profile, or under `bench profile`"};
    }
    if (timed_records_ == 0 && first_fault_) return *first_fault_;
    return std::move(report_);
  }

 private:
  Status read_line(const TextSource::Line& source_line) {
    std::string_view text = source_line.text;
    if (find_verbose(text) == std::string_view::npos) return read_other(source_line);
    drop_pending();
    while (!text.empty()) {
      const VerboseLine& line = decoder_.decode(text);
      const std::string_view rest = line.rest;
      if (line.kind == VerboseKind::partial && rest.empty()) {
        keep_pending(text, line.fault);
      } else if (rest.empty() && source_line.has_end) {
        BENCH_RETURN_IF_ERROR(take(line));
      } else {
        reject_without_end(line);
      }
      text = rest;
    }
    return Done{};
  }

  // Counts a line without an end as malformed: its last number may be incomplete, like "1" of
  // "14.02".
  void reject_without_end(const VerboseLine& line) {
    const bool is_last = line.rest.empty();
    refuse(report_.malformed, number_,
           !line.fault.empty() ? line.fault
           : is_last           ? "the text ends before this line does: its last number may be cut"
                     : "another record begins before this line ends: its last number may be cut");
  }

  // Reads a line of the program's own output, or the rest of a record that such a line interrupted.
  Status read_other(const TextSource::Line& source_line) {
    if (pending_.empty()) {
      ++report_.ignored;
      return Done{};
    }
    pending_ += source_line.text;
    const VerboseLine& line = decoder_.decode(pending_);
    if (!source_line.has_end || line.kind == VerboseKind::partial ||
        line.kind == VerboseKind::malformed || line.kind == VerboseKind::unknown) {
      drop_pending();
      ++report_.ignored;
      return Done{};
    }
    const Status status = take(line);
    pending_.clear();
    return status;
  }

  void keep_pending(std::string_view text, const std::string& fault) {
    pending_ = text;
    pending_fault_ = fault;
    pending_number_ = number_;
  }

  void drop_pending() {
    if (pending_.empty()) return;
    pending_.clear();
    refuse(report_.malformed, pending_number_, pending_fault_);
  }

  void refuse(std::int64_t& counter, std::int64_t number, const std::string& fault) {
    ++counter;
    const std::string where = fmt::format("{}:{}", source_.name(), number);
    report_.note(fmt::format("{}: {}", where, fault));
    if (first_fault_) return;
    first_fault_ = Error{fmt::format("no record of oneDNN could be read: {}", fault), where,
                         "supported are the verbose lines of MKL-DNN 1.0 to oneDNN 3.13"};
  }

  Status take(const VerboseLine& line) {
    if (line.kind == VerboseKind::info) {
      if (!line.fault.empty()) note_unknown(line.fault);
      return Done{};
    }
    if (line.kind == VerboseKind::unknown) {
      refuse(report_.unknown, number_, line.fault);
      return Done{};
    }
    if (!fill_activity(line, activity_)) {
      refuse(report_.malformed, number_, line.fault);
      return Done{};
    }
    place(line);
    activity_.attributes.set(Attribute::line, number_);
    ++report_.activities;
    if (line.time) ++timed_records_;
    if (waits_for_timestamp(line)) {
      held_.push_back(activity_);
      return Done{};
    }
    if (!held_.empty()) BENCH_RETURN_IF_ERROR(release(activity_.start));
    return sink_.consume(activity_);
  }

  bool waits_for_timestamp(const VerboseLine& line) const {
    constexpr std::size_t kMaxHeld = 100;  // only a few debugging lines precede it
    return !line.start && clock_ == Nanoseconds(0) && held_.size() < kMaxHeld &&
           decoder_.timestamps() == VerboseTemplate::Timestamps::yes;
  }

  // Forwards the held activities with the start time `start`.
  Status release(Nanoseconds start) {
    for (Activity& activity : held_) {
      activity.start = start;
      BENCH_RETURN_IF_ERROR(sink_.consume(activity));
    }
    held_.clear();
    return Done{};
  }

  void note_unknown(const std::string& fault) {
    ++report_.unknown;
    report_.note(fmt::format("{}:{}: {}", source_.name(), number_, fault));
  }

  void place(const VerboseLine& line) {
    const bool graph = line.kind == VerboseKind::graph;
    const bool inner =
        line.kind == VerboseKind::create_nested || line.kind == VerboseKind::external;
    activity_.track.tid = graph ? kGraphTrack : 0;
    Nanoseconds& clock = graph ? graph_clock_ : clock_;
    activity_.start = line.start.value_or(clock);
    if (inner || (!line.start && !line.time)) return;
    // A log that ends after 2043 is malformed; its records stay at the end of the clock's range.
    constexpr Nanoseconds kLatest{(std::int64_t{1} << 61) - 2};
    clock = std::min(kLatest, activity_.start + line.time.value_or(Nanoseconds(0)));
  }

  TextSource& source_;
  ActivitySink& sink_;
  VerboseDecoder decoder_;
  ReadReport report_;
  Activity activity_;
  std::string pending_;  // beginning of an interrupted record
  std::string pending_fault_;
  std::int64_t pending_number_ = 0;
  std::int64_t number_ = 0;
  std::int64_t timed_records_ = 0;
  Nanoseconds clock_{0};
  Nanoseconds graph_clock_{0};
  // activities without a timestamp before the first one with a timestamp
  std::vector<Activity> held_;
  std::optional<Error> first_fault_;
};

// Accepts any oneDNN line in the head. Also accepts text longer than the head, because the
// program's own output may come first. JSON lines are profiles or results, which may quote such a
// line.
bool recognises_onednn(std::string_view head) {
  if (head.starts_with('{')) return false;
  const bool may_follow = head.size() >= kHeadSize && head.find('\0') == std::string_view::npos;
  return may_follow || find_verbose(head) != std::string_view::npos;
}

Result<ReadReport> read_onednn(TextSource& source, ActivitySink& sink) {
  return LogReader(source, sink).read();
}

}  // namespace

const ActivityReader onednn_reader = {
    .name = "onednn",
    .help = "verbose lines of oneDNN, DNNL or MKL-DNN, mixed with a program's output or not",
    .recognises = recognises_onednn,
    .read = read_onednn,
};

}  // namespace bench
