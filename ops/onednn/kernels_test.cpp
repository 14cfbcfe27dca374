// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/kernels.hpp"

#include "ops/backend/kernel.hpp"
#include "ops/native/backend.hpp"
#include "ops/network/test_support.hpp"
#include "ops/onednn/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::ops::op_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t kSeed = 7;

// Values of order 1 in sequential layers: errors of each layer are passed on and add up.
Tolerance compute_tolerance(const Network& network) {
  const double steps = 64 * static_cast<double>(network.nodes.size());
  const double error = steps * info(network.dtype).epsilon;
  return {.absolute = error, .relative = error};
}

class NetworkKernelTest : public ::testing::Test {
 protected:
  // Returns nullopt (and fails for f32) if there is no kernel.
  std::optional<std::vector<std::vector<double>>> run(
      const Network& network, const std::vector<std::vector<double>>& parameters,
      const std::vector<std::vector<double>>& inputs) {
    auto kernel = backend_->create(network);
    if (!kernel.ok()) {
      EXPECT_NE(network.dtype, DataType::f32) << kernel.error().reason;
      EXPECT_EQ(kernel.error().kind, BackendError::Kind::unsupported) << kernel.error().reason;
      return std::nullopt;
    }
    steps_ = (*kernel)->steps();
    KernelRun kernel_run(**kernel, network.tensors);
    std::size_t tensor = 0;
    for (const auto& values : inputs) kernel_run.set(tensor++, values);
    for (const auto& values : parameters) kernel_run.set(tensor++, values);
    kernel_run.run();
    std::vector<std::vector<double>> outputs;
    for (; tensor < network.tensors.size(); ++tensor) outputs.push_back(kernel_run.get(tensor));
    return outputs;
  }

  // Compares the fused and the separate network with the plain executor.
  void check(const NetworkDefinition& definition, DataType dtype, std::int64_t batch) {
    const Network separate = make(definition, Fusion::separate, dtype, batch);
    const Network fused = make(definition, Fusion::fused, dtype, batch);
    const auto parameters = random_parameters(separate, kSeed);
    const auto folded = fold_parameters(separate, parameters, fused);
    expect_reference(separate, parameters, compute_tolerance(separate), " separate");
    expect_reference(fused, folded, compute_tolerance(separate), " fused");
  }

  void expect_reference(const Network& network, const std::vector<std::vector<double>>& parameters,
                        const Tolerance& tolerance, const std::string& what) {
    const auto inputs = random_network_inputs(network);
    const auto got = run(network, parameters, inputs);
    if (!got) return;
    const auto want = run_reference(network, parameters, inputs);
    ASSERT_EQ(got->size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
      expect_near((*got)[i], want[i], tolerance, network.name + what);
    }
  }

  static std::vector<std::vector<double>> random_network_inputs(const Network& network) {
    std::vector<std::vector<double>> inputs;
    Random random(kSeed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (std::size_t i = 0; i < network.input_count(); ++i) {
      if (holds_indices(network, i)) {
        inputs.push_back(random_input(network, i, kSeed));
        continue;
      }
      inputs.emplace_back(static_cast<std::size_t>(network.tensors[i].elements()));
      for (double& value : inputs.back()) value = round_to(network.dtype, uniform(random));
    }
    return inputs;
  }

  std::size_t count_steps(std::string_view kind) const {
    return static_cast<std::size_t>(std::ranges::count(steps_, kind, &KernelStep::kind));
  }

  std::unique_ptr<Backend> backend_ = make_onednn_backend();
  std::vector<KernelStep> steps_;
};

// As in ResNet: stem, one block with and one without a projection, pool, classifier.
NetworkDefinition residual_network() {
  return {.name = "residual",
          .input = {3, 20, 20},
          .layers = {layer("conv1", "conv", "k16r7s7u2p3", {"input"}),
                     layer("bn1", "batch_norm", "", {"conv1"}),
                     layer("relu1", "pointwise", "relu", {"bn1"}),
                     layer("maxpool", "pool", "max-r3u2p1", {"relu1"}),
                     layer("a.conv1", "conv", "k8r1s1", {"maxpool"}),
                     layer("a.relu1", "pointwise", "relu", {"a.conv1"}),
                     layer("a.conv2", "conv", "k32r3s3p1", {"a.relu1"}),
                     layer("a.bn2", "batch_norm", "", {"a.conv2"}),
                     layer("a.down", "conv", "k32r1s1", {"maxpool"}),
                     layer("a.add", "pointwise", "add", {"a.bn2", "a.down"}),
                     layer("a.relu", "pointwise", "relu", {"a.add"}),
                     layer("b.conv1", "conv", "k32r3s3p1", {"a.relu"}),
                     layer("b.bn1", "batch_norm", "", {"b.conv1"}),
                     layer("b.add", "pointwise", "add", {"b.bn1", "a.relu"}),
                     layer("b.relu", "pointwise", "relu", {"b.add"}),
                     layer("gap", "pool", "avg_include_pad+global", {"b.relu"}),
                     layer("fc", "gemm", "n10+tb+bias", {"gap"})}};
}

// As in MobileNet: depthwise, clip, a linear bottleneck with a residual.
NetworkDefinition mobile_network() {
  return {.name = "mobile",
          .input = {3, 16, 16},
          .layers = {layer("stem", "conv", "k8r3s3u2p1", {"input"}),
                     layer("stem.clip", "pointwise", "clip", {"stem"}),
                     layer("expand", "conv", "k48r1s1", {"stem.clip"}),
                     layer("expand.bn", "batch_norm", "", {"expand"}),
                     layer("expand.clip", "pointwise", "clip", {"expand.bn"}),
                     layer("depthwise", "conv", "g48k48r3s3p1", {"expand.clip"}),
                     layer("depthwise.bn", "batch_norm", "", {"depthwise"}),
                     layer("depthwise.clip", "pointwise", "clip", {"depthwise.bn"}),
                     layer("project", "conv", "k8r1s1", {"depthwise.clip"}),
                     layer("project.bn", "batch_norm", "", {"project"}),
                     layer("add", "pointwise", "add", {"project.bn", "stem.clip"}),
                     layer("head", "conv", "k64r1s1", {"add"}),
                     layer("gap", "pool", "avg_exclude_pad+global", {"head"}),
                     layer("fc", "gemm", "n12+tb+bias", {"gap"}),
                     {.name = "softmax",
                      .op = "softmax",
                      .parameters = ParameterSet(find_operator("softmax")->parameters),
                      .inputs = {"fc"}}}};
}

// As in VGG: images flattened into a matrix product, whose rows must be in plain order.
NetworkDefinition flattening_network() {
  return {.name = "flattening",
          .input = {3, 12, 12},
          .layers = {layer("conv", "conv", "k16r3s3p1", {"input"}),
                     layer("relu", "pointwise", "relu", {"conv"}),
                     layer("pool", "pool", "max-r2u2", {"relu"}),
                     layer("fc1", "gemm", "n32+tb+bias", {"pool"}),
                     layer("fc1.relu", "pointwise", "relu", {"fc1"}),
                     layer("fc2", "gemm", "n7+bias", {"fc1.relu"})}};
}

// Residuals that must not be overwritten: read again later, read by the same convolution, or the
// network's own input.
NetworkDefinition shared_residuals() {
  return {.name = "shared",
          .input = {16, 6, 6},
          .layers = {layer("first", "conv", "k16r3s3p1", {"input"}),
                     layer("first.add", "pointwise", "add", {"first", "input"}),
                     layer("second", "conv", "k16r3s3p1", {"first.add"}),
                     layer("second.add", "pointwise", "add", {"second", "first.add"}),
                     layer("third", "conv", "k16r1s1", {"second.add"}),
                     layer("third.add", "pointwise", "add", {"third", "first.add"}),
                     layer("self", "conv", "k16r3s3p1", {"third.add"}),
                     layer("self.add", "pointwise", "add", {"self", "third.add"})}};
}

// A residual that two additions read.
NetworkDefinition residuals_read_again() {
  return {.name = "again",
          .input = {16, 6, 6},
          .layers = {layer("a", "conv", "k16r3s3p1", {"input"}),
                     layer("b", "conv", "k16r1s1", {"input"}),
                     layer("b.add", "pointwise", "add", {"b", "a"}),
                     layer("c", "conv", "k16r3s3p1", {"b.add"}),
                     layer("c.add", "pointwise", "add", {"c", "a"})}};
}

// The network's input as the residual. In 1x1 images it has the layout that the addition requires.
NetworkDefinition input_as_residual() {
  return {.name = "input",
          .input = {16, 1, 1},
          .layers = {layer("a", "conv", "k16r1s1", {"input"}), layer("b", "conv", "k16r1s1", {"a"}),
                     layer("b.add", "pointwise", "add", {"b", "input"}),
                     layer("c", "conv", "k16r1s1", {"b.add"})}};
}

// The result is an image: the output is plain whatever the last layout was.
NetworkDefinition image_output() {
  return {.name = "image",
          .input = {16, 6, 6},
          .layers = {layer("conv", "conv", "k32r3s3p1", {"input"}),
                     layer("relu", "pointwise", "relu", {"conv"})}};
}

// A gate of 1x1 images, broadcast over its input (squeeze and excitation).
NetworkDefinition gated_network() {
  return {.name = "gated",
          .input = {16, 6, 6},
          .layers = {layer("conv", "conv", "k16r3s3p1", {"input"}),
                     layer("gap", "pool", "avg_include_pad+global", {"conv"}),
                     layer("gate", "conv", "k16r1s1", {"gap"}),
                     layer("sigmoid", "pointwise", "sigmoid", {"gate"}),
                     layer("scaled", "pointwise", "mul", {"conv", "sigmoid"}),
                     layer("out", "conv", "k4r1s1", {"scaled"})}};
}

TEST_F(NetworkKernelTest, AgreesWithThePlainExecutor) {
  for (const auto& definition : {residual_network(), mobile_network(), flattening_network(),
                                 shared_residuals(), residuals_read_again(), input_as_residual(),
                                 image_output(), gated_network(), attention_network()}) {
    for (const DataType dtype : {DataType::f32, DataType::bf16, DataType::f16}) {
      check(definition, dtype, 1);
      check(definition, dtype, 3);
    }
  }
}

// The second operand of a product of two activations changes: the library must take it as
// the layer before stores it.
TEST_F(NetworkKernelTest, ProductsOfActivationsNeedNoReorder) {
  const Network network = make(attention_network(), Fusion::fused, DataType::f32, 2);
  EXPECT_EQ(network.input_count(), 2u);
  ASSERT_EQ(network.outputs.size(), 2u);
  auto kernel = backend_->create(network);
  ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
  steps_ = (*kernel)->steps();
  EXPECT_EQ(count_steps("reorder"), 0u);
  EXPECT_EQ(count_steps("matmul"), 6u);
  const auto scores = std::ranges::find(network.nodes, "scores", &Node::name);
  EXPECT_EQ(problem_tokens(scores->problem), "b4m4n5k8+tb+two+scale0.5");
  EXPECT_EQ(scores->problem.tensors[1].role, TensorRole::input);
}

// An output that a later layer adds to its result must keep its own values.
TEST_F(NetworkKernelTest, AnOutputIsNoResidualToOverwrite) {
  NetworkDefinition definition = residuals_read_again();
  definition.outputs = {"c.add", "b.add", "a"};
  check(definition, DataType::f32, 2);
  definition.layers.pop_back();
  definition.outputs = {"c", "b.add", "a"};
  check(definition, DataType::f32, 2);
}

// Layers of the backend `native` between those of the library, images in blocked layouts among
// them.
NetworkDefinition mixed_network() {
  return {.name = "mixed",
          .input = {16, 6, 6},
          .layers = {layer("conv", "conv", "k32r3s3p1", {"input"}),
                     layer("norm", "group_norm", "g4", {"conv"}),
                     layer("relu", "pointwise", "relu", {"norm"}),
                     layer("conv2", "conv", "k32r1s1", {"relu"}),
                     layer("add", "pointwise", "add", {"conv2", "relu"}),
                     layer("fc", "gemm", "n24+bias", {"add"}),
                     {.name = "rms",
                      .op = "rms_norm",
                      .parameters = ParameterSet(find_operator("rms_norm")->parameters),
                      .inputs = {"fc"}},
                     layer("fc2", "gemm", "n8", {"rms"})}};
}

KernelMaker native_layers() {
  return [native = std::shared_ptr<Backend>(make_native_backend())](const Problem& problem) {
    return native->create(problem);
  };
}

TEST_F(NetworkKernelTest, LayersOfOtherBackendsTakePlainValues) {
  backend_->set_layer_maker(native_layers());
  for (const DataType dtype : {DataType::f32, DataType::bf16, DataType::f16}) {
    check(mixed_network(), dtype, 1);
    check(mixed_network(), dtype, 3);
  }
  const Network network = make(mixed_network(), Fusion::fused, DataType::f32);
  EXPECT_EQ(backend_->support_error(network), std::nullopt);
  auto kernel = backend_->create(network);
  ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
  std::vector<std::string> own;
  for (const KernelStep& step : (*kernel)->steps()) {
    if (step.implementation.starts_with("native:")) own.push_back(step.node + ":" + step.kind);
  }
  EXPECT_THAT(own, ElementsAre("norm:group_norm", "rms:rms_norm"));
}

// Rows of tokens sorted by expert, two products of each group, and the rows in the former order.
NetworkDefinition experts_network() {
  return {.name = "experts",
          .input = {},
          .layers = {layer("up", "gemm", "n32", {"x"}), take_rows("rows", {"up", "tokens"}),
                     layer("first", "grouped_gemm", "1x2x1-n64+tb", {"rows"}),
                     layer("relu", "pointwise", "relu", {"first"}),
                     layer("second", "grouped_gemm", "1x2x1-n32+bias", {"relu"}),
                     take_rows("sorted", {"second", "places"})},
          .inputs = {{"x", {4, 32}}, {"tokens", {8}}, {"places", {8}}}};
}

// Each group is a primitive with weights in a layout of its own.
TEST_F(NetworkKernelTest, GroupedProductsAreLayers) {
  backend_->set_layer_maker(native_layers());
  for (const DataType dtype : {DataType::f32, DataType::bf16, DataType::f16}) {
    check(experts_network(), dtype, 1);
    check(experts_network(), dtype, 3);
  }
  const Network network = make(experts_network(), Fusion::fused, DataType::f32);
  EXPECT_EQ(backend_->support_error(network), std::nullopt);
  auto kernel = backend_->create(network);
  ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
  steps_ = (*kernel)->steps();
  EXPECT_EQ(count_steps("grouped_gemm"), 2u);
  EXPECT_EQ(count_steps("reorder"), 0u);
  for (std::size_t i = 0; i < network.tensors.size(); ++i) {
    EXPECT_GE((*kernel)->buffers()[i].size, network.tensors[i].size()) << network.tensors[i].name;
  }
}

// A chain passes activations on without gaps.
TEST_F(NetworkKernelTest, GroupsThatEndWithinACacheLineAreUnsupported) {
  const Network network = make({.name = "narrow",
                                .input = {},
                                .layers = {layer("up", "grouped_gemm", "1x1-n16", {"x"})},
                                .inputs = {{"x", {2, 3}}}},
                               Fusion::fused, DataType::f32);
  const auto refused = backend_->support_error(network);
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->kind, BackendError::Kind::unsupported);
  EXPECT_THAT(refused->reason, HasSubstr("up: a group of `source` has 12 bytes"));
  EXPECT_EQ(backend_->create(network).error().reason, refused->reason);
}

TEST_F(NetworkKernelTest, NamesTheLayerThatNoBackendHas) {
  const Network network = make(mixed_network(), Fusion::fused, DataType::f32);
  EXPECT_THAT(backend_->create(network).error().reason, HasSubstr("norm: "));
  backend_->set_layer_maker([](const Problem&) -> Result<std::unique_ptr<Kernel>, BackendError> {
    return BackendError{BackendError::Kind::unsupported, "none"};
  });
  EXPECT_EQ(backend_->create(network).error().reason, "norm: none");
  EXPECT_EQ(backend_->support_error(network)->reason, "norm: none");
}

TEST_F(NetworkKernelTest, StepsAndImplementationCountPrimitives) {
  const Network network = make(residual_network(), Fusion::fused, DataType::f32);
  auto kernel = backend_->create(network);
  ASSERT_TRUE(kernel.ok());
  const std::vector<KernelStep> steps = (*kernel)->steps();
  EXPECT_THAT((*kernel)->implementation(), HasSubstr(std::to_string(steps.size()) + " primitives"));
  EXPECT_THAT((*kernel)->implementation(), HasSubstr("5 convolution"));
  EXPECT_THAT((*kernel)->implementation(), HasSubstr("2 pooling"));
  EXPECT_EQ(steps.front().node, "conv1");
  EXPECT_EQ(steps.back().node, "fc");
  EXPECT_EQ(steps.back().kind, "matmul");
  for (const KernelStep& step : steps) {
    EXPECT_FALSE(step.implementation.empty());
    EXPECT_THAT(step.layouts, HasSubstr(" -> "));
  }
}

TEST_F(NetworkKernelTest, SeparateRunsEveryLayerAsAPrimitive) {
  const Network network = make(residual_network(), Fusion::separate, DataType::f32);
  auto kernel = backend_->create(network);
  ASSERT_TRUE(kernel.ok());
  steps_ = (*kernel)->steps();
  EXPECT_EQ(count_steps("convolution"), 5u);
  EXPECT_EQ(count_steps("batch_normalization"), 3u);
  EXPECT_EQ(count_steps("eltwise"), 4u);
  EXPECT_EQ(count_steps("binary"), 2u);
}

TEST_F(NetworkKernelTest, BuffersAreTheTensorsThenSharedActivations) {
  const Network network = make(residual_network(), Fusion::fused, DataType::f32);
  auto kernel = backend_->create(network);
  ASSERT_TRUE(kernel.ok());
  const auto buffers = (*kernel)->buffers();
  ASSERT_GT(buffers.size(), network.tensors.size());
  EXPECT_EQ(buffers.front().role, BufferRole::input);
  EXPECT_EQ(buffers.front().layout, "abcd");
  for (std::size_t i = 1; i + 1 < network.tensors.size(); ++i) {
    EXPECT_EQ(buffers[i].role, BufferRole::weights);
    EXPECT_GE(buffers[i].size.count, network.tensors[i].size().count);
  }
  EXPECT_EQ(buffers[network.tensors.size() - 1].role, BufferRole::output);
  // There are fewer buffers than results, because buffers are reused.
  EXPECT_LT(buffers.size() - network.tensors.size(), network.nodes.size());
  for (std::size_t i = network.tensors.size(); i < buffers.size(); ++i) {
    EXPECT_EQ(buffers[i].role, BufferRole::activation);
  }
}

// The pool's 1x1 images form a row of the product without a reorder.
TEST_F(NetworkKernelTest, NoReorderBetweenGlobalPoolAndProduct) {
  const Network network = make(residual_network(), Fusion::fused, DataType::f32, 2);
  auto kernel = backend_->create(network);
  ASSERT_TRUE(kernel.ok());
  for (const KernelStep& step : (*kernel)->steps()) {
    EXPECT_FALSE(step.node == "fc" && step.kind == "reorder") << step.layouts;
  }
}

// Returns the convolutions, the pooling, the residual and the product of a small step.
NetworkDefinition trained_network() {
  return {.name = "trained",
          .input = {3, 14, 14},
          .layers = {
              layer("conv1", "conv", "k20r3s3p1+bias", {"input"}),
              layer("bn1", "batch_norm", {"conv1"}), layer("relu1", "pointwise", "relu", {"bn1"}),
              layer("maxpool", "pool", "max-r3u2p1", {"relu1"}),
              layer("depthwise", "conv", "g20k20r3s3p1", {"maxpool"}),
              layer("conv2", "conv", "k20r1s1", {"depthwise"}),
              layer("add", "pointwise", "add", {"conv2", "maxpool"}),
              layer("relu2", "pointwise", "relu", {"add"}),
              layer("gap", "pool", "avg_include_pad-r2u2p1", {"relu2"}),
              layer("fc1", "gemm", "n33+tb+bias", {"gap"}), layer("norm", "layer_norm", {"fc1"}),
              layer("gelu", "pointwise", "gelu_tanh", {"norm"}),
              layer("fc2", "gemm", "n10+bias", {"gelu"})}};
}

TEST_F(NetworkKernelTest, ATrainingStepAgreesWithThePlainExecutor) {
  const auto native = make_native_backend();
  backend_->set_layer_maker([&](const Problem& problem) { return native->create(problem); });
  NetworkDefinition with_momentum = trained_network();
  with_momentum.training = {layer("optimizer", "optimizer", "sgd-e1m0.5", {})};
  NetworkDefinition with_adam = trained_network();
  with_adam.training = {layer("optimizer", "optimizer", "adam-e1", {})};
  // Its gradients are sums and slices, which other kernels than oneDNN's compute.
  NetworkDefinition gated = gated_network();
  gated.layers.push_back(layer("part", "slice", "3x4x6x6-a1b1s2", {"out"}));
  gated.layers.push_back(layer("fc", "gemm", "n10+bias", {"part"}));
  NetworkDefinition reduced = gated_network();
  reduced.layers.push_back(layer("mean", "reduction", "mean-3x4x6x6-a1x3", {"out"}));
  reduced.layers.push_back(layer("fc", "gemm", "n10+bias", {"mean"}));
  NetworkDefinition largest = trained_network();
  for (LayerDefinition& each : largest.layers) {
    if (each.name == "add") each = layer("add", "pointwise", "max", {"conv2", "maxpool"});
    if (each.name == "bn1") each = layer("bn1", "group_norm", "g4", {"conv1"});
  }
  for (const auto& definition : {trained_network(), with_momentum, with_adam, gated, reduced,
                                 largest, transformer_network(), mixture_network()}) {
    const auto network =
        make_network(definition, 3, DataType::f32, Mode::training, Fusion::separate);
    ASSERT_TRUE(network.ok()) << network.error().message();
    expect_reference(*network, random_parameters(*network, kSeed), compute_tolerance(*network),
                     " training");
  }
}

// The steps of the groups read the weights as the optimizer writes them.
TEST_F(NetworkKernelTest, GroupedProductsInTrainingHavePlainWeights) {
  backend_->set_layer_maker(native_layers());
  const auto network =
      make_network(mixture_network(), 2, DataType::f32, Mode::training, Fusion::separate);
  ASSERT_TRUE(network.ok()) << network.error().message();
  EXPECT_EQ(backend_->support_error(*network), std::nullopt);
  const auto kernel = backend_->create(*network);
  ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
  steps_ = (*kernel)->steps();
  EXPECT_EQ(count_steps("grouped_gemm"), 6u);  // two layers in three directions
}

// The backward pass of max pooling reads where the maxima are, which the forward pass has kept.
TEST_F(NetworkKernelTest, ATrainingStepPoolsOnce) {
  const auto native = make_native_backend();
  backend_->set_layer_maker([&](const Problem& problem) { return native->create(problem); });
  const auto network =
      make_network(trained_network(), 2, DataType::f32, Mode::training, Fusion::separate);
  ASSERT_TRUE(network.ok());
  const auto kernel = backend_->create(*network);
  ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
  steps_ = (*kernel)->steps();
  EXPECT_EQ(count_steps("pooling"), 4u);  // two layers, forward and backward
}

TEST_F(NetworkKernelTest, NetworksThatCannotRunAreUnsupported) {
  const NetworkDefinition columns{.name = "columns",
                                  .input = {},
                                  .layers = {layer("first", "gemm", "n8", {"x"}),
                                             layer("picked", "gather", "6x8-a1i4", {"first", "i"}),
                                             layer("last", "gemm", "n3", {"picked"})},
                                  .inputs = {{"x", {6, 5}}, {"i", {4}}}};
  const auto training = make_network(columns, 1, DataType::f32, Mode::training, Fusion::separate);
  const auto kernel = backend_->create(*training);
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().kind, BackendError::Kind::unsupported);
  EXPECT_THAT(kernel.error().reason, HasSubstr("gradient of the layer `picked`"));
  Network channels_last = make(image_output(), Fusion::separate, DataType::f32);
  channels_last.input_layout = Layout::nhwc;
  EXPECT_THAT(backend_->create(channels_last).error().reason, HasSubstr("`layout: nhwc`"));
  const auto wide = backend_->create(make(image_output(), Fusion::separate, DataType::f64));
  ASSERT_FALSE(wide.ok());
  EXPECT_EQ(wide.error().kind, BackendError::Kind::unsupported);
  EXPECT_THAT(wide.error().reason, HasSubstr("conv: "));
}

TEST_F(NetworkKernelTest, WhatExceedsTheMemoryIsSkipped) {
  const NetworkDefinition huge = {.name = "huge",
                                  .input = {64, 1048576, 65536},
                                  .layers = {layer("relu", "pointwise", "relu", {"input"})}};
  const auto kernel = backend_->create(make(huge, Fusion::fused, DataType::f32));
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().kind, BackendError::Kind::skipped);
  EXPECT_THAT(kernel.error().reason, HasSubstr("huge"));
}

// A single layer runs in the layouts that it has in its network.
TEST_F(NetworkKernelTest, LayersAloneMeetTheLayoutsOfTheirNetwork) {
  const Network network = make(residual_network(), Fusion::fused, DataType::f32, 1);
  const auto kernel = backend_->create(network);
  ASSERT_TRUE(kernel.ok());
  int pooling_steps = 0;
  for (const KernelStep& step : (*kernel)->steps()) {
    if (step.kind != "pooling") continue;
    const auto node = std::ranges::find(network.nodes, step.node, &Node::name);
    ASSERT_NE(node, network.nodes.end());
    ASSERT_TRUE(step.input_layouts.contains("source"));
    for (const std::string& layout : {step.input_layouts.at("source"), std::string("abcd")}) {
      const auto alone = backend_->create_layer(node->problem, {{"source", layout}});
      ASSERT_TRUE(alone.ok()) << alone.error().reason;
      EXPECT_EQ((*alone)->buffers()[0].layout, layout);
    }
    ++pooling_steps;
  }
  EXPECT_EQ(pooling_steps, 2);
}

}  // namespace
}  // namespace bench::ops::op_test
