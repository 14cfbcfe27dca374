// SPDX-License-Identifier: Apache-2.0
#include "harness/report/console.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace bench {
namespace {

Report report_of(const std::vector<Outcome>& outcomes) {
  Report report;
  for (const Outcome outcome : outcomes) report.cases.emplace_back().outcome = outcome;
  return report;
}

TEST(NothingMeasured, ATableWithoutTimesBeginsWithASentence) {
  EXPECT_EQ(nothing_measured_sentence(
                report_of({Outcome::skipped, Outcome::unsupported, Outcome::skipped})),
            "Nothing was measured: 1 of 3 cases unsupported, 2 skipped; the reasons are below.");
  EXPECT_EQ(nothing_measured_sentence(report_of({Outcome::crashed})),
            "Nothing was measured: 1 of 1 case crashed; the reason is below.");
}

TEST(NothingMeasured, AReportWithACaseThatRanHasNoSuchSentence) {
  EXPECT_FALSE(nothing_measured_sentence(report_of({Outcome::skipped, Outcome::ok})));
  EXPECT_FALSE(nothing_measured_sentence(report_of({})));
}

TEST(NothingMeasured, OnlySkippedAndUnsupportedCasesAreNoFailure) {
  EXPECT_TRUE(has_only_skipped_cases(report_of({Outcome::skipped, Outcome::unsupported})));
  EXPECT_FALSE(has_only_skipped_cases(report_of({Outcome::skipped, Outcome::failed})));
  EXPECT_FALSE(has_only_skipped_cases(report_of({Outcome::skipped, Outcome::ok})));
  EXPECT_FALSE(has_only_skipped_cases(report_of({})));
}

}  // namespace
}  // namespace bench
