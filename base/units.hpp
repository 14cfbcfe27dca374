// SPDX-License-Identifier: Apache-2.0
// Types of quantities. Work or bytes divided by a time give a rate. base/text.hpp formats them.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>

namespace bench {

// The type of all measured times (CLOCK_MONOTONIC).
using Nanoseconds = std::chrono::nanoseconds;

// The time of an iteration, where a nanosecond is too coarse.
using Picoseconds = std::chrono::duration<std::int64_t, std::pico>;

// The time of an iteration as another tool states it, with a fraction of a nanosecond.
using FractionalNanoseconds = std::chrono::duration<double, std::nano>;

struct Bytes {
  std::int64_t count = 0;
  friend auto operator<=>(const Bytes&, const Bytes&) = default;
  friend Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
};

// Size of a cache line in bytes, on all processors that this project supports.
inline constexpr std::int64_t kCacheLine = 64;

// Returns the smallest multiple of `unit` (at least 1) that is not less than `value` (at least 0).
constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// A number of floating-point operations. A fused multiply-add counts as 2 (convention `bench-1`,
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

// Returns nullopt if the time is zero or negative.
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
