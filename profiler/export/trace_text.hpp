// SPDX-License-Identifier: Apache-2.0
// Lines of a Chrome trace: what both of its forms, the finished object and the continuous array,
// write for an event whose lane is known.
#pragma once

#include "profiler/export/trace_event.hpp"
#include "profiler/export/trace_flows.hpp"
#include "profiler/export/trace_tracks.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bench {

class TraceText {
 public:
  explicit TraceText(TraceTracks& tracks) : tracks_(tracks) {}

  // Each appends to `out` whole events, each on a line of its own that ends in a comma.
  void slice(const TraceEvent& event, std::size_t lane, std::string& out);  // and its flows
  void instant(const TraceEvent& event, std::string& out);
  void counter(const TraceEvent& event, std::string& out);
  void allocation(const TraceEvent& event, std::string& out);
  // Live bytes after a change, of a process and of a device of it.
  void memory_change(const TraceEvent& event, std::string& out);
  // Names and order of all tracks.
  void tracks(std::string& out) const;

  std::int64_t flows() const { return written_flows_; }

 private:
  TracePlace place(const TraceEvent& event, std::size_t lane = 0);
  void flows_of(const TraceEvent& event, const TracePlace& place, std::string& out);

  TraceTracks& tracks_;
  TraceFlows flows_;
  std::vector<TraceFlows::Flow> found_;
  std::map<std::int64_t, std::int64_t> live_bytes_;  // by pid of the trace
  std::int64_t written_flows_ = 0;
  std::int64_t allocations_ = 0;
};

}  // namespace bench
