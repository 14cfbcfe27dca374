// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/trace_text.hpp"

#include "profiler/export/trace_event.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <type_traits>

namespace bench {
namespace {

constexpr std::string_view kFlow = "\"name\":\"launch\",\"cat\":\"flow\"";
constexpr std::string_view kLiveBytes = "\"name\":\"live_bytes (bytes)\",\"cat\":\"allocation\"";
constexpr std::string_view kUnfinished = "\"unfinished\":true";

// Ends an event that begin_event() began. `more` is an additional field of args.
void end_event(std::string& out, std::string_view args, std::string_view more = {}) {
  if (!args.empty() || !more.empty()) {
    out += ",\"args\":{";
    out += args;
    if (!args.empty() && !more.empty()) out += ',';
    out += more;
    out += '}';
  }
  out += "},\n";
}

}  // namespace

TracePlace TraceText::place(const TraceEvent& event, std::size_t lane) {
  return {tracks_.pid(event.head.track), tracks_.tid(event.head.track, lane)};
}

void TraceText::slice(const TraceEvent& event, std::size_t lane, std::string& out) {
  const TracePlace where = place(event, lane);
  begin_event(out, event.text, 'X', event.head.start, where);
  out += ",\"dur\":";
  append_microseconds(out, event.head.end - event.head.start);
  std::string more;
  if (event.head.end_kind != EventEnd::known) more = kUnfinished;
  if (lane > 0) more += fmt::format("{}\"overlapping_lane\":{}", more.empty() ? "" : ",", lane);
  end_event(out, event.args, more);
  if (event.head.role != FlowRole::none) append_flows(event, where, out);
}

void TraceText::append_flows(const TraceEvent& event, const TracePlace& where, std::string& out) {
  const TraceFlows::Key key{event.head.process, event.head.correlation};
  const TraceFlows::Place slice{event.head.start, event.head.end, where.pid, where.tid};
  found_.clear();
  if (event.head.role == FlowRole::launch) {
    flows_.launch(key, slice, found_);
  } else {
    flows_.execution(key, slice, found_);
  }
  for (const TraceFlows::Flow& flow : found_) {
    // A correlation cannot be the id of an arrow: one may launch several executions, and several
    // processes use the same correlations.
    const std::int64_t id = ++written_flows_;
    begin_event(out, kFlow, 's', flow.leaves, {flow.from.pid, flow.from.tid});
    out += fmt::format(",\"id\":{}}},\n", id);
    begin_event(out, kFlow, 'f', flow.arrives, {flow.to.pid, flow.to.tid});
    out += fmt::format(",\"id\":{},\"bp\":\"e\"}},\n", id);
  }
}

void TraceText::instant(const TraceEvent& event, std::string& out) {
  begin_event(out, event.text, 'i', event.head.start, place(event));
  out += ",\"s\":\"";
  out += event.head.instant_scope;
  out += '"';
  end_event(out, event.args, event.head.end_kind != EventEnd::known ? kUnfinished : "");
}

void TraceText::counter(const TraceEvent& event, std::string& out) {
  begin_event(out, event.text, 'C', event.head.start, place(event));
  end_event(out, event.args);
}

void TraceText::allocation(const TraceEvent& event, std::string& out) {
  const std::string id = fmt::format(",\"id\":{}", ++allocations_);
  begin_event(out, event.text, 'b', event.head.start, place(event));
  out += id;
  end_event(out, event.args, event.head.end_kind != EventEnd::known ? kUnfinished : "");
  begin_event(out, event.text, 'e', event.head.end, place(event));
  out += id;
  end_event(out, {});
}

void TraceText::memory_change(const TraceEvent& event, std::string& out) {
  const TracePlace where = place(event);
  std::int64_t& live = live_bytes_[where.pid];
  // A malformed file can contain any size.
  if (__builtin_add_overflow(live, event.head.change, &live)) live = 0;
  begin_event(out, kLiveBytes, 'C', event.head.start, where);
  end_event(out, fmt::format("\"value\":{}", live));
}

void TraceText::tracks(std::string& out) const {
  const auto begin = [&](std::string_view name, std::int64_t pid, std::int64_t tid) {
    begin_event(out, fmt::format("\"name\":\"{}\"", name), 'M', 0, {pid, tid});
  };
  tracks_.describe([&]<class Value>(std::string_view name, std::int64_t pid, std::int64_t tid,
                                    const Value& value) {
    begin(name, pid, tid);
    std::string args;
    if constexpr (std::is_same_v<Value, std::string>) {
      args = "\"name\":";
      append_json_text(args, value);
    } else {
      args = fmt::format("\"sort_index\":{}", value);
    }
    end_event(out, args);
  });
}

namespace {

// Maximum number of correlations kept. A launch precedes its execution by at most the length of the
// device's queue: a few thousand launches.
constexpr std::size_t kMaxOpen = 65536;

// Appends the arrow from a launch to its execution. An arrow must not arrive before it leaves. An
// execution that ended before its launch, because clocks differ, gets no arrow.
void connect(const TraceFlows::Place& from, const TraceFlows::Place& to,
             std::vector<TraceFlows::Flow>& flows) {
  const std::int64_t arrives = std::max(from.start, to.start);
  if (arrives > to.end) return;
  flows.push_back({from, to, from.start, arrives});
}

}  // namespace

TraceFlows::Entry& TraceFlows::entry(const Key& key) {
  const auto [found, added] = entries_.try_emplace(key);
  if (added) order_.push_back(key);
  if (order_.size() > kMaxOpen) {
    entries_.erase(order_.front());
    order_.pop_front();
  }
  return found->second;
}

void TraceFlows::launch(const Key& key, const Place& place, std::vector<Flow>& flows) {
  Entry& stored = entry(key);
  stored.launch = place;
  for (const Place& execution : stored.executions) connect(place, execution, flows);
  stored.executions.clear();
}

void TraceFlows::execution(const Key& key, const Place& place, std::vector<Flow>& flows) {
  Entry& stored = entry(key);
  if (stored.launch) {
    connect(*stored.launch, place, flows);
  } else {
    if (stored.executions.size() < kMaxOpen) stored.executions.push_back(place);
  }
}

}  // namespace bench
