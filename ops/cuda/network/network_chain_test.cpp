// SPDX-License-Identifier: Apache-2.0
// Tests networks on a scripted device. References replace a library's kernels; reorders are native.
// Results are compared with the plain executor.
#include "ops/cuda/network/network_chain.hpp"

#include "ops/cuda/network/kernels.hpp"
#include "ops/cuda/network/test_support.hpp"
#include "ops/network/test_support.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench::ops::cuda {
namespace {

using bench::ops::op_test::layer;
using bench::ops::op_test::make;
using bench::ops::op_test::run_reference;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Stem, residual block, pooling, flattened product.
NetworkDefinition residual_network() {
  return {.name = "residual",
          .input = {3, 6, 6},
          .layers = {layer("conv1", "conv", "k4r3s3p1", {"input"}),
                     layer("bn1", "batch_norm", "", {"conv1"}),
                     layer("relu1", "pointwise", "relu", {"bn1"}),
                     layer("conv2", "conv", "k4r1s1", {"relu1"}),
                     layer("add", "pointwise", "add", {"conv2", "relu1"}),
                     layer("pool", "pool", "max-r2u2", {"add"}),
                     layer("fc", "gemm", "n5+tb+bias", {"pool"}),
                     {.name = "softmax",
                      .op = "softmax",
                      .parameters = ParameterSet(find_operator("softmax")->parameters),
                      .inputs = {"fc"}}}};
}

NetworkDefinition image_network() {
  return {.name = "image",
          .input = {4, 5, 5},
          .layers = {layer("conv", "conv", "k8r3s3p1", {"input"}),
                     layer("gap", "pool", "avg_include_pad+global", {"conv"}),
                     layer("gate", "conv", "k8r1s1", {"gap"}),
                     layer("scaled", "pointwise", "mul", {"conv", "gate"})}};
}

class NetworkChainTest : public ::testing::Test {
 protected:
  // Kernels of `op` exist only in `layout`.
  void restrict(const std::string& op, Layout layout) { required_layouts_[op] = layout; }

  KernelMaker maker() {
    return [this](const Problem& problem) -> Result<std::unique_ptr<Kernel>, BackendError> {
      requests_.push_back(fmt::format("{} {}", problem.op->name, static_cast<int>(problem.layout)));
      const auto only = required_layouts_.find(std::string(problem.op->name));
      if (only != required_layouts_.end() && problem.layout != only->second) {
        return BackendError{BackendError::Kind::unsupported, "not in this layout"};
      }
      return std::unique_ptr<Kernel>(
          std::make_unique<test::ReferenceKernel>(device_, problem, requested_layout(problem)));
    };
  }
  ReorderMaker reorder() {
    return [this](const Dims& dims, DataType dtype, MemoryLayout from,
                  MemoryLayout to) -> Result<std::unique_ptr<Kernel>, BackendError> {
      BENCH_ASSIGN_OR_RETURN(NativeForm form, reorder_form(dims, dtype, from, to));
      const BufferRole roles[] = {BufferRole::input, BufferRole::output};
      return make_native_kernel(device_.parts(),
                                std::make_shared<test::StreamLauncher>(device_.runtime),
                                std::move(form), roles);
    };
  }
  Result<std::unique_ptr<Kernel>, BackendError> create(const Network& network) {
    BENCH_ASSIGN_OR_RETURN(KernelChain chain, build_network_chain(network, maker(), reorder()));
    return make_chain_kernel(device_.parts(), std::move(chain), IntermediateStorage::activations);
  }
  std::vector<std::string> list_steps_of(const Network& network) {
    const auto kernel = create(network);
    EXPECT_TRUE(kernel.ok()) << (kernel ? "" : kernel.error().reason);
    std::vector<std::string> steps;
    for (const KernelStep& step : (*kernel)->steps()) steps.push_back(step.node + ":" + step.kind);
    return steps;
  }
  // Runs twice, because the second run must not depend on the first.
  void expect_reference(const Network& network) {
    const auto kernel = create(network);
    ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
    const auto parameters = random_parameters(network, 3);
    test::DeviceRun run(device_, **kernel, network.tensors);
    std::vector<std::vector<double>> inputs;
    for (std::size_t t = 0; t < network.input_count(); ++t) {
      std::vector<double> input(static_cast<std::size_t>(network.tensors[t].elements()));
      for (std::size_t i = 0; i < input.size(); ++i) {
        input[i] = round_to(network.dtype, std::sin(static_cast<double>(i + 7 * t)));
      }
      if (holds_indices(network, t)) input = random_input(network, t, 5);
      run.set(t, input);
      inputs.push_back(std::move(input));
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) run.set(inputs.size() + i, parameters[i]);
    const auto invocation = run.bind();
    ASSERT_TRUE(invocation->run()) << invocation->error();
    ASSERT_TRUE(invocation->run()) << invocation->error();
    const auto want = run_reference(network, parameters, inputs);
    const double error =
        64 * static_cast<double>(network.nodes.size()) * info(network.dtype).epsilon;
    for (std::size_t output = 0; output < want.size(); ++output) {
      const auto got = run.get(network.tensors.size() - want.size() + output);
      ASSERT_EQ(got.size(), want[output].size());
      for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_NEAR(got[i], want[output][i], error * (1 + std::abs(want[output][i])))
            << network.name << " " << i;
      }
    }
  }

  test::ScriptedDevice device_;
  std::map<std::string, Layout> required_layouts_;
  std::vector<std::string> requests_;
};

TEST_F(NetworkChainTest, AgreesWithThePlainExecutor) {
  for (const auto& definition :
       {residual_network(), image_network(), op_test::attention_network()}) {
    for (const DataType dtype : {DataType::f32, DataType::f16}) {
      for (const std::int64_t batch : {1, 3}) {
        expect_reference(make(definition, Fusion::separate, dtype, batch));
      }
    }
  }
}

// The network's layout is nhwc for f16: gradients and parameters, which several kernels read, are
// reordered as well.
TEST_F(NetworkChainTest, ATrainingStepAgreesWithThePlainExecutor) {
  NetworkDefinition definition = residual_network();
  definition.layers.pop_back();
  definition.training = {layer("optimizer", "optimizer", "sgd-e1m0.5", {})};
  for (const auto& trained : {definition, op_test::transformer_network()}) {
    for (const DataType dtype : {DataType::f32, DataType::f16}) {
      const auto network = make_network(trained, 2, dtype, Mode::training, Fusion::separate);
      ASSERT_TRUE(network.ok()) << network.error().message();
      EXPECT_EQ(network->gap, std::nullopt);
      expect_reference(*network);
    }
  }
}

// Without operators on images, no layout is better than the plain one, in narrow types too.
TEST_F(NetworkChainTest, ProductsOfActivationsNeedNoReorder) {
  for (const Fusion fusion : {Fusion::fused, Fusion::separate}) {
    const Network network = make(op_test::attention_network(), fusion, DataType::f16, 2);
    EXPECT_EQ(network_layout(network), MemoryLayout::plain);
    EXPECT_EQ(list_steps_of(network).size(), network.nodes.size());
    expect_reference(network);
  }
}

TEST_F(NetworkChainTest, AgreesWhereLayersHaveOtherLayouts) {
  restrict("pool", Layout::nchw);
  restrict("batch_norm", Layout::nhwc);
  for (const DataType dtype : {DataType::f32, DataType::f16}) {
    expect_reference(make(residual_network(), Fusion::separate, dtype, 2));
    expect_reference(make(image_network(), Fusion::separate, dtype, 2));
  }
}

TEST_F(NetworkChainTest, OneLayoutForTheNetworkByItsDataType) {
  EXPECT_EQ(network_layout(make(residual_network(), Fusion::fused, DataType::f32)),
            MemoryLayout::plain);
  EXPECT_EQ(network_layout(make(residual_network(), Fusion::fused, DataType::bf16)),
            MemoryLayout::nhwc);
  Network tf32 = make(residual_network(), Fusion::fused, DataType::f32);
  tf32.nodes.front().problem.math = Math::tf32;
  EXPECT_EQ(network_layout(tf32), MemoryLayout::nhwc);
}

TEST_F(NetworkChainTest, PlainNetworksNeedNoReorder) {
  EXPECT_THAT(list_steps_of(make(residual_network(), Fusion::separate, DataType::f32)),
              ElementsAre("conv1:conv", "bn1:batch_norm", "relu1:pointwise", "conv2:conv",
                          "add:pointwise", "pool:pool", "fc:gemm", "softmax:softmax"));
}

// Reorders to nhwc at the start, and back before the matrix product reads images as rows.
TEST_F(NetworkChainTest, ReordersStandAtTheEndsOfANarrowNetwork) {
  EXPECT_THAT(
      list_steps_of(make(residual_network(), Fusion::separate, DataType::f16)),
      ElementsAre("conv1:reorder", "conv1:conv", "bn1:batch_norm", "relu1:pointwise", "conv2:conv",
                  "add:pointwise", "pool:pool", "fc:reorder", "fc:gemm", "softmax:softmax"));
  EXPECT_THAT(list_steps_of(make(image_network(), Fusion::separate, DataType::f16)),
              ElementsAre("conv:reorder", "conv:conv", "gap:pool", "gate:conv", "scaled:pointwise",
                          "scaled:reorder"));
}

// An input with channels innermost needs no reorder in a narrow network, but one in a plain one.
TEST_F(NetworkChainTest, TheInputMayBeGivenWithChannelsInnermost) {
  Network narrow = make(image_network(), Fusion::separate, DataType::f16, 2);
  narrow.input_layout = Layout::nhwc;
  EXPECT_THAT(list_steps_of(narrow), ElementsAre("conv:conv", "gap:pool", "gate:conv",
                                                 "scaled:pointwise", "scaled:reorder"));
  const auto kernel = create(narrow);
  ASSERT_TRUE(kernel.ok());
  EXPECT_EQ((*kernel)->buffers().front().layout, "nhwc");
  EXPECT_EQ((*kernel)->buffers().front().role, BufferRole::input);
  EXPECT_EQ((*kernel)->steps().front().input_layouts.at("source"), "nhwc");
  expect_reference(narrow);
  Network plain = make(image_network(), Fusion::separate, DataType::f32, 2);
  plain.input_layout = Layout::nhwc;
  EXPECT_EQ(list_steps_of(plain).front(), "conv:reorder");
  expect_reference(plain);
}

// relu1 feeds conv2 and the sum, both in the other layout: one reorder serves both.
TEST_F(NetworkChainTest, AResultIsReorderedOnceForEachLayout) {
  restrict("pointwise", Layout::nchw);
  EXPECT_THAT(
      list_steps_of(make(residual_network(), Fusion::separate, DataType::f16)),
      ElementsAre("conv1:reorder", "conv1:conv", "bn1:batch_norm", "relu1:reorder",
                  "relu1:pointwise", "conv2:reorder", "conv2:conv", "add:reorder", "add:pointwise",
                  "pool:reorder", "pool:pool", "fc:reorder", "fc:gemm", "softmax:softmax"));
  // The network's layout is requested first.
  EXPECT_THAT(requests_, ::testing::Contains("pointwise 2"));
}

TEST_F(NetworkChainTest, ReordersSayWhatTheyMove) {
  const auto kernel = create(make(image_network(), Fusion::separate, DataType::f16, 2));
  ASSERT_TRUE(kernel.ok());
  const auto steps = (*kernel)->steps();
  ASSERT_TRUE(steps.front().moved);
  EXPECT_EQ(*steps.front().moved, (MovedTensor{{2, 4, 5, 5}, DataType::f16}));
  EXPECT_EQ(steps.front().implementation, "bench:reorder_pixels");
  EXPECT_EQ(steps.front().layouts, "nchw -> nhwc");
  EXPECT_FALSE(steps[1].moved);
  EXPECT_EQ(steps[1].input_layouts.at("source"), "nchw");
  EXPECT_EQ(steps[2].input_layouts.at("source"), "nhwc");
}

TEST_F(NetworkChainTest, BuffersAreTheTensorsThenSharedActivations) {
  const Network network = make(residual_network(), Fusion::separate, DataType::f16, 2);
  const auto kernel = create(network);
  ASSERT_TRUE(kernel.ok());
  const auto buffers = (*kernel)->buffers();
  ASSERT_GT(buffers.size(), network.tensors.size());
  EXPECT_EQ(buffers.front().role, BufferRole::input);
  EXPECT_EQ(buffers.front().layout, "nchw");
  for (std::size_t i = 1; i + 1 < network.tensors.size(); ++i) {
    EXPECT_EQ(buffers[i].role, BufferRole::weights);
    EXPECT_EQ(buffers[i].size, network.tensors[i].size());
  }
  EXPECT_EQ(buffers[network.tensors.size() - 1].role, BufferRole::output);
  // Nine intermediate results, of which at most three are needed at a time.
  EXPECT_EQ(buffers.size() - network.tensors.size(), 3u);
  EXPECT_THAT((*kernel)->implementation(), HasSubstr("10 steps: 2 reorder, 2 conv"));
}

// Steps are reported in their order, and each is waited for before the next begins.
TEST_F(NetworkChainTest, EachStepIsObserved) {
  struct Recorder : StepObserver {
    std::vector<std::string> events;
    void begins(std::size_t step) noexcept override { events.push_back(fmt::format("b{}", step)); }
    void enqueued(std::size_t step) noexcept override {
      events.push_back(fmt::format("e{}", step));
    }
    void done(std::size_t step) noexcept override { events.push_back(fmt::format("d{}", step)); }
  } recorder;
  const Network network = make(image_network(), Fusion::separate, DataType::f32);
  const auto kernel = create(network);
  ASSERT_TRUE(kernel.ok());
  test::DeviceRun run(device_, **kernel, network.tensors);
  ASSERT_TRUE(run.bind()->run_observed(recorder));
  EXPECT_THAT(recorder.events,
              ElementsAre("b0", "e0", "d0", "b1", "e1", "d1", "b2", "e2", "d2", "b3", "e3", "d3"));
}

// An enqueue does not allocate or wait, so it can be recorded as a graph.
TEST_F(NetworkChainTest, EnqueueOnlyLaunches) {
  const Network network = make(image_network(), Fusion::separate, DataType::f16);
  const auto kernel = create(network);
  ASSERT_TRUE(kernel.ok());
  test::DeviceRun run(device_, **kernel, network.tensors);
  const auto invocation = run.bind();
  device_.runtime->forget_calls();
  auto* chain = dynamic_cast<CudaInvocation*>(invocation.get());
  ASSERT_NE(chain, nullptr);
  ASSERT_TRUE(chain->enqueue(nullptr).ok());
  EXPECT_THAT(device_.runtime->calls,
              ElementsAre("launch native", "launch conv", "launch pool", "launch conv",
                          "launch pointwise", "launch native"));
  EXPECT_EQ(chain->launches(), 6);
  ASSERT_TRUE(device_.runtime->synchronise().ok());
}

TEST_F(NetworkChainTest, ALayerWithoutAKernelIsNamed) {
  const KernelMaker refuse = [](const Problem&) -> Result<std::unique_ptr<Kernel>, BackendError> {
    return BackendError{BackendError::Kind::unsupported, "no kernel"};
  };
  const auto chain = build_network_chain(make(image_network(), Fusion::separate, DataType::f32),
                                         refuse, reorder());
  ASSERT_FALSE(chain.ok());
  EXPECT_EQ(chain.error().kind, BackendError::Kind::unsupported);
  EXPECT_EQ(chain.error().reason, "conv: no kernel");
}

// Native kernels access 16 bytes at once and have no other form for other addresses.
TEST_F(NetworkChainTest, NativeKernelsRefuseAddressesThatAreNotAligned) {
  auto kernel = reorder()({1, 16, 4, 4}, DataType::f16, MemoryLayout::plain, MemoryLayout::nhwc);
  ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
  alignas(16) std::byte memory[2][1024] = {};
  void* const aligned[] = {memory[0], memory[1]};
  EXPECT_TRUE((*kernel)->bind(aligned).ok());
  void* const shifted[] = {memory[0], memory[1] + sizeof(std::uint16_t)};
  const auto refused = (*kernel)->bind(shifted);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().what, "buffer 1 is not aligned to 16 bytes");
}

TEST_F(NetworkChainTest, AFailedLaunchNamesItsLayer) {
  const Network network = make(image_network(), Fusion::separate, DataType::f32);
  const auto kernel = create(network);
  ASSERT_TRUE(kernel.ok());
  test::DeviceRun run(device_, **kernel, network.tensors);
  const auto invocation = run.bind();
  device_.runtime->script.failing["launch pool"] = 1;
  EXPECT_FALSE(invocation->run());
  EXPECT_THAT(invocation->error(), HasSubstr("gap: "));
}

}  // namespace
}  // namespace bench::ops::cuda
