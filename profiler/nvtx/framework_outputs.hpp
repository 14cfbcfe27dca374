// SPDX-License-Identifier: Apache-2.0
// Finds the output shape of an operator if the framework's range of the operator does not contain
// it. Two other ranges contain the shape. One is the next operator, which takes the output as its
// input. The other is the backward pass, which begins with a gradient of the same shape. Only
// covers operators whose output shape cannot be computed from their input shapes.
#pragma once

#include "profiler/nvtx/framework_range.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace bench {

class FrameworkOutputs {
 public:
  // Whether the range is nested in another one of these operators on its thread.
  enum class Level { outermost, nested };

  // Call this for the ranges of a process in the order in which they begin.
  void note(std::int64_t pid, const FrameworkRange& range, Level level);
  // Returns nullptr if the shape is unknown or ambiguous.
  const FrameworkRange::Shape* find(std::int64_t pid, const FrameworkRange& range) const;
  // Returns whether the range is one of these operators in the forward pass.
  static bool concerns(const FrameworkRange& range);

 private:
  using Key = std::pair<std::int64_t, std::int64_t>;  // process, number
  struct Gradient {
    std::int64_t forward = 0;  // number of operators with this sequence number
    std::int64_t backward = 0;
    FrameworkRange::Shape shape;
  };
  // nullopt while the consumer has not been seen
  std::map<Key, std::optional<FrameworkRange::Shape>> by_op_id_;
  std::map<Key, Gradient> by_sequence_;
};

}  // namespace bench
