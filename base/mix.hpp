// SPDX-License-Identifier: Apache-2.0
// SplitMix64 (Steele, Lea, Flood 2014): random numbers that are the same on every platform.
#pragma once

#include <cstdint>

namespace bench {

// Increment of the generator's state per number.
inline constexpr std::uint64_t kMixStep = 0x9e3779b97f4a7c15u;

// Returns the number for `state` after its step; also usable as a hash.
constexpr std::uint64_t mix(std::uint64_t state) {
  std::uint64_t z = state + kMixStep;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace bench
