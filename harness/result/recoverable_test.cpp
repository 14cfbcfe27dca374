// SPDX-License-Identifier: Apache-2.0
#include "harness/result/recoverable.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::SizeIs;

CaseRecord layer(const std::string& size, Nanoseconds time, Nanoseconds ideal,
                 std::vector<std::string> layers) {
  CaseRecord record;
  record.id = "gemm/forward/m" + size + "n1k1/f32/onednn/cpu/hot";
  record.op = "gemm";
  record.device = "cpu";
  record.network = "net";
  record.multiplicity = static_cast<int>(layers.size());
  record.layers = std::move(layers);
  record.time = TimeSummary{};
  record.time->median = time;
  record.roofline = Roofline{};
  record.roofline->ideal = ideal;
  return record;
}

TEST(RecoverableTime, IsMeasuredLessIdealTimesMultiplicity) {
  Report report;
  report.cases = {layer("1", 1ms, 900us, {"a"}), layer("2", 6ms, 2ms, {"b", "c"}),
                  layer("3", 2ms, 3ms, {"above its ceiling"}), layer("4", 5ms, 4ms, {"d"})};
  report.cases.push_back(layer("5", 1ms, 1ms, {"e"}));
  report.cases.back().roofline.reset();
  const auto networks = recoverable_times(report);
  ASSERT_THAT(networks, SizeIs(1));
  const RecoverableTime& net = networks.front();
  EXPECT_EQ(net.network, "net");
  EXPECT_EQ(net.cache, "hot");
  EXPECT_EQ(net.measured, 20ms);
  EXPECT_EQ(net.recoverable, 9'100us);
  EXPECT_EQ(net.without_ceiling, 1U);
  ASSERT_THAT(net.layers, SizeIs(4));
  EXPECT_EQ(net.layers[0].recoverable, 8ms);
  EXPECT_EQ(net.layers[0].multiplicity, 2U);
  EXPECT_DOUBLE_EQ(net.layers[0].share, 8.0 / 9.1);
  EXPECT_EQ(net.layers[3].recoverable, 0ns);
  EXPECT_EQ(net.majority, 1U);
  EXPECT_EQ(recoverable_sentence(net),
            "1 of 4 distinct layers holds 88 % of the 9.100 ms that net could gain at the "
            "machine's ceilings.");
}

TEST(RecoverableTime, OfLayersAtTheirCeilingsIsNone) {
  Report report;
  report.cases = {layer("1", 1ms, 1ms, {"a"})};
  const auto networks = recoverable_times(report);
  ASSERT_THAT(networks, SizeIs(1));
  EXPECT_EQ(networks.front().majority, 0U);
  EXPECT_EQ(recoverable_sentence(networks.front()),
            "The layers of net take no longer than the machine's ceilings permit.");
}

TEST(RecoverableTime, WithoutRooflinesThereIsNone) {
  Report report;
  report.cases = {layer("1", 1ms, 1ms, {"a"})};
  report.cases.front().roofline.reset();
  EXPECT_THAT(recoverable_times(report), IsEmpty());
}

}  // namespace
}  // namespace bench
