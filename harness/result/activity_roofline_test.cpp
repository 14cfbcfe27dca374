// SPDX-License-Identifier: Apache-2.0
#include "harness/result/activity_roofline.hpp"

#include "harness/result/roofline.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

// One thread: 100 FLOP per ns in f32; 50 B per ns from the first cache of 32 KiB, 10 from memory.
Ceilings machine() {
  Ceilings ceilings;
  ceilings.threads = 1;
  ceilings.rows = {{"fma_avx2_f32", "", 1, FlopsPerSecond{100e9}},
                   {"read", "l1", 1, BytesPerSecond{50e9}},
                   {"read", "dram", 1, BytesPerSecond{10e9}}};
  ceilings.caches = {{"l1", Bytes{32768}}};
  return ceilings;
}

Activity product(std::int64_t flops, std::int64_t bytes) {
  Activity activity;
  activity.kind = ActivityKind::primitive;
  activity.duration = Nanoseconds(1000);
  activity.direction = "forward";
  activity.attributes.set(Attribute::phase, "exec");
  activity.attributes.set(Attribute::dtype, "f32");
  activity.attributes.set(Attribute::flops, flops);
  activity.attributes.set(Attribute::bytes, bytes);
  return activity;
}

TEST(ActivityRoofline, TheLongerOfArithmeticAndMovementIsIdeal) {
  const IdealProvider compute_ideal = make_ideal_provider(machine());
  const auto compute = compute_ideal(product(80'000, 1000));
  ASSERT_TRUE(compute);
  EXPECT_EQ(compute->time, Nanoseconds(800));
  EXPECT_EQ(compute->bound, "compute");
  const auto cache = compute_ideal(product(1000, 20'000));
  EXPECT_EQ(cache->time, Nanoseconds(400));
  EXPECT_EQ(cache->bound, "cache");
  const auto memory = compute_ideal(product(1000, 100'000));
  EXPECT_EQ(memory->time, Nanoseconds(10'000));
  EXPECT_EQ(memory->bound, "memory");
}

TEST(ActivityRoofline, TheCaseTellsTheCacheMode) {
  const IdealProvider compute_ideal = make_ideal_provider(machine());
  Activity cold = product(1000, 20'000);
  cold.case_id = "gemm/forward/m1n1k1/f32/onednn/cpu/cold/t1";
  EXPECT_EQ(compute_ideal(cold)->time, Nanoseconds(2000));
  EXPECT_EQ(compute_ideal(cold)->bound, "memory");
}

TEST(ActivityRoofline, NothingIsIdealWithoutWorkOrOffTheProcessor) {
  const IdealProvider compute_ideal = make_ideal_provider(machine());
  Activity unknown = product(1, 1);
  unknown.attributes.erase(Attribute::flops);
  unknown.attributes.erase(Attribute::bytes);
  EXPECT_FALSE(compute_ideal(unknown));
  Activity creation = product(1, 1);
  creation.attributes.set(Attribute::phase, "create");
  EXPECT_FALSE(compute_ideal(creation));
  Activity kernel = product(1, 1);
  kernel.kind = ActivityKind::kernel;
  EXPECT_FALSE(compute_ideal(kernel));
  EXPECT_FALSE(make_ideal_provider(Ceilings{})(product(1, 1)));
}

// The products with padding were counted, so that a layer ran at 103 % of the peak.
TEST(ActivityRoofline, PaddingNeedsNoTime) {
  Activity conv = product(0, 1000);
  conv.attributes.set(Attribute::op, "conv");
  conv.attributes.set(Attribute::parameters, "c512h7w7k512r3s3p1");
  // 2 * K * P * Q * C * R * S; of the 21 taps in each dimension, 19 are inside.
  const std::int64_t all = std::int64_t{2} * 512 * 7 * 7 * 512 * 3 * 3;
  const std::int64_t inside = std::int64_t{2} * 512 * 512 * 19 * 19;
  conv.attributes.set(Attribute::flops, all);
  EXPECT_EQ(make_ideal_provider(machine())(conv)->time, Nanoseconds((inside + 50) / 100));
  ActivityWorkModel works;
  EXPECT_EQ(necessary_flops(works.work(conv)->work), inside);
  // Another amount of work than the parameters imply is taken as it is.
  conv.attributes.set(Attribute::flops, 2 * all);
  EXPECT_EQ(necessary_flops(works.work(conv)->work), 2 * all);
}

TEST(ActivityRoofline, TheCeilingsOfACaseApplyToItsParts) {
  Roofline whole;
  whole.level = "dram";
  whole.peak_flops_per_s = FlopsPerSecond{100e9};
  whole.peak_bytes_per_s = BytesPerSecond{10e9};
  const IdealProvider compute_ideal =
      make_ideal_provider(std::map<std::string, Roofline>{{"network", whole}});
  Activity part = product(80'000, 1000);
  EXPECT_FALSE(compute_ideal(part));  // of no case
  part.case_id = "network";
  EXPECT_EQ(compute_ideal(part)->time, Nanoseconds(800));
  Activity moving = product(1000, 20'000);
  moving.case_id = "network";
  EXPECT_EQ(compute_ideal(moving)->time, Nanoseconds(2000));
  EXPECT_EQ(compute_ideal(moving)->bound, "memory");
}

}  // namespace
}  // namespace bench
