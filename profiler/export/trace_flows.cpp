// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/trace_flows.hpp"

#include <algorithm>

namespace bench {
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
