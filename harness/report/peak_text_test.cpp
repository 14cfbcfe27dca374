// SPDX-License-Identifier: Apache-2.0
#include "harness/report/peak_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace bench {
namespace {

PeakRecord shown_peak(std::string name, std::string level, int threads, CeilingValue value) {
  PeakRecord record;
  record.run_id = "r";
  record.machine_class = "c";
  record.ceiling = {std::move(name), std::move(level), threads, value};
  record.low = value;
  record.high = value;
  return record;
}

std::vector<PeakRecord> two_threads() {
  return {shown_peak("fma_avx2_f32", "", 1, FlopsPerSecond{117.6e9}),
          shown_peak("fma_avx2_f32", "", 2, FlopsPerSecond{233.9e9}),
          shown_peak("read", "dram", 1, BytesPerSecond{12.5e9}),
          shown_peak("read", "dram", 2, BytesPerSecond{21.5e9}),
          shown_peak("dispatch", "", 1, Nanoseconds(312))};
}

TEST(PeakText, BeginsWithTheAnswer) {
  EXPECT_EQ(peak_sentence(two_threads()),
            "This machine computes in f32 at most 117.6 GFLOP/s on one thread and 233.9 GFLOP/s on "
            "2, and moves from memory at most 12.50 GB/s on one thread and 21.50 GB/s on 2.");
  EXPECT_EQ(peak_sentence({two_threads()[0]}),
            "This machine computes in f32 at most 117.6 GFLOP/s on one thread.");
  EXPECT_EQ(peak_sentence({two_threads()[2]}),
            "This machine moves from memory at most 12.50 GB/s on one thread.");
  EXPECT_EQ(peak_sentence({}),
            "Neither the rate of f32 arithmetic nor the bandwidth of memory could be measured.");
}

TEST(PeakText, TableHasAColumnForOneThreadAndOneForAll) {
  ConsoleOptions console;
  console.width = 80;
  EXPECT_EQ(peak_table(two_threads(), console),
            "ceiling       level       1 thread      2 threads\n"
            "fma_avx2_f32         117.6 GFLOP/s  233.9 GFLOP/s\n"
            "read          dram      12.50 GB/s     21.50 GB/s\n"
            "dispatch                    312 ns            n/a\n");
}

std::vector<PeakRecord> with_gpu(std::vector<PeakRecord> records) {
  const auto add = [&](std::string name, std::string level, CeilingValue value) {
    records.push_back(shown_peak(std::move(name), std::move(level), 1, value));
    records.back().gpu = "Fake GPU";
  };
  add("fma_cuda_f32", "", FlopsPerSecond{66.9e12});
  add("gemm_f16", "", FlopsPerSecond{794e12});
  add("read", "dram", BytesPerSecond{4.3e12});
  add("dispatch", "", Nanoseconds(900));
  return records;
}

TEST(PeakText, CeilingsOfAGpuHaveASentenceAndAColumn) {
  EXPECT_EQ(peak_sentence(with_gpu({two_threads()[2]})),
            "This machine moves from memory at most 12.50 GB/s on one thread. Fake GPU computes in "
            "f32 at most 66.90 TFLOP/s, multiplies f16 on tensor cores with at most 794.0 TFLOP/s, "
            "and moves from its memory at most 4.300 TB/s.");
  ConsoleOptions console;
  console.width = 80;
  EXPECT_EQ(peak_table(with_gpu(two_threads()), console),
            "ceiling       level       1 thread      2 threads            GPU\n"
            "fma_avx2_f32         117.6 GFLOP/s  233.9 GFLOP/s\n"
            "read          dram      12.50 GB/s     21.50 GB/s     4.300 TB/s\n"
            "dispatch                    312 ns            n/a         900 ns\n"
            "fma_cuda_f32                                       66.90 TFLOP/s\n"
            "gemm_f16                                           794.0 TFLOP/s\n");
}

TEST(PeakText, OfAGpuAloneShowsNoThreads) {
  EXPECT_EQ(peak_sentence(with_gpu({})).substr(0, 41), "Fake GPU computes in f32 at most 66.90 TF");
  EXPECT_EQ(peak_sentence({with_gpu({})[0]}), "Fake GPU computes in f32 at most 66.90 TFLOP/s.");
  EXPECT_EQ(peak_sentence({with_gpu({})[3]}), "Some ceilings of Fake GPU were measured.");
  ConsoleOptions console;
  console.width = 80;
  EXPECT_EQ(peak_table({with_gpu({})[2]}, console),
            "ceiling  level         GPU\n"
            "read     dram   4.300 TB/s\n");
}

TEST(PeakText, NotesCompareTheMemoryWithItsClockAndNameWhatIsLeftOut) {
  ConsoleOptions console;
  console.width = 80;
  GpuPeakFacts facts{"Fake GPU", BytesPerSecond{5e12}, {"gemm_f64: sm_86 has none for f64"}};
  EXPECT_EQ(gpu_bandwidth_note(with_gpu({}), facts),
            "By its clock and its bus, the memory of Fake GPU moves 5.000 TB/s; 86 % of it was "
            "reached.");
  EXPECT_EQ(left_out_ceilings(facts, console),
            "\nFake GPU has no such ceiling:\n"
            "- gemm_f64: sm_86 has none for f64\n");
  EXPECT_EQ(gpu_bandwidth_note({}, {}), "");
  EXPECT_EQ(left_out_ceilings({}, console), "");
}

TEST(PeakText, JsonHoldsTheStoredRecords) {
  const auto written = nlohmann::json::parse(peak_json(two_threads()));
  ASSERT_EQ(written.at("peaks").size(), 5U);
  EXPECT_EQ(written["peaks"][2]["bytes_per_s"], 12500000000);
}

// Earlier, the memory had the bandwidth of a cache if its own was not measured.
TEST(PeakText, DoesNotCallTheBandwidthOfACacheThatOfTheMemory) {
  EXPECT_EQ(peak_sentence({shown_peak("read", "l2", 1, BytesPerSecond{117e9}),
                           shown_peak("fma_avx2_f32", "", 1, FlopsPerSecond{117.5e9})}),
            "This machine computes in f32 at most 117.5 GFLOP/s on one thread.");
}

TEST(PeakText, SaysThatACeilingOfAllThreadsIsThatOfOneThread) {
  EXPECT_EQ(
      raised_ceiling_note({"read", "dram", 2, BytesPerSecond{17.9e9}}, BytesPerSecond{22.5e9}),
      "read in dram reached 17.90 GB/s with 2 threads, less than the 22.50 GB/s with one "
      "thread, although it was measured twice: something disturbed it, so 22.50 GB/s counts "
      "for both.");
  EXPECT_THAT(
      raised_ceiling_note({"fma_avx2_f32", "", 4, FlopsPerSecond{1e9}}, FlopsPerSecond{2e9}),
      testing::StartsWith("fma_avx2_f32 reached 1.000 GFLOP/s with 4 threads, "));
}

}  // namespace
}  // namespace bench
