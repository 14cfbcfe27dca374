// SPDX-License-Identifier: Apache-2.0
// Training steps of shipped networks: gradients compared with those that PyTorch computed
// (tests/data/training/pytorch_mnist_cnn.py), and their work.
#include "harness/config/network_file.hpp"
#include "ops/network/network.hpp"
#include "ops/network/test_support.hpp"
#include "ops/optimizer/optimizer.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstddef>
#include <fstream>
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
  struct Row {
    const char* network;
    std::int64_t without_gradient;  // MACs
    std::int64_t macs;
  };
  for (const Row& row :
       {Row{"bert_base", kBertProducts, 33445380096}, Row{"gpt2", 0, 413346299904},
        Row{"llama3_8b_block", 0, 338772885504}, Row{"vit_b_16", kPatches, 52933542912}}) {
    SCOPED_TRACE(row.network);
    const ops::Network inference = make_shipped(row.network, ops::Mode::inference);
    const ops::Network step = make_shipped(row.network, ops::Mode::training);
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

}  // namespace
}  // namespace bench
