// SPDX-License-Identifier: Apache-2.0
#include "harness/report/format.hpp"
#include "harness/report/gate_report.hpp"
#include "tests/fakes/gate_sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace bench {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> csv_lines(const std::string& text) {
  std::istringstream lines(text);
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line);) found.push_back(line);
  return found;
}

TEST(GateCsv, HasOneLinePerCaseInReadingOrder) {
  const GateFile gate = test::sample_gate();
  const std::vector<std::string> lines = csv_lines(gate_csv(gate, {}));
  ASSERT_EQ(lines.size(), 1 + gate.judgements.size());
  EXPECT_THAT(lines[0], StartsWith("case,op,direction,dtype,backend,device,cache,verdict,effect,"));
  EXPECT_THAT(lines[0], testing::EndsWith(",reason,source,reproduction"));
  const std::vector<const CaseAssessment*> order = reading_order(gate.judgements);
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_THAT(lines[i + 1], StartsWith("\"" + order[i]->id + "\","));
    EXPECT_THAT(lines[i + 1], HasSubstr(",\"" + std::string(to_string(order[i]->verdict)) + "\","));
  }
}

TEST(GateCsv, NumbersAreRawAndUnknownOnesEmpty) {
  GateFile gate = test::sample_gate();
  gate.judgements.resize(1);
  CaseAssessment& judgement = gate.judgements[0];
  judgement.id = "gemm/forward/m8n8k8/f32/onednn/cpu/hot";
  judgement.effect = 0.05;
  judgement.low.reset();
  judgement.high = 0.0625;
  judgement.base = Nanoseconds(1000);
  judgement.candidate = Nanoseconds(1050);
  const std::string line = csv_lines(gate_csv(gate, {}))[1];
  EXPECT_THAT(line, StartsWith("\"gemm/forward/m8n8k8/f32/onednn/cpu/hot\",\"gemm\",\"forward\","
                               "\"f32\",\"onednn\",\"cpu\",\"hot\","));
  EXPECT_THAT(line, HasSubstr(",0.05,,0.0625,"));
  EXPECT_THAT(line, HasSubstr(",1000,1050,"));
}

TEST(GateCsv, HostileNamesStayOneLineEach) {
  const GateFile gate = test::hostile_gate();
  EXPECT_EQ(csv_lines(gate_csv(gate, {})).size(), 1 + gate.judgements.size());
}

}  // namespace
}  // namespace bench
