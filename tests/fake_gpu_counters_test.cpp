// SPDX-License-Identifier: Apache-2.0
// The counters pass from the command line to the result file, over the fake GPU.
#include "harness/result/report.hpp"
#include "tests/support/fake_gpu.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bench::test::fake_gpu_counters_test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;
using testing::Pair;
using testing::SizeIs;

constexpr const char* kGemm = R"(version: 1
name: gpu
defaults:
  warmup: { iterations: 1, time: 0ms }
  measure: { processes: 1, min_iterations: 3, max_time: 1ms }
cases:
  - { op: gemm, m: 64, n: 64, k: 64, device: cuda }
)";

class FakeGpuCountersTest : public testing::Test {
 protected:
  ProfilePassRecord run(const std::string& script, const std::string& kinds, int status = 0,
                        const std::string& config = kGemm) {
    last_ = run_on_fake_gpu(folder_, config, script,
                            {"--profile=" + kinds, "--profile-iterations=0-1"});
    EXPECT_EQ(last_.status, status) << last_.out << last_.err;
    const auto report = parse_report(read_text(folder_.file("r.jsonl")), "r.jsonl");
    if (!report.ok() || report->profile_passes.size() != 1) {
      ADD_FAILURE() << last_.out << last_.err;
      return {};
    }
    return report->profile_passes[0];
  }

  TemporaryFolder folder_;
  ProgramResult last_;
};

// 2 * 64^3 operations, 3 * 64^2 * 4 bytes.
constexpr const char* kCounted = R"({"counters":{"passes":3,"values":{
    "tensor_instructions":128,"tensor_active_share":0.25,"tensor_operations_tf32":524288,
    "dram_read_bytes":32768,"dram_write_bytes":16384,"achieved_occupancy":0.5},
    "absent":{"l2_hit_share":"this chip has none"}}})";

TEST_F(FakeGpuCountersTest, ValuesVerdictAndChecksStandInTheRecord) {
  const ProfilePassRecord pass = run(kCounted, "counters");
  EXPECT_EQ(pass.outcome, Outcome::ok);
  EXPECT_EQ(pass.iterations, 0);
  EXPECT_EQ(pass.activities, 0);
  EXPECT_THAT(pass.details,
              AllOf(Contains(Pair("counter.dram_read_bytes", "32768")),
                    Contains(Pair("counter.dram_read_bytes.source", "fake__dram_read_bytes")),
                    Contains(Pair("counter.l2_hit_share", "n/a: this chip has none")),
                    Contains(Pair("tensor_cores", "used (counter)")),
                    Contains(Pair("tensor_cores.types", "tf32")),
                    Contains(Pair("check.tensor_operations", "1.000 of the model, as computed")),
                    Contains(Pair("check.dram_bytes", "1.000 of the model, as computed")),
                    Not(Contains(Key("counters")))));
  EXPECT_THAT(last_.out, AllOf(HasSubstr("tensor cores: used (counter); 25.0 % of the active"),
                               HasSubstr("32.00 KiB read; 16.00 KiB written")));
}

constexpr const char* kForbidden = R"script({"counters":{"refused":{"status":"unsupported",
    "reason":"for administrators alone (ERR_NVGPUCTRPERM)"}}})script";

TEST_F(FakeGpuCountersTest, RefusalIsNoFailureAndSaysWhy) {
  const ProfilePassRecord pass = run(kForbidden, "counters");
  EXPECT_EQ(pass.outcome, Outcome::ok);
  EXPECT_THAT(pass.details,
              Contains(Pair("counters", "n/a: for administrators alone (ERR_NVGPUCTRPERM)")));
  EXPECT_THAT(pass.details, SizeIs(1));
  EXPECT_THAT(last_.out, HasSubstr("counters n/a: for administrators alone"));
}

TEST_F(FakeGpuCountersTest, AnExecutionThatFailsFailsThePass) {
  // 1 execution when the case is created, 1 before counting, then the counted ones.
  const ProfilePassRecord pass = run(R"({"counters":{"passes":1000},
      "faults":[{"at":"execution","after":900,"kind":"sticky","error":"cudaErrorIllegalAddress"}]})",
                                     "counters", 3);
  EXPECT_EQ(pass.outcome, Outcome::failed);
  EXPECT_THAT(pass.reason.value_or(""),
              AllOf(HasSubstr("counters: "), HasSubstr("cudaErrorIllegalAddress")));
}

TEST_F(FakeGpuCountersTest, CountersAreAPassOfTheirOwnBesideTheProfile) {
  const ProfilePassRecord pass = run(kCounted, "operators,counters");
  EXPECT_EQ(pass.iterations, 2);
  EXPECT_THAT(pass.details, Contains(Pair("tensor_cores", "used (counter)")));
}

TEST_F(FakeGpuCountersTest, ACounterOutranksTheNameOfTheKernel) {
  std::string script = kCounted;
  script.insert(1, R"("cases":[{"kernels":[{"name":"nvjet_tst_64x8_64x16_4x1_v_bz_TNT"}]}],)");
  EXPECT_EQ(run(script, "device").details.at("tensor_cores"), "used (name: nvjet)");
  EXPECT_THAT(last_.out, HasSubstr("tensor cores: used (name: nvjet)"));
  EXPECT_EQ(run(script, "device,counters").details.at("tensor_cores"), "used (counter)");
}

TEST_F(FakeGpuCountersTest, WithoutBeingAskedForNothingIsCounted) {
  const ProfilePassRecord pass = run(kCounted, "operators");
  EXPECT_THAT(pass.details,
              AllOf(Not(Contains(Key("tensor_cores"))), Not(Contains(Key("counters"))),
                    Not(Contains(Key("counter.dram_read_bytes")))));
}

// This machine may have counters or not.
TEST_F(FakeGpuCountersTest, AProcessorHasItsCountersOrTheReasonWhyNot) {
  const std::string on_cpu = std::string(kGemm).replace(
      std::string(kGemm).find("device: cuda"), std::string("device: cuda").size(), "device: cpu");
  const ProfilePassRecord pass = run("{}", "counters", 0, on_cpu);
  EXPECT_THAT(pass.details,
              AnyOf(Contains(Key("counter.instructions")),
                    Contains(Pair("counters", HasSubstr("n/a: the processor's counters are")))));
}

}  // namespace
}  // namespace bench::test::fake_gpu_counters_test
