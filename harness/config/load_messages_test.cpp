// SPDX-License-Identifier: Apache-2.0
// Tests the messages that load_plan() reports for mistakes in a configuration.
#include "harness/config/load.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace bench {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Returns the messages of a file, one line each.
std::string mistakes_of(const std::string& text, const std::string& name = "a.yaml",
                        const std::vector<std::string>& overrides = {}) {
  LoadRequest request;
  request.read = [text](const std::string&) -> Result<std::string> { return text; };
  request.arguments = {name};
  request.overrides = overrides;
  const Result<Plan, std::vector<Diagnostic>> plan = load_plan(request);
  std::string lines;
  if (plan.ok()) return lines;
  for (const Diagnostic& mistake : plan.error()) lines += mistake.message() + "\n";
  return lines;
}

TEST(LoadErrors, AnEmptyTextIsNotTheValueOfASwitch) {
  const std::string cases = "cases: [{op: gemm, m: 1, n: 1, k: 1}]\n";
  for (const auto& [value, place] :
       {std::pair(R"("")", "2:19"), {R"(["", api])", "2:20"}, {R"([api, ""])", "2:25"}}) {
    const std::string messages =
        mistakes_of(fmt::format("version: 1\nprofile: {{ kinds: {} }}\n{}", value, cases));
    EXPECT_THAT(messages,
                AllOf(HasSubstr(fmt::format(
                          "a.yaml:{}: `kinds`: found the quoted text ``, expected ", place)),
                      HasSubstr("; omit the key for its default")));
  }
}

TEST(LoadErrors, TheErrorOfAGateShowsRoundedPercentagesAndMarksDefaults) {
  const std::string cases = "cases: [{op: gemm, m: 1, n: 1, k: 1}]\n";
  const std::string delta = mistakes_of("version: 1\ngate: { delta: 7% }\n" + cases);
  EXPECT_EQ(delta,
            "a.yaml:2:7: `gate`: detect (by default 2%) is below delta (7%); set detect, the "
            "slowdown that must be found, to at least delta, the slowdown that is allowed\n");
  const std::string detect = mistakes_of("version: 1\ngate: { detect: 0.7% }\n" + cases);
  EXPECT_EQ(detect,
            "a.yaml:2:7: `gate`: detect (0.7%) is below delta (by default 1%); set detect, the "
            "slowdown that must be found, to at least delta, the slowdown that is allowed\n");
}

TEST(LoadErrors, ACaseWithoutTheSpaceAfterItsFirstColonIsToldSo) {
  for (const auto& [entry, hint] : {std::pair("{op:gemm}", "write `op: gemm`"),
                                    {"{op:gemm, m: 1}", "write `op: gemm`"},
                                    {"{network:resnet18}", "write `network: resnet18`"}}) {
    const std::string messages = mistakes_of(fmt::format("version: 1\ncases:\n  - {}\n", entry));
    EXPECT_THAT(messages,
                AllOf(HasSubstr("a.yaml:3:"),
                      HasSubstr(fmt::format("a space is missing after the colon: {}", hint))));
  }
}

// Regression test: the message used to be "a second document starts here".
TEST(LoadErrors, AFileOfRecordsIsNotAConfiguration) {
  EXPECT_EQ(mistakes_of("{\"record\":\"run\",\"schema\":\"bench.result/1\"}\n{}\n", "r.jsonl"),
            "r.jsonl:1:1: this is a result file, not a configuration; `bench report r.jsonl` shows "
            "it; `bench run CONFIG --resume r.jsonl` measures what it lacks\n");
  EXPECT_THAT(mistakes_of("{\"schema\":\"bench.baseline/1\"}\n{}\n", "b.jsonl"),
              HasSubstr("b.jsonl:1:1: this is a file of records, not a configuration; "));
}

// Earlier, three messages said that its keys are unknown.
TEST(LoadErrors, TheDescriptionOfANetworkIsNotAConfiguration) {
  EXPECT_EQ(mistakes_of("version: 1\nnetwork: tiny\ninput: {c: 4}\nlayers: []\n"),
            "a.yaml:2:1: this file describes a network and is not a configuration; a configuration "
            "measures it with `cases: [{ network: tiny }]`\n");
}

TEST(LoadErrors, ASyntaxErrorInAFileOfAnotherKindSaysWhatAConfigurationIs) {
  const std::string text = "# Title\n\n`code`\n";
  EXPECT_THAT(mistakes_of(text, "README.md"),
              HasSubstr("a configuration is a YAML file that begins with `version: 1`"));
  EXPECT_THAT(mistakes_of(text), testing::Not(HasSubstr("YAML file")));
}

TEST(LoadErrors, AMisspelledGroupOfANestedKeyIsCorrected) {
  const std::string text = "version: 1\ncases: [{op: gemm, m: 1, n: 1, k: 1}]\n";
  EXPECT_EQ(mistakes_of(text, "a.yaml", {"mesure.processes=3"}),
            "--set mesure.processes=3: unknown key `mesure.processes`; did you mean "
            "`measure.processes`?\n");
}

}  // namespace
}  // namespace bench
