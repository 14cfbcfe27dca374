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

TEST(StepFactsTest, AStepOfNoNodeIsWhatItCallsItself) {
  const ops::Network network =
      ops::op_test::make({.name = "small",
                          .input = {4, 6, 6},
                          .layers = {ops::op_test::layer("conv", "conv", "k4r3s3", {"input"})}},
                         ops::Fusion::separate, DataType::f32);
  const Workload workload = NetworkPair{network, network, std::nullopt};
  const auto steps = step_facts(
      workload, StepsOnly({{"", "convert", "a", "", {}}, {"conv", "convolution", "b", "", {}}}));
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].name, "convert");
  EXPECT_EQ(steps[0].layer, "");
  EXPECT_EQ(steps[0].attributes.integer(Attribute::flops), std::nullopt);
  EXPECT_EQ(steps[1].layer, "conv");
  EXPECT_EQ(steps[1].attributes.integer(Attribute::flops), network.work.flops);
}

}  // namespace
}  // namespace bench
