// SPDX-License-Identifier: Apache-2.0
// Runs against the toolkit's own libraries: what its chips can count does not depend on a device.
#include "profiler/cupti/counter_host.hpp"

#include "profiler/cupti/counter_metrics.hpp"
#include "profiler/cupti/scripted_counters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace bench {
namespace {

using testing::Contains;
using testing::HasSubstr;

std::vector<LogicalCounter> all_counters() {
  std::vector<LogicalCounter> all;
  for (const LogicalCounterRow& row : logical_counters()) all.push_back(row.counter);
  return all;
}

struct Planned {
  CounterPlan plan;
  std::size_t passes = 0;
};

Planned planned(const CounterLibrary& library, const std::string& chip,
                const std::vector<LogicalCounter>& counters) {
  const auto host = CounterHost::open(library, chip);
  if (!host) {
    ADD_FAILURE() << host.error().error.message();
    return {};
  }
  Planned result{
      plan_counters(chip, counters, [&](std::string_view metric) { return host->offers(metric); }),
      0};
  const auto config = host->configure(result.plan.metrics());
  if (!config) {
    ADD_FAILURE() << chip << ": " << config.error().error.message();
    return result;
  }
  EXPECT_FALSE(config->image().empty());
  result.passes = config->passes();
  return result;
}

class CounterHostTest : public testing::Test {
 protected:
  const CounterLibrary library_ = test::toolkit_counters();
};

TEST_F(CounterHostTest, ChipsAreKnownByName) {
  const auto chips = supported_chips(library_);
  ASSERT_TRUE(chips.ok()) << chips.error().error.message();
  for (const char* chip : {"TU102", "GA100", "GA102", "AD102", "GH100", "GB100", "GB202"}) {
    EXPECT_THAT(*chips, Contains(chip));
  }
  const auto unknown = CounterHost::open(library_, "GX999");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().obstacle, CounterObstacle::not_supported);
}

// Logical counters whose metrics differ between chips, by chip.
TEST_F(CounterHostTest, EachChipAnswersWithItsOwnMetrics) {
  struct Expected {
    const char* chip;
    std::string instructions, read, f16, fp8;  // empty if unanswered
  };
  const std::string plain = "sm__inst_executed_pipe_tensor.sum";
  const std::string second = "sm__inst_executed_pipe_tensor_v2.sum";
  const std::string read = "dram__bytes_read.sum", op_read = "dram__bytes_op_read.sum";
  const std::string tensor = "sm__ops_path_tensor_src_";
  const std::string f16 = tensor + "fp16_dst_fp16.sum";
  const Expected rows[] = {
      {"GV100", plain, read, f16, ""},
      {"TU102", plain, read, f16, ""},
      {"TU116", plain, read, "", ""},
      {"GA100", plain, read, f16, ""},
      {"GA102", plain, read, f16, ""},
      {"GA10B", plain, "", f16, ""},
      {"AD102", second, read, f16, tensor + "fp8.sum"},
      {"GH100", plain, read, tensor + "fp16.sum", tensor + "fp8.sum"},
      {"GB100", plain, read, f16, tensor + "fp4_fp6_fp8_dst_fp16.sum"},
      {"GB110", plain, read, f16, tensor + "fp8_dst_fp16.sum"},
      {"GB10B", plain, "", f16, tensor + "fp4_fp6_fp8_dst_fp16.sum"},
      {"GB202", plain, op_read, f16, tensor + "fp8_dst_fp16.sum"},
      {"GB20B", plain, "", f16, tensor + "fp8_dst_fp16.sum"},
  };
  const auto chips = supported_chips(library_);
  ASSERT_TRUE(chips.ok());
  for (const Expected& row : rows) {
    SCOPED_TRACE(row.chip);
    if (std::find(chips->begin(), chips->end(), row.chip) == chips->end()) continue;
    const Planned all = planned(library_, row.chip, all_counters());
    std::map<LogicalCounter, std::string> first;
    for (const CounterAnswer& answer : all.plan.answers) first[answer.counter] = answer.metrics[0];
    EXPECT_EQ(first[LogicalCounter::tensor_instructions], row.instructions);
    EXPECT_EQ(first[LogicalCounter::tensor_group_instructions],
              row.chip == std::string("GH100") ? "sm__inst_executed_pipe_tensor_op_gmma.sum" : "");
    EXPECT_EQ(first[LogicalCounter::dram_read_bytes], row.read);
    EXPECT_EQ(first[LogicalCounter::tensor_operations_f16], row.f16);
    EXPECT_EQ(first[LogicalCounter::tensor_operations_fp8], row.fp8);
    EXPECT_EQ(first[LogicalCounter::l2_hit_share], "lts__t_sectors_lookup_hit.sum");
    EXPECT_EQ(first[LogicalCounter::achieved_occupancy],
              "sm__warps_active.avg.pct_of_peak_sustained_active");
    EXPECT_EQ(all.plan.answers.size() + all.plan.unanswered.size(), logical_counters().size());
  }
}

TEST_F(CounterHostTest, EveryChipThatCuptiKnowsTellsTensorCores) {
  const auto chips = supported_chips(library_);
  ASSERT_TRUE(chips.ok());
  std::size_t served = 0;
  for (const std::string& chip : *chips) {
    if (!CounterHost::open(library_, chip).ok()) continue;  // CUPTI lists this name but refuses it
    SCOPED_TRACE(chip);
    ++served;
    const Planned verdict = planned(
        library_, chip, {LogicalCounter::tensor_instructions, LogicalCounter::tensor_active_share});
    EXPECT_TRUE(verdict.plan.unanswered.empty());
    EXPECT_EQ(verdict.passes, chip == "GV100" ? 2u : 1u);
    // CUPTI's own rate divides counts of these two passes, so it may exceed 1.
    EXPECT_EQ(planned(library_, chip, {LogicalCounter::l2_hit_share}).passes, 2u);
    const Planned all = planned(library_, chip, all_counters());
    EXPECT_GE(all.passes, 1u);
    EXPECT_LE(all.passes, 12u);
  }
  EXPECT_GE(served, 20u);
}

TEST_F(CounterHostTest, PassesOfTheToolkitThatThisIsBuiltWith) {
  if (CUPTI_API_VERSION / 100 != 1300) GTEST_SKIP() << "counted with CUDA 13.0";
  const std::map<std::string, std::size_t> expected = {{"GV100", 2}, {"TU102", 2}, {"GA100", 7},
                                                       {"GA102", 7}, {"AD102", 8}, {"GH100", 7},
                                                       {"GB100", 7}, {"GB202", 8}};
  for (const auto& [chip, passes] : expected) {
    EXPECT_EQ(planned(library_, chip, all_counters()).passes, passes) << chip;
  }
}

TEST_F(CounterHostTest, AMetricThatTheChipLacksIsNotOfferedAndHurtsNoOther) {
  const auto host = CounterHost::open(library_, "GB202");
  ASSERT_TRUE(host.ok());
  EXPECT_FALSE(host->offers("dram__bytes_read.sum"));
  EXPECT_FALSE(host->offers("dram__bytes_op_read.no_such_rollup"));
  EXPECT_TRUE(host->offers("dram__bytes_op_read.sum"));
  const auto refused = host->configure({"dram__bytes_read.sum"});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().error.message(),
              HasSubstr("GB202 cannot count the requested metrics"));
}

TEST(CounterLibraryTest, ALibraryWithoutTheFunctionsIsNone) {
  CuptiLibrary other;
  other.path = "libm.so.6";
  const auto library = load_counter_library(other);
  ASSERT_FALSE(library.ok());
  EXPECT_THAT(library.error().message(), HasSubstr("has no function cuptiProfilerInitialize"));
}

}  // namespace
}  // namespace bench
