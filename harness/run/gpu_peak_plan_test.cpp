// SPDX-License-Identifier: Apache-2.0
#include "harness/run/gpu_peak_plan.hpp"

#include "harness/config/case_id.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace bench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// The figures of an H200.
ops::cuda::DeviceProperties large_gpu() {
  ops::cuda::DeviceProperties device;
  device.name = "NVIDIA H200";
  device.major = 9;
  device.multiprocessors = 132;
  device.memory_bytes = std::int64_t{140} << 30;
  device.l2_bytes = std::int64_t{60} << 20;
  device.memory_clock_khz = 3'201'000;
  device.memory_bus_bits = 6144;
  return device;
}

std::string id_of(const GpuPeaks& peaks, std::string_view name, std::string_view level) {
  for (const PeakCase& entry : peaks.cases) {
    if (entry.name == name && entry.level == level) return entry.id;
  }
  return "";
}

TEST(GpuPeaks, AreValidCasesWithDistinctIds) {
  std::set<std::string> ids;
  for (const PeakCase& entry : gpu_peaks(large_gpu()).cases) {
    const auto key = parse_id(entry.id);
    ASSERT_TRUE(key.ok()) << key.error().message();
    EXPECT_EQ(to_id(*key), entry.id);
    EXPECT_TRUE(problem_from_key(*key).ok()) << entry.id;
    EXPECT_TRUE(ids.insert(entry.id).second) << entry.id;
    EXPECT_EQ(entry.gpu, "NVIDIA H200");
    EXPECT_EQ(entry.threads, 1);
  }
}

// A call of `bench peak` that ended after four minutes had no product on tensor cores.
TEST(GpuPeaks, ProductsAndMemoryAreMeasuredBeforeTheOtherCeilings) {
  std::set<std::string> first;
  for (const PeakCase& entry : gpu_peaks(large_gpu()).cases) {
    if (is_most_valuable_gpu_peak(entry)) first.insert(entry.name + entry.level);
  }
  EXPECT_THAT(first, ElementsAre("dispatch", "fma_cuda_f32", "gemm_bf16", "gemm_f16", "gemm_tf32",
                                 "readdram", "readl2"));
}

// The store refuses ceilings that it does not know.
TEST(GpuPeaks, EveryCeilingCanBeStored) {
  ops::Work work;
  work.flops = work.bytes_read = 1'000'000;
  for (const PeakCase& entry : gpu_peaks(large_gpu()).cases) {
    const auto value = ceiling_value(entry, work, std::chrono::microseconds(1));
    ASSERT_TRUE(value.has_value()) << entry.name;
    EXPECT_EQ(find_ceiling_violation({entry.name, entry.level, entry.threads, *value}), "");
  }
}

TEST(GpuPeaks, OfALargeGpuFillIt) {
  const GpuPeaks peaks = gpu_peaks(large_gpu());
  EXPECT_EQ(id_of(peaks, "fma_cuda_f32", ""), "peak/forward/fma_cuda-s16777216/f32/cudnn/cuda/hot");
  EXPECT_EQ(id_of(peaks, "gemm_f16", ""), "gemm/forward/m8192n8192k8192+tb/f16/cublaslt/cuda/hot");
  EXPECT_EQ(id_of(peaks, "gemm_tf32", ""),
            "gemm/forward/m8192n8192k8192+tb/f32/cublaslt/cuda/hot/tf32");
  EXPECT_EQ(id_of(peaks, "read", "dram"), "peak/forward/read-b536870912s2/f32/cudnn/cuda/hot");
  EXPECT_EQ(id_of(peaks, "copy", "l2"), "peak/forward/copy-b15728640s68/f32/cudnn/cuda/hot");
  EXPECT_EQ(id_of(peaks, "dispatch", ""), "peak/forward/copy-b1024/f32/cudnn/cuda/hot");
  EXPECT_THAT(peaks.left_out, IsEmpty());
}

TEST(GpuPeaks, WhatTensorCoresLackIsLeftOutWithTheReason) {
  ops::cuda::DeviceProperties turing = large_gpu();
  turing.major = 7;
  turing.minor = 5;
  const GpuPeaks peaks = gpu_peaks(turing);
  EXPECT_THAT(peaks.cases, Contains(Field(&PeakCase::name, "gemm_f16")));
  EXPECT_THAT(peaks.cases, Contains(Field(&PeakCase::name, "gemm_s8")));
  EXPECT_THAT(peaks.cases, Not(Contains(Field(&PeakCase::name, "gemm_bf16"))));
  EXPECT_THAT(peaks.left_out, ElementsAre(StartsWith("gemm_bf16: "), StartsWith("gemm_tf32: "),
                                          StartsWith("gemm_f8_e4m3: "), StartsWith("gemm_f64: ")));
}

TEST(GpuPeaks, OfAnArchitectureWithoutRulesHaveNoProducts) {
  ops::cuda::DeviceProperties later = large_gpu();
  later.major = 99;
  const GpuPeaks peaks = gpu_peaks(later);
  EXPECT_THAT(peaks.cases, Not(Contains(Field(&PeakCase::name, StartsWith("gemm_")))));
  EXPECT_THAT(peaks.cases, Contains(Field(&PeakCase::name, "fma_cuda_f64")));
  EXPECT_EQ(peaks.left_out.size(), 6U);
}

TEST(GpuPeaks, OfASmallGpuFitIntoItsMemory) {
  ops::cuda::DeviceProperties small = large_gpu();
  small.multiprocessors = 1;
  small.memory_bytes = std::int64_t{64} << 20;
  small.l2_bytes = std::int64_t{1} << 20;
  EXPECT_EQ(compute_product_edge(small), 512);
  EXPECT_EQ(gpu_memory_working_set(small), Bytes{16 << 20});
  EXPECT_EQ(id_of(gpu_peaks(small), "read", "l2"),
            "peak/forward/read-b262144s128/f32/cudnn/cuda/hot");
  small.l2_bytes = 0;  // unknown
  EXPECT_THAT(gpu_peaks(small).cases, Not(Contains(Field(&PeakCase::level, "l2"))));
}

TEST(GpuPeaks, BandwidthByClockIsTwoTransfersOfTheWholeBus) {
  ops::cuda::DeviceProperties device = large_gpu();
  EXPECT_DOUBLE_EQ(memory_bandwidth_by_clock(device)->value, 2 * 3.201e9 * 768);
  device.memory_clock_khz = 0;
  EXPECT_FALSE(memory_bandwidth_by_clock(device));
  device.memory_clock_khz.reset();
  EXPECT_FALSE(memory_bandwidth_by_clock(device));
}

TEST(CeilingsOfGpu, TakeTheFactsOfTheRun) {
  const Ceilings ceilings = select_gpu_ceilings(
      {{"gpu.name", "Fake GPU"}, {"gpu.compute_capability", "9.0"}, {"gpu.l2_bytes", "1048576"}});
  EXPECT_EQ(ceilings.gpu, "Fake GPU");
  EXPECT_EQ(ceilings.capability, "9.0");
  EXPECT_EQ(ceilings.caches.at("l2"), Bytes{1 << 20});
  EXPECT_EQ(ceilings.threads, 1);
  EXPECT_EQ(select_gpu_ceilings({}).gpu, "");
  EXPECT_TRUE(select_gpu_ceilings({{"gpu.l2_bytes", "n/a"}}).caches.empty());
}

}  // namespace
}  // namespace bench
