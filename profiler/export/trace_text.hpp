// SPDX-License-Identifier: Apache-2.0
// Writes the lines of a Chrome trace for events whose lane is known. Both forms of a trace file use
// it: the object of a complete trace, and the array to which events are written continuously.
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

  // Each function appends complete events to `out`, one per line, each ending in a comma.
  void slice(const TraceEvent& event, std::size_t lane, std::string& out);  // and its flows
  void instant(const TraceEvent& event, std::string& out);
  void counter(const TraceEvent& event, std::string& out);
  void allocation(const TraceEvent& event, std::string& out);
  // Appends the live bytes of the event's device, or of its process if it has no device, after the
  // change.
  void memory_change(const TraceEvent& event, std::string& out);
  // Appends the names and the order of all tracks.
  void tracks(std::string& out) const;

  std::int64_t flows() const { return written_flows_; }

 private:
  TracePlace place(const TraceEvent& event, std::size_t lane = 0);
  void append_flows(const TraceEvent& event, const TracePlace& place, std::string& out);

  TraceTracks& tracks_;
  TraceFlows flows_;
  std::vector<TraceFlows::Flow> found_;
  std::map<std::int64_t, std::int64_t> live_bytes_;  // key: pid in the trace
  std::int64_t written_flows_ = 0;
  std::int64_t allocations_ = 0;
};

}  // namespace bench
