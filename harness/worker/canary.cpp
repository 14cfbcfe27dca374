// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/canary.hpp"

#include "base/text.hpp"
#include "harness/worker/canary_work.hpp"
#include "harness/worker/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace bench {
namespace {

// A repetition takes about half a millisecond on machines of 2020 (DRAM: one millisecond, timer: 50
// us). Half a millisecond is as long as ten thousand clock reads, and a tenth of a scheduler's time
// slice.
constexpr std::int64_t kChainSteps = 200'000;
constexpr std::int64_t kClockReads = 2'000;
// Three arrays of 64 KiB: more than any first-level cache, less than any second-level cache of a
// server.
constexpr std::size_t kCachedCount = 8192;
constexpr int kCachedPasses = 60;
constexpr std::size_t kStreamedCount = (std::size_t{4} << 20) / sizeof(double);

constexpr std::int64_t kMinMemory = std::int64_t{192} << 20;
constexpr std::int64_t kMaxMemory = std::int64_t{512} << 20;
static_assert(kCanaryRepetitions * 3 * kStreamedCount * sizeof(double) <= kMinMemory);

template <class Work>
Nanoseconds median_time(Clock& clock, Work work) {
  std::array<Nanoseconds, kCanaryRepetitions> times{};
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Nanoseconds start = clock.now();
    work(i);
    times[i] = clock.now() - start;
  }
  const auto middle = times.begin() + times.size() / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace

Bytes canary_memory(std::optional<Bytes> last_level_cache) {
  const std::int64_t caches = 2 * last_level_cache.value_or(Bytes{0}).count;
  return {std::clamp(caches, kMinMemory, kMaxMemory)};
}

Result<Canaries> measure_canaries(Clock& clock, std::optional<Bytes> last_level_cache,
                                  std::optional<Bytes> available) {
  const Bytes size = canary_memory(last_level_cache);
  // The allocation writes the memory in ascending order, and the triads also use it in this order.
  // What the allocation wrote last may still be in a cache and is used last.
  const LargePages memory =
      available && available->count < size.count ? nullptr : allocate_large_pages(size);
  if (memory == nullptr) {
    return Error{fmt::format("no memory for the canaries, which take {}", format_bytes(size)), "",
                 ""};
  }
  Canaries result;
  auto* const values = reinterpret_cast<double*>(memory.get());
  result.dram = median_time(clock, [&](std::size_t i) {
    double* const part = values + i * 3 * kStreamedCount;
    triad(part, part + kStreamedCount, part + 2 * kStreamedCount, kStreamedCount);
  });
  result.l2 = median_time(clock, [&](std::size_t) {
    for (int pass = 0; pass < kCachedPasses; ++pass) {
      triad(values, values + kCachedCount, values + 2 * kCachedCount, kCachedCount);
    }
  });
  result.fma = median_time(clock, [](std::size_t) {
    [[maybe_unused]] const volatile double sum = multiply_add_chains(kChainSteps);
  });
  result.timer = median_time(clock, [](std::size_t) {
    [[maybe_unused]] const volatile std::int64_t sum = read_clock(kClockReads);
  });
  return result;
}

}  // namespace bench
