// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/steps.hpp"

#include "harness/config/case_id.hpp"
#include "ops/network/test_support.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace bench {
namespace {

class StepsOnly final : public ops::Kernel {
 public:
  explicit StepsOnly(std::vector<ops::KernelStep> steps) : steps_(std::move(steps)) {}
  std::string implementation() const override { return "whole"; }
  std::vector<ops::KernelStep> steps() const override { return steps_; }
  std::span<const ops::KernelBuffer> buffers() const override { return {}; }
  Bytes workspace() const override { return {0}; }
  Status pack(std::size_t, const void*, void*) override { return Done{}; }
  Status unpack(std::size_t, const void*, void*) override { return Done{}; }
  Status prepare(std::span<void* const>) override { return Done{}; }
  Result<std::unique_ptr<ops::Invocation>> bind(std::span<void* const>) override {
    return Error{"not bound in this test", "", ""};
  }

 private:
  std::vector<ops::KernelStep> steps_;
};

std::vector<StepFacts> facts_of(std::vector<ops::KernelStep> steps) {
  const auto key = parse_id("gemm/forward/m4n4k4/f32/onednn/cpu/hot");
  const Workload workload = problem_from_key(*key).value();
  return step_facts(workload, StepsOnly(std::move(steps)));
}

TEST(StepFactsTest, AProblemOfOneStepHasItsWorkThere) {
  const auto none = facts_of({});
  ASSERT_EQ(none.size(), 1U);
  EXPECT_EQ(none[0].attributes.integer(Attribute::flops), 128);
  EXPECT_EQ(none[0].attributes.text(Attribute::implementation), "whole");
  const auto one = facts_of({{"", "matmul", "jit", "ab", {}}});
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].attributes.integer(Attribute::flops), 128);
}

TEST(StepFactsTest, WorkIsNotCountedOncePerStep) {
  const auto two = facts_of({{"", "convert", "a", "ab -> ba", {}}, {"", "matmul", "b", "ba", {}}});
  ASSERT_EQ(two.size(), 2U);
  for (const StepFacts& step : two) {
    EXPECT_EQ(step.attributes.integer(Attribute::flops), std::nullopt);
    EXPECT_EQ(step.attributes.integer(Attribute::bytes), std::nullopt);
    EXPECT_EQ(step.attributes.text(Attribute::op), "gemm");
  }
}

TEST(StepFactsTest, OfAProblemsStepsTheOneOfItsOperatorHasTheWork) {
  const auto two = facts_of({{"", "gemm", "a", "ab", {}}, {"", "pointwise", "b", "ab", {}}});
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0].attributes.integer(Attribute::flops), 128);
  EXPECT_EQ(two[1].attributes.integer(Attribute::flops), 0);
  EXPECT_EQ(two[1].attributes.integer(Attribute::bytes), std::nullopt);
}

ops::Network small_network() {
  return ops::op_test::make({.name = "small",
                             .input = {4, 6, 6},
                             .layers = {ops::op_test::layer("conv", "conv", "k4r3s3", {"input"})}},
                            ops::Fusion::separate, DataType::f32);
}

std::vector<StepFacts> facts_in_network(const ops::Network& network,
                                        std::vector<ops::KernelStep> steps) {
  const Workload workload = NetworkPair{network, network, std::nullopt};
  return step_facts(workload, StepsOnly(std::move(steps)));
}

// A split convolution in a network: its epilogue is a step of the same node.
TEST(StepFactsTest, TheStepsOfANodeCountItsWorkOnce) {
  const ops::Network network = small_network();
  const auto steps = facts_in_network(
      network, {{"conv", "conv", "a", "", {}}, {"conv", "pointwise", "b", "", {}}});
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].attributes.integer(Attribute::flops), network.work.flops);
  EXPECT_EQ(steps[1].attributes.integer(Attribute::flops), 0);
  EXPECT_EQ(steps[1].attributes.integer(Attribute::macs), std::nullopt);
  const auto unclear =
      facts_in_network(network, {{"conv", "first", "a", "", {}}, {"conv", "second", "b", "", {}}});
  for (const StepFacts& step : unclear) {
    EXPECT_EQ(step.attributes.integer(Attribute::flops), std::nullopt);
    EXPECT_EQ(step.attributes.integer(Attribute::bytes), std::nullopt);
  }
}

// Plugins of releases before bench_step.moved do not state what a reorder moves.
TEST(StepFactsTest, AReorderInANetworkDoesNoWorkOfItsNode) {
  const ops::Network network = small_network();
  ops::KernelStep known{"conv", "reorder", "b", "nchw -> nhwc", {}};
  known.moved = ops::MovedTensor{{1, 4, 6, 6}, DataType::f32};
  const auto steps = facts_in_network(
      network,
      {{"conv", "reorder", "a", "nchw -> nhwc", {}}, known, {"conv", "conv", "c", "", {}}});
  ASSERT_EQ(steps.size(), 3U);
  for (const std::size_t reorder : {0U, 1U}) {
    EXPECT_EQ(steps[reorder].name, "reorder");
    EXPECT_EQ(steps[reorder].layer, "conv");
    EXPECT_EQ(steps[reorder].attributes.text(Attribute::op), "reorder");
    EXPECT_EQ(steps[reorder].attributes.integer(Attribute::flops), 0);
  }
  EXPECT_EQ(steps[0].attributes.integer(Attribute::bytes), std::nullopt);
  EXPECT_EQ(steps[1].attributes.integer(Attribute::bytes), 2 * 4 * 4 * 36);
  EXPECT_EQ(steps[2].attributes.integer(Attribute::flops), network.work.flops);
}

TEST(StepFactsTest, AStepOfNoNodeIsWhatItCallsItself) {
  const ops::Network network = small_network();
  const auto steps = facts_in_network(
      network, {{"", "convert", "a", "", {}}, {"conv", "convolution", "b", "", {}}});
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].name, "convert");
  EXPECT_EQ(steps[0].layer, "");
  EXPECT_EQ(steps[0].attributes.integer(Attribute::flops), std::nullopt);
  EXPECT_EQ(steps[1].layer, "conv");
  EXPECT_EQ(steps[1].attributes.integer(Attribute::flops), network.work.flops);
}

}  // namespace
}  // namespace bench
