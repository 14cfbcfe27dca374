// SPDX-License-Identifier: Apache-2.0
#include "harness/result/roofline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kKibi = 1024;

// A machine of four cores: 100 GFLOP/s for one thread, 400 for all.
Ceilings four_cores() {
  Ceilings ceilings;
  ceilings.source = CeilingSource::stored;
  ceilings.threads = 4;
  ceilings.caches = {{"l1", {32 * kKibi}}, {"l2", {1024 * kKibi}}, {"l3", {16 * kKibi * kKibi}}};
  ceilings.rows = {
      {"fma_avx2_f32", "", 1, FlopsPerSecond{60e9}},
      {"fma_avx512_f32", "", 1, FlopsPerSecond{100e9}},
      {"fma_avx512_f32", "", 4, FlopsPerSecond{400e9}},
      {"dot_avx512_bf16", "", 1, FlopsPerSecond{200e9}},
      {"dot_avx512_bf16", "", 4, FlopsPerSecond{800e9}},
      {"gemm_f32", "", 4, FlopsPerSecond{900e9}},
      {"read", "l1", 4, BytesPerSecond{800e9}},
      {"read", "l2", 4, BytesPerSecond{200e9}},
      {"write", "l2", 4, BytesPerSecond{999e9}},
      {"read", "dram", 1, BytesPerSecond{10e9}},
      {"triad", "dram", 4, BytesPerSecond{18e9}},
      {"read", "dram", 4, BytesPerSecond{20e9}},
      {"dispatch", "", 1, Nanoseconds(300)},
      {"dispatch", "", 4, Nanoseconds(500)},
  };
  return ceilings;
}

RooflineInput example_input() {
  RooflineInput input;
  input.work.flops = 4'000'000;
  input.work.bytes_read = 30'000;
  input.work.bytes_written = 10'000;
  input.time = Nanoseconds(20'000);
  input.dtype = "f32";
  input.cache = "hot";
  return input;
}

TEST(Roofline, ComputeBoundTimeIsWorkByPeak) {
  const auto roofline = compute_roofline(example_input(), four_cores());
  ASSERT_TRUE(roofline);
  EXPECT_EQ(roofline->bound, Bound::compute);
  EXPECT_EQ(roofline->ideal, Nanoseconds(10'000));
  EXPECT_DOUBLE_EQ(roofline->efficiency, 0.5);
  EXPECT_DOUBLE_EQ(roofline->intensity_flops_per_byte, 100);
  EXPECT_EQ(roofline->level, "l1");
  EXPECT_DOUBLE_EQ(roofline->peak_flops_per_s->value, 400e9);
  EXPECT_DOUBLE_EQ(roofline->peak_bytes_per_s->value, 800e9);
  EXPECT_EQ(roofline->source, CeilingSource::stored);
}

// Regression test: with a ceiling for all products, a kernel that skips the products with padding
// was faster than its ceiling.
TEST(Roofline, ProductsWithPaddingAreNoNecessaryWork) {
  RooflineInput padded = example_input();
  padded.work.flops_valid = 3'000'000;
  EXPECT_EQ(compute_roofline(padded, four_cores())->ideal, Nanoseconds(7'500));
}

// Regression test: the time overflowed, and the ideal time of such a ceiling was 1 ns.
TEST(Roofline, ACeilingThatIsTooLowGivesTheLongestTime) {
  Ceilings ceilings = four_cores();
  for (Ceiling& row : ceilings.rows) {
    if (std::holds_alternative<FlopsPerSecond>(row.value)) row.value = FlopsPerSecond{1e-300};
  }
  EXPECT_GT(compute_roofline(example_input(), ceilings)->ideal, std::chrono::hours(24 * 365));
}

TEST(Roofline, ColdDataComeFromMemory) {
  RooflineInput cold = example_input();
  cold.cache = "cold";
  cold.work.flops = 40'000;
  const auto roofline = compute_roofline(cold, four_cores());
  ASSERT_TRUE(roofline);
  EXPECT_EQ(roofline->bound, Bound::memory);
  EXPECT_EQ(roofline->level, "dram");
  EXPECT_EQ(roofline->ideal, Nanoseconds(2'000));
}

TEST(Roofline, HotDataComeFromTheSmallestCacheThatHoldsThem) {
  RooflineInput hot = example_input();
  hot.work.flops = 0;
  hot.working_set = Bytes{4 * 32 * kKibi + 1};  // more than the first-level caches of four cores
  const auto roofline = compute_roofline(hot, four_cores());
  ASSERT_TRUE(roofline);
  EXPECT_EQ(roofline->bound, Bound::launch);  // 200 ns are less than the dispatch takes
  EXPECT_EQ(roofline->level, "l2");
  EXPECT_EQ(roofline->ideal, Nanoseconds(200));
  EXPECT_FALSE(roofline->peak_flops_per_s);
  hot.work.bytes_read = 390'000;
  EXPECT_EQ(compute_roofline(hot, four_cores())->bound, Bound::cache);
  hot.working_set = Bytes{17 * kKibi * kKibi};
  EXPECT_EQ(compute_roofline(hot, four_cores())->level, "dram");
}

TEST(Roofline, ColdWeightsComeFromMemoryAndTheRestFromItsCache) {
  RooflineInput mixed = example_input();
  mixed.cache = "cold_weights";
  mixed.work.flops = 0;
  mixed.working_set = Bytes{200 * kKibi};
  mixed.weights = Bytes{20'000};
  const auto roofline = compute_roofline(mixed, four_cores());
  ASSERT_TRUE(roofline);
  // 20 kB at 20 GB/s and 20 kB at 200 GB/s.
  EXPECT_EQ(roofline->ideal, Nanoseconds(1'100));
  EXPECT_EQ(roofline->bound, Bound::memory);
  EXPECT_EQ(roofline->level, "dram");
  EXPECT_NEAR(roofline->peak_bytes_per_s->value, 40'000 / 1.1e-6, 1);
}

// Earlier, weights of 100 KiB that rotated within the L2 cache were compared with the memory, and
// the case reached 118 %.
TEST(Roofline, WhatRotatesWithinACacheComesFromThisCache) {
  RooflineInput mixed = example_input();
  mixed.cache = "cold_weights";
  mixed.work.flops = 0;
  mixed.work.bytes_read = 390'000;
  mixed.working_set = Bytes{200 * kKibi};
  mixed.weights = Bytes{100 * kKibi};
  mixed.rotated = Bytes{2 * 1024 * kKibi};
  const auto in_cache = compute_roofline(mixed, four_cores());
  ASSERT_TRUE(in_cache);
  // 102400 bytes of weights at 200 GB/s, and the rest from the first-level caches at 800 GB/s.
  EXPECT_EQ(in_cache->ideal, Nanoseconds(884));
  EXPECT_EQ(in_cache->bound, Bound::cache);
  EXPECT_EQ(in_cache->level, "l2");
  // The other buffers need room, too.
  mixed.rotated = Bytes{4 * 1024 * kKibi - 50 * kKibi};
  EXPECT_EQ(compute_roofline(mixed, four_cores())->level, "l3");
  mixed.rotated = Bytes{17 * 1024 * kKibi};
  EXPECT_EQ(compute_roofline(mixed, four_cores())->bound, Bound::memory);
  mixed.cache = "cold";
  EXPECT_EQ(compute_roofline(mixed, four_cores())->level, "dram");
  mixed.rotated = Bytes{4 * 1024 * kKibi};
  EXPECT_EQ(compute_roofline(mixed, four_cores())->level, "l2");
}

TEST(Roofline, WithoutTimeWorkOrCeilingThereIsNone) {
  RooflineInput none = example_input();
  none.time = Nanoseconds(0);
  EXPECT_FALSE(compute_roofline(none, four_cores()));
  none = example_input();
  none.work = {};
  EXPECT_FALSE(compute_roofline(none, four_cores()));
  EXPECT_FALSE(compute_roofline(example_input(), Ceilings{}));
}

TEST(Roofline, WorkThatTakesNoTimeCountsAsOneNanosecond) {
  RooflineInput tiny = example_input();
  tiny.work = {};
  tiny.work.flops = 1;
  EXPECT_EQ(compute_roofline(tiny, four_cores())->ideal, Nanoseconds(1));
}

TEST(Ceilings, PeakOfATypeIsThatOfItsLoopsOrOfF32) {
  const Ceilings ceilings = four_cores();
  EXPECT_DOUBLE_EQ(find_peak(ceilings, "f32", 1)->value, 100e9);
  EXPECT_DOUBLE_EQ(find_peak(ceilings, "bf16", 4)->value, 800e9);
  EXPECT_DOUBLE_EQ(find_peak(ceilings, "s8", 4)->value, 400e9);
  EXPECT_FALSE(find_peak(ceilings, "f64", 4));
}

// Earlier, a case could reach 166 % of its ceiling, although the library's own product was as fast.
TEST(Ceilings, PeakOfANarrowTypeIsNotBelowTheProductsOfTheLibrary) {
  Ceilings ceilings = four_cores();
  ceilings.rows.push_back({"gemm_s8", "", 4, FlopsPerSecond{600e9}});
  EXPECT_DOUBLE_EQ(find_peak(ceilings, "s8", 4)->value, 600e9);
  EXPECT_DOUBLE_EQ(find_peak(ceilings, "u8", 4)->value, 600e9);
  EXPECT_DOUBLE_EQ(find_measured_rate(ceilings, "s8", 4)->value, 600e9);
  EXPECT_DOUBLE_EQ(find_measured_rate(ceilings, "f32", 4)->value, 900e9);
  EXPECT_FALSE(find_measured_rate(ceilings, "f16", 4));
}

// Earlier, later cases reached 149 % of the ceiling of all threads.
TEST(Ceilings, OfAllThreadsAreNotBelowThoseOfOneThread) {
  Ceilings ceilings;
  ceilings.threads = 2;
  ceilings.rows = {{"read", "dram", 1, BytesPerSecond{22.5e9}},
                   {"read", "dram", 2, BytesPerSecond{17.9e9}},
                   {"fma_avx2_f32", "", 2, FlopsPerSecond{2e9}}};
  EXPECT_DOUBLE_EQ(find_bandwidth(ceilings, "dram", 2)->value, 22.5e9);
  EXPECT_DOUBLE_EQ(find_peak(ceilings, "f32", 2)->value, 2e9);
}

TEST(Ceilings, BetweenOneAndAllThreadsTheyAreInterpolated) {
  const Ceilings ceilings = four_cores();
  EXPECT_DOUBLE_EQ(find_peak(ceilings, "f32", 3)->value, 300e9);
  EXPECT_DOUBLE_EQ(find_peak(ceilings, "f32", 9)->value, 400e9);
  EXPECT_FALSE(find_bandwidth(ceilings, "l2", 2));  // not measured with one thread
}

TEST(Ceilings, ALevelThatWasNotMeasuredHasTheBandwidthOfTheNextFasterOne) {
  const Ceilings ceilings = four_cores();
  EXPECT_DOUBLE_EQ(find_bandwidth(ceilings, "l3", 4)->value, 200e9);
  EXPECT_DOUBLE_EQ(find_bandwidth(ceilings, "dram", 4)->value, 20e9);
  EXPECT_FALSE(find_bandwidth(ceilings, "l1", 1));
  EXPECT_FALSE(find_bandwidth(ceilings, "tape", 4));
}

TEST(Ceilings, DispatchIsTheShortestCallForAtMostSoManyThreads) {
  EXPECT_EQ(find_dispatch_time(four_cores(), 4), Nanoseconds(300));
  EXPECT_FALSE(find_dispatch_time(Ceilings{}, 4));
}

CaseRecord record() {
  CaseRecord record;
  record.id = "gemm/forward/m64n64k64/f32/onednn/cpu/hot/nhwc/t1";
  record.op = "gemm";
  record.dtype = "f32";
  record.device = "cpu";
  record.work = example_input().work;
  record.time = TimeSummary{};
  record.time->median = Nanoseconds(50'000);
  record.flags = {Flag::noisy};
  return record;
}

TEST(CompleteRoofline, ReadsCacheModeAndThreadsFromTheId) {
  CaseRecord entry = record();
  complete_roofline(entry, four_cores());
  ASSERT_TRUE(entry.roofline);
  EXPECT_EQ(entry.roofline->ideal, Nanoseconds(40'000));
  EXPECT_DOUBLE_EQ(entry.roofline->efficiency, 0.8);
  EXPECT_THAT(entry.flags, ElementsAre(Flag::noisy));
  EXPECT_FALSE(entry.details.contains("above_ceiling"));
}

TEST(CompleteRoofline, ReadsFromTheDetailsOverWhatACaseRotates) {
  CaseRecord entry = record();
  entry.id = "gemm/forward/m64n64k64/f32/onednn/cpu/cold_weights";
  entry.work->bytes_read = 200 * kKibi;
  entry.memory = MemoryUse{{200 * kKibi}, {20'000}, {0}};
  complete_roofline(entry, four_cores());
  EXPECT_EQ(entry.roofline->level, "dram");  // a record of an older version
  entry.details = {{kColdSetsDetail, "5"}, {kColdBytesDetail, "100000"}};
  complete_roofline(entry, four_cores());
  EXPECT_EQ(entry.roofline->level, "l2");
  entry.details[kColdBytesDetail] = "many";
  complete_roofline(entry, four_cores());
  EXPECT_EQ(entry.roofline->level, "dram");
  // One set: the case uses its own buffers, as with hot caches.
  entry.details = {{kColdSetsDetail, "1"}};
  entry.memory->peak = {100 * kKibi};
  complete_roofline(entry, four_cores());
  EXPECT_EQ(entry.roofline->level, "l1");
}

// Earlier, a table of words came from memory, and its case was faster than memory permits.
TEST(CompleteRoofline, RowsThatNothingTouchesNeedNoCache) {
  CaseRecord entry = record();
  entry.work->bytes_read = 20 * kKibi;
  entry.work->bytes_written = 10 * kKibi;
  entry.memory = MemoryUse{{900'000 * kKibi}, {800'000 * kKibi}, {0}};
  complete_roofline(entry, four_cores());
  EXPECT_EQ(entry.roofline->level, "l1");
  entry.memory->workspace = {200 * kKibi};
  complete_roofline(entry, four_cores());
  EXPECT_EQ(entry.roofline->level, "l2");
}

TEST(CompleteRoofline, FlagsWhatIsFasterThanItsCeiling) {
  CaseRecord entry = record();
  entry.time->median = Nanoseconds(38'096);  // 104.998 %
  complete_roofline(entry, four_cores());
  EXPECT_THAT(entry.flags, ElementsAre(Flag::noisy));
  entry.time->median = Nanoseconds(38'000);
  complete_roofline(entry, four_cores());
  complete_roofline(entry, four_cores());
  EXPECT_THAT(entry.flags, ElementsAre(Flag::noisy, Flag::above_ceiling));
  EXPECT_THAT(entry.details["above_ceiling"], testing::HasSubstr("Winograd"));
}

TEST(CompleteRoofline, ATimeMoreThanOneAndAHalfTimesAsShortAsTheCeilingsPermitIsNeverOk) {
  CaseRecord entry = record();
  entry.time->median = Nanoseconds(26'667);  // 149.999 %
  complete_roofline(entry, four_cores());
  EXPECT_EQ(entry.outcome, Outcome::ok);
  entry.time->median = Nanoseconds(26'600);
  entry.flops_per_s = FlopsPerSecond{1};
  complete_roofline(entry, four_cores());
  EXPECT_EQ(entry.outcome, Outcome::failed);
  EXPECT_THAT(entry.reason.value_or(""), testing::HasSubstr("took 26.60 us"));
  EXPECT_THAT(entry.flags, ElementsAre(Flag::noisy, Flag::above_ceiling));
  EXPECT_THAT(entry.details["above_ceiling"], testing::HasSubstr("Winograd"));
  EXPECT_FALSE(entry.time || entry.roofline || entry.flops_per_s);
}

// A gate on a shared machine calibrated half of the true rates within a moment, and 54 of its 61
// cases became errors.
TEST(CompleteRoofline, CeilingsThatTheRunCalibratedRefuseNoTime) {
  CaseRecord entry = record();
  entry.time->median = Nanoseconds(20'000);
  Ceilings ceilings = four_cores();
  ceilings.source = CeilingSource::calibrated;
  complete_roofline(entry, ceilings);
  EXPECT_EQ(entry.outcome, Outcome::ok);
  EXPECT_THAT(entry.flags, ElementsAre(Flag::noisy, Flag::above_ceiling));
}

TEST(CompleteRoofline, ATimeAtAnotherSpeedOfTheMachineIsNotImpossible) {
  CaseRecord entry = record();
  entry.time_all = entry.time;
  entry.time->median = Nanoseconds(20'000);
  complete_roofline(entry, four_cores());
  EXPECT_EQ(entry.outcome, Outcome::ok);
  EXPECT_THAT(entry.flags, ElementsAre(Flag::noisy, Flag::above_ceiling));
}

// `bench peak` could not raise a ceiling that was measured on a busy machine.
TEST(CompleteRoofline, ALoopThatMeasuresCeilingsMayBeFasterThanTheStoredOnes) {
  CaseRecord entry = record();
  entry.op = "peak";
  entry.time->median = Nanoseconds(10'000);
  complete_roofline(entry, four_cores());
  EXPECT_EQ(entry.outcome, Outcome::ok);
  EXPECT_TRUE(entry.time);
}

// A busy moment of `bench peak` made a right case fail.
TEST(CompleteRoofline, StatesBothValuesOfACeilingThatWasMeasuredAgain) {
  CaseRecord entry = record();
  entry.time->median = Nanoseconds(20'000);
  ASSERT_TRUE(ceilings_are_doubtful(entry, four_cores()));
  const Ceilings before = four_cores();
  Ceilings again = before;
  for (const Ceiling& row : before.rows) {
    if (!limits(row, entry, before)) continue;
    again.rows.push_back(row);
    again.rows.back().value = FlopsPerSecond{3 * std::get<FlopsPerSecond>(row.value).value};
  }
  ASSERT_GT(again.rows.size(), before.rows.size());
  EXPECT_FALSE(ceilings_are_doubtful(entry, again));
  complete_roofline_again(entry, before, again);
  EXPECT_EQ(entry.outcome, Outcome::ok);
  EXPECT_THAT(
      entry.details[kMeasuredAgainDetail],
      testing::AllOf(testing::HasSubstr(" stored, "), testing::HasSubstr("measured again")));
}

TEST(CompleteRoofline, OnlyTheCeilingThatDeterminesTheIdealTimeLimitsACase) {
  const CaseRecord entry = record();  // bound by arithmetic in f32 on one thread
  EXPECT_TRUE(limits({"fma_avx2_f32", "", 1, FlopsPerSecond{1}}, entry, four_cores()));
  EXPECT_FALSE(limits({"fma_avx2_f32", "", 4, FlopsPerSecond{1}}, entry, four_cores()));
  EXPECT_FALSE(limits({"fma_avx2_f64", "", 1, FlopsPerSecond{1}}, entry, four_cores()));
  EXPECT_FALSE(limits({"read", "dram", 1, BytesPerSecond{1}}, entry, four_cores()));
  EXPECT_FALSE(limits({"dispatch", "", 1, Nanoseconds(1)}, entry, four_cores()));
}

Ceilings gpu_ceilings() {
  Ceilings ceilings;
  ceilings.gpu = "Fake GPU";
  ceilings.capability = "9.0";
  ceilings.caches = {{"l2", {1024 * kKibi}}};
  ceilings.rows = {
      {"fma_cuda_f32", "", 1, FlopsPerSecond{4e12}}, {"gemm_f16", "", 1, FlopsPerSecond{80e12}},
      {"gemm_tf32", "", 1, FlopsPerSecond{40e12}},   {"gemm_s8", "", 1, FlopsPerSecond{160e12}},
      {"read", "l2", 1, BytesPerSecond{2e12}},       {"read", "dram", 1, BytesPerSecond{1e12}},
      {"dispatch", "", 1, Nanoseconds(900)},
  };
  return ceilings;
}

CaseRecord gpu_record(const std::string& dtype, const std::string& options,
                      const std::string& eligible) {
  CaseRecord entry = record();
  entry.id = "gemm/forward/m64n64k64/" + dtype + "/cublaslt/cuda/hot" + options;
  entry.dtype = dtype;
  entry.device = "cuda";
  entry.work->flops = 8'000'000;
  entry.work->flops_valid = 8'000'000;
  entry.time->median = Nanoseconds(8'000);
  entry.details = {{kTensorCoresDetail, eligible}};
  return entry;
}

std::optional<Roofline> completed(CaseRecord entry) {
  complete_roofline(entry, gpu_ceilings());
  return entry.roofline;
}

TEST(GpuRoofline, TensorCoresAreTheCeilingOfWhatTheyCanCompute) {
  const auto half = completed(gpu_record("f16", "", "eligible"));
  ASSERT_TRUE(half);
  EXPECT_DOUBLE_EQ(half->peak_flops_per_s->value, 80e12);
  EXPECT_EQ(half->ideal, Nanoseconds(100));
  EXPECT_EQ(half->bound, Bound::launch);  // an empty kernel takes 900 ns
  EXPECT_EQ(half->level, "l2");
  EXPECT_DOUBLE_EQ(completed(gpu_record("f32", "/tf32", "eligible"))->peak_flops_per_s->value,
                   40e12);
  EXPECT_DOUBLE_EQ(completed(gpu_record("u8", "", "eligible"))->peak_flops_per_s->value, 160e12);
  EXPECT_DOUBLE_EQ(
      completed(gpu_record("f16", "", "1 of 2 convolutions and products"))->peak_flops_per_s->value,
      80e12);
}

TEST(GpuRoofline, CudaCoresAreTheCeilingOfTheRest) {
  const auto single = completed(gpu_record("f32", "/nhwc", "not eligible"));
  ASSERT_TRUE(single);
  EXPECT_DOUBLE_EQ(single->peak_flops_per_s->value, 4e12);
  EXPECT_EQ(single->ideal, Nanoseconds(2'000));
  EXPECT_EQ(single->bound, Bound::compute);
  EXPECT_DOUBLE_EQ(single->efficiency, 0.25);
}

// The ceilings have no f16 rate of the CUDA cores. The f32 rate is not an upper bound for f16:
// CUDA cores can compute two f16 values at a time.
TEST(GpuRoofline, OfAnUnmeasuredTypeOnlyTheMemoryIsACeiling) {
  const auto half = completed(gpu_record("f16", "", "0 of 2 convolutions and products"));
  ASSERT_TRUE(half);
  EXPECT_FALSE(half->peak_flops_per_s);
  EXPECT_EQ(half->ideal, Nanoseconds(20));  // 40 kB at 2 TB/s
  EXPECT_FALSE(completed(gpu_record("bf16", "", "eligible"))->peak_flops_per_s);
}

TEST(GpuRoofline, MemoryIsTheLevelOfWhatTheL2CacheDoesNotHold) {
  CaseRecord entry = gpu_record("f16", "", "eligible");
  entry.memory = MemoryUse{{1024 * kKibi + 1}, {0}, {0}};
  entry.work->bytes_read = 4'000'000;
  entry.work->bytes_written = 0;
  EXPECT_EQ(completed(entry)->level, "dram");
  EXPECT_EQ(completed(entry)->bound, Bound::memory);
  EXPECT_EQ(completed(entry)->ideal, Nanoseconds(4'000));
  entry.memory->peak = {1024 * kKibi};
  EXPECT_EQ(completed(entry)->bound, Bound::cache);
  EXPECT_EQ(completed(entry)->ideal, Nanoseconds(2'000));
  entry.id = "gemm/forward/m64n64k64/f16/cublaslt/cuda/cold";
  EXPECT_EQ(completed(entry)->level, "dram");
  entry.details.emplace(kColdBytesDetail, std::to_string(1024 * kKibi));
  EXPECT_EQ(completed(entry)->level, "l2");
}

TEST(GpuRoofline, FasterThanTheCeilingIsFlagged) {
  CaseRecord entry = gpu_record("f32", "", "not eligible");
  entry.flags = {};
  entry.time->median = Nanoseconds(1'500);
  complete_roofline(entry, gpu_ceilings());
  EXPECT_THAT(entry.flags, ElementsAre(Flag::above_ceiling));
}

TEST(GpuRoofline, ACaseOfTheCpuHasNoneFromTheGpu) {
  CaseRecord entry = record();
  complete_roofline(entry, gpu_ceilings());
  EXPECT_FALSE(entry.roofline);
}

TEST(CompleteRoofline, ACaseOfAGpuHasNoneFromTheCpu) {
  CaseRecord entry = record();
  entry.device = "cuda";
  complete_roofline(entry, four_cores());
  EXPECT_FALSE(entry.roofline);
}

}  // namespace
}  // namespace bench
