// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.hpp"
#include "harness/report/gate_report.hpp"
#include "tests/fakes/gate_sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using test::hostile_gate;
using test::kKits;
using test::sample_gate;
using testing::HasSubstr;
using testing::Not;

std::string console(const GateFile& gate, std::size_t width = 1000) {
  ConsoleOptions options;
  options.width = width;
  return gate_console(gate, kKits, options);
}

TEST(GateConsole, IsExactlyThis) {
  EXPECT_EQ(
      console(sample_gate()),
      R"(1 case became slower, 1 case has an error; 2 of 5 cases judged: 1 REGRESSION, 1 ERROR, 1 INCONCLUSIVE, 1 NO BASELINE, 1 PASS
  candidate: bench 0.1.0 (commit abc), onednn 3.2.0 with ONEDNN_MAX_CPU_ISA=SSE41
  base: bench 0.1.0 (commit def), onednn 3.1.0
  cause: undetermined: these differ: library (env.ONEDNN_MAX_CPU_ISA n/a -> SSE41, onednn 3.1.0 -> 3.2.0), code (commit def -> abc); the records do not contain build.compiler; with it: implementation jit:avx2 -> jit:sse41
  changed: library.onednn 3.1.0 -> 3.2.0

verdict       case                                   slower by  p (BH)  duets  detectable  against  reference  candidate
REGRESSION    conv/forward/c64         +20.0% [+19.5%, +20.5%]   2e-05    2+1              base      1.000 us   1.200 us
    changed: implementation jit:avx2 -> jit:sse41; configured at configs/resnet.yaml:14; kit: out/conv__forward__c64
ERROR         gemm/forward/gone
    removed
INCONCLUSIVE  softmax/forward/64x1000     +1.5% [-1.0%, +4.0%]     0.3     40        3.1%  base      5.000 us   5.075 us
    undecided after 40 duets (minimum detectable effect is 3.1 %); configured at configs/resnet.yaml:20
NO BASELINE   reorder/forward/64
    the store has no baseline of it
PASS          pool/forward/c64                           +0.2%           none              store     1.000 us   1.002 us

repeat the measurement of the first case listed:
  bench duet conv/forward/c64 --base /old/bench --cand ./bench --cand-env ONEDNN_MAX_CPU_ISA=SSE41
)");
}

TEST(GateConsole, NarrowIsExactlyThis) {
  EXPECT_EQ(console(sample_gate(), 70),
            R"(1 case became slower, 1 case has an error; 2 of 5 cases judged: 1
REGRESSION, 1 ERROR, 1 INCONCLUSIVE, 1 NO BASELINE, 1 PASS
  candidate: bench 0.1.0 (commit abc), onednn 3.2.0 with
  ONEDNN_MAX_CPU_ISA=SSE41
  base: bench 0.1.0 (commit def), onednn 3.1.0
  cause: undetermined: these differ: library (env.ONEDNN_MAX_CPU_ISA
  n/a -> SSE41, onednn 3.1.0 -> 3.2.0), code (commit def -> abc); the
  records do not contain build.compiler; with it: implementation
  jit:avx2 -> jit:sse41
  changed: library.onednn 3.1.0 -> 3.2.0

verdict       case                                   slower by
REGRESSION    conv/forward/c64         +20.0% [+19.5%, +20.5%]
    changed: implementation jit:avx2 -> jit:sse41; configured at
    configs/resnet.yaml:14; kit: out/conv__forward__c64
ERROR         gemm/forward/gone
    removed
INCONCLUSIVE  softmax/forward/64x1000     +1.5% [-1.0%, +4.0%]
    undecided after 40 duets (minimum detectable effect is 3.1 %);
    configured at configs/resnet.yaml:20
NO BASELINE   reorder/forward/64
    the store has no baseline of it
PASS          pool/forward/c64                           +0.2%

repeat the measurement of the first case listed:
  bench duet conv/forward/c64 --base /old/bench --cand ./bench --cand-env ONEDNN_MAX_CPU_ISA=SSE41
)");
}

// Issue 16: the output for this gate used to be "0 of 3 cases judged", as if nothing was found.
TEST(GateConsole, AGateThatTheBudgetStoppedSaysSoFirst) {
  EXPECT_EQ(console(test::stopped_gate(), 80),
            R"(stopped by the budget after 7 of 10 duets; 2 of 3 cases not decided; 1 of 3
cases judged: 1 INCONCLUSIVE, 1 INCOMPARABLE, 1 PASS
  exit status 3: use a larger --budget or fewer cases (--filter) to decide the
  others
  candidate: bench 0.1.0 (commit abc), onednn 3.2.0 with
  ONEDNN_MAX_CPU_ISA=SSE41
  base: bench 0.1.0 (commit def), onednn 3.1.0

verdict       case                 slower by  against  reference  candidate
INCONCLUSIVE  conv/forward/c64
    stopped by the budget after 7 of 10 duets; configured at
    configs/resnet.yaml:14; kit: out/conv__forward__c64
INCOMPARABLE  gemm/forward/m8n8k8
    the base crashed: SIGSEGV
PASS          pool/forward/c64         +0.2%  store     1.000 us   1.002 us

repeat the measurement of the first case listed:
  bench duet conv/forward/c64 --base /old/bench --cand ./bench --cand-env ONEDNN_MAX_CPU_ISA=SSE41
)");
}

TEST(GateConsole, ManyPassedOrNewCasesAreOnlyCounted) {
  GateFile gate = sample_gate();
  for (int i = 0; i < 500; ++i) {
    const std::string number = std::to_string(i);
    gate.judgements.push_back(test::passed_judgement("pass" + number));
    gate.judgements.push_back(
        test::make_judgement("new" + number, Verdict::no_baseline, "the store has no run of it"));
  }
  const std::string text = console(gate, 100);
  EXPECT_THAT(text, Not(HasSubstr("pass1")));
  EXPECT_THAT(text, Not(HasSubstr("new1")));
  EXPECT_THAT(text, HasSubstr("REGRESSION    conv/forward/c64"));
  EXPECT_THAT(text, HasSubstr("\n501 NO BASELINE; the first: reorder/forward/64: the store has "
                              "no baseline of it\n"
                              "501 PASS (501 by stored runs alone)\n"));
}

TEST(GateConsole, OnlyCollapsedCasesPrintNoTable) {
  GateFile gate = sample_gate();
  gate.judgements.assign(13, test::passed_judgement("pool/forward/c64"));
  gate.facts.base.reset();
  gate.evidence.changes.clear();
  test::conclude_gate(gate);
  EXPECT_EQ(console(gate),
            "no case became slower; 13 of 13 cases judged: 13 PASS\n"
            "  candidate: bench 0.1.0 (commit abc), onednn 3.2.0 with ONEDNN_MAX_CPU_ISA=SSE41\n"
            "  no base: the store baselines shows only large regressions; use --base BENCH to "
            "measure both sides together and detect effects of 2 %\n"
            "\n13 PASS (13 by stored runs alone)\n");
}

TEST(GateConsole, SaysHowManyRoundsOtherProgramsInterrupted) {
  GateFile gate = sample_gate();
  Duet duet;
  for (const int canary : {1000, 2000, 1000, 0}) {  // the kernel interrupted the last one
    duet.base.emplace_back(100);
    duet.candidate.emplace_back(100);
    duet.base_canary.emplace_back(1000);
    duet.candidate_canary.emplace_back(canary);
  }
  gate.evidence.cases.resize(1);
  gate.evidence.cases[0].duets = {duet};
  EXPECT_THAT(console(gate),
              HasSubstr("other programs interrupted 25 % of the rounds; if possible"));
}

TEST(GateConsole, NoCaseIsNoTable) {
  GateFile gate;
  gate.facts = test::sample_facts();
  test::conclude_gate(gate);
  EXPECT_THAT(console(gate), testing::StartsWith("nothing was judged: "));
  EXPECT_THAT(console(gate), Not(HasSubstr("verdict")));
}

TEST(GateConsole, ControlCharactersInNamesAreEscaped) {
  const std::string text = console(hostile_gate());
  EXPECT_THAT(text, HasSubstr("c64a|<b>"));
  for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  EXPECT_TRUE(is_utf8(text));
}

}  // namespace
}  // namespace bench
