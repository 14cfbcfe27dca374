// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/tuner.hpp"

#include "ops/cuda/runtime/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bench::ops::cuda {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// Executes `launches` kernels of `time`.
class LaunchingInvocation final : public CudaInvocation {
 public:
  LaunchingInvocation(test::ScriptedRuntime& device, std::int64_t count, Nanoseconds time)
      : CudaInvocation(device), device_(device), count_(count), time_(time) {}
  Status enqueue(StepObserver*) override {
    for (std::int64_t i = 0; i < count_; ++i)
      BENCH_RETURN_IF_ERROR(device_.launch_kernel("kernel", time_));
    return Done{};
  }

 private:
  test::ScriptedRuntime& device_;
  std::int64_t count_;
  Nanoseconds time_;
};

// Launched one by one, the second candidate is faster, because it has fewer gaps. Cases so short
// are measured by graphs, where it is slower.
TEST(TuningCandidates, AreNotMeasuredWithTheGapsOfAStream) {
  test::RuntimeScript script;
  script.gap = 1500ns;
  test::ScriptedDevice device(script);
  LaunchingInvocation standard(*device.runtime, 2, 5us);
  LaunchingInvocation other(*device.runtime, 1, 11us);
  const std::vector<TuningCandidate> candidates = {
      make_candidate(device.parts(), "two launches", {&standard}),
      make_candidate(device.parts(), "one launch", {&other})};
  const auto choice = choose_fastest(candidates);
  ASSERT_TRUE(choice.ok()) << choice.error().message();
  EXPECT_EQ(choice->best, 0u);
  EXPECT_EQ(choice->candidates[0].time, 10us);
  EXPECT_EQ(choice->candidates[1].time, 11us);
}

TEST(TrialBuffers, HoldDifferentFiniteNumbers) {
  test::ScriptedDevice device;
  const KernelBuffer buffers[] = {{BufferRole::input, {(3 << 20) + 6}, "plain"},
                                  {BufferRole::output, {10}, "plain"}};
  const auto trial = allocate_trial_buffers(*device.runtime, buffers);
  ASSERT_TRUE(trial.ok()) << trial.error().reason;
  ASSERT_TRUE(device.runtime->synchronise().ok());
  std::vector<float> values(static_cast<std::size_t>(buffers[0].size.count) / sizeof(float));
  std::memcpy(values.data(), trial->front().data(), values.size() * sizeof(float));
  for (const float value : values) ASSERT_TRUE(std::isnormal(value));
  EXPECT_NE(values[0], values[1]);
  EXPECT_NE(values[values.size() - 1], values[values.size() - 2]);
}

// A pattern in the memory of indices would let a kernel read outside of its tensors.
TEST(TrialBuffers, IndicesAreZeroInEverySetOfARotation) {
  test::ScriptedDevice device;
  const KernelBuffer buffers[] = {{BufferRole::input, {4096}, "plain"},
                                  {BufferRole::index, {4096}, "plain"},
                                  {BufferRole::output, {4096}, "plain"}};
  device.runtime->set_tuned_caches({CacheState::cold, {1 << 20}});
  const auto trial = TrialBuffers::create(*device.runtime, buffers);
  ASSERT_TRUE(trial.ok()) << trial.error().reason;
  ASSERT_TRUE(device.runtime->synchronise().ok());
  ASSERT_GT(trial->sets(), 1u);
  for (std::size_t set = 0; set < trial->sets(); ++set) {
    const auto* indices = static_cast<const std::int32_t*>(trial->addresses(set)[1]);
    ASSERT_TRUE(std::all_of(indices, indices + 1024, [](std::int32_t i) { return i == 0; }));
    EXPECT_EQ(trial->addresses(set)[1], trial->addresses(0)[1]);
  }
  EXPECT_NE(trial->addresses(1)[0], trial->addresses(0)[0]);
}

// A kernel with one buffer whose executions take `time`.
class TimedKernel final : public CudaKernel {
 public:
  TimedKernel(const test::ScriptedDevice& device, Nanoseconds time, std::int64_t size)
      : CudaKernel(device.runtime, device.sampler),
        device_(*device.runtime),
        time_(time),
        buffer_{BufferRole::input, {size}, "plain"} {}
  std::string implementation() const override { return "timed"; }
  std::span<const KernelBuffer> buffers() const override { return {&buffer_, 1}; }
  Bytes workspace() const override { return {0}; }
  Status pack(std::size_t, const void*, void*) override { return Done{}; }
  Status unpack(std::size_t, const void*, void*) override { return Done{}; }
  Status prepare(std::span<void* const>) override { return Done{}; }
  Result<std::unique_ptr<Invocation>> bind(std::span<void* const>) override {
    return std::unique_ptr<Invocation>(
        std::make_unique<test::ScriptedInvocation>(device_, "timed", time_));
  }

 private:
  test::ScriptedRuntime& device_;
  Nanoseconds time_;
  KernelBuffer buffer_;
};

TEST(Tuner, MeasuresEachKeyOnce) {
  test::ScriptedDevice device;
  Tuner tuner(device.runtime);
  std::vector<std::unique_ptr<Kernel>> kernels;
  kernels.push_back(std::make_unique<TimedKernel>(device, 30us, 1000));
  kernels.push_back(std::make_unique<TimedKernel>(device, 10us, 5000));
  const std::vector<std::string> names = {"slow", "fast"};
  const std::size_t allocations = device.runtime->live_allocations();
  const auto choice = tuner.choose("conv 1", kernels, names);
  ASSERT_TRUE(choice.ok()) << choice.error().reason;
  EXPECT_EQ(choice->best, 1u);
  EXPECT_EQ(device.runtime->live_allocations(), allocations);
  device.runtime->forget_calls();
  EXPECT_EQ(tuner.choose("conv 1", kernels, names)->best, 1u);
  EXPECT_TRUE(device.runtime->calls.empty());
  EXPECT_EQ(tuner.choose("conv 2", kernels, names)->best, 1u);
  EXPECT_FALSE(device.runtime->calls.empty());
}

// A kernel whose executions read buffers for the first time in a while slowly: it remembers what
// the last executions read, as a cache does, and takes `warm` or `cold`.
class CachedKernel final : public CudaKernel {
 public:
  static constexpr std::int64_t kCacheBytes = 4096;
  struct Times {
    Nanoseconds warm, cold;
  };
  CachedKernel(const test::ScriptedDevice& device, Times times, std::vector<KernelBuffer> buffers)
      : CudaKernel(device.runtime, device.sampler),
        device_(*device.runtime),
        times_(times),
        buffers_(std::move(buffers)) {}
  std::string implementation() const override { return "cached"; }
  std::span<const KernelBuffer> buffers() const override { return buffers_; }
  Bytes workspace() const override { return {0}; }
  Status pack(std::size_t, const void*, void*) override { return Done{}; }
  Status unpack(std::size_t, const void*, void*) override { return Done{}; }
  Status prepare(std::span<void* const>) override { return Done{}; }
  Result<std::unique_ptr<Invocation>> bind(std::span<void* const> buffers) override {
    return std::unique_ptr<Invocation>(std::make_unique<CachedInvocation>(
        *this, std::vector<void*>(buffers.begin(), buffers.end())));
  }
  std::set<void*> read(std::size_t buffer) const {
    std::set<void*> addresses;
    for (const std::vector<void*>& execution : executions_) addresses.insert(execution[buffer]);
    return addresses;
  }

 private:
  class CachedInvocation final : public SingleStepInvocation {
   public:
    CachedInvocation(CachedKernel& kernel, std::vector<void*> addresses)
        : SingleStepInvocation(kernel.device_), kernel_(kernel), addresses_(std::move(addresses)) {}

   private:
    Status launch() override { return kernel_.launch(addresses_); }
    CachedKernel& kernel_;
    std::vector<void*> addresses_;
  };

  Status launch(const std::vector<void*>& addresses) {
    executions_.push_back(addresses);
    bool is_warm = true;
    for (std::size_t i = 0; i < addresses.size(); ++i)
      is_warm = is_cached(addresses[i], buffers_[i].size.count) && is_warm;
    return device_.launch_kernel("cached", is_warm ? times_.warm : times_.cold);
  }
  // Moves the buffer to the front of the cache, which drops the last ones.
  bool is_cached(void* address, std::int64_t bytes) {
    const auto found = std::ranges::find(cache_, address, &std::pair<void*, std::int64_t>::first);
    const bool is_there = found != cache_.end();
    if (is_there) cache_.erase(found);
    cache_.emplace_front(address, bytes);
    std::int64_t used = 0;
    for (auto entry = cache_.begin(); entry != cache_.end();) {
      used += entry->second;
      entry = used > kCacheBytes ? cache_.erase(entry) : std::next(entry);
    }
    return is_there;
  }

  test::ScriptedRuntime& device_;
  Times times_;
  std::vector<KernelBuffer> buffers_;
  std::vector<std::vector<void*>> executions_;
  std::deque<std::pair<void*, std::int64_t>> cache_;
};

// The candidate that is the fastest with hot caches is the slowest with cold ones.
TEST(Tuner, MeasuresWithTheCachesOfTheCase) {
  const std::vector<KernelBuffer> buffers = {{BufferRole::input, {512}, "plain"},
                                             {BufferRole::weights, {1024}, "plain"},
                                             {BufferRole::output, {512}, "plain"}};
  constexpr Bytes kRotation{4 * CachedKernel::kCacheBytes};
  struct Row {
    TunedCaches caches;
    std::size_t best;
    std::size_t inputs, weights;  // different addresses
    const char* text;
  };
  const Row rows[] = {
      {{}, 1, 1, 1, ""},
      {{CacheState::cold, kRotation}, 0, 5, 5, "cold: executions rotate over 16.00 KiB"},
      {{CacheState::cold_weights, kRotation},
       0,
       1,
       12,
       "cold weights: executions rotate over 16.00 KiB"}};
  test::ScriptedDevice device;
  Tuner tuner(device.runtime);
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    std::vector<std::unique_ptr<Kernel>> kernels;
    kernels.push_back(
        std::make_unique<CachedKernel>(device, CachedKernel::Times{20us, 30us}, buffers));
    kernels.push_back(
        std::make_unique<CachedKernel>(device, CachedKernel::Times{10us, 40us}, buffers));
    const auto& measured = static_cast<const CachedKernel&>(*kernels.front());
    const std::size_t allocations = device.runtime->live_allocations();
    device.runtime->set_tuned_caches(row.caches);
    const auto choice = tuner.choose("conv" + tuned_caches_key(row.caches), kernels,
                                     std::vector<std::string>{"steady", "fast if hot"});
    ASSERT_TRUE(choice.ok()) << choice.error().reason;
    EXPECT_EQ(choice->best, row.best) << choice->candidates_text();
    // The execution before a sample leaves the buffers of the first set in the cache.
    EXPECT_GT(*choice->candidates[0].time, row.best == 0 ? 29us : 19us);
    EXPECT_GT(*choice->candidates[1].time, row.best == 0 ? 39us : 9us);
    EXPECT_EQ(measured.read(0).size(), row.inputs);
    EXPECT_EQ(measured.read(1).size(), row.weights);
    EXPECT_EQ(device.runtime->live_allocations(), allocations);
    std::map<std::string, std::string> details;
    choice->add_to(details);
    EXPECT_EQ(details.contains("tuned_caches") ? details.at("tuned_caches") : "", row.text);
    // Another process that repeats the choice states the caches too.
    test::ScriptedDevice later;
    later.runtime->choices().fix(device.runtime->choices().text());
    later.runtime->set_tuned_caches(row.caches);
    const auto repeated = Tuner(later.runtime)
                              .find("conv" + tuned_caches_key(row.caches),
                                    std::vector<std::string>{"steady", "fast if hot"});
    ASSERT_TRUE(repeated.has_value());
    EXPECT_EQ(repeated->best, row.best);
    EXPECT_EQ(repeated->caches, row.text);
  }
}

// The choices of one process are fixed in the next one, where the other candidate is faster.
TEST(Tuner, RepeatsTheChoicesOfAnEarlierProcess) {
  const std::vector<std::string> names = {"first", "second"};
  const auto choose_at = [&](test::ScriptedDevice& device, Nanoseconds first, Nanoseconds second) {
    Tuner tuner(device.runtime);
    std::vector<std::unique_ptr<Kernel>> kernels;
    kernels.push_back(std::make_unique<TimedKernel>(device, first, 1000));
    kernels.push_back(std::make_unique<TimedKernel>(device, second, 1000));
    auto choice = tuner.choose("conv 1", kernels, names);
    EXPECT_TRUE(choice.ok()) << (choice ? "" : choice.error().reason);
    return choice ? *std::move(choice) : TunedChoice{};
  };
  test::ScriptedDevice earlier;
  EXPECT_EQ(choose_at(earlier, 30us, 10us).best, 1u);
  const std::string choices = earlier.runtime->choices().text();
  EXPECT_EQ(choices, "conv 1\tsecond\n");
  test::ScriptedDevice later;
  later.runtime->choices().fix(choices);
  const TunedChoice choice = choose_at(later, 10us, 30us);
  EXPECT_EQ(choice.best, 1u);
  EXPECT_EQ(choice.text(), "as chosen before for the case: second");
  EXPECT_TRUE(later.runtime->calls.empty());
  // Passed on, for the case that this process was the first one to return them.
  EXPECT_EQ(later.runtime->choices().text(), choices);
  // A candidate that no longer exists is not an answer.
  test::ScriptedDevice other;
  other.runtime->choices().fix("conv 1\tthird\nno key\n");
  EXPECT_EQ(choose_at(other, 10us, 30us).best, 0u);
}

TEST(Tuner, WithoutMemoryForMeasuringTheFirstIsTaken) {
  test::RuntimeScript script;
  script.traits.memory = {4000};
  test::ScriptedDevice device(script);
  Tuner tuner(device.runtime);
  std::vector<std::unique_ptr<Kernel>> kernels;
  kernels.push_back(std::make_unique<TimedKernel>(device, 30us, 1000));
  kernels.push_back(std::make_unique<TimedKernel>(device, 10us, 5000));
  const auto choice = tuner.choose("conv", kernels, std::vector<std::string>{"slow", "fast"});
  ASSERT_TRUE(choice.ok()) << choice.error().reason;
  EXPECT_EQ(choice->best, 0u);
  EXPECT_THAT(choice->text(), HasSubstr("no: not enough memory"));
  EXPECT_EQ(choice->candidates_text(), "");
}

}  // namespace
}  // namespace bench::ops::cuda
