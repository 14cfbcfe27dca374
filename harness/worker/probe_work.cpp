// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/probe_work.hpp"

#include "harness/worker/canary_work.hpp"
#include "harness/worker/memory.hpp"

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace bench {
namespace {

constexpr std::int64_t kComputeSteps = 60'000;
// Elements of each of a triad's three arrays, per thread. One array has 1 MiB.
constexpr std::size_t kStreamedCount = (std::size_t{1} << 20) / sizeof(double);
constexpr std::size_t kPartCount = 3 * kStreamedCount;
constexpr std::int64_t kPartSize = kPartCount * sizeof(double);

constexpr std::int64_t kMinMemory = std::int64_t{192} << 20;
constexpr std::int64_t kMaxCaches = std::int64_t{1} << 30;
// The threads use other parts in the next sample.
constexpr std::int64_t kPartsPerThread = 2;

class OpenMpProbeWork final : public ProbeWork {
 public:
  OpenMpProbeWork(LargePages memory, Bytes size)
      : memory_(std::move(memory)), parts_(static_cast<std::size_t>(size.count / kPartSize)) {}

  void compute() override {
#pragma omp parallel
    { [[maybe_unused]] const volatile double sum = multiply_add_chains(kComputeSteps); }
  }

  void stream() override {
    const std::size_t first = next_;
    next_ = (next_ + static_cast<std::size_t>(omp_get_max_threads())) % parts_;
#pragma omp parallel
    {
      const std::size_t part = (first + static_cast<std::size_t>(omp_get_thread_num())) % parts_;
      double* const values = reinterpret_cast<double*>(memory_.get()) + part * kPartCount;
      triad(values, values + kStreamedCount, values + 2 * kStreamedCount, kStreamedCount);
    }
  }

 private:
  LargePages memory_;
  std::size_t parts_;
  std::size_t next_ = 0;  // the part that was not used for longest
};

}  // namespace

Bytes probe_memory(std::optional<Bytes> last_level_cache, int threads) {
  const std::int64_t caches = std::min(2 * last_level_cache.value_or(Bytes{0}).count, kMaxCaches);
  return {std::max({caches, kMinMemory, threads * kPartsPerThread * kPartSize})};
}

std::unique_ptr<ProbeWork> make_probe_work(std::optional<Bytes> last_level_cache,
                                           std::optional<Bytes> available) {
  const Bytes size = probe_memory(last_level_cache, omp_get_max_threads());
  if (available && available->count < size.count) return nullptr;
  LargePages memory = allocate_large_pages(size);
  if (memory == nullptr) return nullptr;
  return std::make_unique<OpenMpProbeWork>(std::move(memory), size);
}

}  // namespace bench
