// SPDX-License-Identifier: Apache-2.0
#include "harness/report/gate_report.hpp"
#include "tests/fakes/gate_sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using test::hostile_gate;
using test::kKits;
using test::large_gate;
using test::occurrences;
using test::sample_gate;
using test::split_lines;
using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

TEST(GateAnnotations, PointToThePlaceInTheConfiguration) {
  const auto lines = split_lines(gate_annotations(sample_gate(), kKits));
  ASSERT_THAT(lines, SizeIs(4));
  EXPECT_EQ(lines[0],
            "::error title=bench gate::1 case became slower, 1 case has an error; 2 of 5 cases "
            "judged: 1 REGRESSION, 1 ERROR, 1 "
            "INCONCLUSIVE, 1 NO BASELINE, 1 PASS");
  EXPECT_THAT(lines[1], StartsWith("::error file=configs/resnet.yaml,line=14,title=REGRESSION "
                                   "conv/forward/c64::20 %25 slower (20 to 21)%0A"
                                   "p (BH) 2e-05%0A"));
  EXPECT_THAT(lines[1], HasSubstr("%0Akit: out/conv__forward__c64%0Ameasure it again: bench duet"));
  EXPECT_THAT(lines[2], StartsWith("::error title=ERROR gemm/forward/gone::removed%0A"));
  EXPECT_THAT(lines[3], StartsWith("::warning file=configs/resnet.yaml,line=20,title=INCONCLUSIVE "
                                   "softmax/forward/64x1000::+1.5 %25"));
}

TEST(GateAnnotations, NoNameEndsACommandOrAProperty) {
  const auto lines = split_lines(gate_annotations(hostile_gate(), {}));
  ASSERT_THAT(lines, SizeIs(4));
  for (const std::string& line : lines) EXPECT_THAT(line, StartsWith("::"));
  EXPECT_THAT(lines[1], HasSubstr("\\%0A%0D\\x09\\x01\\xff%25%3A%2C%3A%3A{}"));
  EXPECT_THAT(lines[1], HasSubstr(",line=7,title=REGRESSION conv/forward/c64a|"));
}

TEST(GateAnnotations, AGateThatTheBudgetStoppedIsAnError) {
  const auto lines = split_lines(gate_annotations(test::stopped_gate(), {}));
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_THAT(lines[0], StartsWith("::error title=bench gate::stopped by the budget after 7 of 10 "
                                   "duets; 2 of 3 cases not decided"));
  EXPECT_THAT(lines[1], StartsWith("::error file=configs/resnet.yaml,line=14,title=INCONCLUSIVE "));
  EXPECT_THAT(lines[2], StartsWith("::error title=INCOMPARABLE "));
}

TEST(GateAnnotations, AGreenGateIsANotice) {
  GateFile gate = sample_gate();
  gate.judgements = {test::passed_judgement("pool/forward/c64")};
  test::conclude_gate(gate);
  EXPECT_EQ(gate_annotations(gate, {}),
            "::notice title=bench gate::no case became slower; 1 of 1 cases judged: 1 PASS\n");
}

TEST(GateAnnotations, SayHowManyGitHubWouldNotShow) {
  GateFile gate = large_gate(50);
  const std::string text = gate_annotations(gate, {});
  EXPECT_EQ(occurrences(text, "::error "), 10U);
  EXPECT_THAT(split_lines(text)[0], EndsWith("; 16 more errors are not shown here"));
  EXPECT_THAT(split_lines(gate_annotations(large_gate(20), {}))[0],
              EndsWith("; 1 more error is not shown here"));
}

}  // namespace
}  // namespace bench
