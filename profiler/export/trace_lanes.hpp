// SPDX-License-Identifier: Apache-2.0
// Slices on one (pid, tid) of a Chrome trace must nest or follow one another. These find for each
// interval the first lane of its track where it does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace bench {

// For intervals in order of their starts, longer ones first where starts are equal.
class SortedLanes {
 public:
  std::size_t place(std::uint32_t track, std::int64_t start, std::int64_t end);

 private:
  using Lane = std::vector<std::int64_t>;  // ends of the open intervals, outermost first
  std::vector<std::vector<Lane>> tracks_;
};

// For intervals in any order, none of which is known in advance: best when they come in order of
// their ends, inner ones first, as they are recorded. Otherwise more lanes than needed may be used.
class ArrivalLanes {
 public:
  std::size_t place(std::uint32_t track, std::int64_t start, std::int64_t end);

 private:
  struct Interval {
    std::int64_t start, end;
  };
  struct Lane {
    std::deque<Interval> outermost;  // apart from one another, ascending
    std::int64_t first = 0;          // the least start of all
    std::int64_t forgotten = 0;      // ends of forgotten ones lie before
    bool has_forgotten = false;
    bool fits(const Interval& interval) const;
    void insert(const Interval& interval);
  };
  std::vector<std::vector<Lane>> tracks_;
};

}  // namespace bench
