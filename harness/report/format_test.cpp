// SPDX-License-Identifier: Apache-2.0
#include "harness/report/format.hpp"

#include "harness/report/console.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace bench {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(ReportFormats, NamesAndSuffixesAreDistinct) {
  std::set<std::string_view> names, suffixes;
  for (const ReportFormat& format : report_formats()) {
    EXPECT_TRUE(names.insert(format.name).second) << format.name;
    EXPECT_TRUE(suffixes.insert(format.suffix).second) << format.suffix;
    EXPECT_THAT(std::string(format.suffix), StartsWith("."));
    EXPECT_FALSE(format.help.empty());
  }
  EXPECT_TRUE(names.contains("json"));
  EXPECT_TRUE(names.contains("text"));
}

TEST(ReportFormats, EachWritesTheCases) {
  Report report;
  CaseRecord record;
  record.run_id = "r";
  record.time = TimeSummary{};
  record.id = "network/forward/net/f32/onednn/cpu/hot";
  report.cases = {record};
  for (const ReportFormat& format : report_formats()) {
    const std::string text = format.write(RunView{report}, {});
    EXPECT_THAT(text, HasSubstr(record.id)) << format.name;
    EXPECT_EQ(text.back(), '\n') << format.name;
  }
}

TEST(ReportFormats, TextHoldsTheNetworksToo) {
  Report report;
  CaseRecord record;
  record.id = "network/forward/net/f32/onednn/cpu/hot";
  report.cases = {record};
  for (const ReportFormat& format : report_formats()) {
    if (format.name == "text") {
      EXPECT_THAT(format.write({report, "", summarise_networks(report)}, {}),
                  HasSubstr("network net\n"));
    }
  }
}

}  // namespace
}  // namespace bench
