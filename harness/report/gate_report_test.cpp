// SPDX-License-Identifier: Apache-2.0
#include "harness/report/gate_report.hpp"

#include "harness/report/format.hpp"
#include "tests/fakes/gate_sample.hpp"
#include "tests/fakes/proof_sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace bench {
namespace {

using testing::ElementsAre;

TEST(GateReport, CoverageCountsOnlyVerdictsAboutTime) {
  std::vector<CaseAssessment> assessments;
  for (std::size_t i = 0; i < enumerator_names<Verdict>().size(); ++i) {
    assessments.push_back(test::make_judgement("x", static_cast<Verdict>(i)));
  }
  EXPECT_EQ(count_coverage(assessments).judged, 3U);
  EXPECT_EQ(count_coverage(assessments).in_scope, 8U);
  EXPECT_EQ(format_coverage(assessments),
            "3 of 8 cases judged: 1 REGRESSION, 1 ERROR, 1 SUSPECT, 1 INCONCLUSIVE, 1 "
            "INCOMPARABLE, 1 NO BASELINE, 1 IMPROVED, 1 PASS");
}

TEST(GateReport, WorstFirst) {
  GateFile gate = test::sample_gate();
  gate.judgements.push_back(test::slower_judgement("worse"));
  gate.judgements.back().effect = 0.3;
  std::vector<std::string> ids;
  for (const CaseAssessment* judgement : reading_order(gate.judgements))
    ids.push_back(judgement->id);
  EXPECT_THAT(
      ids, ElementsAre("worse", "conv/forward/c64", "gemm/forward/gone", "softmax/forward/64x1000",
                       "reorder/forward/64", "pool/forward/c64"));
}

TEST(GateReport, APlaceIsAFileAndALine) {
  const auto place = [](std::string_view source) {
    const ConfigLocation found = parse_config_location(source);
    return std::pair(found.file, found.line.value_or(-1));
  };
  EXPECT_EQ(place("configs/a.yaml:14"), std::pair(std::string("configs/a.yaml"), 14));
  EXPECT_EQ(place("a:b.yaml:3"), std::pair(std::string("a:b.yaml"), 3));
  EXPECT_EQ(place("a.yaml"), std::pair(std::string("a.yaml"), -1));
  EXPECT_EQ(place("a.yaml:0"), std::pair(std::string("a.yaml:0"), -1));
  EXPECT_EQ(place("a.yaml:"), std::pair(std::string("a.yaml:"), -1));
  EXPECT_EQ(place("a.yaml:99999999999"), std::pair(std::string("a.yaml:99999999999"), -1));
  EXPECT_EQ(place(""), std::pair(std::string(), -1));
}

TEST(GateReport, StatesWhatTheLastSelfTestShowed) {
  GateFile gate = test::sample_gate();
  gate.facts.store.reset();
  const auto proof_line = [&] { return side_lines(gate).back(); };
  const std::size_t lines = side_lines(gate).size();
  gate.facts.time = "2026-11-28T11:30:00Z";
  EXPECT_EQ(side_lines(gate).size(), lines + 1);  // in a file of an older version it is left out
  EXPECT_EQ(proof_line(),
            "this gate was not shown alive on this machine: no self-test is stored; run `bench "
            "selftest --budget 30s`");
  gate.facts.store = "my store";
  EXPECT_EQ(proof_line(),
            "this gate was not shown alive on this machine: no self-test is stored; run `bench "
            "selftest --budget 30s --baseline 'my store'`");
  gate.facts.store = "baselines";
  gate.facts.proof = test::sample_proof();
  EXPECT_EQ(proof_line(),
            "shown alive 5 hours ago: 0.2 % of unchanged suites of 100 cases fail here, and +3 % "
            "is the smallest slowdown found in 90 % of slower cases or more");
  gate.facts.time = "2026-12-07T06:00:00Z";
  EXPECT_EQ(proof_line(),
            "this gate was not shown alive on this machine lately: the last self-test is of 9 days "
            "ago; run `bench selftest --budget 30s`");
  gate.facts.proof->injected->measured = 0.001;
  EXPECT_EQ(proof_line(),
            "this gate was not shown alive on this machine: the self-test of 2026-11-28T06:00:00Z "
            "failed, it read an injected +3.0 % as +0.1 %; run `bench selftest --budget 30s`");
}

TEST(GateReport, TheReproductionCanBePasted) {
  GateFile gate = test::sample_gate();
  gate.facts.base->program = "/my builds/it's";
  EXPECT_EQ(reproduction(gate, gate.judgements[1]),
            "bench duet conv/forward/c64 --base '/my builds/it'\\''s' --cand ./bench --cand-env "
            "ONEDNN_MAX_CPU_ISA=SSE41");
  // Earlier, the command began with `bench` even for users who only have `./bench`.
  gate.program = "./bench";
  EXPECT_THAT(reproduction(gate, gate.judgements[1]), testing::StartsWith("./bench duet conv/"));
  gate.facts.base.reset();
  EXPECT_EQ(reproduction(gate, gate.judgements[1]),
            "env ONEDNN_MAX_CPU_ISA=SSE41 ./bench run conv/forward/c64 --baseline baselines");
  gate.facts.candidate.environment = {{"A", "two words"}};
  EXPECT_EQ(reproduction(gate, gate.judgements[1]),
            "env 'A=two words' ./bench run conv/forward/c64 --baseline baselines");
  gate.facts.candidate.environment.clear();
  gate.facts.store.reset();
  EXPECT_EQ(reproduction(gate, gate.judgements[1]), "./bench run conv/forward/c64");
}

// The command of a gate under ONEDNN_MAX_CPU_ISA measured the fast side, and compared it with
// nothing.
TEST(GateReport, TheReproductionHasTheVariablesOfTheGateAndItsStore) {
  GateFile gate = test::sample_gate();
  gate.facts.inherited = {{"LD_LIBRARY_PATH", "my libs"}, {"ONEDNN_MAX_CPU_ISA", "AVX2"}};
  EXPECT_THAT(
      reproduction(gate, gate.judgements[1]),
      testing::StartsWith("env 'LD_LIBRARY_PATH=my libs' ONEDNN_MAX_CPU_ISA=AVX2 bench duet "
                          "conv/forward/c64 --base "));
  gate.facts.base.reset();
  gate.facts.candidate.environment.clear();
  EXPECT_EQ(reproduction(gate, gate.judgements[1]),
            "env 'LD_LIBRARY_PATH=my libs' ONEDNN_MAX_CPU_ISA=AVX2 ./bench run conv/forward/c64 "
            "--baseline baselines");
}

// Two builds of one version looked the same in every report.
TEST(GateReport, ASideShowsTheFilesAndBuildsThatItLoaded) {
  GateSide side = test::sample_facts().candidate;
  EXPECT_EQ(format_side("candidate", side),
            "candidate: bench 0.1.0 (commit abc), onednn 3.2.0 with ONEDNN_MAX_CPU_ISA=SSE41")
      << "an older file";
  side.loaded = {{std::string(kProgramFile), "/a/bench", ""},
                 {"onednn", "/a/libdnnl.so.3.2", "OpenMP, SSE41, build 12"}};
  EXPECT_EQ(format_side("candidate", side),
            "candidate: bench 0.1.0 (commit abc) at /a/bench, onednn 3.2.0 from /a/libdnnl.so.3.2 "
            "(OpenMP, SSE41, build 12) with ONEDNN_MAX_CPU_ISA=SSE41");
}

// Users of ./bench got the absolute path of the built program, also as base and candidate of a gate
// that compares this program with itself.
TEST(GateReport, TheReproductionCallsThisProgramAsTheUserDid) {
  GateFile gate = test::sample_gate();
  const CaseAssessment& judgement = gate.judgements[1];
  gate.program = "./bench";
  gate.program_path = "/tree/build/release/bench";
  gate.facts.candidate.program = gate.program_path;
  EXPECT_EQ(reproduction(gate, judgement), "./bench duet conv/forward/c64 --base " +
                                               gate.facts.base->program +
                                               " --cand-env ONEDNN_MAX_CPU_ISA=SSE41");
  gate.facts.base->program = gate.program_path;
  EXPECT_EQ(reproduction(gate, judgement),
            "./bench duet conv/forward/c64 --cand-env ONEDNN_MAX_CPU_ISA=SSE41");
  gate.facts.candidate.environment.clear();
  EXPECT_EQ(reproduction(gate, judgement),
            "./bench duet conv/forward/c64 --base /tree/build/release/bench");
  gate.facts.base.reset();
  EXPECT_EQ(reproduction(gate, judgement), "./bench run conv/forward/c64 --baseline baselines");
}

TEST(GateReport, EveryFormatHasAFileOfItsOwn) {
  std::set<std::string_view> files;
  for (const GateFormat& format : gate_formats()) files.insert(format.file);
  EXPECT_EQ(files.size(), gate_formats().size());
}

}  // namespace
}  // namespace bench
