// SPDX-License-Identifier: Apache-2.0
#include "harness/report/serving.hpp"

#include "harness/report/plots.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

CaseRecord timed_network(const std::string& parameters, Nanoseconds time, std::int64_t batch) {
  CaseRecord record;
  record.id = "network/forward/" + parameters + "/f32/onednn/cpu/hot";
  record.op = "network";
  record.device = "cpu";
  record.time = TimeSummary{time, time, time, time, time, {}, {}, {}};
  record.items = batch;
  record.items_per_s =
      ItemsPerSecond{static_cast<double>(batch) * 1e9 / static_cast<double>(time.count())};
  return record;
}

CaseRecord with_stream_count(CaseRecord record, int streams) {
  record.id += "/st" + std::to_string(streams);
  record.streams = streams;
  Latency latency;
  latency.iterations = 300;
  latency.p50.time = 60ms;
  latency.p90.time = 65ms;
  latency.p99.time = 71ms;
  latency.clock = 21ns;
  record.latency = latency;
  return record;
}

Report served_report() {
  Report report;
  report.cases = {timed_network("resnet50_v1_5", 40ms, 1),
                  with_stream_count(timed_network("resnet50_v1_5", 32ms, 1), 2),
                  timed_network("resnet50_v1_5-n8", 330ms, 8)};
  return report;
}

TEST(ServingSentence, SaysHowManyPerSecondAndAtWhatLatency) {
  EXPECT_EQ(serving_sentence(served_report()),
            "resnet50_v1_5: 31.25 items/s with 2 streams; 99 % of the iterations take at most "
            "71.00 ms.");
}

TEST(ServingSentence, NamesOneStreamIfItIsTheFastest) {
  Report report = served_report();
  report.cases[0] = timed_network("resnet50_v1_5", 25ms, 1);
  EXPECT_EQ(serving_sentence(report),
            "resnet50_v1_5: 40.00 items/s with 1 stream; an iteration takes 25.00 ms.");
}

TEST(ServingSentence, IsEmptyWithoutStreams) {
  Report report = served_report();
  report.cases.erase(report.cases.begin() + 1);
  EXPECT_EQ(serving_sentence(report), "");
  EXPECT_EQ(serving_table(report, 100, Colour::off), "");
}

TEST(ServingTable, HasTheTimeAloneBesideTheLatency) {
  EXPECT_THAT(
      serving_table(served_report(), 100, Colour::off),
      testing::StartsWith(
          "served case                                streams  items/s       p50       p90       "
          "p99     alone\n"
          "network/forward/resnet50_v1_5/.../hot            1    25.00       n/a       n/a       "
          "n/a  40.00 ms\n"
          "network/forward/resnet50_v1_5/.../hot/st2        2    31.25  60.00 ms  65.00 ms  71.00 "
          "ms  40.00 ms\n"));
}

TEST(ServingTable, ATimeThatWasNotMeasuredIsUnknown) {
  Report report = served_report();
  report.cases.erase(report.cases.begin());
  EXPECT_THAT(serving_table(report, 100, Colour::off), HasSubstr("71.00 ms    n/a\n"));
}

TEST(ServingTable, FitsANarrowTerminal) {
  std::string table = serving_table(served_report(), 60, Colour::off);
  for (std::size_t end = table.find('\n'); end != std::string::npos; end = table.find('\n')) {
    EXPECT_LE(end, 60u) << table.substr(0, end);
    table.erase(0, end + 1);
  }
}

TEST(ServingTable, TheCostOfTheClockIsStatedIfItCounts) {
  Report report = served_report();
  EXPECT_THAT(serving_table(report, 100, Colour::off), Not(HasSubstr("clock")));
  report.cases[1].latency->p50.time = 2us;
  EXPECT_THAT(serving_table(report, 400, Colour::off),
              HasSubstr("each contains one reading of the clock, 21 ns."));
}

// The record of an operator with one stream does not state its items.
TEST(ServedRates, AnOperatorWithOneStreamHasTheItemsOfItsTwin) {
  CaseRecord two;
  two.id = "conv/forward/n8c4h8w8k4r3s3p1/f32/onednn/cpu/hot/st2";
  two.op = "conv";
  two.items = 8;
  two.streams = 2;
  CaseRecord one = two;
  one.id = "conv/forward/n8c4h8w8k4r3s3p1/f32/onednn/cpu/hot";
  one.items.reset();
  one.streams.reset();
  one.time = TimeSummary{4ms, 4ms, 4ms, 4ms, 4ms, {}, {}, {}};
  EXPECT_EQ(ServedRates({one, two}).of(one), ItemsPerSecond{2000});
  EXPECT_EQ(ServedRates({one}).of(one), std::nullopt);
  EXPECT_EQ(ServedRates({one, two}).of(two), std::nullopt) << "no time";
}

TEST(ServingPlots, ShowThroughputAndLatencyByStreamsAndByBatch) {
  const std::vector<Plot> plots = serving_plots(served_report().cases);
  std::vector<std::string> names;
  for (const Plot& plot : plots) names.push_back(plot.name);
  EXPECT_THAT(names, testing::ElementsAre("serving-streams-throughput", "serving-streams-latency",
                                          "serving-batch-throughput", "serving-batch-latency"));
  EXPECT_THAT(plots[0].wide, HasSubstr("streams = 2: 31.25"));
  EXPECT_THAT(plots[1].wide, HasSubstr("streams = 1: 40 ms")) << "the time with one stream";
  EXPECT_THAT(plots[1].wide, HasSubstr("streams = 2: 71 ms"));
  EXPECT_THAT(plots[2].wide, HasSubstr("batch = 8: 24.24"));
}

TEST(ServingPlots, AreAbsentIfNoCasesDifferInOneOfThemAlone) {
  EXPECT_TRUE(serving_plots({timed_network("resnet50_v1_5", 40ms, 1)}).empty());
  EXPECT_TRUE(serving_plots({timed_network("a", 40ms, 1), timed_network("b-n8", 40ms, 8)}).empty());
}

}  // namespace
}  // namespace bench
