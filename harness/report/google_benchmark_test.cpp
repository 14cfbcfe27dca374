// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/measurement.hpp"
#include "harness/report/format.hpp"
#include "harness/report/gate_report.hpp"
#include "tests/fakes/gate_sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace bench {
namespace {

using nlohmann::json;
using test::hostile_gate;
using test::sample_gate;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Measurement read_back(const std::string& text) {
  auto measurement = read_measurement(text, "gate");
  EXPECT_TRUE(measurement.ok() && measurement->warnings.empty()) << text;
  return measurement.ok() ? *measurement : Measurement{};
}

std::vector<double> medians(const MeasuredCase& measured) {
  return iteration_times(measured.processes, &ProcessSummary::median);
}

TEST(GateGoogleBenchmark, ADuetIsARepetitionOnBothSides) {
  const Measurement base = read_back(gate_google_benchmark_base(sample_gate(), {}));
  const Measurement candidate = read_back(gate_google_benchmark_candidate(sample_gate(), {}));
  ASSERT_THAT(base.cases, SizeIs(2));
  ASSERT_THAT(candidate.cases, SizeIs(2));
  EXPECT_EQ(base.cases[0].id, "conv/forward/c64");
  EXPECT_EQ(candidate.cases[0].id, "conv/forward/c64");
  EXPECT_THAT(medians(base.cases[0]), ElementsAre(1000, 1000, 1000));
  EXPECT_THAT(medians(candidate.cases[0]), ElementsAre(1200, 1200, 1200));
}

TEST(GateGoogleBenchmark, WithoutDuetsItIsWhatTheScreenCompared) {
  const Measurement base = read_back(gate_google_benchmark_base(sample_gate(), {}));
  const Measurement candidate = read_back(gate_google_benchmark_candidate(sample_gate(), {}));
  EXPECT_EQ(base.cases[1].id, "pool/forward/c64");
  ASSERT_THAT(medians(base.cases[1]), SizeIs(1));
  EXPECT_NEAR(medians(base.cases[1])[0], 1000, 1e-6);
  EXPECT_THAT(medians(candidate.cases[1]), ElementsAre(1001, 1003));
}

// compare.py found another change than the gate, which compares rounds and not medians.
TEST(GateGoogleBenchmark, TheMediansOfBothSidesHaveTheEffectOfTheGate) {
  GateFile gate = sample_gate();
  CaseAssessment& judgement = gate.judgements[1];
  judgement.effect = 0.1;
  judgement.candidate = Nanoseconds(1100);
  const Measurement base = read_back(gate_google_benchmark_base(gate, {}));
  const Measurement candidate = read_back(gate_google_benchmark_candidate(gate, {}));
  EXPECT_NEAR(*median_iteration(base.cases[0]), 1000, 1e-6);
  EXPECT_NEAR(*median_iteration(candidate.cases[0]), 1100, 1e-6);
}

TEST(GateGoogleBenchmark, LeavesOutWhatIsNoTime) {
  GateFile gate = sample_gate();
  gate.evidence.cases[0].stored->log_level = 1e6;
  for (Duet& duet : gate.evidence.cases[1].duets) duet.base.assign(3, Nanoseconds(0));
  for (const auto write : {gate_google_benchmark_base, gate_google_benchmark_candidate}) {
    const json document = json::parse(write(gate, {}));
    EXPECT_THAT(document["benchmarks"], IsEmpty());
    EXPECT_EQ(document["context"]["bench_left_out"], 5);
  }
}

TEST(GateGoogleBenchmark, HoldsTheFieldsOfItsSchema) {
  const json document = json::parse(gate_google_benchmark_candidate(sample_gate(), {}));
  EXPECT_EQ(document["context"]["bench_gate"],
            "1 case became slower, 1 case has an error; 2 of 5 cases judged: "
            "1 REGRESSION, 1 ERROR, 1 INCONCLUSIVE, 1 NO BASELINE, 1 PASS");
  EXPECT_EQ(document["context"]["bench_left_out"], 3);
  const json& entry = document["benchmarks"][1];
  EXPECT_EQ(entry["run_name"], entry["name"]);
  EXPECT_EQ(entry["run_type"], "iteration");
  EXPECT_EQ(entry["repetitions"], 3);
  EXPECT_EQ(entry["repetition_index"], 1);
  EXPECT_EQ(entry["iterations"], 6);
  EXPECT_EQ(entry["time_unit"], "ns");
  EXPECT_TRUE(entry["real_time"].is_number() && entry["cpu_time"].is_number());
  EXPECT_THAT(json::parse(gate_google_benchmark_base(hostile_gate(), {}))["benchmarks"],
              SizeIs(5));  // with the median of the three duets
}

}  // namespace
}  // namespace bench
