// SPDX-License-Identifier: Apache-2.0
#include "harness/result/device_samples.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(SampleRemarks, ReasonsThatDifferInTheirNumbersAreOne) {
  SampleRemarks remarks;
  add_remark(remarks, "SM clock 1.21 GHz, 68 % of the run's median 1.78 GHz");
  add_remark(remarks, "SM clock 0.9 GHz, 5 % of the run's median 1.79 GHz");
  add_remark(remarks, "another compute process");
  EXPECT_EQ(remarks.count, 3);
  EXPECT_EQ(remarks.reasons, (std::map<std::string, std::int64_t>{
                                 {"SM clock 1.21 GHz, 68 % of the run's median 1.78 GHz", 2},
                                 {"another compute process", 1}}));
  EXPECT_EQ(most_frequent_reason(remarks), "SM clock 1.21 GHz, 68 % of the run's median 1.78 GHz");
}

TEST(SampleRemarks, KeepALimitedNumberOfReasons) {
  SampleRemarks remarks;
  for (int i = 0; i < 20; ++i) add_remark(remarks, std::string(static_cast<std::size_t>(i), 'x'));
  EXPECT_EQ(remarks.count, 20);
  EXPECT_EQ(remarks.reasons.size(), kMaxReasons + 1);
  EXPECT_EQ(remarks.reasons.at(kOtherReasons), 12);
}

TEST(SampleRemarks, AddUp) {
  SampleRemarks sum;
  add_remarks(sum, {});
  EXPECT_EQ(sum, SampleRemarks{});
  add_remarks(sum, SampleRemarks{3, {{"hot", 2}}});  // one remark has no reason
  add_remarks(sum, SampleRemarks{1, {{"hot", 1}}});
  EXPECT_EQ(sum, (SampleRemarks{4, {{"hot", 3}}}));
  EXPECT_EQ(most_frequent_reason({}), "");
}

}  // namespace
}  // namespace bench
