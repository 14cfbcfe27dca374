// SPDX-License-Identifier: Apache-2.0
// A fused network computes what its unfused chain computes. Tested on random networks.
#include "ops/fill.hpp"
#include "ops/network/network_steps.hpp"
#include "ops/network/test_support.hpp"
#include "ops/test_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace bench::ops {
namespace {

using op_test::draw;
using op_test::layer;
using op_test::make;
using op_test::Random;
using op_test::run_reference;

constexpr std::int64_t kChannels = 4;

// Grows a graph in which every tensor has the same shape, so that any two can be added. Most layers
// read the previous layer, as in real networks.
class RandomNetwork {
 public:
  explicit RandomNetwork(Random& random) : random_(random) {}

  NetworkDefinition make(std::int64_t layers) {
    for (std::int64_t i = 0; i < layers; ++i) add_layer();
    // Sums up all results that nothing reads yet, then adds a classifier.
    std::vector<std::string> loose(loose_.begin(), loose_.end());
    std::string last = loose.front();
    for (std::size_t i = 1; i < loose.size(); ++i) {
      last = add("add", "pointwise", "add", {last, loose[i]});
    }
    last = add("gap", "pool", "avg_exclude_pad+global", {last});
    last = add("fc", "gemm", "n3", {last});
    last = add("act", "pointwise", "tanh", {last});
    // The order of the list must not matter, except that the last layer is the output.
    std::shuffle(definition_.layers.begin(), definition_.layers.end() - 1, random_);
    return definition_;
  }

 private:
  struct Kind {
    std::string_view op;
    std::string_view tokens;
  };
  static constexpr std::array<Kind, 16> kKinds = {{{"conv", "k4r3s3p1"},
                                                   {"conv", "k4r1s1+bias"},
                                                   {"conv", "g4k4r3s3p1"},
                                                   {"conv", "g2k4r3s3p2e2"},
                                                   {"conv", "k4r3s3p1+transposed"},
                                                   {"batch_norm", ""},
                                                   {"batch_norm", "eps0.001"},
                                                   {"batch_norm", ""},
                                                   {"pointwise", "relu"},
                                                   {"pointwise", "clip"},
                                                   {"pointwise", "clip-alpha-0.5beta0.5"},
                                                   {"pointwise", "leaky_relu-alpha0.25"},
                                                   {"pointwise", "hardswish"},
                                                   {"pointwise", "add"},
                                                   {"pointwise", "add"},
                                                   {"pool", "max-r3u1p1"}}};

  std::string some_tensor() {
    if (draw(random_, 0, 2) != 0 || tensors_.size() == 1) return tensors_.back();
    return tensors_[static_cast<std::size_t>(
        draw(random_, 0, static_cast<std::int64_t>(tensors_.size()) - 1))];
  }

  void add_layer() {
    const Kind& kind = kKinds[static_cast<std::size_t>(
        draw(random_, 0, static_cast<std::int64_t>(kKinds.size()) - 1))];
    std::vector<std::string> inputs = {some_tensor()};
    if (kind.tokens == "add") {
      inputs.push_back(tensors_[static_cast<std::size_t>(
          draw(random_, 0, static_cast<std::int64_t>(tensors_.size()) - 1))]);
      if (draw(random_, 0, 1) == 1) std::swap(inputs[0], inputs[1]);
    }
    add(std::string(kind.op), kind.op, kind.tokens, inputs);
  }

  std::string add(const std::string& stem, std::string_view op, std::string_view tokens,
                  const std::vector<std::string>& inputs) {
    const std::string name = stem + std::to_string(definition_.layers.size());
    definition_.layers.push_back(layer(name, op, tokens, inputs));
    for (const std::string& input : inputs) loose_.erase(input);
    loose_.insert(name);
    tensors_.push_back(name);
    return name;
  }

  Random& random_;
  NetworkDefinition definition_{.name = "random", .input = {kChannels, 5, 6}, .layers = {}};
  std::vector<std::string> tensors_ = {"input"};
  std::set<std::string> loose_;
};

// Every layer of the definition is exactly once a node of the fused network or joined to one.
void expect_all_layers(const NetworkDefinition& definition, const Network& fused) {
  std::multiset<std::string> found;
  for (const Node& node : fused.nodes) {
    found.insert(node.name);
    found.insert(node.fused.begin(), node.fused.end());
  }
  std::multiset<std::string> expected;
  for (const LayerDefinition& written : definition.layers) expected.insert(written.name);
  EXPECT_EQ(found, expected);
}

void expect_ordered(const Network& network) {
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    for (const Source& source : network.nodes[i].sources) {
      if (source.kind != Source::Kind::node) continue;
      EXPECT_LT(source.index, i);
    }
  }
}

void expect_equal_results(const Network& separate, const Network& fused, std::uint64_t seed) {
  const auto parameters = random_parameters(separate, seed);
  const auto folded = fold_parameters(separate, parameters, fused);
  ASSERT_EQ(folded.size(), fused.parameter_places.size());
  std::vector<double> input(static_cast<std::size_t>(separate.tensors.front().elements()));
  Random random(seed);
  for (double& value : input) value = std::uniform_real_distribution<double>(-1, 1)(random);
  const std::vector<double> want = run_reference(separate, parameters, input);
  const std::vector<double> got = run_reference(fused, folded, input);
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], want[i], 1e-10 * (1 + std::abs(want[i])));
  }
}

TEST(Fuse, RandomNetworksComputeTheSame) {
  Random random(1);
  std::size_t joined = 0;
  std::size_t residuals = 0;
  for (int i = 0; i < 400; ++i) {
    const NetworkDefinition definition = RandomNetwork(random).make(draw(random, 1, 25));
    const Network separate = make(definition, Fusion::separate, DataType::f64, 2);
    const Network fused = make(definition, Fusion::fused, DataType::f64, 2);
    expect_all_layers(definition, fused);
    expect_ordered(separate);
    expect_ordered(fused);
    expect_equal_results(separate, fused, random());
    EXPECT_EQ(fused.work.macs, separate.work.macs);
    EXPECT_EQ(fused.parameters, separate.parameters);
    joined += separate.nodes.size() - fused.nodes.size();
    for (const Node& node : fused.nodes) {
      residuals += static_cast<std::size_t>(
          std::ranges::count(node.problem.post_ops, "add", &PostOp::function));
    }
    ASSERT_FALSE(HasFailure()) << "network " << i;
  }
  // The random networks must cover what is tested.
  EXPECT_GT(joined, 1000u);
  EXPECT_GT(residuals, 100u);
}

// Libraries may store a parameter in the narrowest type that represents it.
TEST(Fuse, FoldedParametersFitTheirTypes) {
  const NetworkDefinition definition{.name = "fold",
                                     .input = {4, 5, 5},
                                     .layers = {layer("conv", "conv", "k4r3s3p1", {"input"}),
                                                layer("bn", "batch_norm", "", {"conv"})}};
  const Network separate = make(definition, Fusion::separate, DataType::bf16);
  const Network fused = make(definition, Fusion::fused, DataType::bf16);
  const auto folded = fold_parameters(separate, random_parameters(separate, 7), fused);
  ASSERT_EQ(folded.size(), 2u);
  const Problem& conv = fused.nodes[0].problem;
  for (std::size_t i = 0; i < folded.size(); ++i) {
    for (const double value : folded[i]) {
      EXPECT_EQ(value, round_to(representable_type(conv, conv.tensors[i + 1]), value));
    }
  }
  EXPECT_EQ(representable_type(conv, conv.tensors[2]), DataType::bf16);
}

TEST(Fuse, FoldByHand) {
  const NetworkDefinition definition{.name = "fold",
                                     .input = {1, 1, 1},
                                     .layers = {layer("conv", "conv", "k2r1s1+bias", {"input"}),
                                                layer("bn", "batch_norm", "eps1", {"conv"})}};
  const Network separate = make(definition, Fusion::separate, DataType::f32);
  const Network fused = make(definition, Fusion::fused, DataType::f32);
  // weights, bias, mean, variance, scale, shift
  const std::vector<std::vector<double>> values = {{2, 3}, {1, 1},  {3, 0},
                                                   {3, 8}, {4, -3}, {10, 20}};
  const auto folded = fold_parameters(separate, values, fused);
  ASSERT_EQ(folded.size(), 2u);
  EXPECT_EQ(folded[0], (std::vector<double>{4, -3}));  // factors 4/2 and -3/3
  EXPECT_EQ(folded[1], (std::vector<double>{6, 19}));  // (1-3)*2+10, (1-0)*-1+20
}

TEST(Fuse, RandomParametersDependOnSeedAndNode) {
  const NetworkDefinition definition{
      .name = "two",
      .input = {4, 5, 5},
      .layers = {layer("a", "conv", "k4r3s3p1", {"input"}), layer("b", "conv", "k4r3s3p1", {"a"})}};
  const Network network = make(definition, Fusion::separate, DataType::f32);
  const auto first = random_parameters(network, 1);
  EXPECT_EQ(first, random_parameters(network, 1));
  EXPECT_NE(first, random_parameters(network, 2));
  EXPECT_NE(first[0], first[1]);
}

}  // namespace
}  // namespace bench::ops
