// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/measuring_kernels.hpp"

#include "profiler/gpu/device_summary.hpp"
#include "tests/fakes/activity_names.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bench {
namespace {

using namespace std::chrono_literals;

Activity kernel(const char* name, Nanoseconds start, Nanoseconds duration) {
  Activity activity;
  activity.kind = ActivityKind::kernel;
  activity.name = name;
  activity.start = start;
  activity.duration = duration;
  activity.track.device = 0;
  return activity;
}

// The names in a profile of bench on an H100.
constexpr const char* kBlocking = "bench::ops::cuda::(anonymous namespace)::blocking_kernel";
constexpr const char* kClock = "bench::ops::cuda::(anonymous namespace)::clock_kernel";
constexpr const char* kTranspose = "bench::ops::cuda::(anonymous namespace)::transpose_kernel";
constexpr const char* kProduct = "nvjet_sm90_hsh_256x128_64x4_1x2_h_bz_coopA_NNT";

TEST(MeasuringKernels, AreTheOnesThatComputeNothing) {
  EXPECT_TRUE(is_measuring_kernel(kBlocking));
  EXPECT_TRUE(is_measuring_kernel(kClock));
  EXPECT_FALSE(is_measuring_kernel(kTranspose));
  EXPECT_FALSE(is_measuring_kernel(kProduct));
  EXPECT_FALSE(is_measuring_kernel("other::blocking_kernel"));
}

TEST(MeasuringKernels, AreDroppedAndCounted) {
  ActivityNames names;
  MeasuringKernelFilter filter(names);
  EXPECT_EQ(filter.note(), "");
  for (const char* name : {kBlocking, kProduct, kClock, kTranspose}) {
    ASSERT_TRUE(filter.consume(kernel(name, 0ns, 1us)).ok());
  }
  EXPECT_EQ(names.names, (std::vector<std::string>{kProduct, kTranspose}));
  EXPECT_EQ(
      filter.note(),
      "2 kernels with which bench itself measures are not shown; `--name _kernel` shows them");
}

TEST(MeasuringKernels, DoNotMakeADeviceBusy) {
  GpuSummary summary;
  ASSERT_TRUE(summary.consume(kernel(kBlocking, 0us, 100us)).ok());
  ASSERT_TRUE(summary.consume(kernel(kProduct, 100us, 10us)).ok());
  ASSERT_TRUE(summary.consume(kernel(kProduct, 120us, 10us)).ok());
  const auto devices = summary.devices();
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].kernels, 2);
  EXPECT_EQ(devices[0].kernel_union, 20us);
  EXPECT_DOUBLE_EQ(devices[0].busy_share.value(), 2.0 / 3);
}

}  // namespace
}  // namespace bench
