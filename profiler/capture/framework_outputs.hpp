// SPDX-License-Identifier: Apache-2.0
// Shapes of results that a framework's range does not tell, but others do: the operator that takes
// the result as its input, and the backward pass, which begins with a gradient of the same shape.
// Of those operators only whose result cannot be computed from their inputs' shapes.
#pragma once

#include "profiler/capture/framework_range.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace bench {

class FrameworkOutputs {
 public:
  // Whether the range is inside of another one of these operators on its thread.
  enum class Level { outermost, nested };

  // Ranges of a process in the order in which they begin.
  void note(std::int64_t pid, const FrameworkRange& range, Level level);
  // nullptr: not known, or not for sure.
  const FrameworkRange::Shape* find(std::int64_t pid, const FrameworkRange& range) const;
  // Whether it is one of these operators, in the forward pass.
  static bool concerns(const FrameworkRange& range);

 private:
  using Key = std::pair<std::int64_t, std::int64_t>;  // process, number
  struct Gradient {
    std::int64_t forward = 0;  // operators that bear the sequence number
    std::int64_t backward = 0;
    FrameworkRange::Shape shape;
  };
  std::map<Key, std::optional<FrameworkRange::Shape>> by_op_id_;  // absent: awaited
  std::map<Key, Gradient> by_sequence_;
};

}  // namespace bench
