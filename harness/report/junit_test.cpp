// SPDX-License-Identifier: Apache-2.0
#include "harness/report/format.hpp"
#include "harness/report/gate_report.hpp"
#include "tests/fakes/gate_sample.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using test::hostile_gate;
using test::kKits;
using test::occurrences;
using test::sample_gate;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class GateJunit : public testing::Test {
 protected:
  void SetUp() override {
    if (test::run_program({{"python3", "--version"}, ".", {}}).status != 0) {
      GTEST_SKIP() << "no python3, whose parser judges the XML";
    }
  }

  // Returns what the parser finds: "tag attribute=value ..." for each element.
  static std::string parsed(const std::string& xml) {
    const test::TemporaryFolder folder;
    constexpr const char* kScript =
        "import sys, xml.etree.ElementTree as tree\n"
        "for element in tree.parse(sys.argv[1]).iter():\n"
        "  print(element.tag, *(f'{k}={v!r}' for k, v in element.attrib.items()))\n";
    const auto result =
        test::run_program({{"python3", "-c", kScript, folder.write("gate.xml", xml)}, ".", {}});
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  }
};

TEST_F(GateJunit, VerdictsAreOutcomesOfTests) {
  const std::string text = parsed(gate_junit(sample_gate(), kKits));
  EXPECT_THAT(text, StartsWith("testsuites name='bench gate' tests='5' failures='1' errors='1' "
                               "skipped='2'\n"
                               "testsuite name='resnet' tests='5' failures='1' errors='1' "
                               "skipped='2'\n"
                               "properties\n"
                               "property name='conclusion' value='1 case became slower, 1 case has "
                               "an error; 2 of 5 cases judged: "));
  EXPECT_THAT(text, HasSubstr("testcase classname='resnet.conv' name='conv/forward/c64' "
                              "file='configs/resnet.yaml' line='14'\n"
                              "failure type='REGRESSION' message='20 % slower (20 to 21)'\n"
                              "testcase classname='resnet.gemm' name='gemm/forward/gone'\n"
                              "error type='ERROR' message='removed'\n"));
  EXPECT_THAT(text, HasSubstr("skipped type='INCONCLUSIVE'"));
  EXPECT_THAT(text, HasSubstr("skipped type='NO BASELINE'"));
  EXPECT_THAT(text, EndsWith("testcase classname='resnet.pool' name='pool/forward/c64' "
                             "file='configs/resnet.yaml' line='30'\nsystem-out\n"));
}

TEST_F(GateJunit, SaysEveryFactInItsText) {
  EXPECT_THAT(gate_junit(sample_gate(), kKits),
              HasSubstr("20 % slower (20 to 21)\np (BH) 2e-05\nbase 1.000 us\n"
                        "candidate 1.200 us\nduets 2+1\n"
                        "changed: implementation jit:avx2 -&gt; jit:sse41\n"
                        "cause: undetermined: these differ: library (env.ONEDNN_MAX_CPU_ISA n/a "
                        "-&gt; SSE41, onednn 3.1.0 -&gt; 3.2.0), code (commit def -&gt; abc); the "
                        "records do not contain build.compiler; with it: implementation jit:avx2 "
                        "-&gt; jit:sse41\n"
                        "configured at configs/resnet.yaml:14\nkit: out/conv__forward__c64\n"
                        "measure it again: bench duet conv/forward/c64 --base /old/bench"));
}

// Issue 16: `failures="0"` and three skipped cases looked like success.
TEST_F(GateJunit, WhatTheBudgetLeftUndecidedIsAnError) {
  const std::string text = parsed(gate_junit(test::stopped_gate(), {}));
  EXPECT_THAT(text, StartsWith("testsuites name='bench gate' tests='3' failures='0' errors='2' "
                               "skipped='0'\n"));
  EXPECT_THAT(text, HasSubstr("error type='INCONCLUSIVE' message='stopped by the budget after 7 of "
                              "10 duets'\n"));
}

TEST_F(GateJunit, CasesOfAGateThatJudgedNothingAreErrorsUnlessThatSucceeds) {
  GateFile gate = sample_gate();
  gate.judgements = {test::make_judgement("a", Verdict::incomparable, "machine_class differs")};
  test::conclude_gate(gate);
  EXPECT_THAT(parsed(gate_junit(gate, {})), HasSubstr("errors='1' skipped='0'"));
  gate.conclusion =
      conclude(gate.evidence, gate.judgements, {.incomparable = ExitRules::Incomparable::allowed});
  EXPECT_THAT(parsed(gate_junit(gate, {})), HasSubstr("errors='0' skipped='1'"));
}

TEST_F(GateJunit, IsXmlWhateverTheNames) {
  const std::string text = parsed(gate_junit(hostile_gate(), {}));
  EXPECT_EQ(occurrences(text, "testcase "), 5U);
  EXPECT_THAT(text, HasSubstr("name='conv/forward/c64a|<b>&\"\\'`]]>\\\\\\n\\r\\t"));
  EXPECT_EQ(parsed(gate_junit(GateFile{}, {})).find("testsuites name='bench gate' tests='0'"), 0U);
}

}  // namespace
}  // namespace bench
