// SPDX-License-Identifier: Apache-2.0
#include "harness/report/duet_text.hpp"

#include "tests/fakes/gate_sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using test::make_judgement;
using test::slower_judgement;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kMovedCaseId = "conv/forward/c3h224w224k64r7s7u2p3/f32/onednn/cpu/hot";
constexpr const char* kSteadyCaseId = "gemm/forward/m8n8k8/f32/onednn/cpu/hot";

CaseEvidence case_with(const std::string& id, const std::string& base,
                       const std::string& candidate) {
  CaseEvidence entry;
  entry.candidate.id = id;
  entry.candidate.exact.implementation = candidate;
  entry.base.emplace();
  entry.base->implementation = base;
  return entry;
}

// A duet of two versions of oneDNN: one case is slower, one is as fast.
GateFile two_versions() {
  GateFile gate;
  GateSide base{"/bin/bench", "0.1.0", "", {}, {{"onednn", "3.1.0"}}};
  base.loaded = {{"bench", "/bin/bench", ""}, {"onednn", "/old/libdnnl.so.3.1", ""}};
  GateSide candidate{"/bin/bench", "0.1.0", "", {}, {{"onednn", "3.2.0"}}};
  candidate.loaded = {{"bench", "/bin/bench", ""}, {"onednn", "/new/libdnnl.so.3.2", ""}};
  base.environment = {{"LD_LIBRARY_PATH", "/old"}};
  gate.program_path = "/bin/bench";
  gate.facts.base = base;
  gate.facts.candidate = candidate;
  gate.evidence.policy.first_duets = 20;
  gate.evidence.cases = {case_with(kMovedCaseId, "brgconv:avx2", "jit:avx2"),
                         case_with(kSteadyCaseId, "brg:avx2", "brg:avx2")};
  CaseAssessment slower = slower_judgement(kMovedCaseId);
  slower.duets = 20;
  gate.judgements = {slower, make_judgement(kSteadyCaseId, Verdict::pass)};
  return gate;
}

TEST(DuetText, TheFirstSentenceNamesTheVersionsAndWhatMoved) {
  GateFile gate = two_versions();
  EXPECT_EQ(format_change_answer(gate),
            "oneDNN 3.1.0 against 3.2.0: 1 of 2 cases changed, 1 slower with 3.2.0.");
  gate.judgements[1].verdict = Verdict::improved;
  EXPECT_EQ(format_change_answer(gate),
            "oneDNN 3.1.0 against 3.2.0: 2 of 2 cases changed, 1 slower and 1 faster with 3.2.0.");
  gate.judgements[0].verdict = gate.judgements[1].verdict = Verdict::pass;
  EXPECT_EQ(format_change_answer(gate),
            "oneDNN 3.1.0 against 3.2.0: none of 2 cases changed by 1 % or more.");
}

TEST(DuetText, OnlyWhatMovedIsShownWithTheImplementationsOfBothSides) {
  EXPECT_EQ(
      format_changed_cases(two_versions(), {.width = 100}),
      "oneDNN 3.1.0 against 3.2.0: 1 of 2 cases changed, 1 slower with 3.2.0.\n"
      "  base: bench 0.1.0 at /bin/bench, onednn 3.1.0 from /old/libdnnl.so.3.1 with "
      "LD_LIBRARY_PATH=/old\n"
      "  candidate: bench 0.1.0 at /bin/bench, onednn 3.2.0 from /new/libdnnl.so.3.2\n"
      "\n"
      "case                                                      3.1.0     3.2.0  change\n"
      "conv/forward/c3h224w224k64r7s7u2p3/f32/onednn/cpu/hot  1.000 us  1.200 us  20 % slower "
      "(20 to 21)\n"
      "    brgconv:avx2 -> jit:avx2\n"
      "\n"
      "1 case did not change by 1 % or more.\n"
      "\n"
      "Next: measure the first case again:\n"
      "  bench duet conv/forward/c3h224w224k64r7s7u2p3/f32/onednn/cpu/hot --base-env "
      "LD_LIBRARY_PATH=/old\n");
}

TEST(DuetText, CasesWithoutAnAnswerAreCounted) {
  GateFile gate = two_versions();
  gate.judgements[0].verdict = Verdict::inconclusive;
  gate.judgements[1] = make_judgement(kSteadyCaseId, Verdict::incomparable, "skipped: no OpenBLAS");
  const std::string text = format_changed_cases(gate, {.width = 100});
  EXPECT_THAT(text, HasSubstr("\n1 case is undecided after 20 duets; raise --duets to decide "
                              "them.\n  not compared: gemm/forward/m8n8k8/f32/onednn/cpu/hot: "
                              "skipped: no OpenBLAS\n"));
  EXPECT_THAT(text, Not(HasSubstr("Next:")));
}

TEST(DuetText, SidesWithTheSameLibraryAreBaseAndCandidate) {
  GateFile gate = two_versions();
  gate.facts.base->loaded[1].path = gate.facts.candidate.loaded[1].path;
  EXPECT_THAT(
      format_change_answer(gate),
      StartsWith("candidate against base: 1 of 2 cases changed, 1 slower with the candidate"));
  // Two builds of one version.
  gate.facts.base->loaded[1].path = "/old/libdnnl.so.3.2";
  gate.facts.base->libraries["onednn"] = "3.2.0";
  EXPECT_THAT(format_change_answer(gate), StartsWith("oneDNN 3.2.0 against another build of it: "));
  // A library that is loaded by its backend's name.
  gate.facts.base->loaded[1] = {"openblas", "/old/libopenblas.so.0", ""};
  gate.facts.candidate.loaded[1] = {"openblas", "/new/libopenblas.so.0", ""};
  gate.facts.base->libraries = {{"openblas", "0.3.21"}};
  gate.facts.candidate.libraries = {{"openblas", "0.3.30"}};
  EXPECT_THAT(format_change_answer(gate), StartsWith("OpenBLAS 0.3.21 against 0.3.30: "));
}

}  // namespace
}  // namespace bench
