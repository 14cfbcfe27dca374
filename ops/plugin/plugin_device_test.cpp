// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/plugin_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops {
namespace {

using ::testing::HasSubstr;

constexpr bench_sample kGood = {sizeof(bench_sample), 1000, 80,
                                1'700'000'000,        0,    BENCH_SAMPLE_STREAM};

DeviceSample read(const bench_sample& sample, const std::string& reason = "",
                  SampleMethod method = SampleMethod::any) {
  const auto result = read_sample(sample, {{}, 0, 4, method}, reason);
  EXPECT_TRUE(result.ok());
  return result.ok() ? *result : DeviceSample{};
}

TEST(PluginSampleTest, ReadsAGoodOne) {
  const DeviceSample sample = read(kGood);
  EXPECT_EQ(sample.device, Nanoseconds(1000));
  EXPECT_EQ(sample.host, Nanoseconds(80));
  EXPECT_EQ(sample.clock_hz, 1'700'000'000);
  EXPECT_EQ(sample.method, SampleMethod::stream);
  EXPECT_EQ(sample.verdict, SampleVerdict::counted);
  EXPECT_EQ(sample.reason, "");
}

TEST(PluginSampleTest, TheWorstFlagCounts) {
  bench_sample sample = kGood;
  sample.flags = BENCH_SAMPLE_UNSTEADY | 64U;  // a flag of a later version
  EXPECT_EQ(read(sample).verdict, SampleVerdict::unsteady);
  sample.flags |= BENCH_SAMPLE_THROTTLED;
  EXPECT_EQ(read(sample, "hot").verdict, SampleVerdict::throttled);
  EXPECT_EQ(read(sample, "hot").reason, "hot");
  sample.flags |= BENCH_SAMPLE_VOID;
  EXPECT_EQ(read(sample).verdict, SampleVerdict::voided);
  EXPECT_THAT(read(sample).reason, HasSubstr("gives no reason"));
}

TEST(PluginSampleTest, WhatIsNotKnownIsAbsent) {
  bench_sample sample = kGood;
  sample.host_ns = -1;
  sample.clock_hz = -1;
  EXPECT_EQ(read(sample).host, std::nullopt);
  EXPECT_EQ(read(sample).clock_hz, std::nullopt);
  sample.host_ns = -50;
  sample.clock_hz = 0;
  EXPECT_EQ(read(sample).host, std::nullopt);
  EXPECT_EQ(read(sample).clock_hz, std::nullopt);
}

TEST(PluginSampleTest, AnUnknownMethodIsTheOneThatWasAskedFor) {
  bench_sample sample = kGood;
  sample.how = 17;
  EXPECT_EQ(read(sample).method, SampleMethod::stream);
  EXPECT_EQ(read(sample, "", SampleMethod::graph).method, SampleMethod::graph);
}

TEST(PluginSampleTest, WithoutATimeOfTheDeviceItIsVoidOrAnError) {
  bench_sample sample = kGood;
  sample.device_ns = -1;
  EXPECT_EQ(read(sample).verdict, SampleVerdict::voided);
  EXPECT_THAT(read(sample).reason, HasSubstr("does not report"));
  for (const std::int64_t time : {std::int64_t{0}, std::int64_t{-2}}) {
    sample.device_ns = time;
    const auto result = read_sample(sample, {{}, 0, 4}, "");
    ASSERT_FALSE(result.ok());
    EXPECT_THAT(result.error().what, HasSubstr(std::to_string(time) + " ns"));
    sample.flags = BENCH_SAMPLE_VOID;  // nothing else is read
    EXPECT_EQ(read(sample, "lost").reason, "lost");
    sample.flags = 0;
  }
}

}  // namespace
}  // namespace bench::ops
