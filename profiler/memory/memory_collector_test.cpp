// SPDX-License-Identifier: Apache-2.0
#include "profiler/memory/memory_collector.hpp"

#include "tests/fakes/fake_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class CollectingSink final : public ActivitySink {
 public:
  Status consume(const Activity& activity) override {
    activities.push_back(activity);
    return Done{};
  }
  std::vector<std::pair<std::int64_t, double>> counter(std::string_view name) const {
    std::vector<std::pair<std::int64_t, double>> found;
    for (const Activity& activity : activities) {
      if (activity.kind != ActivityKind::counter || activity.name != name) continue;
      EXPECT_EQ(activity.attributes.text(Attribute::value_unit), "bytes");
      found.emplace_back(activity.start.count(),
                         activity.attributes.real(Attribute::value).value_or(-1));
    }
    return found;
  }
  std::vector<Activity> allocations() const {
    std::vector<Activity> found;
    for (const Activity& activity : activities) {
      if (activity.kind == ActivityKind::allocation) found.push_back(activity);
    }
    return found;
  }
  std::vector<Activity> activities;
};

struct Fixture {
  explicit Fixture(std::int64_t sample_rate, std::set<RecordGroup> groups = {RecordGroup::memory})
      : recorder(clock, sink, std::move(groups)), collector(recorder, sample_rate) {
    recorder.start();
  }
  test::FakeClock clock;
  CollectingSink sink;
  Recorder recorder;
  MemoryCollector collector;
};

constexpr Bytes kHundredMiB{std::int64_t{100} << 20};
const std::array<std::byte, 4> kAddresses{};

TEST(MemoryCollector, LiveBytesPeakAndBlocks) {
  Fixture f(0);
  f.collector.allocated(&kAddresses[0], kHundredMiB, "source", "input");
  f.clock.advance(10ns);
  f.collector.allocated(&kAddresses[1], {50}, "weights", "weights");
  f.clock.advance(10ns);
  f.collector.released(&kAddresses[0]);
  f.clock.advance(10ns);
  f.collector.released(&kAddresses[1]);
  EXPECT_EQ(f.collector.live().count, 0);
  EXPECT_EQ(f.collector.peak().count, 104857650);
  EXPECT_THAT(f.sink.counter("live_bytes"),
              ElementsAre(std::pair(0, 104857600), std::pair(10, 104857650), std::pair(20, 50),
                          std::pair(30, 0)));
  const auto blocks = f.sink.allocations();
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].name, "source");
  EXPECT_EQ(blocks[0].start, 0ns);
  EXPECT_EQ(blocks[0].duration, 20ns);
  EXPECT_EQ(blocks[0].attributes.integer(Attribute::size_bytes), 104857600);
  EXPECT_EQ(blocks[0].attributes.integer(Attribute::address),
            static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(&kAddresses[0])));
  EXPECT_EQ(blocks[0].attributes.text(Attribute::role), "input");
  EXPECT_EQ(blocks[0].attributes.integer(Attribute::live_bytes), 104857600);
  EXPECT_EQ(blocks[1].start, 10ns);
  EXPECT_EQ(blocks[1].duration, 20ns);
  EXPECT_EQ(blocks[1].attributes.integer(Attribute::live_bytes), 104857650);
}

// Earlier, the first block was never recorded, and the live bytes included it for ever.
TEST(MemoryCollector, AnAddressThatIsAllocatedAgainEndsTheEarlierBlock) {
  Fixture f(0);
  f.collector.allocated(&kAddresses[0], {100}, "first", "");
  f.clock.advance(10ns);
  f.collector.allocated(&kAddresses[0], {30}, "second", "");
  EXPECT_EQ(f.collector.live().count, 30);
  EXPECT_EQ(f.collector.peak().count, 100);
  const auto blocks = f.sink.allocations();
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(blocks[0].name, "first");
  EXPECT_EQ(blocks[0].duration, 10ns);
}

// The blocks of an operator `add` on 1024x1024 f32: two inputs and an output.
TEST(MemoryCollector, PeakOfLargeBlocksIsTheirSum) {
  Fixture f(0);
  for (int i = 0; i < 3; ++i)
    f.collector.allocated(&kAddresses[i], {4 * 1024 * 1024}, "t", "input");
  EXPECT_EQ(f.collector.peak().count, 12582912);
  Fixture large(0);
  large.collector.allocated(&kAddresses[0], {std::int64_t{3} << 30}, "t", "input");
  EXPECT_EQ(large.collector.peak().count, std::int64_t{3} << 30);
}

TEST(MemoryCollector, EveryNthOperatorIsSampled) {
  constexpr std::int64_t kOperators = 17;
  for (const std::int64_t rate : {0, 1, 3, 17, 18}) {
    Fixture f(rate);
    f.collector.allocated(&kAddresses[0], {64}, "t", "input");
    for (int i = 1; i <= kOperators; ++i) {
      Activity context;
      context.scope = "net:layer";
      f.collector.on_operator_done(Nanoseconds(100 * i), context);
    }
    const auto samples = f.sink.counter("live_bytes_sampled");
    EXPECT_EQ(samples.size(), static_cast<std::size_t>(rate == 0 ? 0 : kOperators / rate)) << rate;
    EXPECT_EQ(f.sink.counter("live_bytes").size(), 1u);
    if (samples.empty()) continue;
    EXPECT_EQ(samples.front(), std::pair(100 * rate, 64.0));
  }
}

TEST(MemoryCollector, WhatIsAliveAtTheEndEndsThere) {
  Fixture f(0);
  f.collector.allocated(&kAddresses[0], {64}, "arena", "cold copy");
  f.clock.advance(70ns);
  f.collector.finish();
  f.collector.finish();  // a second call has no effect
  const auto blocks = f.sink.allocations();
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(blocks[0].duration, 70ns);
  EXPECT_EQ(f.collector.live().count, 64);  // the block is still live
}

TEST(MemoryCollector, UnknownAndEmptyBlocksAreIgnored) {
  Fixture f(0);
  f.collector.released(&kAddresses[0]);
  f.collector.allocated(nullptr, {0}, "none", "workspace");
  EXPECT_THAT(f.sink.activities, IsEmpty());
}

TEST(MemoryCollector, TheSwitchRemovesTheRowsAndKeepsTheNumbers) {
  Fixture f(1, {RecordGroup::operators, RecordGroup::api});
  f.collector.allocated(&kAddresses[0], {64}, "t", "input");
  f.collector.on_operator_done(5ns, {});
  f.collector.finish();
  EXPECT_THAT(f.sink.activities, IsEmpty());
  EXPECT_EQ(f.collector.peak().count, 64);
}

TEST(TrackedAllocation, LivesAsLongAsItsOwner) {
  Fixture f(0);
  {
    TrackedAllocation outer;
    {
      TrackedAllocation inner(&f.collector, &kAddresses[0], {64}, "scratchpad", "scratchpad");
      outer = std::move(inner);
    }
    EXPECT_EQ(f.collector.live().count, 64);
    TrackedAllocation moved(std::move(outer));
    EXPECT_EQ(f.collector.live().count, 64);
  }
  EXPECT_EQ(f.collector.live().count, 0);
  EXPECT_EQ(f.sink.allocations().size(), 1u);
  { const TrackedAllocation unowned(nullptr, &kAddresses[0], {64}, "t", "t"); }
}

TEST(MemoryCollector, KnowsWhatIsLive) {
  Fixture fixture(0);
  fixture.collector.allocated(&kAddresses[0], {64}, "source", "input");
  const auto block = fixture.collector.find(&kAddresses[0]);
  ASSERT_TRUE(block.has_value());
  EXPECT_EQ(block->name, "source");
  EXPECT_EQ(block->role, "input");
  EXPECT_EQ(block->size, Bytes{64});
  EXPECT_FALSE(fixture.collector.find(&kAddresses[1]).has_value());
  fixture.collector.released(&kAddresses[0]);
  EXPECT_FALSE(fixture.collector.find(&kAddresses[0]).has_value());
}

}  // namespace
}  // namespace bench
