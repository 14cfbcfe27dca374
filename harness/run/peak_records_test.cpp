// SPDX-License-Identifier: Apache-2.0
#include "harness/run/peak_records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

PeakRecord peak_of(const std::string& name, int threads, CeilingValue value) {
  PeakRecord record;
  record.id = name + "/t" + std::to_string(threads);
  record.ceiling = {name, "", threads, value};
  record.low = record.high = value;
  return record;
}

std::vector<PeakRecord> disturbed_peaks() {
  return {peak_of("read", 1, BytesPerSecond{22.5e9}), peak_of("read", 2, BytesPerSecond{17.9e9}),
          peak_of("fma", 1, FlopsPerSecond{100e9}),   peak_of("fma", 2, FlopsPerSecond{190e9}),
          peak_of("dispatch", 1, Nanoseconds(300)),   peak_of("dispatch", 2, Nanoseconds(200))};
}

// Earlier, memory had 17.9 GB/s on two threads and 22.5 GB/s on one; later cases reached 149 %.
TEST(PeakRecords, ACeilingOfAllThreadsIsNotBelowThatOfOneThread) {
  std::vector<PeakRecord> records = disturbed_peaks();
  EXPECT_THAT(cases_slower_with_all_threads(records), ElementsAre("read/t1", "read/t2"));
  const auto raised = raise_to_one_thread(records);
  EXPECT_THAT(raised, ElementsAre(RaisedCeiling{{"read", "", 2, BytesPerSecond{17.9e9}},
                                                BytesPerSecond{22.5e9}}));
  EXPECT_EQ(records[1].ceiling.value, CeilingValue(BytesPerSecond{22.5e9}));
  EXPECT_EQ(records[1].low, CeilingValue(BytesPerSecond{22.5e9}));
  EXPECT_THAT(cases_slower_with_all_threads(records), IsEmpty());
  EXPECT_THAT(raise_to_one_thread(records), IsEmpty());
}

TEST(PeakRecords, OfTwoMeasurementsTheBetterOneCounts) {
  std::vector<PeakRecord> records = disturbed_peaks();
  keep_better({peak_of("read", 1, BytesPerSecond{21e9}), peak_of("read", 2, BytesPerSecond{30e9}),
               peak_of("dispatch", 1, Nanoseconds(250)), peak_of("dispatch", 2, Nanoseconds(400)),
               peak_of("triad", 1, BytesPerSecond{1})},
              records);
  ASSERT_EQ(records.size(), 6U);
  EXPECT_EQ(records[0].ceiling.value, CeilingValue(BytesPerSecond{22.5e9}));
  EXPECT_EQ(records[1].ceiling.value, CeilingValue(BytesPerSecond{30e9}));
  EXPECT_EQ(records[4].ceiling.value, CeilingValue(Nanoseconds(250)));
  EXPECT_EQ(records[5].ceiling.value, CeilingValue(Nanoseconds(200)));
  EXPECT_THAT(cases_slower_with_all_threads(records), IsEmpty());
}

}  // namespace
}  // namespace bench
