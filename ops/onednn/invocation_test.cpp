// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/invocation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops {
namespace {

using ::testing::HasSubstr;

// Fails in its first runs and counts all of them.
class FailsAtFirst final : public Invocation {
 public:
  FailsAtFirst(int failures, int& runs) : failures_(failures), runs_(runs) {}
  bool run() noexcept override { return ++runs_ > failures_; }
  std::string error() const override { return "not yet"; }

 private:
  int failures_;
  int& runs_;
};

dnnl::primitive make_relu(const OnednnContext& context) {
  const dnnl::memory::desc vector({4}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a);
  return dnnl::eltwise_forward(
      dnnl::eltwise_forward::primitive_desc(context.engine(), dnnl::prop_kind::forward_inference,
                                            dnnl::algorithm::eltwise_relu, vector, vector, 0.0F));
}

TEST(OnednnInvocation, AFailureOfAnEarlierRunIsForgotten) {
  const OnednnContext context;
  OnednnInvocation invocation(context);
  int runs = 0;
  invocation.add_call("foreign", std::make_unique<FailsAtFirst>(1, runs));
  EXPECT_FALSE(invocation.run());
  EXPECT_EQ(invocation.error(), "foreign: not yet");
  EXPECT_TRUE(invocation.run());
  EXPECT_EQ(invocation.error(), "");
}

TEST(OnednnInvocation, ThePrimitiveThatFailedIsNamedInEachRun) {
  const OnednnContext context;
  const dnnl::primitive relu = make_relu(context);
  OnednnInvocation invocation(context);
  int runs = 0;
  invocation.add_call("foreign", std::make_unique<FailsAtFirst>(0, runs));
  invocation.add_call("relu", relu, {});  // the library refuses it without arguments
  for (int run = 1; run <= 2; ++run) {
    EXPECT_FALSE(invocation.run());
    EXPECT_EQ(runs, run);
    EXPECT_THAT(invocation.error(), HasSubstr("execution of relu failed (invalid_arguments)"));
  }
}

}  // namespace
}  // namespace bench::ops
