// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/trace_flows.hpp"

#include <algorithm>

namespace bench {
namespace {

// Launches run ahead of their executions by the depth of a device's queue, some thousands.
constexpr std::size_t kMaxOpen = 65536;

// An arrow must not arrive before it leaves. An execution that ended before its launch (clocks
// differ) gets no arrow.
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
  Entry& known = entry(key);
  known.launch = place;
  for (const Place& execution : known.executions) connect(place, execution, flows);
  known.executions.clear();
}

void TraceFlows::execution(const Key& key, const Place& place, std::vector<Flow>& flows) {
  Entry& known = entry(key);
  if (known.launch) {
    connect(*known.launch, place, flows);
  } else {
    if (known.executions.size() < kMaxOpen) known.executions.push_back(place);
  }
}

}  // namespace bench
