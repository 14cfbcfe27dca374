// SPDX-License-Identifier: Apache-2.0
#include "harness/report/peak_text.hpp"

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

TEST(PeakText, JsonHoldsTheStoredRecords) {
  const auto json = nlohmann::json::parse(peak_json(two_threads()));
  ASSERT_EQ(json.at("peaks").size(), 5U);
  EXPECT_EQ(json["peaks"][2]["bytes_per_s"], 12500000000);
}

}  // namespace
}  // namespace bench
