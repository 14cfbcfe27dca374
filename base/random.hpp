// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same on every platform and library (SplitMix64: Steele, Lea, Flood
// 2014), and functions that sample with them.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bench {

// Increment of the generator's state per random number.
inline constexpr std::uint64_t kMixStep = 0x9e3779b97f4a7c15u;

// Returns the random number that follows `state`; also usable as a hash.
constexpr std::uint64_t mix(std::uint64_t state) {
  std::uint64_t z = state + kMixStep;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// The generator: next() returns the next random number of 64 bits.
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    const std::uint64_t number = mix(state_);
    state_ += kMixStep;
    return number;
  }

  // Returns a uniform number in [0, bound); requires bound > 0. Takes the upper half of a 128-bit
  // product (Lemire 2019), whose bias of at most bound / 2^64 is negligible.
  std::uint64_t below(std::uint64_t bound) {
    assert(bound > 0);
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
  }

  // Shuffles by Fisher and Yates, because the order of std::shuffle differs between libraries.
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::uint64_t state_;
};

}  // namespace bench
