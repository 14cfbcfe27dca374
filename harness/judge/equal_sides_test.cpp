// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/equal_sides.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kSame = "both sides are the same program and libraries";

GateSide make_side() {
  GateSide side{"/a/bench", "0.1.0", "abc", {}, {{"onednn", "3.2.0"}}};
  side.loaded = {{std::string(kProgramFile), "/a/bench", ""},
                 {"onednn", "/a/lib/libdnnl.so.3.2", "OpenMP, AVX2, build 1"}};
  side.other_files = {"/lib/libc.so.6"};
  return side;
}

// Returns a gate of one case that passed, with equal sides.
GateFile make_gate() {
  GateFile gate;
  gate.facts.candidate = make_side();
  gate.facts.base = make_side();
  gate.evidence.mode = GateEvidence::Mode::paired;
  CaseEvidence& entry = gate.evidence.cases.emplace_back();
  entry.candidate.id = "conv";
  entry.base.emplace();
  CaseAssessment& judgement = gate.judgements.emplace_back();
  judgement.id = "conv";
  judgement.verdict = Verdict::pass;
  return gate;
}

ExitRules strict() { return {.equal_sides = ExitRules::EqualSides::refused}; }

TEST(EqualSides, AreTheFirstWordsOfTheConclusionAndEndWith4UnderStrict) {
  const GateFile gate = make_gate();
  EXPECT_EQ(conclude(gate, {}).sentence, std::string(kSame) +
                                             ": bench 0.1.0, onednn 3.2.0; no case became slower; "
                                             "1 of 1 cases judged: 1 PASS");
  EXPECT_EQ(conclude(gate, {}).status, ExitStatus::success);
  EXPECT_EQ(conclude(gate, strict()).status, ExitStatus::undecided);
  EXPECT_THAT(conclude(gate, strict()).advice, HasSubstr("--strict does not accept equal sides"));
}

TEST(EqualSides, AFindingOrAnErrorKeepsItsStatusUnderStrict) {
  GateFile gate = make_gate();
  gate.judgements[0].verdict = Verdict::regression;
  EXPECT_EQ(conclude(gate, strict()).status, ExitStatus::regression);
  EXPECT_THAT(conclude(gate, strict()).sentence, StartsWith(kSame));
}

TEST(EqualSides, DifferInTheFileTheBuildOrAnotherLibrary) {
  GateFile gate = make_gate();
  gate.facts.base->loaded[1].path = "/b/libdnnl.so.3.2";
  EXPECT_FALSE(describe_equal_sides(gate)) << "another file of the same version";
  gate.facts.base->loaded[1].digest = "12";
  gate.facts.candidate.loaded[1].digest = "13";
  EXPECT_FALSE(describe_equal_sides(gate));
  gate.facts.candidate.loaded[1].digest = "12";
  EXPECT_TRUE(describe_equal_sides(gate)) << "a copy of the same file";
  gate.facts.candidate.loaded[1].detail = "OpenMP, SSE41, build 1";
  EXPECT_FALSE(describe_equal_sides(gate));
  gate = make_gate();
  gate.facts.candidate.other_files.emplace_back("/lib/libjemalloc.so.2");
  EXPECT_FALSE(describe_equal_sides(gate));
}

TEST(EqualSides, AreUnknownWithoutABaseAndInOlderFiles) {
  GateFile gate = make_gate();
  gate.facts.base->loaded.clear();
  gate.facts.candidate.loaded.clear();
  EXPECT_FALSE(describe_equal_sides(gate));
  gate.facts.base.reset();
  EXPECT_FALSE(describe_equal_sides(gate));
}

// A gate with a misspelt variable passed without a word.
TEST(EqualSides, AVariableWithoutAVisibleEffectIsNamed) {
  GateFile gate = make_gate();
  gate.facts.candidate.environment = {{"ONEDNN_MAX_CPU_ISSA", "SSE41"}};
  EXPECT_THAT(conclude(gate, {}).sentence,
              StartsWith(std::string(kSame) +
                         ": `ONEDNN_MAX_CPU_ISSA=SSE41` changed nothing that bench can see (same "
                         "library, instruction set and implementations); no case became slower"));
  EXPECT_EQ(conclude(gate, strict()).status, ExitStatus::undecided);
  gate.facts.base->environment = gate.facts.candidate.environment;
  EXPECT_THAT(*describe_equal_sides(gate), HasSubstr(": bench 0.1.0")) << "set for both sides";
}

TEST(EqualSides, DifferIfAVariableHasAnyEffect) {
  GateFile gate = make_gate();
  gate.facts.candidate.environment = {{"ONEDNN_DEFAULT_FPMATH_MODE", "BF16"}};
  gate.judgements[0].changes = {{"implementation", "jit", "brgemm"}};
  EXPECT_FALSE(describe_equal_sides(gate));
  gate.judgements[0].changes.clear();
  gate.judgements[0].verdict = Verdict::improved;
  EXPECT_FALSE(describe_equal_sides(gate));
  gate.judgements[0].verdict = Verdict::pass;
  EXPECT_TRUE(describe_equal_sides(gate));
  gate.facts.candidate.environment = {{kSlowdownVariable, "0.5"}};
  EXPECT_FALSE(describe_equal_sides(gate)) << "bench itself obeys this variable";
}

TEST(EqualSides, OfAGpuAreUnknownIfVariablesOrFoldersDiffer) {
  GateFile gate = make_gate();
  gate.evidence.cases[0].candidate.device.emplace();
  EXPECT_TRUE(describe_equal_sides(gate));
  gate.facts.base->loaded[0].path = "/b/bench";
  gate.facts.base->loaded[0].digest = gate.facts.candidate.loaded[0].digest = "1";
  EXPECT_FALSE(describe_equal_sides(gate)) << "its plugin is in another folder";
  gate = make_gate();
  gate.evidence.cases[0].candidate.device.emplace();
  gate.facts.candidate.environment = {{"BENCH_CUDA_LIBS", "/opt/cudnn"}};
  EXPECT_FALSE(describe_equal_sides(gate));
}

TEST(EqualSides, OfAGpuAreKnownIfTheSidesStateItsPluginAndLibraries) {
  GateFile gate = make_gate();
  gate.evidence.cases[0].candidate.device.emplace();
  gate.facts.candidate.environment = {{"CUDA_DEVICE_MAX_CONNECTIONS", "2"}};
  for (GateSide* side : {&*gate.facts.base, &gate.facts.candidate}) {
    side->loaded.push_back({std::string(kGpuPluginFile), "/lib/libbench_cuda.so", "0.1.0"});
    side->loaded.push_back({"cudnn", "/lib/libcudnn.so.9", ""});
  }
  EXPECT_TRUE(describe_equal_sides(gate));
  gate.facts.candidate.loaded.back().path = "/opt/libcudnn.so.9";
  EXPECT_FALSE(describe_equal_sides(gate));
}

}  // namespace
}  // namespace bench
