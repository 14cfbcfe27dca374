// SPDX-License-Identifier: Apache-2.0
// Quantities as types. A rate results only from a division; G is 10^9, Gi is 2^30. Only
// base/text.hpp formats them as text.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>

namespace bench {

// All measured time: an integer count of nanoseconds (CLOCK_MONOTONIC).
using Nanoseconds = std::chrono::nanoseconds;

struct Bytes {
  std::int64_t count = 0;
  friend auto operator<=>(const Bytes&, const Bytes&) = default;
  friend Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
};

// Cache line size of all processors that this project supports.
inline constexpr std::int64_t kCacheLine = 64;

// Returns the smallest multiple of `unit` (at least 1) that is not less than `value` (at least 0).
constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Floating-point operations; a fused multiply-add counts as 2 (convention `bench-1`,
// docs/work_model.md).
struct Flops {
  std::int64_t count = 0;
  friend auto operator<=>(const Flops&, const Flops&) = default;
};

struct FlopsPerSecond {
  double value = 0;
  friend auto operator<=>(const FlopsPerSecond&, const FlopsPerSecond&) = default;
};

struct BytesPerSecond {
  double value = 0;
  friend auto operator<=>(const BytesPerSecond&, const BytesPerSecond&) = default;
};

// There is no rate for a time of zero or less.
inline std::optional<FlopsPerSecond> operator/(Flops work, Nanoseconds time) {
  if (time.count() <= 0) return std::nullopt;
  return FlopsPerSecond{static_cast<double>(work.count) * 1e9 / static_cast<double>(time.count())};
}
inline std::optional<BytesPerSecond> operator/(Bytes traffic, Nanoseconds time) {
  if (time.count() <= 0) return std::nullopt;
  return BytesPerSecond{static_cast<double>(traffic.count) * 1e9 /
                        static_cast<double>(time.count())};
}

}  // namespace bench
