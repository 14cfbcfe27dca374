// SPDX-License-Identifier: Apache-2.0
// The length of the union of intervals that come as a stream, in bounded memory.
#pragma once

#include "base/units.hpp"

#include <cstddef>
#include <map>

namespace bench::analysis {

// Overlaps count once. Above `limit` disjoint intervals, the oldest ones are joined in pairs with
// the gap between them kept as a number. The result stays exact, except if a later interval begins
// or ends within such a pair; then it is too small, by at most the gaps of that pair.
class IntervalUnion {
 public:
  IntervalUnion() = default;
  explicit IntervalUnion(std::size_t limit) : limit_(limit) {}

  // Ignores an interval that is empty or reversed.
  void add(Nanoseconds begin, Nanoseconds end);
  Nanoseconds total() const { return total_; }

 private:
  struct Part {
    Nanoseconds end{0};
    Nanoseconds covered{0};  // less than the length if the part contains gaps
  };
  void join_oldest();

  std::size_t limit_ = 16384;
  std::map<Nanoseconds, Part> parts_;  // key: begin; disjoint
  Nanoseconds total_{0};
};

}  // namespace bench::analysis
