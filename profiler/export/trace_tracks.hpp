// SPDX-License-Identifier: Apache-2.0
// Maps tracks of activities to the (pid, tid) pairs of a Chrome trace. A host thread keeps its own
// ids. A device becomes a process and its streams become threads, because the format has no other
// concept.
#pragma once

#include "profiler/activity.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

class TraceTracks {
 public:
  // Returns the number of the activity's track, from 0. Stores the names of thread and process that
  // the activity contains.
  std::uint32_t index_of(const Activity& activity);

  std::int64_t pid(std::uint32_t track) const;
  // Returns the tid of a lane. Slices that would overlap partially go to further lanes of a track,
  // each with its own tid.
  std::int64_t tid(std::uint32_t track, std::size_t lane);

  // Number of lanes of all tracks so far.
  std::size_t lanes() const { return lanes_; }

  // Calls `append` once per metadata event: `append(name, pid, tid, text)` for names, and
  // `append(name, pid, tid, number)` for the order in which tracks are shown.
  template <class Append>
  void describe(Append append) const {
    const std::map<std::int64_t, std::int64_t> order = process_order();
    for (const auto& [pid, process] : processes_) {
      append("process_name", pid, 0, process_title(process));
      append("process_sort_index", pid, 0, order.at(pid));
    }
    for (std::size_t i = 0; i < tracks_.size(); ++i) {
      for (std::size_t lane = 0; lane < tracks_[i].tids.size(); ++lane) {
        const std::int64_t tid = tracks_[i].tids[lane];
        append("thread_name", tracks_[i].pid, tid, thread_title(tracks_[i], lane));
        append("thread_sort_index", tracks_[i].pid, tid, thread_order(i, lane));
      }
    }
  }

 private:
  struct Process {
    std::int64_t activity_pid = 0;  // the pid in activities; the trace may use another one
    std::optional<std::int64_t> device;
    std::optional<std::int64_t> rank;
    std::string name;
    std::string first_case;       // empty if no case ran in it
    std::set<std::string> cases;  // all cases that ran in it
    std::int64_t number = 0;      // position among all processes, as they first appeared
  };
  struct Row {
    Track track;
    std::int64_t pid = 0;
    std::vector<std::int64_t> tids;  // one per lane
    std::string name;
    std::string case_id;  // the case of its last activity with one
  };

  std::uint32_t add(const Track& track);
  std::int64_t process_id(const Track& track);
  void learn(const Activity& activity, std::uint32_t track);
  void learn_case(const std::string& case_id, Row& row);
  // The process on the host to which a device's belongs; the process itself if there is none.
  const Process& host_of(const Process& process) const;
  std::string process_title(const Process& process) const;
  // Returns the sort index of each process: processes of one case are neighbours, and devices
  // follow their process.
  std::map<std::int64_t, std::int64_t> process_order() const;
  static std::string thread_title(const Row& row, std::size_t lane);
  static std::int64_t thread_order(std::size_t track, std::size_t lane);

  using TrackKey = std::pair<std::pair<std::int64_t, std::int64_t>,
                             std::pair<std::optional<std::int64_t>, std::optional<std::int64_t>>>;
  std::map<TrackKey, std::uint32_t> indices_;
  std::map<std::pair<std::int64_t, std::optional<std::int64_t>>, std::int64_t> pids_;
  std::map<std::int64_t, Process> processes_;  // key: pid in the trace
  std::vector<Row> tracks_;
  // The tracks of devices by their process and stream.
  std::map<std::pair<std::int64_t, std::optional<std::int64_t>>, std::uint32_t> streams_;
  std::uint32_t last_ = 0;
  std::size_t lanes_ = 0;
  std::int64_t next_number_;

 public:
  TraceTracks();
};

// Slices on one (pid, tid) of a Chrome trace must nest or follow one another. These classes divide
// a track into lanes, one per tid. place() returns the number of the first lane, from 0, in which
// the interval satisfies this rule.

// For intervals in order of their starts; at equal starts, longer ones first.
class SortedLanes {
 public:
  std::size_t place(std::uint32_t track, std::int64_t start, std::int64_t end);

 private:
  using Lane = std::vector<std::int64_t>;  // ends of the open intervals, outermost first
  std::vector<std::vector<Lane>> tracks_;
};

// For intervals in any order, none of which is known in advance. Works best in the order in which
// they are recorded: by end, inner ones first. Other orders may use more lanes than necessary.
class ArrivalLanes {
 public:
  std::size_t place(std::uint32_t track, std::int64_t start, std::int64_t end);

 private:
  struct Interval {
    std::int64_t start, end;
  };
  struct Lane {
    std::deque<Interval> outermost;  // disjoint, ascending
    std::int64_t first = 0;          // the earliest start of all
    std::int64_t forgotten = 0;      // forgotten intervals end before this time
    bool has_forgotten = false;
    bool fits(const Interval& interval) const;
    void insert(const Interval& interval);
  };
  std::vector<std::vector<Lane>> tracks_;
};

}  // namespace bench
