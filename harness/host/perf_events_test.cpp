// SPDX-License-Identifier: Apache-2.0
#include "harness/host/perf_events.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <unistd.h>

namespace bench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(PerfFailureText, HasTheRemedyThatFitsTheError) {
  const auto text = [](int code) { return format_perf_failure({code}); };
  EXPECT_EQ(text(ENOENT),
            "the processor's counters are not available here (perf_event_open: No such file or "
            "directory); a virtual machine often hides them");
  EXPECT_EQ(text(EOPNOTSUPP),
            "the processor's counters are not available here (perf_event_open: Operation not "
            "supported); a virtual machine often hides them");
  EXPECT_THAT(text(EACCES), HasSubstr("kernel.perf_event_paranoid=2"));
  EXPECT_THAT(text(EPERM), HasSubstr("seccomp"));
  EXPECT_THAT(text(EMFILE), HasSubstr("ulimit -n"));
  EXPECT_EQ(text(EBUSY),
            "the processor's counters are not usable (perf_event_open: Device or resource busy)");
}

// Imitates a machine with only some of the counters, and counts those that are open.
class PartialPerfEvents final : public PerfEvents {
 public:
  std::vector<int> threads() override { return {}; }
  Result<int, PerfFailure> open(PerfEvent event, int, std::optional<int>) override {
    if (event == missing || all_missing) return PerfFailure{ENOENT};
    ++open_counters;
    return 3;
  }
  void start(int) override { ADD_FAILURE(); }
  void stop(int) override { ADD_FAILURE(); }
  std::optional<PerfCount> read(int) override { return std::nullopt; }
  void close(int) override { --open_counters; }
  PerfEvent missing = PerfEvent::llc_misses;
  bool all_missing = false;
  int open_counters = 0;
};

TEST(ProbePerfEvents, FindsWhatCanBeOpenedAndOpensNothingForLong) {
  PartialPerfEvents events;
  const auto known = probe_perf_events(events);
  ASSERT_TRUE(known.ok());
  EXPECT_THAT(*known, ElementsAre(PerfEvent::cycles, PerfEvent::instructions));
  EXPECT_EQ(events.open_counters, 0);
  events.all_missing = true;
  const auto none = probe_perf_events(events);
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message(), HasSubstr("not available here"));
}

TEST(PerfEventsFinding, SaysWhichCountersThereAreAndWhyThereAreNone) {
  PartialPerfEvents events;
  const Finding some = perf_events_finding(events);
  EXPECT_EQ(some.level, Finding::Level::note);
  EXPECT_EQ(some.found, "cycles, instructions");
  EXPECT_THAT(some.consequence, HasSubstr("cannot count the other events"));
  events.all_missing = true;
  const Finding none = perf_events_finding(events);
  EXPECT_EQ(none.level, Finding::Level::note);
  EXPECT_THAT(none.found, HasSubstr("n/a: the processor's counters are not available here"));
}

TEST(KernelPerfEvents, KnowTheThreadsOfThisProcess) {
  EXPECT_THAT(make_perf_events()->threads(), Contains(getpid()));
}

// Many machines have no counters. If a counter can be opened, it counts what this thread does.
TEST(KernelPerfEvents, CountThisThreadIfTheMachineHasCounters) {
  const auto events = make_perf_events();
  const auto counter = events->open(PerfEvent::instructions, 0, std::nullopt);
  if (!counter) GTEST_SKIP() << format_perf_failure(counter.error());
  events->start(*counter);
  volatile int sum = 0;
  for (int i = 0; i < 100000; ++i) sum = sum + 1;
  events->stop(*counter);
  const auto count = events->read(*counter);
  events->close(*counter);
  ASSERT_TRUE(count);
  EXPECT_GT(count->value, 100000);
  EXPECT_GE(count->enabled, count->running);
}

}  // namespace
}  // namespace bench
