// SPDX-License-Identifier: Apache-2.0
// Tests the messages that load_plan() reports for mistakes in a configuration.
#include "harness/config/case_id.hpp"
#include "harness/config/known_words.hpp"
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

// Earlier, three messages said that its keys are unknown. A file NAME.yaml or NAME.yml is read as a
// network.
TEST(LoadErrors, TheDescriptionOfANetworkWithAnotherSuffixIsNotAConfiguration) {
  EXPECT_EQ(mistakes_of("version: 1\nnetwork: tiny\ninput: {c: 4}\nlayers: []\n", "a.json"),
            "a.json:2:1: this file describes a network and is not a configuration; a configuration "
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

LoadRequest request_of_words(std::vector<std::string> words) {
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
  request.arguments = std::move(words);
  return request;
}

std::vector<Diagnostic> answers_to(std::vector<std::string> words) {
  const Result<Plan, std::vector<Diagnostic>> plan = load_plan(request_of_words(std::move(words)));
  return plan.ok() ? std::vector<Diagnostic>{} : plan.error();
}

// Earlier, each of these was only "cannot open the file".
TEST(LoadErrors, AnOperatorOrANetworkInPlaceOfACaseIsToldItsId) {
  std::string lines;
  for (const Diagnostic& mistake : answers_to({"gemm", "resnet50", "nothing"}))
    lines += mistake.message() + "\n";
  const std::string id = "gemm/forward/m16n32k64/f32/onednn/cpu/hot";
  EXPECT_EQ(lines,
            "gemm: is an operator, not a case; the configuration is `gemm.yaml`; give the id of a "
            "case, for example `" +
                id +
                "`\n"
                "resnet50: no such file; did you mean the network `resnet50_v1_5`? A configuration "
                "with `network: resnet50_v1_5` also measures its layers; give the id of a case, "
                "for example `network/forward/resnet50_v1_5/f32/onednn/cpu/hot`\n"
                "nothing: no such file; give a configuration, or the id of a case, for example `" +
                id + "`\n");
}

// Earlier, a word that was not nearly a name got no list of what there is, and ids that were cut
// short got no example.
TEST(LoadErrors, EveryWrongWordGetsAnExampleThatCanBePasted) {
  struct Row {
    std::string word, example;
  };
  const std::string gemm =
      example_of_operator(*ops::find_operator("gemm"), ops::built_in_operators());
  const std::string conv =
      example_of_operator(*ops::find_operator("conv"), ops::built_in_operators());
  const std::string resnet = example_of_network("resnet50_v1_5");
  for (const auto& [word, example] :
       {Row{"gem", gemm}, Row{"matmul", gemm}, Row{"Conv2d", conv}, Row{"zzz", gemm},
        Row{"quik", "quick"}, Row{"configs/quik.yaml", "quick"}, Row{"network", resnet},
        Row{"resnet50", resnet}, Row{"conv/forward", conv}, Row{"conv/", conv},
        Row{"gemm/m64n64k64", gemm}, Row{"network/forward/resnet50", resnet},
        Row{"relu",
            example_of_operator(*ops::find_operator("pointwise"), ops::built_in_operators())}}) {
    const std::vector<Diagnostic> answers = answers_to({word});
    ASSERT_EQ(answers.size(), 1u) << word;
    EXPECT_EQ(answers[0].example, example) << word;
    EXPECT_THAT(answers[0].message(), testing::StartsWith(word + ": "));
    EXPECT_THAT(answers[0].message(), testing::EndsWith("or example `" + example + "`"));
  }
}

TEST(LoadErrors, AWrongWordIsToldAllNamesTheNearestFirst) {
  const std::vector<Diagnostic> answers = answers_to({"vgg61"});
  ASSERT_EQ(answers.size(), 1u);
  ASSERT_EQ(answers[0].known.size(), 3u);
  EXPECT_THAT(answers[0].known[0], AllOf(testing::StartsWith("operators: "), HasSubstr(" gemm")));
  EXPECT_EQ(answers[0].known[1], "networks: vgg16 resnet50_v1_5");
  EXPECT_EQ(answers[0].known[2], "configurations: gemm quick");
}

TEST(LoadErrors, TheExampleOfEveryOperatorIsTheIdOfACase) {
  for (const ops::Operator* op : ops::built_in_operators().operators()) {
    const std::string id = example_of_operator(*op, ops::built_in_operators());
    const auto key = parse_id(id);
    ASSERT_TRUE(key.ok()) << id << ": " << key.error().message();
    EXPECT_EQ(to_id(*key), id);
  }
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
              HasSubstr("`sweep: { batch: [1, 8] }`"));
}

}  // namespace
}  // namespace bench
