// SPDX-License-Identifier: Apache-2.0
// Method: an activity is converted to text when it arrives. The texts are sorted by start, longer
// ones first; SpillSort uses the disk if memory does not suffice. One pass in that order determines
// lanes, arrows, live bytes and the end of unfinished activities. It only holds what is open at the
// time.
#include "profiler/export/chrome_trace.hpp"

#include "base/file.hpp"
#include "profiler/export/spill_sort.hpp"
#include "profiler/export/timeline_page.hpp"
#include "profiler/export/trace_event.hpp"
#include "profiler/export/trace_text.hpp"
#include "profiler/export/trace_tracks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {
namespace {

using Sink = std::unique_ptr<ByteSink>;

struct Suffix {
  TraceForm form;
  std::string_view suffix;
  Sink (*wrap)(Sink file, const TraceOptions& options);
};
constexpr std::array<Suffix, 2> kSuffixes = {{
    {TraceForm::gzip, ".gz",
     [](Sink file, const TraceOptions&) { return gzip_bytes(std::move(file)); }},
    {TraceForm::page, ".html",
     [](Sink file, const TraceOptions& options) {
       return timeline_page_bytes(options.title, std::move(file));
     }},
}};

constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

// Slices come before points of the same time, so that the points are inside them. Memory is
// released before it is allocated again.
SortKey make_sort_key(const TraceEventHead& head) {
  switch (head.type) {
    case TraceEventType::slice:
      return {head.start, head.end_kind == EventEnd::open ? kFirst : -head.end};
    case TraceEventType::memory_change:
      return {head.start, head.change < 0 ? kLast - 1 : kLast};
    case TraceEventType::instant:
    case TraceEventType::counter:
    case TraceEventType::allocation:
      break;
  }
  return {head.start, kLast - 2};
}

// Announced activities are matched among those with the same start. No real trace has more of
// these.
constexpr std::size_t kMaxEventsOfOneStart = 65536;

}  // namespace

struct ChromeTrace::State {
  Sink out;
  SpillSort sort;
  TraceOptions options;
  TraceEventMaker maker;
  TraceTracks tracks;
  TraceText text{tracks};
  SortedLanes lanes;
  std::set<std::int64_t> counted;  // pids whose profile contains a counter of live bytes
  std::int64_t first = kLatestTime, last = -kLatestTime;  // range of all times
  std::vector<std::string> same_start;  // events with the same start, from an open one on
  std::int64_t start_of_same = 0;
  std::string bytes, line;
  Summary summary;

  State(Sink sink, std::string folder, TraceOptions wanted)
      : out(std::move(sink)), sort(std::move(folder), wanted.memory), options(std::move(wanted)) {}

  Status add(const TraceEvent& event) {
    bytes.clear();
    pack(event, bytes);
    return sort.add(make_sort_key(event.head), bytes);
  }

  Status add_changes(const TraceEvent& allocation, std::int64_t size) {
    TraceEvent change;
    change.head.type = TraceEventType::memory_change;
    change.head.track = allocation.head.track;
    change.head.start = allocation.head.start;
    change.head.change = size;
    BENCH_RETURN_IF_ERROR(add(change));
    if (allocation.head.end_kind == EventEnd::open) return Done{};
    change.head.start = allocation.head.end;
    change.head.change = -size;
    return add(change);
  }

  Status consume(const Activity& activity) {
    ++summary.activities;
    const std::uint32_t track = tracks.index_of(activity);
    const TraceEvent* event = maker.make(activity, track);
    if (event == nullptr) return Done{};
    first = std::min(first, event->head.start);
    last = std::max(last, event->head.end);
    if (activity.kind == ActivityKind::counter && activity.name == "live_bytes") {
      counted.insert(tracks.pid(track));
    }
    BENCH_RETURN_IF_ERROR(add(*event));
    const auto size = activity.attributes.integer(Attribute::size_bytes);
    if (event->head.type != TraceEventType::allocation || !size || *size <= 0) return Done{};
    return add_changes(*event, *size);
  }

  // Slightly later than everything else, so that activities cut short by a crash are visible.
  std::int64_t end_of_open() const {
    return last + std::max<std::int64_t>(1000, (last - first) / 100);
  }

  // What is added to all times: viewers leave out events before 0.
  std::int64_t shift() const { return std::max<std::int64_t>(0, -first); }

  Status draw(TraceEvent event) {
    if (event.head.end_kind == EventEnd::open) event.head.end = end_of_open();
    event.head.start += shift();
    event.head.end += shift();
    line.clear();
    switch (event.head.type) {
      case TraceEventType::slice:
        text.slice(event, lanes.place(event.head.track, event.head.start, event.head.end), line);
        break;
      case TraceEventType::instant:
        text.instant(event, line);
        break;
      case TraceEventType::counter:
        text.counter(event, line);
        break;
      case TraceEventType::allocation:
        text.allocation(event, line);
        break;
      case TraceEventType::memory_change:
        if (!counted.contains(tracks.pid(event.head.track))) text.memory_change(event, line);
        return out->write(line);
    }
    ++summary.drawn;
    return out->write(line);
  }

  // Draws an activity only once if it was announced when it began and recorded when it ended.
  Status draw_same_start() {
    std::set<std::uint64_t> ended;
    for (const std::string& packed : same_start) {
      const TraceEventHead head = unpack(packed).head;
      if (head.end_kind != EventEnd::open) ended.insert(head.identity);
    }
    for (const std::string& packed : same_start) {
      const TraceEvent event = unpack(packed);
      if (event.head.end_kind == EventEnd::open && ended.contains(event.head.identity)) continue;
      BENCH_RETURN_IF_ERROR(draw(event));
    }
    same_start.clear();
    return Done{};
  }

  Status sorted(const SpillSort::Record& record) {
    const TraceEvent event = unpack(record.payload);
    if (!same_start.empty() &&
        (event.head.start != start_of_same || same_start.size() >= kMaxEventsOfOneStart)) {
      BENCH_RETURN_IF_ERROR(draw_same_start());
    }
    const bool open =
        event.head.type == TraceEventType::slice && event.head.end_kind == EventEnd::open;
    if (same_start.empty() && !open) return draw(event);
    start_of_same = event.head.start;
    same_start.emplace_back(record.payload);
    return Done{};
  }

  std::string end_of_file() {
    std::string end;
    text.tracks(end);
    if (!end.empty()) end.erase(end.size() - 2);  // removes the last comma and newline
    std::map<std::string, std::string> metadata = options.metadata;
    metadata.insert_or_assign("tool", "bench");
    metadata.insert_or_assign("clock", "CLOCK_MONOTONIC");
    metadata.insert_or_assign("activities", fmt::format("{}", summary.activities));
    metadata.insert_or_assign("flows", fmt::format("{}", text.flows()));
    if (shift() > 0) metadata.insert_or_assign("shift_ns", fmt::format("{}", shift()));
    end += "\n],\"metadata\":{";
    for (const auto& [name, value] : metadata) {
      if (end.back() != '{') end += ',';
      append_json_text(end, name);
      end += ':';
      append_json_text(end, value);
    }
    end += "}}\n";
    return end;
  }

  Status finish() {
    BENCH_RETURN_IF_ERROR(out->write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"));
    BENCH_RETURN_IF_ERROR(sort.finish());
    SpillSort::Record record;
    while (true) {
      BENCH_ASSIGN_OR_RETURN(const bool more, sort.next(record));
      if (!more) break;
      BENCH_RETURN_IF_ERROR(sorted(record));
    }
    BENCH_RETURN_IF_ERROR(draw_same_start());
    summary.shift = Nanoseconds(shift());
    summary.flows = text.flows();
    summary.tracks = tracks.lanes();
    BENCH_RETURN_IF_ERROR(out->write(end_of_file()));
    return out->close();
  }
};

Result<std::unique_ptr<ChromeTrace>> ChromeTrace::create(const std::string& path, Existing existing,
                                                         TraceOptions options) {
  BENCH_ASSIGN_OR_RETURN(Sink out, file_bytes(path, existing));
  for (const Suffix& row : kSuffixes) {
    const bool by_suffix = options.form == TraceForm::by_suffix && path.ends_with(row.suffix);
    if (by_suffix || options.form == row.form) out = row.wrap(std::move(out), options);
  }
  return to(std::move(out), parent_folder(path), std::move(options));
}

std::unique_ptr<ChromeTrace> ChromeTrace::to(Sink out, std::string folder, TraceOptions options) {
  return std::unique_ptr<ChromeTrace>(new ChromeTrace(
      std::make_unique<State>(std::move(out), std::move(folder), std::move(options))));
}

ChromeTrace::ChromeTrace(std::unique_ptr<State> state) : state_(std::move(state)) {}
ChromeTrace::~ChromeTrace() = default;

Status ChromeTrace::consume(const Activity& activity) { return state_->consume(activity); }
void ChromeTrace::describe(const std::string& name, const std::string& value) {
  state_->options.metadata.insert_or_assign(name, value);
}
Status ChromeTrace::finish() { return state_->finish(); }
const ChromeTrace::Summary& ChromeTrace::summary() const { return state_->summary; }

struct ChromeTraceLog::State {
  RecordFile file;
  TraceEventMaker maker;
  TraceTracks tracks;
  TraceText text{tracks};
  ArrivalLanes lanes;
  std::size_t described = 0;  // number of lanes whose names were written

  explicit State(RecordFile opened) : file(std::move(opened)) {}

  Status append(std::string_view lines) {
    while (!lines.empty()) {
      const std::size_t size = lines.find('\n');
      BENCH_RETURN_IF_ERROR(file.append(lines.substr(0, size)));
      lines.remove_prefix(std::min(lines.size(), size == lines.npos ? size : size + 1));
    }
    return Done{};
  }

  void draw(const TraceEvent& event, std::string& out) {
    switch (event.head.type) {
      case TraceEventType::slice:
        if (event.head.end_kind == EventEnd::open) return text.instant(event, out);
        return text.slice(event, lanes.place(event.head.track, event.head.start, event.head.end),
                          out);
      case TraceEventType::instant:
        return text.instant(event, out);
      case TraceEventType::counter:
        return text.counter(event, out);
      case TraceEventType::allocation:
        if (event.head.end_kind == EventEnd::open) return text.instant(event, out);
        return text.allocation(event, out);
      case TraceEventType::memory_change:
        break;
    }
  }

  Status consume(const Activity& activity) {
    const TraceEvent* made = maker.make(activity, tracks.index_of(activity));
    if (made == nullptr) return Done{};
    TraceEvent event = *made;
    // Earlier events are already written, so the times cannot be shifted.
    event.head.start = std::max<std::int64_t>(0, event.head.start);
    event.head.end = std::max(event.head.start, event.head.end);
    std::string lines;
    draw(event, lines);
    if (tracks.lanes() != described) text.tracks(lines);
    described = tracks.lanes();
    return append(lines);
  }

  Status finish() {
    std::string lines;
    text.tracks(lines);  // again, because more names may be known now
    if (!lines.empty()) lines.erase(lines.size() - 2);
    BENCH_RETURN_IF_ERROR(append(lines));
    return file.append("]");
  }
};

Result<std::unique_ptr<ChromeTraceLog>> ChromeTraceLog::create(const std::string& path,
                                                               Existing existing) {
  for (const Suffix& row : kSuffixes) {
    if (!path.ends_with(row.suffix)) continue;
    return Error{fmt::format("a trace written continuously is plain JSON, not {}", row.suffix),
                 path, "name it .json"};
  }
  BENCH_ASSIGN_OR_RETURN(RecordFile file, RecordFile::create(path, existing));
  BENCH_RETURN_IF_ERROR(file.append("["));
  return std::unique_ptr<ChromeTraceLog>(
      new ChromeTraceLog(std::make_unique<State>(std::move(file))));
}

ChromeTraceLog::ChromeTraceLog(std::unique_ptr<State> state) : state_(std::move(state)) {}
ChromeTraceLog::~ChromeTraceLog() = default;

Status ChromeTraceLog::consume(const Activity& activity) { return state_->consume(activity); }
Status ChromeTraceLog::finish() { return state_->finish(); }

}  // namespace bench
