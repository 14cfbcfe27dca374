// SPDX-License-Identifier: Apache-2.0
// Training steps of shipped networks: gradients compared with those that PyTorch computed
// (tests/data/training/pytorch_mnist_cnn.py), and their work.
#include "harness/config/network_file.hpp"
#include "ops/network/network.hpp"
#include "ops/network/test_support.hpp"
#include "ops/optimizer/optimizer.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {
namespace {

using Values = std::vector<double>;

std::string read_source_file(const std::string& path) {
  std::ifstream file(std::string(BENCH_SOURCE_DIR) + "/" + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The same formula as in the script.
Values formula_values(std::size_t count, double phase, double factor) {
  Values values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = factor * std::sin(0.37 * static_cast<double>(i) + phase);
  }
  return values;
}

void expect_gradient(const nlohmann::json& want, const Values& got, const std::string& name) {
  constexpr double kTolerance = 1e-9;
  double sum = 0, squares = 0;
  for (const double value : got) {
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum, want["sum"].get<double>(), kTolerance * (1 + std::abs(sum))) << name;
  EXPECT_NEAR(squares, want["squares"].get<double>(), kTolerance * (1 + squares)) << name;
  const auto every = want["every"].get<std::size_t>();
  for (std::size_t i = 0; i < want["values"].size(); ++i) {
    EXPECT_NEAR(got[i * every], want["values"][i].get<double>(), kTolerance) << name << " " << i;
  }
}

TEST(TrainingStep, HasTheGradientsOfPyTorch) {
  const auto want = nlohmann::json::parse(read_source_file("tests/data/training/mnist_cnn.json"));
  const auto definition =
      parse_network(read_source_file("configs/networks/mnist_cnn.yaml"), "mnist_cnn.yaml");
  ASSERT_TRUE(definition.ok());
  constexpr std::int64_t kBatch = 3;
  const auto network = ops::make_network(*definition, kBatch, DataType::f64, ops::Mode::training,
                                         ops::Fusion::separate);
  ASSERT_TRUE(network.ok()) << network.error().message();
  ASSERT_EQ(network->input_count(), 3u);  // images, labels, weights of the rows
  Values labels;
  for (int i = 0; i < kBatch; ++i) labels.push_back((3 * i + 1) % 10);
  const std::vector<Values> inputs = {formula_values(kBatch * 28 * 28, 0.5, 1), labels,
                                      formula_values(kBatch, 1, 0.5)};
  std::vector<Values> parameters;
  for (std::size_t i = 0; i < network->parameter_places.size(); ++i) {
    const ops::Tensor& tensor = network->tensors[network->input_count() + i];
    parameters.push_back(
        formula_values(static_cast<std::size_t>(tensor.elements()), static_cast<double>(i), 0.05));
  }
  const std::vector<Values> outputs = ops::op_test::run_reference(*network, parameters, inputs);
  ASSERT_EQ(outputs.size(), 1 + parameters.size());
  for (std::size_t i = 0; i < outputs[0].size(); ++i) {
    EXPECT_NEAR(outputs[0][i], want["losses"][i].get<double>(), 1e-9);
  }
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const std::string& name = network->tensors[network->input_count() + p].name;
    ASSERT_TRUE(want["gradients"].contains(name)) << name;
    Values gradient(parameters[p].size());
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      gradient[i] = (parameters[p][i] - outputs[1 + p][i]) / ops::kLearningRate;
    }
    expect_gradient(want["gradients"][name], gradient, name);
  }
}

ops::Network make_shipped(const std::string& name, ops::Mode mode) {
  const auto definition =
      parse_network(read_source_file("configs/networks/" + name + ".yaml"), name + ".yaml");
  if (!definition.ok()) {
    ADD_FAILURE() << definition.error().front().message();
    return {};
  }
  auto network = ops::make_network(*definition, 1, DataType::f32, mode, ops::Fusion::separate);
  if (network.ok()) return *std::move(network);
  ADD_FAILURE() << network.error().message();
  return {};
}

std::int64_t count_macs(const ops::Network& network, std::string_view op) {
  std::int64_t sum = 0;
  for (const ops::Node& node : network.nodes) {
    if (node.problem.op->name == op) sum += node.problem.work.macs.value_or(0);
  }
  return sum;
}

// The products of a step are three times those of the forward pass, without the gradients of
// inputs that no learned parameter comes before; those of attention 3.5 times, because a gradient
// computes five products and the forward pass two.
TEST(TrainingStep, TransformersHaveOneOfExactWork) {
  constexpr std::int64_t kBertProducts = std::int64_t{3} * 128 * 768 * 768;
  constexpr std::int64_t kPatches = std::int64_t{196} * 768 * 3 * 16 * 16;
  struct ShippedNetwork {
    const char* name;
    std::int64_t without_gradient;  // MACs
    std::int64_t macs;
  };
  for (const ShippedNetwork& row :
       {ShippedNetwork{"bert_base", kBertProducts, 33445380096},
        ShippedNetwork{"gpt2", 0, 413346299904}, ShippedNetwork{"llama3_8b_block", 0, 338772885504},
        ShippedNetwork{"vit_b_16", kPatches, 52933542912}}) {
    SCOPED_TRACE(row.name);
    const ops::Network inference = make_shipped(row.name, ops::Mode::inference);
    const ops::Network step = make_shipped(row.name, ops::Mode::training);
    EXPECT_EQ(step.gap, std::nullopt);
    EXPECT_EQ(step.work.macs, row.macs);
    const std::int64_t attention = count_macs(inference, "attention");
    EXPECT_EQ(2 * count_macs(step, "attention"), 7 * attention);
    EXPECT_EQ(row.macs - count_macs(step, "attention"),
              3 * (*inference.work.macs - attention) - row.without_gradient);
    // The loss and the new value of each learned parameter.
    std::int64_t updated = 0;
    for (const ops::Node& node : step.nodes) {
      if (node.pass == ops::Pass::optimizer) updated += node.problem.output().elements();
    }
    EXPECT_EQ(updated, step.parameters);
  }
}

// The networks of all files, without the ending.
std::vector<std::string> list_shipped() {
  std::vector<std::string> names;
  const std::filesystem::path folder = std::filesystem::path(BENCH_SOURCE_DIR) / "configs/networks";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

// Networks without a step, and a part of the reason (docs/configuration.md). A pass that decodes
// one token has the keys and values of the cache as outputs.
const std::map<std::string, std::string>& reasons_without_step() {
  static const std::map<std::string, std::string> reasons = {
      {"gpt2_decode", "has one output, and the network has 25"},
      {"llama3_8b_block_decode", "has one output, and the network has 3"}};
  return reasons;
}

// Returns twice the multiply-accumulates that a step needs for the products of the forward pass:
// each product, and one more for each factor whose gradient is needed, a parameter or what depends
// on one. For attention, the gradients take five products to the two of the forward pass.
std::int64_t count_twice_needed_macs(const ops::Network& network) {
  using Kind = ops::Source::Kind;
  std::int64_t sum = 0;
  std::vector<bool> depends;  // whether the result of a node depends on a parameter
  for (const ops::Node& node : network.nodes) {
    const auto needs_gradient = [&](const ops::Source& source) {
      return source.kind == Kind::node ? depends[source.index] : source.kind == Kind::parameter;
    };
    depends.push_back(std::ranges::any_of(node.sources, needs_gradient));
    if (!node.problem.work.macs) continue;
    std::int64_t twice = 2;
    if (node.problem.op->name == "attention") {
      twice += 5;
    } else {
      twice += needs_gradient(node.sources[0]) ? 2 : 0;
      twice += needs_gradient(node.sources[1]) ? 2 : 0;
    }
    sum += twice * *node.problem.work.macs;
  }
  return sum;
}

void expect_exact_step(const ops::Network& inference, const ops::Network& step) {
  std::int64_t flops = 0, macs = 0, updated = 0;
  for (const ops::Node& node : step.nodes) {
    flops += node.problem.work.flops;
    macs += node.problem.work.macs.value_or(0);
    if (node.pass == ops::Pass::optimizer) updated += node.problem.output().elements();
    EXPECT_TRUE(node.without_gradient.empty()) << node.name;
    for (const ops::Source& source : node.sources) {
      EXPECT_NE(source.kind, ops::Source::Kind::unknown) << node.name;
    }
  }
  EXPECT_EQ(step.work.flops, flops);
  EXPECT_EQ(step.work.macs.value_or(0), macs);
  EXPECT_EQ(2 * macs, count_twice_needed_macs(inference));
  EXPECT_EQ(updated, step.parameters);
  EXPECT_GT(updated, 0);
}

// A file that is added must have a step, or a reason here. Before, the mixture of experts had none.
TEST(TrainingStep, EveryShippedNetworkHasOneOfExactWorkOrAReason) {
  const std::vector<std::string> names = list_shipped();
  ASSERT_FALSE(names.empty());
  std::size_t without_step = 0;
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const ops::Network inference = make_shipped(name, ops::Mode::inference);
    const ops::Network step = make_shipped(name, ops::Mode::training);
    const auto reason = reasons_without_step().find(name);
    if (reason == reasons_without_step().end()) {
      EXPECT_EQ(step.gap, std::nullopt);
      expect_exact_step(inference, step);
      continue;
    }
    ++without_step;
    EXPECT_NE(step.gap.value_or("").find(reason->second), std::string::npos)
        << step.gap.value_or("no reason");
    // Its gradients exist all the same.
    for (const ops::Node& node : step.nodes)
      EXPECT_TRUE(node.without_gradient.empty()) << node.name;
  }
  EXPECT_EQ(without_step, reasons_without_step().size());
}

}  // namespace
}  // namespace bench
