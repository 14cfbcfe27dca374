// SPDX-License-Identifier: Apache-2.0
// `bench list --stats` as a user calls it, and the shipped lists of shapes.
#include "ops/operator.hpp"
#include "ops/problem.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace bench::test::list_stats_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::string kRoot = BENCH_SOURCE_DIR;

ProgramResult list(std::vector<std::string> arguments) {
  std::vector<std::string> command{BENCH_BINARY, "list"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_program({std::move(command), kRoot, {{"COLUMNS", "80"}}});
}

ProgramResult list_stats(std::vector<std::string> arguments) {
  arguments.emplace_back("--stats");
  return list(std::move(arguments));
}

json list_json(std::vector<std::string> arguments) {
  arguments.emplace_back("--json");
  const ProgramResult result = list(std::move(arguments));
  EXPECT_EQ(result.status, 0) << result.err;
  return json::parse(result.out);
}

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(BENCH_BINARY) != std::string::npos) continue;  // a command to paste
    longest = std::max(longest, line.size());
  }
  return longest;
}

// Sentences wrap at any blank.
std::string as_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

TEST(ListStats, ANetworkIsListedLayerByLayer) {
  const ProgramResult result = list_stats({"configs/mnist.yaml", "--filter", "network/*"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_LE(longest_line(result.out), 80u);
  const std::string text = as_one_line(result.out);
  EXPECT_THAT(text, HasSubstr("The network mnist_cnn (batch 64, f32) has 440,812 parameters"));
  EXPECT_THAT(text, HasSubstr("147,374,080 MACs"));
  EXPECT_THAT(text, HasSubstr("in 9 layers as they are written, before fusion."));
  EXPECT_THAT(text, HasSubstr("The network mlp (batch 16, f32) has 11,744 parameters"));
  EXPECT_THAT(text, HasSubstr("--stats --flop-convention torch"));
  EXPECT_EQ(list_stats({"configs/mnist.yaml", "--filter", "network/*"}).out, result.out);
}

TEST(ListStats, CasesHaveARowEach) {
  const ProgramResult result = list_stats({"configs/quick.yaml"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_LE(longest_line(result.out), 80u);  // it was 90
  EXPECT_THAT(result.out, testing::ContainsRegex("case +params .*MACs +FLOPs +bytes"));
  const std::string text = as_one_line(result.out);
  EXPECT_THAT(text, HasSubstr("3 cases have together 102,464 parameters"));
  EXPECT_THAT(text, HasSubstr("132,382,720 MACs"));
}

TEST(ListStats, JsonHasTheSame) {
  const ProgramResult result =
      list_stats({"configs/quick.yaml", "network/forward/mlp/f32/onednn/cpu/hot", "--json"});
  EXPECT_EQ(result.status, 0) << result.err;
  const json document = json::parse(result.out);
  EXPECT_EQ(document["flop_convention"], "bench");
  const json& product = document["cases"][1];
  EXPECT_EQ(product["id"], "gemm/forward/m256n256k256/f32/onednn/cpu/hot");
  EXPECT_EQ(product["work"]["macs"], 16777216);  // the fields without --stats stay
  EXPECT_EQ(product["stats"], (json{{"output", {256, 256}},
                                    {"parameters", 65536},
                                    {"activations", 65536},
                                    {"macs", 16777216},
                                    {"flops", 33554432},
                                    {"bytes", 786432}}));
  EXPECT_EQ(document["cases"][0]["stats"]["receptive_field"], (json{3, 3}));
  ASSERT_EQ(document["networks"].size(), 1u);
  const json& network = document["networks"][0];
  EXPECT_EQ(network["name"], "mlp");
  EXPECT_EQ(network["parameters"], 11744);
  EXPECT_EQ(network["macs"], 11520);
  EXPECT_EQ(network["layers"].size(), 6u);
  EXPECT_EQ(network["layers"][0], (json{{"name", "dense0"},
                                        {"op", "gemm"},
                                        {"output", {1, 128}},
                                        {"parameters", 1408},
                                        {"activations", 128},
                                        {"macs", 1280},
                                        {"flops", 2688},
                                        {"bytes", 4 * (10 + 1408 + 128)}}));
}

TEST(ListStats, EqualLayersAreCounted) {
  const json document = list_json({"network/forward/bert_base/f32/onednn/cpu/hot", "--stats"});
  for (const json& layer : document["networks"][0]["layers"]) {
    EXPECT_EQ(layer["equal_layers"].get<int>() % 12, 0) << layer["name"];
  }
}

// Totals of PyTorch 2.15 (torch.utils.flop_counter), which `ci/perf/peers/flops` compares.
const std::map<std::string, std::int64_t> kFlopsOfTorch = {
    {"bert_base", 22347251712},
    {"bert_large", 246423748608},
    {"densenet121", 5668323328},
    {"dlrm", 4916992},
    {"efficientnet_b0", 771629504},
    {"gpt2", 291648307200},
    {"gpt2_decode", 284812800},
    {"llama3_8b_block", 227633266688},
    {"llama3_8b_block_decode", 452984832},
    {"mlp", 23040},
    {"mnist_cnn", 4605440},
    {"mobilenet_v1", 1137480704},
    {"mobilenet_v2", 601548544},
    {"mobilenet_v3_large", 433179520},
    {"mobilenet_v3_small", 113020800},
    {"moe_block", 100925440},
    {"resnet18", 3628146688},
    {"resnet50_v1_5", 8178368512},
    {"unet", 385372651520},
    {"vgg16", 30940528640},
    {"vit_b_16", 35127656448},
};

TEST(ListStats, FlopsOfTorchAreThoseOfItsOwnCounter) {
  std::vector<std::string> arguments = {"--stats", "--flop-convention", "torch"};
  for (const auto& [name, flops] : kFlopsOfTorch) {
    arguments.push_back("network/forward/" + name + "/f32/onednn/cpu/hot");
  }
  const json document = list_json(arguments);
  EXPECT_EQ(document["flop_convention"], "torch");
  ASSERT_EQ(document["networks"].size(), kFlopsOfTorch.size());
  for (const json& network : document["networks"]) {
    EXPECT_EQ(network["flops"], kFlopsOfTorch.at(network["name"])) << network["name"];
  }
}

// That of VGG-16 is published (Araujo, Norris and Sim, Distill 2019). ResNet-50 v1.5: 7, pool 11,
// then per 3 x 3 convolution twice the distance of its inputs: 3*8, 8 + 3*16, 16 + 5*32, 32 + 2*64.
TEST(ListStats, ReceptiveFieldsOfWholeNetworks) {
  const auto field = [](const std::string& network, const std::string& name) -> json {
    const json document =
        list_json({"network/forward/" + network + "/f32/onednn/cpu/hot", "--stats"});
    for (const json& layer : document["networks"][0]["layers"]) {
      if (layer["name"] == name) return layer["receptive_field"];
    }
    return nullptr;
  };
  EXPECT_EQ(field("resnet50_v1_5", "layer4.2.add.relu"), (json{427, 427}));
  EXPECT_EQ(field("vgg16", "pool5"), (json{212, 212}));
}

TEST(ListStats, WrongOptionsAreNamed) {
  const ProgramResult unknown =
      list_stats({"configs/quick.yaml", "--flop-convention", "tensorflow"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("unknown convention `tensorflow`"));
  EXPECT_THAT(unknown.err, HasSubstr("torch"));
  const ProgramResult alone = list({"configs/quick.yaml", "--flop-convention", "torch"});
  EXPECT_EQ(alone.status, 2);
  EXPECT_THAT(alone.err, HasSubstr("add --stats"));
  EXPECT_EQ(list_stats({"nowhere.yaml"}).status, 2);
}

using Row = std::map<std::string, std::string>;  // key: column

std::vector<Row> read_shapes(const std::string& name) {
  std::ifstream file(kRoot + "/tests/data/deepbench/" + name + ".csv");
  const auto cells = [](const std::string& line) {
    std::vector<std::string> result;
    std::istringstream text(line);
    for (std::string cell; std::getline(text, cell, ',');) result.push_back(cell);
    return result;
  };
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> columns = cells(line);
  std::vector<Row> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> values = cells(line);
    Row row;
    for (std::size_t i = 0; i < values.size(); ++i) row[columns[i]] = values[i];
    rows.push_back(std::move(row));
  }
  EXPECT_FALSE(rows.empty());
  return rows;
}

// FLOPs of the cases of a configuration, by id.
std::map<std::string, std::int64_t> flops_by_id(const std::string& config) {
  std::map<std::string, std::int64_t> flops;
  const json document = list_json({config});
  for (const json& entry : document.at("cases")) {
    flops[entry["id"]] = entry["work"]["flops"];
  }
  return flops;
}

std::string forward_id(const std::string& op, const ops::ParameterSet& set) {
  const auto made = ops::make_problem({.op = ops::find_operator(op), .parameters = set});
  if (!made.ok()) ADD_FAILURE() << made.error().message();
  return op + "/forward/" + ops::problem_tokens(*made) + "/f32/onednn/cpu/hot";
}

// Every row of DeepBench's list is a case with its FLOPs, and nothing else is.
TEST(DeepBench, ConvolutionsAreTheList) {
  const auto flops = flops_by_id("configs/deepbench_conv.yaml");
  std::set<std::string> expected;
  for (const Row& row : read_shapes("conv")) {
    ops::ParameterSet set(ops::find_operator("conv")->parameters);
    const auto number = [&](const std::string& column) -> std::int64_t {
      return std::stoll(row.at(column));
    };
    for (const auto& [name, column] :
         {std::pair("n", "N"), std::pair("c", "C"), std::pair("h", "H"), std::pair("w", "W"),
          std::pair("k", "K"), std::pair("r", "R"), std::pair("s", "S")}) {
      set.set(name, number(column));
    }
    set.set("stride", std::vector{number("stride_h"), number("stride_w")});
    const std::int64_t h = number("pad_h"), w = number("pad_w");
    set.set("pad", std::vector<ops::PadPair>{{h, h}, {w, w}});
    const std::string id = forward_id("conv", set);
    expected.insert(id);
    ASSERT_TRUE(flops.contains(id)) << id;
    EXPECT_EQ(flops.at(id), number("flops_fwd")) << id;
    if (row.at("set") != "training_set") continue;
    for (const std::string direction : {"backward_data", "backward_weights"}) {
      std::string gradient = id;
      gradient.replace(gradient.find("forward"), 7, direction);
      expected.insert(gradient);
      EXPECT_TRUE(flops.contains(gradient)) << gradient;
    }
  }
  EXPECT_EQ(flops.size(), expected.size());
}

TEST(DeepBench, ProductsAreTheTransposedList) {
  const auto flops = flops_by_id("configs/deepbench_gemm.yaml");
  std::set<std::string> expected;
  for (const Row& row : read_shapes("gemm")) {
    ops::ParameterSet set(ops::find_operator("gemm")->parameters);
    set.set("m", std::int64_t{std::stoll(row.at("N"))});
    set.set("n", std::int64_t{std::stoll(row.at("M"))});
    set.set("k", std::int64_t{std::stoll(row.at("K"))});
    set.set("trans_a", row.at("transB") == "1");
    set.set("trans_b", row.at("transA") == "1");
    const std::string id = forward_id("gemm", set);
    expected.insert(id);
    ASSERT_TRUE(flops.contains(id)) << id;
    EXPECT_EQ(flops.at(id), std::stoll(row.at("flops"))) << id;
  }
  EXPECT_EQ(flops.size(), expected.size());
}

}  // namespace
}  // namespace bench::test::list_stats_test
