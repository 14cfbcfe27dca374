// SPDX-License-Identifier: Apache-2.0
#include "harness/result/advice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Ceilings one_core() {
  Ceilings ceilings;
  ceilings.rows = {{"fma_avx512_f32", "", 1, FlopsPerSecond{100e9}},
                   {"dot_avx512_s8", "", 1, FlopsPerSecond{400e9}}};
  return ceilings;
}

// A case to which no rule applies.
CaseRecord good_case() {
  CaseRecord record;
  record.id = "gemm/forward/m64n64k64/f32/onednn/cpu/hot";
  record.op = "gemm";
  record.dtype = "f32";
  record.device = "cpu";
  record.implementation = "brg:avx512_core";
  record.work = ops::Work{};
  record.work->flops = 1000;
  record.work->bytes_read = 1000;
  record.memory = MemoryUse{{2000}, {100}, {0}};
  record.time = TimeSummary{};
  record.time->median = Nanoseconds(100);
  record.preparation.reorder = Nanoseconds(50);
  record.roofline = Roofline{};
  record.roofline->bound = Bound::compute;
  record.roofline->efficiency = 0.5;
  return record;
}

std::vector<std::string> ids_of(const CaseRecord& record) {
  std::vector<std::string> ids;
  for (const Advice& advice : advice_for(record, one_core())) ids.push_back(advice.id);
  return ids;
}

TEST(Advice, GoodCaseAndCaseWithoutRooflineHaveNone) {
  CaseRecord record = good_case();
  EXPECT_THAT(ids_of(record), ElementsAre());
  record.implementation = "ref:any";
  record.roofline.reset();
  EXPECT_THAT(ids_of(record), ElementsAre());
}

TEST(Advice, LaunchBound) {
  CaseRecord record = good_case();
  record.roofline->bound = Bound::launch;
  record.roofline->ideal = Nanoseconds(42);
  EXPECT_THAT(ids_of(record), ElementsAre("launch_bound"));
  EXPECT_THAT(advice_for(record, one_core()).front().text, HasSubstr("42 ns"));
}

TEST(Advice, LibraryFallback) {
  CaseRecord record = good_case();
  record.implementation = "gemm:jit";  // the usual implementation of a product
  EXPECT_THAT(ids_of(record), ElementsAre());
  record.id = "conv/forward/c64h56w56k64r3s3p1/f32/onednn/cpu/hot";
  EXPECT_THAT(ids_of(record), ElementsAre("library_fallback"));
  record.implementation = "ref:any";
  EXPECT_THAT(advice_for(record, one_core()).front().text, HasSubstr("plain implementation"));
}

CaseRecord case_of_type(const std::string& dtype) {
  CaseRecord record = good_case();
  record.id = "gemm/forward/m64n64k64/" + dtype + "/onednn/cpu/hot";
  record.dtype = dtype;
  record.roofline->efficiency = 0.9;
  record.time->median = Nanoseconds(20);
  record.preparation.reorder = Nanoseconds(1);
  return record;
}

std::vector<Advice> advice_with(const CaseRecord& record, std::vector<Ceiling> rows) {
  Ceilings ceilings = one_core();
  ceilings.rows = std::move(rows);
  return advice_for(record, ceilings);
}

// The library emulates bf16 on a processor without its instructions.
TEST(Advice, TypeThatTheMachineComputesNoFasterThanF32) {
  const auto advice =
      advice_with(case_of_type("bf16"), {{"fma_avx512_f32", "", 1, FlopsPerSecond{100e9}},
                                         {"gemm_bf16", "", 1, FlopsPerSecond{40e9}}});
  EXPECT_THAT(advice,
              ElementsAre(Advice{"slow_type",
                                 "This machine computes bf16 no faster than f32: its ceilings are "
                                 "40.00 GFLOP/s in bf16 and 100.0 GFLOP/s in f32. Only the memory "
                                 "traffic of bf16 is smaller."}));
  EXPECT_THAT(ids_of(case_of_type("s8")), ElementsAre());
  EXPECT_THAT(ids_of(case_of_type("f32")), ElementsAre());
}

// Earlier, a case of s8 that reached 166 % of the ceiling of f32 had this advice.
TEST(Advice, TypeThatIsFasterWithoutItsOwnLoopIsNotCalledSlow) {
  EXPECT_THAT(advice_with(case_of_type("s8"), {{"fma_avx2_f32", "", 1, FlopsPerSecond{105e9}},
                                               {"gemm_f32", "", 1, FlopsPerSecond{64e9}},
                                               {"gemm_s8", "", 1, FlopsPerSecond{143e9}}}),
              ElementsAre());
}

// No version has a loop of f16, whatever the processor can do.
TEST(Advice, TypeWithoutAMeasuredRateIsNotCalledSlow) {
  EXPECT_THAT(ids_of(case_of_type("f16")), ElementsAre());
  EXPECT_THAT(ids_of(case_of_type("bf16")), ElementsAre());
}

// The work of good_case() takes 1000 FLOP / 100 GFLOP/s = 10 ns in f32.
TEST(Advice, NarrowTypeThatIsMuchSlowerThanF32CouldBe) {
  CaseRecord record = case_of_type("s8");
  record.time->median = Nanoseconds(29);
  EXPECT_THAT(ids_of(record), ElementsAre());
  record.time->median = Nanoseconds(30);
  EXPECT_THAT(advice_for(record, one_core()),
              ElementsAre(Advice{"slower_than_f32",
                                 "The case takes 30 ns, although this machine could do the same "
                                 "work in f32 in 10 ns, with all its larger data: the library has "
                                 "no fast kernel for this shape in s8. Measure it in f32, too."}));
  record.roofline->bound = Bound::launch;
  EXPECT_THAT(ids_of(record), testing::Not(testing::Contains("slower_than_f32")));
  EXPECT_THAT(ids_of(case_of_type("f32")), ElementsAre());
}

// A product with one row moves all weights: in f32, four times the bytes of s8.
TEST(Advice, F32WithItsLargerDataIsWhatANarrowTypeIsComparedWith) {
  CaseRecord record = case_of_type("s8");
  record.work->flops = 2;
  record.work->bytes_read = 1000;
  const std::vector<Ceiling> rows = {{"fma_avx2_f32", "", 1, FlopsPerSecond{100e9}},
                                     {"read", "dram", 1, BytesPerSecond{10e9}}};
  record.time->median = Nanoseconds(1199);  // 4000 bytes at 10 GB/s are 400 ns
  EXPECT_THAT(advice_with(record, rows), ElementsAre());
  record.time->median = Nanoseconds(1200);
  EXPECT_THAT(advice_with(record, rows),
              ElementsAre(testing::Field(&Advice::id, "slower_than_f32")));
}

TEST(Advice, Alignment) {
  CaseRecord record = good_case();
  record.id = "gemm/forward/m64n64k65/f32/onednn/cpu/hot";
  EXPECT_THAT(ids_of(record), ElementsAre("alignment"));
  EXPECT_THAT(advice_for(record, one_core()).front().text,
              HasSubstr("k=65 is not a multiple of 16"));
  record.roofline->efficiency = 0.7;
  EXPECT_THAT(ids_of(record), ElementsAre());
}

// Records come from untrusted files.
TEST(Advice, OperatorOfTheRecordAndOfItsIdMayDiffer) {
  CaseRecord record = good_case();
  record.op = "conv";
  EXPECT_THAT(ids_of(record), ElementsAre());
  record.id = "x";
  EXPECT_THAT(ids_of(record), ElementsAre());
}

TEST(Advice, Batch) {
  CaseRecord record = good_case();
  record.memory->weights = Bytes{499};
  record.roofline->bound = Bound::memory;
  EXPECT_THAT(ids_of(record), ElementsAre());
  record.memory->weights = Bytes{500};
  EXPECT_THAT(ids_of(record), ElementsAre("batch"));
  record.roofline->bound = Bound::compute;
  EXPECT_THAT(ids_of(record), ElementsAre());
}

TEST(Advice, ColdWeights) {
  CaseRecord record = good_case();
  record.id = "gemm/forward/m64n64k64/f32/onednn/cpu/cold_weights";
  EXPECT_THAT(ids_of(record), ElementsAre());
  record.roofline->bound = Bound::memory;
  EXPECT_THAT(ids_of(record), ElementsAre("cold_weights"));
}

TEST(Advice, LayoutReorders) {
  CaseRecord record = good_case();
  record.preparation.reorder = Nanoseconds(99);
  EXPECT_THAT(ids_of(record), ElementsAre());
  record.preparation.reorder = Nanoseconds(100);
  EXPECT_THAT(ids_of(record), ElementsAre("layout_reorders"));
}

TEST(Advice, FusionNotTaken) {
  CaseRecord record = good_case();
  record.id = "network/forward/resnet18/f32/onednn/cpu/hot";
  EXPECT_THAT(ids_of(record), ElementsAre());
  record.id = "network/forward/resnet18+separate/f32/onednn/cpu/hot";
  EXPECT_THAT(ids_of(record), ElementsAre("fusion_not_taken"));
}

Ceilings of_a_gpu() {
  Ceilings ceilings;
  ceilings.gpu = "Fake GPU";
  ceilings.rows = {{"fma_cuda_f32", "", 1, FlopsPerSecond{60e12}}};
  return ceilings;
}

CaseRecord case_on_gpu() {
  CaseRecord record = good_case();
  record.id = "gemm/forward/m64n64k65/f32/cublaslt/cuda/hot";
  record.device = "cuda";
  record.details = {{kTensorCoresDetail, "not eligible"},
                    {kTensorCoresReason, "f32 needs `math: tf32`"}};
  return record;
}

TEST(Advice, OfAGpuNamesWhyTensorCoresDoNotCompute) {
  CaseRecord record = case_on_gpu();
  record.roofline->efficiency = 0.5;  // on a CPU `alignment` would apply
  EXPECT_THAT(advice_for(record, of_a_gpu()),
              ElementsAre(Advice{"tensor_cores",
                                 "The CUDA cores limit this case, since tensor cores cannot "
                                 "compute it: f32 needs `math: tf32`. `bench explain` says what to "
                                 "change."}));
  record.roofline->bound = Bound::memory;
  EXPECT_THAT(advice_for(record, of_a_gpu()), ElementsAre());
  record.roofline->bound = Bound::compute;
  record.details[kTensorCoresDetail] = kTensorCoresEligible;
  EXPECT_THAT(advice_for(record, of_a_gpu()), ElementsAre());
  record.details[kTensorCoresMissed] = "not used (engine), although eligible: use `layout: nhwc`";
  EXPECT_THAT(advice_for(record, of_a_gpu()),
              ElementsAre(Advice{"tensor_cores",
                                 "Tensor cores were missed: not used (engine), although eligible: "
                                 "use `layout: nhwc`."}));
}

TEST(Advice, OfAShortKernelProposesAGraph) {
  CaseRecord record = case_on_gpu();
  record.roofline->bound = Bound::launch;
  record.roofline->ideal = Nanoseconds(300);
  EXPECT_THAT(
      advice_for(record, of_a_gpu()),
      ElementsAre(Advice{"launch_bound",
                         "The GPU could do this work in 300 ns, less than it needs to run "
                         "an empty kernel: combine it with its neighbours (fusion, a larger "
                         "batch, a CUDA graph)."}));
}

TEST(Advice, IsReadBackFromARecord) {
  CaseRecord record = good_case();
  record.details = {{"advice.batch", "a larger batch"}, {"advice.of_a_later_version", "more"}};
  EXPECT_THAT(advice_in(record), ElementsAre(Advice{"batch", "a larger batch"}));
}

TEST(Advice, IdsAreThoseOfTheRules) {
  EXPECT_EQ(advice_ids().size(), 10U);
  EXPECT_EQ(advice_ids().front(), "launch_bound");
}

}  // namespace
}  // namespace bench
