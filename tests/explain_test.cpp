// SPDX-License-Identifier: Apache-2.0
// `bench explain` as a user calls it; for `--arch`, the sections in tests/data/explain_golden.
#include "tests/support/golden.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace bench::test::explain_test {
namespace {

using nlohmann::json;
using testing::AnyOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

ProgramResult explain(std::vector<std::string> arguments) {
  std::vector<std::string> command{BENCH_BINARY, "explain"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_program({std::move(command), BENCH_SOURCE_DIR, {}});
}

// Returns the text from "tensor cores" to the next empty line. It does not depend on the machine or
// on installed libraries.
std::string tensor_core_section(const std::vector<std::string>& arguments) {
  const ProgramResult result = explain(arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  const std::size_t begin = result.out.find("tensor cores (");
  if (begin == std::string::npos) return result.out;
  return result.out.substr(begin, result.out.find("\n\n", begin) + 1 - begin);
}

json tensor_cores(std::vector<std::string> arguments) {
  arguments.push_back("--json");
  const ProgramResult result = explain(std::move(arguments));
  EXPECT_EQ(result.status, 0) << result.err;
  return json::parse(result.out).at("cases").at(0).at("tensor_cores");
}

constexpr const char* kConv = "conv/forward/n32c63h28w28k64r3s3p1/f16/onednn/cpu/hot";

TEST(ExplainGolden, TensorCoresOfOperators) {
  const std::string product = "gemm/forward/m4096n4096k4095/f16/onednn/cpu/hot";
  const std::string plain = "gemm/forward/m64n64k64/f32/onednn/cpu/hot";
  const std::string pool = "pool/forward/max-c64h56w56r3/f32/onednn/cpu/hot";
  std::string text;
  for (const auto& [id, platform] :
       {std::pair(product, "sm_90"), std::pair(plain, "sm_90"), std::pair(plain + "/tf32", "9.0"),
        std::pair(plain, "sm_75"), std::pair(std::string(kConv), "sm_100"),
        std::pair(std::string(kConv), "sm_70:cuda10"),
        std::pair(std::string(kConv) + "/nchw", "sm_80"), std::pair(pool, "sm_90")}) {
    text += "$ bench explain " + id + " --arch " + platform + "\n" +
            tensor_core_section({id, "--arch", platform}) + "\n";
  }
  expect_golden("tests/data/explain_golden/operators.txt", text);
}

TEST(ExplainGolden, TensorCoresOfANetwork) {
  const std::string id = "network/forward/mobilenet_v2-n8/f16/onednn/cpu/hot";
  expect_golden("tests/data/explain_golden/network.txt",
                tensor_core_section({id, "--arch", "sm_90"}));
}

TEST(ExplainTest, TensorCoresAsJson) {
  const json found = tensor_cores({kConv, "--arch", "sm_90"});
  EXPECT_EQ(found["arch"], "sm_90");
  EXPECT_EQ(found["libraries"], "cuda13");
  EXPECT_EQ(found["verdict"], "eligible");
  EXPECT_EQ(found["alignment"], "degraded");
  EXPECT_EQ(found["parts"].size(), 5u);
  EXPECT_EQ(found["parts"]["arch_supports"]["rule"], "arch-f16");
  EXPECT_EQ(found["parts"]["alignment_grade"]["ok"], true);
  EXPECT_EQ(found["copies"]["workspace_bytes"], 3208 * 1024);
  const json network =
      tensor_cores({"network/forward/resnet18-n8/f16/onednn/cpu/hot", "--arch", "sm_90"});
  EXPECT_GT(network["nodes"].size(), 20u);
  EXPECT_EQ(network["nodes"][0]["verdict"], "eligible");
}

TEST(ExplainTest, SaysNothingOfTensorCoresUnlessAsked) {
  const ProgramResult result = explain({kConv});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, Not(HasSubstr("tensor cores")));
  EXPECT_THAT(explain({kConv, "--json"}).out, Not(HasSubstr("tensor_cores")));
}

TEST(ExplainTest, NamesTheArchitecturesThatItKnows) {
  const ProgramResult result = explain({kConv, "--arch", "sm_91"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("--arch: unknown architecture `sm_91`"));
  EXPECT_THAT(result.err, HasSubstr("did you mean `sm_90`?"));
  EXPECT_EQ(explain({kConv, "--arch", "sm_90:cuda9"}).status, 2);
}

// A library with a capped instruction set skips the faster implementations of a product, whatever
// the machine.
TEST(ExplainTest, SaysWhyTheLibraryDidNotTakeItsOtherImplementations) {
  const std::string id = "gemm/forward/m16n16k16/f32/onednn/cpu/hot/t1";
  const auto capped = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {BENCH_BINARY, "explain", id});
    return run_program({std::move(arguments), BENCH_SOURCE_DIR, {{"ONEDNN_MAX_CPU_ISA", "SSE41"}}});
  };
  const ProgramResult text = capped({});
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out,
              ContainsRegex("\nnot taken\n(  .*\n)*  matmul +brg:avx512_core +unsupported isa  "
                            "\\(src/cpu/x64/[^ )]+:[0-9]+\\)\n"));
  const ProgramResult machine = capped({"--json"});
  ASSERT_EQ(machine.status, 0) << machine.err;
  const json here = json::parse(machine.out).at("cases").at(0).at("here");
  bool seen = false;
  for (const json& reason : here.at("not_taken")) {
    EXPECT_FALSE(reason.at("reason").get<std::string>().empty()) << reason;
    EXPECT_NE(reason.value("implementation", ""), here.at("implementation")) << "it was taken";
    if (reason.value("implementation", "") != "brg:avx512_core") continue;
    seen = true;
    EXPECT_EQ(reason.at("primitive"), "matmul");
    EXPECT_EQ(reason.at("reason"), "unsupported isa");
    EXPECT_THAT(reason.at("location").get<std::string>(), HasSubstr("src/cpu/x64/"));
  }
  EXPECT_TRUE(seen) << machine.out;
}

TEST(ExplainTest, TakesAGpuThatAFileDescribes) {
  const std::string file = "ops/cuda/cudnn/testdata/sm_75.json";
  EXPECT_EQ(tensor_cores({kConv, "--gpu", file}).at("arch"), "sm_75");
  const ProgramResult result = explain({kConv, "--gpu", file, "--json"});
  const json there = json::parse(result.out).at("cases").at(0).at("there");
  EXPECT_EQ(there.at("gpu"), "Tesla T4");
  // Without the plugin, or without cuDNN, the output has the reason instead.
  if (there.value("runs", "") == "yes") {
    ASSERT_FALSE(there.at("engines").empty()) << there;
    // Every configuration has its list and its settings; excluded ones have the reason.
    EXPECT_THAT(there.at("engines").front().get<std::string>(),
                MatchesRegex("(A 1: engine [0-9]+: .*knobs .*|none: .*)"));
  } else {
    EXPECT_FALSE(there.at("reason").get<std::string>().empty()) << there;
  }
  EXPECT_THAT(explain({kConv, "--gpu", file}).out,
              HasSubstr("on Tesla T4, which --gpu describes\n"));
}

// This does not depend on the installed libraries: the tool knows what a GPU lacks without them.
TEST(ExplainTest, SaysWhatTheDescribedGpuLacks) {
  const auto there = [](const std::string& id, const std::string& gpu) {
    const ProgramResult result =
        explain({id, "--gpu", "ops/cuda/cudnn/testdata/" + gpu + ".json", "--json"});
    return json::parse(result.out).at("cases").at(0).at("there");
  };
  const std::string product = "gemm/forward/m64n64k64+tb/f8_e4m3/cublaslt/cuda/hot";
  const json older = there(product, "sm_75");
  if (older.value("runs", "").empty()) GTEST_SKIP() << older.at("reason");  // no plugin
  EXPECT_EQ(older.at("runs"), "no");
  EXPECT_THAT(older.at("reason").get<std::string>(), HasSubstr("compute capability 8.9"));
  EXPECT_EQ(there(product, "sm_89").at("runs"), "yes");
  EXPECT_EQ(there("gemm/forward/m64n64k64/f8_e4m3/cublaslt/cuda/hot", "sm_90").at("runs"), "no");
  const json half = there("conv/forward/n32c64h28w28k64r3s3p1/bf16/cudnn/cuda/hot", "sm_75");
  EXPECT_NE(half.at("runs"), "yes") << half;
  EXPECT_THAT(half.at("reason").get<std::string>(),
              AnyOf(HasSubstr("compute capability 8.0"), HasSubstr("built without cuDNN")));
}

constexpr const char* kNetwork = "network/forward/resnet50_v1_5-n32/f16/cudnn/cuda/hot";

// Whether this build has no plugin, or one without cuDNN, and the answer says so.
bool lacks_plugin(const json& there) {
  const std::string reason = there.at("reason");
  return reason.find("no CUDA plugin") != std::string::npos ||
         reason.find("built without cuDNN") != std::string::npos;
}

// The plan of a network is the answer, so it comes before the tensors. Engines depend on cuDNN and
// on the driver, so that only the structure is checked.
TEST(ExplainTest, BeginsWithThePlanOfANetworkOnTheDescribedGpu) {
  const ProgramResult machine =
      explain({kNetwork, "--gpu", "ops/cuda/cudnn/testdata/sm_90.json", "--json"});
  ASSERT_EQ(machine.status, 0) << machine.err;
  const json there = json::parse(machine.out).at("cases").at(0).at("there");
  if (lacks_plugin(there)) GTEST_SKIP() << there.at("reason");
  EXPECT_EQ(there.at("runs"), "yes") << there.at("reason");
  EXPECT_FALSE(there.at("basis").get<std::string>().empty());
  const json& steps = there.at("steps");
  EXPECT_EQ(steps.size(), 57u);
  EXPECT_EQ(steps[0], json::parse(R"({"node": "conv1", "kind": "reorder", "way": "transpose",
                                      "implementation": "bench:reorder_pixels",
                                      "layouts": "nchw -> nhwc", "other_ways": []})"));
  EXPECT_EQ(steps[1].at("way"), "graph");
  EXPECT_EQ(steps[1].at("layouts"), "nhwc -> nhwc, weights nhwc/plain");
  EXPECT_EQ(steps.back().at("way"), "product");

  const ProgramResult text = run_program(
      {{BENCH_BINARY, "explain", kNetwork, "--gpu", "ops/cuda/cudnn/testdata/sm_90.json"},
       BENCH_SOURCE_DIR,
       {{"COLUMNS", "80"}}});
  ASSERT_EQ(text.status, 0) << text.err;
  const std::string plan = text.out.substr(0, text.out.find("\ntensors\n"));
  EXPECT_THAT(plan, ContainsRegex("^case  [^\n]*\n\nOn NVIDIA H100[^\n]* the network runs"));
  EXPECT_THAT(plan, HasSubstr("\n  conv1 "));
  EXPECT_THAT(plan, ContainsRegex("\nNext: measure the network on that GPU:\n  [^\n]* run "
                                  "network/forward/resnet50_v1_5-n32/f16/cudnn/cuda/hot\n"));
  std::istringstream lines(plan.substr(0, plan.find("\nNext: ")));  // commands are never folded
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

// Without cuDNN's description of the device, the rules answer, and say so.
TEST(ExplainTest, PlansANetworkForAnArchitectureByTheRules) {
  const auto there = [](const std::string& id, const std::string& architecture) {
    const ProgramResult result = explain({id, "--arch", architecture, "--json"});
    EXPECT_EQ(result.status, 0) << result.err;
    return json::parse(result.out).at("cases").at(0).at("there");
  };
  // A case of the CPU gets the plan of the same case on a GPU.
  const json hopper = there("network/forward/resnet50_v1_5/f16/onednn/cpu/hot", "sm_90");
  if (lacks_plugin(hopper)) GTEST_SKIP() << hopper.at("reason");
  EXPECT_THAT(hopper.at("basis").get<std::string>(), HasSubstr("only the rules of bench answered"));
  EXPECT_EQ(hopper.at("steps").at(1).at("implementation"), "cudnn:n/a");
  const json turing = there("network/forward/resnet50_v1_5/bf16/cudnn/cuda/hot", "sm_75");
  EXPECT_EQ(turing.at("runs"), "no");
  EXPECT_EQ(turing.at("reason"), "conv1: bf16 needs compute capability 8.0, this is 7.5");
}

// Its folder `networks` is beside the configuration, where the child process finds it too.
TEST(ExplainTest, PlansTheNetworkOfAConfiguration) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("networks"));
  folder.write("networks/tiny.yaml",
               "version: 1\n"
               "network: tiny\n"
               "input: { c: 8, h: 8, w: 8 }\n"
               "layers:\n"
               "  - { name: one, op: conv, k: 8, r: 1 }\n");
  const std::string config = folder.write("tiny.yaml",
                                          "version: 1\n"
                                          "cases:\n"
                                          "  - network: tiny\n"
                                          "    dtype: f16\n"
                                          "    measure: [network]\n");
  const ProgramResult result = explain({config, "--arch", "sm_90", "--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const json there = json::parse(result.out).at("cases").at(0).at("there");
  if (lacks_plugin(there)) GTEST_SKIP() << there.at("reason");
  EXPECT_EQ(there.value("runs", ""), "yes") << there;
  EXPECT_EQ(there.at("steps").size(), 3u) << there;
}

TEST(ExplainTest, RefusesAFileThatDescribesNoGpu) {
  const ProgramResult result = explain({kConv, "--gpu", "README.md"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("README.md: describes no GPU"));
  EXPECT_EQ(explain({kConv, "--gpu", "nowhere.json"}).status, 2);
}

constexpr const char* kProduct = "gemm/forward/m64n64k64/f32/onednn/cpu/hot";

TEST(ExplainTest, TryMeasuresAVariantAgainstItsCase) {
  const ProgramResult result =
      explain({std::string(kProduct) + "/t1", "--try=batch", "--duets", "1", "--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const json variants = json::parse(result.out).at("cases").at(0).at("variants");
  ASSERT_EQ(variants.size(), 1u);
  EXPECT_EQ(variants[0]["name"], "batch");
  EXPECT_EQ(variants[0]["id"], "gemm/forward/m128n64k64/f32/onednn/cpu/hot/t1");
  EXPECT_EQ(variants[0]["duets"], 1);
  EXPECT_GT(variants[0]["ratio"], 0);
  EXPECT_FALSE(variants[0].contains("low"));  // one duet has no interval
}

TEST(ExplainTest, TryAnswersInASentenceBeforeTheTable) {
  const ProgramResult result =
      explain({std::string(kProduct) + "/t1", "--try=batch", "--duets", "1"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("The change to batch is not certain to make this case 1 % "));
}

// Earlier, its exit status was 0.
TEST(ExplainTest, TryThatTheBudgetEndedIsIncomplete) {
  const ProgramResult result =
      explain({kProduct, "--try=one_thread,all_threads,batch", "--duets", "500", "--budget", "1s"});
  EXPECT_EQ(result.status, 3) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("The measurement was stopped by the budget."));
}

TEST(ExplainTest, TryRefusesAnUnknownVariant) {
  const ProgramResult result = explain({kProduct, "--try=ncwh"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("unknown variant `ncwh`"));
  EXPECT_THAT(result.err, HasSubstr("nchw"));
}

TEST(ExplainTest, TryOfAVariantThatDoesNotFitTheCaseIsNoAnswer) {
  const ProgramResult result = explain({kProduct, "--try=nhwc", "--duets", "1"});
  EXPECT_EQ(result.status, 3) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("No change of this case could be measured."));
  EXPECT_THAT(result.out, HasSubstr("Not measured: this change does not fit the case."));
}

TEST(ExplainTest, DuetsWithoutTryAreRefused) {
  const ProgramResult result = explain({kProduct, "--duets", "3"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("nothing is measured without --try"));
}

}  // namespace
}  // namespace bench::test::explain_test
