// SPDX-License-Identifier: Apache-2.0
// Tests the messages that load_plan() reports for mistakes in a configuration.
#include "harness/config/case_id.hpp"
#include "harness/config/load.hpp"
#include "ops/operator.hpp"

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

// Earlier, each of these was only "cannot open the file".
TEST(LoadErrors, AnOperatorOrANetworkInPlaceOfACaseIsToldItsId) {
  LoadRequest request;
  request.read = [](const std::string& path) -> Result<std::string> {
    return Error{"no such file", path, ""};
  };
  request.network_folders = {"nets"};
  request.config_folders = {"none", "configs"};
  request.list = [](const std::string& folder) -> std::vector<std::string> {
    if (folder == "nets") return {"resnet50_v1_5.yaml", "vgg16.yaml", "README"};
    if (folder == "configs") return {"quick.yaml", "gemm.yaml", "networks"};
    return {};
  };
  request.arguments = {"gemm", "resnet50", "nothing"};
  const Result<Plan, std::vector<Diagnostic>> plan = load_plan(request);
  ASSERT_FALSE(plan.ok());
  std::string lines;
  for (const Diagnostic& mistake : plan.error()) lines += mistake.message() + "\n";
  const std::string id = "gemm/forward/" + std::string(ops::find_operator("gemm")->examples[0]) +
                         "/f32/onednn/cpu/hot";
  EXPECT_TRUE(parse_id(id).ok());
  EXPECT_EQ(
      lines,
      "gemm: no such file; `gemm` is an operator; a case of it has an id such as `" + id +
          "`\n"
          "resnet50: no such file; the network `resnet50_v1_5` is the case "
          "`network/forward/resnet50_v1_5/f32/onednn/cpu/hot`; a configuration with `network: "
          "resnet50_v1_5` also measures its layers\n"
          "nothing: no such file; give a configuration file, or a case id such as "
          "`gemm/forward/m64n64k64/f32/onednn/cpu/hot`; configs has the configurations gemm, "
          "quick\n");
}

// Earlier, the hint for `m: 1..128` was `m: [1..128]`, which is not valid either.
TEST(LoadErrors, TheHintForARangeIsAListThatCanBeRead) {
  const auto load_with = [](const std::string& value) {
    return mistakes_of("version: 1\ncases: [{op: gemm, n: 1, k: 1, sweep: {m: " + value + "}}]\n");
  };
  for (const auto& [range, list] : {std::pair("1..128", "[1, 128]"),
                                    {"1-128", "[1, 128]"},
                                    {"1:128:8", "[1, 128, 8]"},
                                    {"64", "[64]"}}) {
    EXPECT_THAT(load_with(range), HasSubstr(fmt::format("; write `m: {}`\n", list)));
    EXPECT_EQ(load_with(list), "");
  }
  EXPECT_THAT(mistakes_of("version: 1\ncases: [{op: gemm, m: 1, n: 1, k: 1, sweep: 1..8}]\n"),
              HasSubstr("`sweep: { n: [1, 8] }`"));
}

}  // namespace
}  // namespace bench
