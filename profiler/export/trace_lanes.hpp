// SPDX-License-Identifier: Apache-2.0
// Slices on one (pid, tid) of a Chrome trace must nest or follow one another. These classes divide
// a track into lanes, one per tid. place() returns the number of the first lane, from 0, in which
// the interval satisfies this rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace bench {

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
