// SPDX-License-Identifier: Apache-2.0
#include "harness/run/peak_plan.hpp"

#include "harness/config/case_id.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace bench {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::EndsWith;
using testing::Field;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

CpuFacts four_core_processor() {
  CpuFacts cpu;
  cpu.isa = {"avx2", "fma", "avx512f"};
  cpu.caches = {{"L1d", {32 << 10}}, {"L2", {1 << 20}}, {"L3", {16 << 20}}};
  cpu.last_level = Bytes{32 << 20};
  return cpu;
}

TEST(PeakCases, AreValidCasesWithDistinctIds) {
  std::set<std::string> ids;
  for (const PeakCase& entry : peak_cases(four_core_processor(), 4, PeakExtent::complete)) {
    const auto key = parse_id(entry.id);
    ASSERT_TRUE(key.ok()) << key.error().message();
    EXPECT_EQ(to_id(*key), entry.id);
    EXPECT_EQ(key->threads.value_or(4), entry.threads) << entry.id;
    EXPECT_TRUE(ids.insert(entry.id).second) << entry.id;
  }
}

// The store refuses ceilings that it does not know.
TEST(PeakCases, EveryCeilingOfEveryProcessorCanBeStored) {
  CpuFacts cpu = four_core_processor();
  cpu.isa = {"avx2",        "fma",         "avx512f",  "avx_vnni",
             "avx512_bf16", "avx512_vnni", "amx_bf16", "amx_int8"};
  const auto cases = peak_cases(cpu, 4, PeakExtent::complete);
  EXPECT_THAT(cases, Contains(Field(&PeakCase::name, "amx_s8")));
  ops::Work work;
  work.flops = work.bytes_read = 1'000'000;
  for (const PeakCase& entry : cases) {
    const auto value = ceiling_value(entry, work, std::chrono::microseconds(1));
    ASSERT_TRUE(value.has_value()) << entry.name;
    EXPECT_EQ(find_ceiling_violation({entry.name, entry.level, entry.threads, *value}), "");
  }
}

TEST(PeakCases, LeaveOutWhatTheProcessorLacks) {
  const auto cases = peak_cases(four_core_processor(), 4, PeakExtent::complete);
  EXPECT_THAT(cases, Contains(Field(&PeakCase::name, "fma_avx512_f64")).Times(2));
  EXPECT_THAT(cases, Not(Contains(Field(&PeakCase::name, StartsWith("amx")))));
  EXPECT_THAT(cases, Not(Contains(Field(&PeakCase::name, "dot_avx512_bf16"))));
}

// Earlier, `bench peak --quick` measured everything, and took 128 s on a busy machine.
TEST(PeakCases, AFirstLookHasOnlyTheFastestLoops) {
  const auto cases = peak_cases(four_core_processor(), 4, PeakExtent::first_look);
  std::set<std::string> of_memory, of_a_cache;
  for (const PeakCase& entry : cases) {
    if (entry.level == "dram") of_memory.insert(entry.name);
    if (entry.level == "l2") of_a_cache.insert(entry.name);
  }
  EXPECT_THAT(of_memory, testing::ElementsAre("read", "triad_nt"));
  EXPECT_THAT(of_a_cache, testing::ElementsAre("read", "triad"));
  EXPECT_THAT(cases, Contains(Field(&PeakCase::name, "fma_avx512_f64")).Times(2));
  EXPECT_THAT(cases, Not(Contains(Field(&PeakCase::name, "fma_avx2_f64"))));
  EXPECT_THAT(cases, Contains(Field(&PeakCase::name, "gemm_s8")).Times(2));
}

TEST(PeakCases, DataFillHalfACacheOrExceedAllCaches) {
  const auto cases = peak_cases(four_core_processor(), 4, PeakExtent::complete);
  const auto id = [&](std::string_view level, int threads) {
    for (const PeakCase& entry : cases) {
      if (entry.name == "read" && entry.level == level && entry.threads == threads) return entry.id;
    }
    return std::string();
  };
  EXPECT_EQ(id("l1", 1), "peak/forward/read-b16384s1024/f32/native/cpu/hot/t1");
  EXPECT_EQ(id("l2", 4), "peak/forward/read-b2097152s32/f32/native/cpu/hot");
  EXPECT_EQ(id("l3", 4), "peak/forward/read-b16777216s4/f32/native/cpu/hot");
  EXPECT_EQ(id("dram", 4), "peak/forward/read-b201326592/f32/native/cpu/hot");
  EXPECT_EQ(memory_working_set(CpuFacts{}), Bytes{192 << 20});
}

TEST(PeakCases, OfOneProcessorAreMeasuredOnce) {
  for (const PeakCase& entry : peak_cases(four_core_processor(), 1, PeakExtent::complete)) {
    EXPECT_EQ(entry.threads, 1);
    EXPECT_FALSE(entry.id.ends_with("/t1")) << entry.id;
  }
}

TEST(PeakCases, ACalibrationHasACaseForEach) {
  const auto names = calibration_peaks(four_core_processor(), 2);
  EXPECT_EQ(make_calibration_cases(names).size(), names.size());
  EXPECT_THAT(names, Contains(Field(&PeakCase::name, "dispatch")).Times(2));
  EXPECT_THAT(names, Contains(Field(&PeakCase::level, "dram")).Times(2));
}

// A calibration without AVX-512 had no loop of f64, so cases of f64 had no arithmetic ceiling.
TEST(CalibrationPeaks, AProcessorWithoutAvx512HasAnF64Ceiling) {
  CpuFacts cpu = four_core_processor();
  EXPECT_THAT(calibration_peaks(cpu, 4),
              Contains(Field(&PeakCase::name, "fma_avx512_f64")).Times(2));
  EXPECT_THAT(calibration_peaks(cpu, 4), Not(Contains(Field(&PeakCase::name, "fma_avx2_f64"))));
  cpu.isa = {"avx2", "fma"};
  EXPECT_THAT(calibration_peaks(cpu, 4), Contains(Field(&PeakCase::name, "fma_avx2_f64")).Times(2));
  EXPECT_THAT(calibration_peaks(cpu, 4), Contains(Field(&PeakCase::name, "fma_avx2_f32")).Times(2));
}

// Earlier, a processor without VNNI had no ceiling of s8, and its cases reached 166 % of that of
// f32.
TEST(PeakCases, AProcessorWithoutVnniHasItsOwnS8Ceiling) {
  CpuFacts cpu = four_core_processor();
  cpu.isa = {"avx2", "fma"};
  const auto s8_loop = Contains(Field(&PeakCase::name, "fma_avx2_s8"));
  EXPECT_THAT(peak_cases(cpu, 4, PeakExtent::complete), s8_loop);
  EXPECT_THAT(calibration_peaks(cpu, 4), s8_loop);
  for (const char* vnni : {"avx_vnni", "avx512_vnni"}) {
    cpu.isa = {"avx2", "fma", vnni};
    EXPECT_THAT(calibration_peaks(cpu, 4), Not(s8_loop)) << vnni;
  }
}

Plan plan_of(const std::vector<std::string>& ids) {
  Plan plan;
  for (const std::string& id : ids) plan.cases.emplace_back().key = parse_id(id).value();
  return plan;
}

// All loops took two seconds, so that runs of less than 5 s were not calibrated and did not say how
// good their times are.
TEST(CalibrationPeaks, AreThoseThatBoundTheCasesOfTheRun) {
  const CpuFacts cpu = four_core_processor();
  const auto measured = [&](const std::vector<std::string>& ids) {
    return calibration_peaks(cpu, 4, calibration_extent(plan_of(ids), 4));
  };
  const auto f32 = measured({"gemm/forward/m8n8k8/f32/onednn/cpu/hot"});
  EXPECT_THAT(f32, SizeIs(2 + cache_sizes(cpu).size() + 2));  // arithmetic, memory, dispatch
  EXPECT_THAT(f32, Each(Field(&PeakCase::threads, 4)));
  EXPECT_THAT(f32, Contains(Field(&PeakCase::name, "fma_avx512_f32")));
  EXPECT_THAT(f32, Contains(Field(&PeakCase::level, "dram")));
  EXPECT_THAT(measured({"gemm/forward/m8n8k8/f32/onednn/cpu/hot/t1"}),
              AllOf(SizeIs(f32.size()), Each(Field(&PeakCase::threads, 1))));
  EXPECT_THAT(measured({"gemm/forward/m8n8k8/f32/onednn/cpu/hot/t2"}), SizeIs(2 * f32.size()));
  const auto f64 = measured({"gemm/forward/m8n8k8/f64/onednn/cpu/hot"});
  EXPECT_THAT(f64, Contains(Field(&PeakCase::name, "fma_avx512_f64")));
  EXPECT_THAT(f64, Not(Contains(Field(&PeakCase::name, "fma_avx512_f32"))));
  // A narrow type can be computed through f32.
  EXPECT_THAT(measured({"gemm/forward/m8n8k8/s8/onednn/cpu/hot"}),
              AllOf(Contains(Field(&PeakCase::name, "fma_avx512_f32")),
                    Contains(Field(&PeakCase::name, EndsWith("_s8")))));
  EXPECT_THAT(measured({"gemm/forward/m8n8k8/f16/cublas/cuda/hot"}), IsEmpty());
}

// The portable loop is the only one of such a processor.
TEST(CalibrationPeaks, AProcessorWithoutAvx2HasAnF32Ceiling) {
  CpuFacts cpu = four_core_processor();
  EXPECT_THAT(calibration_peaks(cpu, 4), Not(Contains(Field(&PeakCase::name, "fma_portable_f32"))));
  cpu.isa = {};
  EXPECT_THAT(calibration_peaks(cpu, 4),
              Contains(Field(&PeakCase::name, "fma_portable_f32")).Times(2));
}

TEST(CeilingValue, HasTheUnitOfItsKind) {
  ops::Work work;
  work.flops = 2000;
  work.bytes_read = 3000;
  const Nanoseconds time(1000);
  EXPECT_EQ(*ceiling_value({"", "fma_avx2_f32", "", 1}, work, time),
            CeilingValue(FlopsPerSecond{2e9}));
  EXPECT_EQ(*ceiling_value({"", "read", "l1", 1}, work, time), CeilingValue(BytesPerSecond{3e9}));
  EXPECT_EQ(*ceiling_value({"", "dispatch", "", 1}, work, time), CeilingValue(time));
  EXPECT_FALSE(ceiling_value({"", "read", "l1", 1}, work, Nanoseconds(0)));
}

}  // namespace
}  // namespace bench
