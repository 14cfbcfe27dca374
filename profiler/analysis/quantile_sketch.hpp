// SPDX-License-Identifier: Apache-2.0
// Quantiles of a stream of times with little memory: DDSketch (Masson, Rim, Lee, VLDB 2019). Values
// are counted in buckets whose bounds grow by a constant factor. So every quantile is within
// kAccuracy of a value that has that rank.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace bench {

class QuantileSketch {
 public:
  static constexpr double kAccuracy = 0.01;

  // Negative values count as 0.
  void add(std::int64_t value);
  // Returns the value of rank ceil(q n), counted from 1, within kAccuracy. Returns nullopt without
  // values.
  std::optional<std::int64_t> quantile(double q) const;
  std::int64_t count() const { return count_; }

 private:
  struct Bucket {
    std::int16_t index;
    std::int64_t count;
  };
  // Sorted by index. The times of one operation use only few buckets.
  std::vector<Bucket> buckets_;
  std::int64_t not_positive_ = 0;  // number of values that are 0 or negative
  std::int64_t count_ = 0;
};

}  // namespace bench
