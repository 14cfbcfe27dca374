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
  const IdealProvider compute_ideal = make_ideal_provider(MachineCeilings{machine(), {}});
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
  const IdealProvider compute_ideal = make_ideal_provider(MachineCeilings{machine(), {}});
  Activity cold = product(1000, 20'000);
  cold.case_id = "gemm/forward/m1n1k1/f32/onednn/cpu/cold/t1";
  EXPECT_EQ(compute_ideal(cold)->time, Nanoseconds(2000));
  EXPECT_EQ(compute_ideal(cold)->bound, "memory");
}

TEST(ActivityRoofline, NothingIsIdealWithoutWorkOrOffTheProcessor) {
  const IdealProvider compute_ideal = make_ideal_provider(MachineCeilings{machine(), {}});
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
  EXPECT_FALSE(make_ideal_provider(MachineCeilings{})(product(1, 1)));
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
  EXPECT_EQ(make_ideal_provider(MachineCeilings{machine(), {}})(conv)->time,
            Nanoseconds((inside + 50) / 100));
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

// A GPU: 1000 FLOP per ns in f16 on tensor cores, 100 in f32 on CUDA cores, 50 B per ns.
Ceilings gpu() {
  Ceilings ceilings;
  ceilings.gpu = "NVIDIA H100";
  ceilings.rows = {{"gemm_f16", "", 1, FlopsPerSecond{1000e9}},
                   {"fma_cuda_f32", "", 1, FlopsPerSecond{100e9}},
                   {"read", "dram", 1, BytesPerSecond{50e9}}};
  return ceilings;
}

Activity kernel(const char* dtype, const char* tensor_cores) {
  Activity activity = product(1'000'000, 1000);
  activity.kind = ActivityKind::kernel;
  activity.track.device = 0;
  activity.attributes.erase(Attribute::phase);
  activity.attributes.set(Attribute::dtype, dtype);
  if (tensor_cores != nullptr) activity.attributes.set(Attribute::tensor_cores, tensor_cores);
  return activity;
}

TEST(ActivityRoofline, AKernelIsComparedWithTheUnitsThatItUsed) {
  const IdealProvider compute_ideal = make_ideal_provider(MachineCeilings{machine(), gpu()});
  const auto tensor = compute_ideal(kernel("f16", "used (name: nvjet)"));
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->time, Nanoseconds(1000));
  EXPECT_EQ(tensor->bound, "compute");
  EXPECT_EQ(compute_ideal(kernel("f32", "not used (name: cudnn-cores)"))->time,
            Nanoseconds(10'000));
  EXPECT_FALSE(compute_ideal(kernel("f32", nullptr)));                // of unknown units
  EXPECT_FALSE(compute_ideal(kernel("bf16", "used (name: nvjet)")));  // not measured
  Activity moving = kernel("f16", nullptr);
  moving.attributes.set(Attribute::flops, std::int64_t{0});
  EXPECT_EQ(compute_ideal(moving)->time, Nanoseconds(20));
  EXPECT_EQ(compute_ideal(moving)->bound, "memory");
  EXPECT_EQ(compute_ideal(product(80'000, 1000))->time, Nanoseconds(800));  // CPU
}

// The time of a launch was compared with the ceilings of its work.
TEST(ActivityRoofline, OperatorsThatOnlyStartKernelsHaveNone) {
  Activity launch = product(1000, 1000);
  launch.kind = ActivityKind::operation;
  MachineCeilings both{machine(), gpu()};
  EXPECT_TRUE(make_ideal_provider(both)(launch));
  launch.case_id = "gemm/forward/m1n1k1/f16/cublaslt/cuda/hot";
  EXPECT_FALSE(make_ideal_provider(both)(launch));
  launch.case_id.clear();
  both.has_gpu_work = true;
  EXPECT_FALSE(make_ideal_provider(both)(launch));
}

TEST(ActivityRoofline, StatedRatesApplyToAllDevices) {
  const FlopsPerSecond flops{100e9};
  const BytesPerSecond bytes{10e9};
  const IdealProvider compute_ideal = make_ideal_provider(flops, bytes);
  EXPECT_EQ(compute_ideal(kernel("f16", nullptr))->time, Nanoseconds(10'000));
  EXPECT_EQ(compute_ideal(product(1000, 20'000))->time, Nanoseconds(2000));
  EXPECT_EQ(compute_ideal(product(1000, 20'000))->bound, "memory");
  // Half of the work would promise too short a time.
  EXPECT_FALSE(make_ideal_provider(flops, std::nullopt)(product(1000, 20'000)));
  EXPECT_FALSE(make_ideal_provider(std::nullopt, bytes)(product(1000, 20'000)));
  EXPECT_TRUE(make_ideal_provider(std::nullopt, bytes)(product(0, 20'000)));
}

}  // namespace
}  // namespace bench
