// SPDX-License-Identifier: Apache-2.0
#include "profiler/api_calls/api_calls.hpp"

#include "tests/fakes/fake_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <thread>
#include <vector>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class Kept final : public ActivitySink {
 public:
  Status consume(const Activity& activity) override {
    all.push_back(activity);
    return Done{};
  }
  std::vector<double> values(std::string_view name) const {
    std::vector<double> found;
    for (const Activity& activity : all) {
      if (activity.kind != ActivityKind::counter || activity.name != name) continue;
      found.push_back(activity.attributes.real(Attribute::value).value_or(-1));
    }
    return found;
  }
  std::vector<Activity> of(ActivityKind kind) const {
    std::vector<Activity> found;
    std::ranges::copy_if(all, std::back_inserter(found),
                         [&](const Activity& activity) { return activity.kind == kind; });
    return found;
  }
  std::vector<Activity> all;
};

class ApiCallsTest : public testing::Test {
 protected:
  explicit ApiCallsTest(std::set<RecordGroup> groups = {RecordGroup::api})
      : recorder_(clock_, sink_, std::move(groups)), calls_(recorder_) {
    recorder_.start();
  }
  test::FakeClock clock_;
  Kept sink_;
  Recorder recorder_;
  ApiCalls calls_;
};

TEST_F(ApiCallsTest, ACallIsAnActivityWithTwoCounters) {
  {
    const ApiCall call(&calls_, "dnnl_primitive_create");
    clock_.advance(30ns);
  }
  clock_.advance(5ns);
  { const ApiCall call(&calls_, "dnnl_stream_wait"); }
  const auto calls = sink_.of(ActivityKind::api);
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].name, "dnnl_primitive_create");
  EXPECT_EQ(calls[0].start, 0ns);
  EXPECT_EQ(calls[0].duration, 30ns);
  EXPECT_EQ(calls[1].start, 35ns);
  EXPECT_EQ(calls[1].duration, 0ns);
  EXPECT_THAT(sink_.values("calls"), ElementsAre(1, 2));
  EXPECT_THAT(sink_.values("concurrency"), ElementsAre(1, 0, 1, 0));
}

TEST_F(ApiCallsTest, ACallThatThrowsEndsAllTheSame) {
  EXPECT_THROW(
      {
        const ApiCall call(&calls_, "dnnl_primitive_create");
        throw std::bad_alloc();
      },
      std::bad_alloc);
  EXPECT_EQ(sink_.of(ActivityKind::api).size(), 1u);
  EXPECT_THAT(sink_.values("concurrency"), ElementsAre(1, 0));
}

TEST_F(ApiCallsTest, ACallThatIsOverKeepsItsTimesAndScope) {
  Activity call;
  call.name = "dnnl_primitive_execute";
  call.start = 100ns;
  call.duration = 40ns;
  call.scope = "net:conv1";
  calls_.completed(call);
  const auto calls = sink_.of(ActivityKind::api);
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].start, 100ns);
  EXPECT_EQ(calls[0].duration, 40ns);
  const auto counters = sink_.of(ActivityKind::counter);
  ASSERT_EQ(counters.size(), 3u);
  for (const Activity& counter : counters) EXPECT_EQ(counter.scope, "net:conv1");
  EXPECT_EQ(counters.front().start, 100ns);
  EXPECT_EQ(counters.back().start, 140ns);
  EXPECT_EQ(calls_.calls(), 1);
}

TEST_F(ApiCallsTest, WithoutACollectorNothingHappens) {
  { const ApiCall call(nullptr, "dnnl_primitive_create"); }
  EXPECT_TRUE(sink_.all.empty());
}

// All four threads are inside a call at the same time, so the maximum is the number of threads.
TEST_F(ApiCallsTest, ConcurrencyPeaksAtTheNumberOfThreads) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 25;
  std::barrier together(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        const ApiCall call(&calls_, "dnnl_memory_create");
        together.arrive_and_wait();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<double> concurrency = sink_.values("concurrency");
  EXPECT_EQ(concurrency.size(), 2u * kThreads * kRounds);
  EXPECT_EQ(std::ranges::max(concurrency), kThreads);
  EXPECT_EQ(concurrency.back(), 0);
  EXPECT_EQ(std::ranges::max(sink_.values("calls")), kThreads * kRounds);
  EXPECT_EQ(sink_.of(ActivityKind::api).size(), 1u * kThreads * kRounds);
}

class ApiCallsOffTest : public ApiCallsTest {
 protected:
  ApiCallsOffTest() : ApiCallsTest({RecordGroup::operators, RecordGroup::memory}) {}
};

TEST_F(ApiCallsOffTest, TheSwitchRemovesCallsAndCounters) {
  { const ApiCall call(&calls_, "dnnl_primitive_create"); }
  EXPECT_TRUE(sink_.all.empty());
  EXPECT_EQ(calls_.calls(), 1);
}

}  // namespace
}  // namespace bench
