// SPDX-License-Identifier: Apache-2.0
#include "harness/report/format.hpp"
#include "harness/report/gate_report.hpp"
#include "tests/fakes/gate_sample.hpp"
#include "tests/support/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <iterator>
#include <limits>

namespace bench {
namespace {

using nlohmann::json;
using test::hostile_gate;
using test::kKits;
using test::large_gate;
using test::sample_gate;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

TEST(GateJson, IsWhatItsSchemaSays) {
  for (const GateFile& gate :
       {sample_gate(), hostile_gate(), test::stopped_gate(), large_gate(30)}) {
    EXPECT_THAT(test::schema_problems(gate_json(gate, kKits), "docs/gate.schema.json"), IsEmpty());
  }
}

TEST(GateJson, HasTheFilesThatEachSideLoaded) {
  GateFile gate = sample_gate();
  gate.facts.candidate.loaded = {{"bench", "/a/bench", "started by /a/launcher"},
                                 {"onednn", "/a/libdnnl.so.3.2", "AVX2, build 1", "0123"}};
  gate.facts.candidate.other_files = {"/lib/libc.so.6"};
  gate.facts.inherited = {{"LD_LIBRARY_PATH", "/a"}};
  const std::string text = gate_json(gate, kKits);
  EXPECT_THAT(test::schema_problems(text, "docs/gate.schema.json"), IsEmpty());
  const json loaded = json::parse(text).at("candidate").at("loaded");
  ASSERT_THAT(loaded, SizeIs(2));
  EXPECT_EQ(loaded[1], json({{"name", "onednn"},
                             {"path", "/a/libdnnl.so.3.2"},
                             {"detail", "AVX2, build 1"},
                             {"digest", "0123"}}));
}

TEST(GateJson, TheSchemaRefusesWhatIsNone) {
  json document = json::parse(gate_json(sample_gate(), kKits));
  document["cases"][0]["verdict"] = "SLOW";
  EXPECT_THAT(test::schema_problems(document.dump(), "docs/gate.schema.json"), Not(IsEmpty()));
  document = json::parse(gate_json(sample_gate(), kKits));
  document["cases"][0]["effect"] = nullptr;
  EXPECT_THAT(test::schema_problems(document.dump(), "docs/gate.schema.json"), Not(IsEmpty()));
}

TEST(GateJson, SaysWhatStoppedTheGateAndHowFarEachCaseCame) {
  const json document = json::parse(gate_json(test::stopped_gate(), {}));
  EXPECT_EQ(document["exit"], 3);
  EXPECT_EQ(document["stopped"], "budget");
  EXPECT_EQ(document["coverage"]["cut_short"], 2);
  EXPECT_EQ(document["cases"][0]["cut_short"], true);
  EXPECT_EQ(document["cases"][0]["pending"],
            (json{{"kind", "duets"}, {"done", 7}, {"planned", 10}}));
}

TEST(GateJson, ConclusionFirstAndWorstFirst) {
  const auto document = nlohmann::ordered_json::parse(gate_json(sample_gate(), kKits));
  EXPECT_EQ(document.begin().key(), "schema");
  EXPECT_EQ(std::next(document.begin()).key(), "conclusion");
  EXPECT_EQ(document["exit"], 1);
  EXPECT_EQ(document["coverage"]["judged"], 2);
  EXPECT_EQ(document["coverage"]["in_scope"], 5);
  EXPECT_EQ(document["coverage"]["verdicts"]["REGRESSION"], 1);
  std::vector<std::string> verdicts;
  for (const auto& entry : document["cases"]) verdicts.push_back(entry["verdict"]);
  EXPECT_THAT(verdicts, ElementsAre("REGRESSION", "ERROR", "INCONCLUSIVE", "NO BASELINE", "PASS"));
}

TEST(GateJson, HoldsEveryLogRatioByStage) {
  const json worst = json::parse(gate_json(sample_gate(), kKits))["cases"][0];
  EXPECT_EQ(worst["id"], "conv/forward/c64");
  ASSERT_THAT(worst["log_ratios"]["first"], SizeIs(2));
  ASSERT_THAT(worst["log_ratios"]["confirmation"], SizeIs(1));
  EXPECT_NEAR(worst["log_ratios"]["first"][0].get<double>(), std::log(1.2), 1e-12);
  EXPECT_EQ(worst["kit"], "out/conv__forward__c64");
  EXPECT_EQ(worst["changes"][0]["to"], "jit:sse41");
  EXPECT_EQ(worst["reproduction"],
            "bench duet conv/forward/c64 --base /old/bench --cand ./bench --cand-env "
            "ONEDNN_MAX_CPU_ISA=SSE41");
}

TEST(GateJson, WhatIsUnknownIsAbsent) {
  GateFile gate = sample_gate();
  gate.judgements[1].effect = std::numeric_limits<double>::quiet_NaN();
  gate.judgements[1].high = std::numeric_limits<double>::infinity();
  const std::string text = gate_json(gate, {});
  EXPECT_THAT(text, Not(HasSubstr("null")));
  const json document = json::parse(text);
  for (const json& entry : document["cases"]) {
    EXPECT_FALSE(entry.contains("kit"));
    EXPECT_EQ(entry.contains("source"),
              entry["verdict"] != "ERROR" && entry["verdict"] != "NO BASELINE");
    if (entry["id"] == "conv/forward/c64") {
      EXPECT_FALSE(entry.contains("effect"));
      EXPECT_TRUE(entry.contains("low"));
      EXPECT_FALSE(entry.contains("high"));
    }
  }
}

}  // namespace
}  // namespace bench
