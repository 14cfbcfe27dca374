// SPDX-License-Identifier: Apache-2.0
// Writes the lines of a Chrome trace for events whose lane is known. Both forms of a trace file use
// it: the object of a complete trace, and the array to which events are written continuously.
#pragma once

#include "profiler/export/trace_event.hpp"
#include "profiler/export/trace_tracks.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

// Finds the arrows of a trace, from each launch on the host to the work that it launched. A launch
// and its work have the same process and correlation. Keeps only ids and times of the latest ones.
class TraceFlows {
 public:
  struct Place {
    std::int64_t start, end;
    std::int64_t pid, tid;  // ids in the trace
  };
  struct Flow {
    Place from, to;
    // Times inside both places at which the arrow begins and ends.
    std::int64_t leaves, arrives;
  };
  struct Key {
    std::int64_t process;  // as in activities
    std::uint64_t correlation;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  // Appends the arrows that this activity completes to `flows`.
  void launch(const Key& key, const Place& place, std::vector<Flow>& flows);
  void execution(const Key& key, const Place& place, std::vector<Flow>& flows);

 private:
  struct Entry {
    std::optional<Place> launch;  // the latest, which is the innermost of nested ones
    // executions that came before their launch
    std::vector<Place> executions;
  };
  Entry& entry(const Key& key);
  std::map<Key, Entry> entries_;
  std::deque<Key> order_;
};

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
