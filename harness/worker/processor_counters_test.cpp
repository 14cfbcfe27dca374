// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/processor_counters.hpp"

#include "tests/fakes/scripted_invocation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <set>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kMainThread = 100, kOtherThread = 101;

// Counters with scripted values. A counter's number is unique, so that a wrong one is noticed.
class ScriptedPerfEvents final : public PerfEvents {
 public:
  std::vector<int> threads() override { return thread_ids; }
  Result<int, PerfFailure> open(PerfEvent event, int thread, std::optional<int> leader) override {
    if (const auto failure = failures.find({event, thread}); failure != failures.end()) {
      return PerfFailure{failure->second};
    }
    if (leader) {
      EXPECT_EQ(counters_.at(*leader).second, thread);
    }
    counters_[next_] = {event, thread};
    opened.insert(next_);
    return next_++;
  }
  void start(int leader) override { started.insert(leader); }
  void stop(int leader) override {
    EXPECT_EQ(started.erase(leader), 1U);
    if (!later_threads.empty()) thread_ids = later_threads;
  }
  std::optional<PerfCount> read(int counter) override {
    EXPECT_TRUE(opened.contains(counter));
    EXPECT_THAT(started, IsEmpty());
    const auto found = counts.find(counters_.at(counter));
    return found == counts.end() ? std::nullopt : std::optional(found->second);
  }
  void close(int counter) override { EXPECT_EQ(opened.erase(counter), 1U); }

  using Key = std::pair<PerfEvent, int>;
  std::vector<int> thread_ids = {kMainThread, kOtherThread};
  std::vector<int> later_threads;
  std::map<Key, int> failures;
  std::map<Key, PerfCount> counts;
  std::set<int> opened, started;

 private:
  std::map<int, Key> counters_;
  int next_ = 7;
};

class ProcessorCountersTest : public testing::Test {
 protected:
  // Ten executions of 5 ms.
  Result<CounterReadings, ops::BackendError> measure() {
    auto readings =
        ProcessorCounters(events_, runs_.clock()).measure(runs_.rotation().invocations());
    EXPECT_THAT(events_.opened, IsEmpty());
    return readings;
  }
  void count(PerfEvent event, int thread, std::int64_t value, Nanoseconds enabled = 50ms,
             Nanoseconds running = 50ms) {
    events_.counts[{event, thread}] = {value, enabled, running};
  }
  void count_all() {
    count(PerfEvent::cycles, kMainThread, 3000);
    count(PerfEvent::cycles, kOtherThread, 1000);
    count(PerfEvent::instructions, kMainThread, 8000);
    count(PerfEvent::instructions, kOtherThread, 2000);
    count(PerfEvent::llc_misses, kMainThread, 70);
    count(PerfEvent::llc_misses, kOtherThread, 30);
  }

  test::ScriptedRuns runs_{[](std::int64_t) { return 5ms; }, 2};
  ScriptedPerfEvents events_;
};

TEST_F(ProcessorCountersTest, AreTheMeanOfAnExecutionOverAllThreads) {
  count_all();
  const auto readings = measure();
  ASSERT_TRUE(readings.ok()) << readings.error().reason;
  EXPECT_EQ(runs_.order().size(), 2U + 10U);  // a turn before it counts
  EXPECT_EQ(readings->at("cycles"),
            (CounterReading{400, "perf event cycles:u, mean of 10 executions, 2 threads"}));
  EXPECT_EQ(readings->at("instructions").value, 1000);
  EXPECT_EQ(readings->at("llc_misses").value, 10);
  EXPECT_EQ(readings->at("instructions_per_cycle"), (CounterReading{2.5, "instructions / cycles"}));
  EXPECT_EQ(readings->at("llc_miss_bytes"), (CounterReading{640, "llc_misses x 64"}));
  EXPECT_FALSE(readings->contains("counted_share"));
}

TEST_F(ProcessorCountersTest, MultiplexedCountsAreScaledAndSaySo) {
  count_all();
  for (auto& [key, count] : events_.counts) count.running = 25ms;
  count(PerfEvent::cycles, kOtherThread, 500, 50ms, 12500us);
  const auto readings = measure();
  ASSERT_TRUE(readings.ok());
  EXPECT_EQ(readings->at("cycles").value, (3000 * 2 + 500 * 4) / 10);
  EXPECT_EQ(readings->at("instructions").value, 2000);
  // 5 counters for 25 ms and one for 12.5 ms, of 50 ms each.
  EXPECT_EQ(readings->at("counted_share").value, 0.4583);
}

TEST_F(ProcessorCountersTest, AMissingCounterIsMissingAlone) {
  count_all();
  events_.failures[{PerfEvent::llc_misses, kMainThread}] = ENOENT;
  const auto readings = measure();
  ASSERT_TRUE(readings.ok());
  EXPECT_EQ(readings->at("cycles").value, 400);
  EXPECT_EQ(readings->at("llc_misses").value, std::nullopt);
  EXPECT_EQ(readings->at("llc_misses").source,
            "the event cache-misses:u is not available here (perf_event_open: No such file or "
            "directory); a virtual machine often hides them");
  EXPECT_FALSE(readings->contains("llc_miss_bytes"));
}

TEST_F(ProcessorCountersTest, ASumOverAPartOfTheThreadsIsUnknown) {
  count_all();
  events_.failures[{PerfEvent::cycles, kOtherThread}] = ESRCH;
  const auto readings = measure();
  ASSERT_TRUE(readings.ok());
  EXPECT_EQ(readings->at("cycles").value, std::nullopt);
  EXPECT_EQ(readings->at("instructions").value, 1000);
  EXPECT_FALSE(readings->contains("instructions_per_cycle"));
}

TEST_F(ProcessorCountersTest, WithoutAnyTheReasonIsToldOnceWithItsRemedy) {
  for (const PerfEventRow& row : perf_events()) events_.failures[{row.event, kMainThread}] = EACCES;
  const auto closed = measure();
  ASSERT_FALSE(closed.ok());
  EXPECT_EQ(closed.error().kind, ops::BackendError::Kind::unsupported);
  EXPECT_EQ(closed.error().reason,
            "the processor's counters are closed to this user (perf_event_open: Permission "
            "denied); sudo sysctl kernel.perf_event_paranoid=2 opens them");
}

TEST_F(ProcessorCountersTest, AnIdleThreadCountsNothingAndOneThatNeverGotARegisterIsUnknown) {
  count_all();
  count(PerfEvent::cycles, kOtherThread, 0, 0ms, 0ms);
  count(PerfEvent::llc_misses, kOtherThread, 0, 50ms, 0ms);
  const auto readings = measure();
  ASSERT_TRUE(readings.ok());
  EXPECT_EQ(readings->at("cycles").value, 300);
  EXPECT_EQ(readings->at("llc_misses").value, std::nullopt);
  EXPECT_THAT(readings->at("llc_misses").source, HasSubstr("never counted"));
}

TEST_F(ProcessorCountersTest, AThreadThatStartsMeanwhileMakesThemUnknown) {
  count_all();
  events_.later_threads = {kMainThread, kOtherThread, 102};
  const auto readings = measure();
  ASSERT_FALSE(readings.ok());
  EXPECT_EQ(readings.error().kind, ops::BackendError::Kind::unsupported);
  EXPECT_THAT(readings.error().reason, HasSubstr("threads started or ended"));
}

TEST_F(ProcessorCountersTest, AFailedExecutionFailsThePassAndClosesTheCounters) {
  count_all();
  runs_.fail_at(5);
  const auto readings = measure();
  ASSERT_FALSE(readings.ok());
  EXPECT_EQ(readings.error().kind, ops::BackendError::Kind::failed);
  EXPECT_EQ(readings.error().reason, "scripted failure");
}

}  // namespace
}  // namespace bench
