// SPDX-License-Identifier: Apache-2.0
#include "harness/report/format.hpp"
#include "harness/report/gate_report.hpp"
#include "tests/fakes/gate_sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using test::kKits;
using test::sample_gate;
using testing::HasSubstr;

TEST(GateOpenMetrics, IsExactlyThis) {
  EXPECT_EQ(gate_open_metrics(sample_gate(), kKits),
            R"(# HELP bench_gate_exit_status Exit status of the gate; 0 is success.
# TYPE bench_gate_exit_status gauge
bench_gate_exit_status 1
# HELP bench_gate_cut_short Cases that are undecided because the evidence ended early.
# TYPE bench_gate_cut_short gauge
bench_gate_cut_short 0
# HELP bench_gate_judged Cases with a verdict on their time.
# TYPE bench_gate_judged gauge
bench_gate_judged 2
# HELP bench_gate_cases Cases in scope, by verdict.
# TYPE bench_gate_cases gauge
bench_gate_cases{verdict="REGRESSION"} 1
bench_gate_cases{verdict="ERROR"} 1
bench_gate_cases{verdict="SUSPECT"} 0
bench_gate_cases{verdict="INCONCLUSIVE"} 1
bench_gate_cases{verdict="INCOMPARABLE"} 0
bench_gate_cases{verdict="NO BASELINE"} 1
bench_gate_cases{verdict="IMPROVED"} 0
bench_gate_cases{verdict="PASS"} 1
# HELP bench_gate_effect_ratio Additional time of the candidate as a fraction of the base's.
# TYPE bench_gate_effect_ratio gauge
# UNIT bench_gate_effect_ratio ratio
bench_gate_effect_ratio{case="conv/forward/c64"} 0.2
bench_gate_effect_ratio{case="softmax/forward/64x1000"} 0.015
bench_gate_effect_ratio{case="pool/forward/c64"} 0.002
# HELP bench_gate_case_seconds Time per iteration of a case.
# TYPE bench_gate_case_seconds gauge
# UNIT bench_gate_case_seconds seconds
bench_gate_case_seconds{case="conv/forward/c64",side="base"} 1e-06
bench_gate_case_seconds{case="conv/forward/c64",side="candidate"} 1.2e-06
bench_gate_case_seconds{case="softmax/forward/64x1000",side="base"} 5e-06
bench_gate_case_seconds{case="softmax/forward/64x1000",side="candidate"} 5.075e-06
bench_gate_case_seconds{case="pool/forward/c64",side="base"} 1e-06
bench_gate_case_seconds{case="pool/forward/c64",side="candidate"} 1.002e-06
# EOF
)");
}

TEST(GateOpenMetrics, EscapesLabels) {
  GateFile gate = sample_gate();
  gate.judgements = {test::slower_judgement("a\"b\\c\nd\xff\x1b")};
  EXPECT_THAT(gate_open_metrics(gate, {}),
              HasSubstr("bench_gate_effect_ratio{case=\"a\\\"b\\\\c\\nd\\\\xff\\\\x1b\"} 0.2\n"));
}

}  // namespace
}  // namespace bench
