// SPDX-License-Identifier: Apache-2.0
// `bench import`, and inputs of other benchmarks in place of a configuration.
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace bench::test::import_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kProblems =
    "# a comment\n"
    "--dir=FWD_I --dt=f32\n"
    "mb1ic4ih5oc8oh5kh3ph1n\"net:first*3\"\n"
    "--dt=f32,bf16:bf16:f32\n"
    "mb1ic8ih5oc8oh5kh1n\"net:second\"\n";

ProgramResult bench(std::vector<std::string> arguments, const TemporaryFolder& folder) {
  arguments.insert(arguments.begin(), BENCH_BINARY);
  return run_program({std::move(arguments), folder.path(), {}});
}

// The case records of `list --json` without their places.
json list_cases(const std::string& config, const TemporaryFolder& folder) {
  const ProgramResult result = bench({"list", config, "--json"}, folder);
  EXPECT_EQ(result.status, 0) << result.err;
  json cases = json::parse(result.out)["cases"];
  for (json& entry : cases) entry.erase("source");
  return cases;
}

TEST(ImportCommand, WritesAConfigurationAndAReceipt) {
  const TemporaryFolder folder;
  folder.write("conv_problems", kProblems);
  const ProgramResult result =
      bench({"import", "benchdnn", "conv_problems", "-o", "net.yaml"}, folder);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out,
              HasSubstr("2 of 3 problems are cases; 1 cannot be expressed:\n"
                        "        1 the destination is f32, that of a case bf16\n"
                        "          conv_problems:5: mb1ic8ih5oc8oh5kh1n\"net:second\"\n"));
  EXPECT_EQ(read_text(folder.file("net.yaml")),
            "# 2 of 3 problems, imported by\n"
            "#   bench import benchdnn conv_problems\n"
            "version: 1\n"
            "name: \"conv_problems\"\n"
            "cases:\n"
            "  # conv_problems:3: mb1ic4ih5oc8oh5kh3ph1n\"net:first*3\"\n"
            "  - { op: conv, c: 4, h: 5, k: 8, r: 3, pad: 1 }\n"
            "  # conv_problems:5: mb1ic8ih5oc8oh5kh1n\"net:second\"\n"
            "  - { op: conv, c: 8, h: 5, k: 8, r: 1 }\n");
  EXPECT_EQ(bench({"validate", "net.yaml"}, folder).status, 0);
}

TEST(ImportCommand, TheFileItselfGivesTheSameCases) {
  const TemporaryFolder folder;
  folder.write("conv_problems", kProblems);
  ASSERT_EQ(bench({"import", "benchdnn", "conv_problems", "-o", "net.yaml"}, folder).status, 0);
  EXPECT_EQ(list_cases("conv_problems", folder), list_cases("net.yaml", folder));
  const ProgramResult direct = bench({"list", "conv_problems", "--json"}, folder);
  EXPECT_EQ(json::parse(direct.out)["cases"][0]["source"], "conv_problems:3");
  EXPECT_THAT(direct.err, HasSubstr("conv_problems: 2 of 3 problems are cases, 1 cannot be "
                                    "expressed; `bench import benchdnn conv_problems -o "
                                    "FILE.yaml` lists them"));
}

TEST(ImportCommand, RunsTheFileItself) {
  const TemporaryFolder folder;
  folder.write("conv_problems", kProblems);
  const ProgramResult result =
      bench({"run", "conv_problems", "--quick", "--out", "r.jsonl", "--quiet"}, folder);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(read_text(folder.file("r.jsonl")), HasSubstr("\"source\":\"conv_problems:5\""));
}

TEST(ImportCommand, ReadsTritonbench) {
  const TemporaryFolder folder;
  folder.write("log.txt",
               "Operator: aten.mm.default\ncnt: 2, ((T([8, 16], f32), T([16, 4], f32)), {})\n");
  const ProgramResult result =
      bench({"import", "tritonbench", "log.txt", "-o", "log.yaml", "--json"}, folder);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(json::parse(result.out),
            json({{"found", 1}, {"imported", 1}, {"cases", 1}, {"refused", json::array()}}));
  EXPECT_EQ(list_cases("log.txt", folder), list_cases("log.yaml", folder));
}

TEST(ImportCommand, AModelIsANetworkThatRunsByItsFile) {
  const TemporaryFolder folder;
  const ProgramResult result =
      bench({"import", "onnx", BENCH_SOURCE_DIR "/tests/data/onnx/cnn.onnx", "--dimension",
             "batch=2", "-o", "net.yaml"},
            folder);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("All 11 nodes are expressed, with"));
  EXPECT_THAT(result.out, HasSubstr(" run net.yaml\n"));
  EXPECT_EQ(bench({"validate", "net.yaml"}, folder).status, 0);
  const json cases = list_cases("net.yaml", folder);
  EXPECT_EQ(cases.back()["id"], "network/forward/net/f32/onednn/cpu/hot");
  const ProgramResult run =
      bench({"run", "net.yaml", "--quick", "--out", "r.jsonl", "--quiet"}, folder);
  EXPECT_EQ(run.status, 0) << run.err;
}

TEST(ImportCommand, AModelWithAHoleIsASuite) {
  const TemporaryFolder folder;
  const ProgramResult result = bench(
      {"import", "onnx", BENCH_SOURCE_DIR "/tests/data/onnx/hole.onnx", "-o", "net.yaml", "--json"},
      folder);
  EXPECT_EQ(result.status, 0) << result.err;
  const json receipt = json::parse(result.out);
  EXPECT_EQ(receipt["nodes"], 4);
  EXPECT_EQ(receipt["expressed"], 3);
  EXPECT_EQ(receipt["suite_reason"], "operators between its layers cannot be expressed");
  EXPECT_EQ(receipt["refused"][0]["reason"], "no operator for Sin");
  EXPECT_EQ(list_cases("net.yaml", folder).size(), 2U);
}

// The error said that there is no node in the file.
TEST(ImportCommand, AModelOfViewsOnlyHasNothingToMeasure) {
  const TemporaryFolder folder;
  const ProgramResult result = bench(
      {"import", "onnx", BENCH_SOURCE_DIR "/tests/data/onnx/views.onnx", "-o", "net.yaml"}, folder);
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.out, HasSubstr("None of 2 nodes is a layer.\nExpressed without a layer: 2 "
                                    "(views, casts, dropout).\n"));
  EXPECT_THAT(result.err, HasSubstr("no node of it is a layer, so there is no new file"));
  EXPECT_FALSE(std::filesystem::exists(folder.file("net.yaml")));
}

TEST(ImportCommand, WrongModelsAreErrorsThatNameTheByte) {
  const TemporaryFolder folder;
  folder.write("broken.onnx", "\x0a\xff");
  const ProgramResult broken = bench({"import", "onnx", "broken.onnx", "-o", "net.yaml"}, folder);
  EXPECT_EQ(broken.status, 2);
  EXPECT_THAT(broken.err, HasSubstr("broken.onnx: is not an ONNX model: byte 0 begins"));
  const std::string cnn = BENCH_SOURCE_DIR "/tests/data/onnx/cnn.onnx";
  const ProgramResult name = bench({"import", "onnx", cnn, "-o", "my-net.yaml"}, folder);
  EXPECT_EQ(name.status, 2);
  EXPECT_THAT(name.err, HasSubstr("a network cannot be called `my-net`"));
  folder.write("conv_problems", kProblems);
  const ProgramResult other = bench(
      {"import", "benchdnn", "conv_problems", "--dimension", "batch=2", "-o", "net.yaml"}, folder);
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("`--dimension` sets sizes of a model"));
}

TEST(ImportCommand, KeepsAnExistingFile) {
  const TemporaryFolder folder;
  folder.write("conv_problems", kProblems);
  folder.write("net.yaml", "mine");
  const std::vector<std::string> command = {"import", "benchdnn", "conv_problems", "-o",
                                            "net.yaml"};
  const ProgramResult result = bench(command, folder);
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("--force"));
  EXPECT_EQ(read_text(folder.file("net.yaml")), "mine");
  std::vector<std::string> forced = command;
  forced.push_back("--force");
  EXPECT_EQ(bench(forced, folder).status, 0);
}

TEST(ImportCommand, WrongInputsAreErrorsAndLeaveNoFile) {
  const TemporaryFolder folder;
  folder.write("problems", kProblems);
  folder.write("conv_none", "# nothing\n");
  folder.write("sum_only", "--sum 2x4");
  const auto message = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "import");
    const ProgramResult result = bench(words, folder);
    EXPECT_EQ(result.status, 2);
    return result.err;
  };
  EXPECT_THAT(message({"benchdn", "problems", "-o", "a.yaml"}),
              HasSubstr("did you mean `benchdnn`?"));
  EXPECT_THAT(message({"benchdnn", "problems", "-o", "a.yaml"}),
              HasSubstr("problems:3: the driver of"));
  EXPECT_THAT(message({"benchdnn", "problems"}), HasSubstr("add -o FILE.yaml"));
  EXPECT_THAT(message({"benchdnn", "missing", "-o", "a.yaml"}), HasSubstr("missing"));
  EXPECT_THAT(message({"benchdnn", "conv_none", "-o", "a.yaml"}),
              HasSubstr("there is no problem in the files"));
  EXPECT_THAT(message({"benchdnn", "sum_only", "-o", "a.yaml"}),
              HasSubstr("nothing can be expressed, so there is no new file"));
  EXPECT_FALSE(std::filesystem::exists(folder.file("a.yaml")));
  // Earlier, "0 of 0 problems are cases." stood above the error.
  EXPECT_EQ(bench({"import", "benchdnn", "conv_none", "-o", "a.yaml"}, folder).out, "");
}

TEST(ImportCommand, AFileWithoutAnyCaseIsAnErrorInPlaceOfAConfiguration) {
  const TemporaryFolder folder;
  folder.write("sum_only", "--sum 2x4");
  const ProgramResult result = bench({"list", "sum_only"}, folder);
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("none of its 1 problem is a case: there is no operator for "
                                    "the driver sum"));
}

}  // namespace
}  // namespace bench::test::import_test
