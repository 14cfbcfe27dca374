// SPDX-License-Identifier: Apache-2.0
// Tests the backend on a scripted device without cuDNN. The operators that `bench list` reports as
// supported (see the test Support.WithoutCudnnSaysSo) run. The backend refuses all others and gives
// the reason.
#include "ops/cuda/cudnn/cudnn_backend.hpp"
#include "ops/cuda/cudnn/support_oracle.hpp"
#include "ops/cuda/network/test_support.hpp"
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace bench::ops::cuda {
namespace {

using bench::ops::op_test::problem;

class WithoutCudnnTest : public ::testing::Test {
 protected:
  Backend& backend() { return **backend_; }

  const BackendError missing_{BackendError::Kind::unsupported,
                              "libcudnn.so.9: no file of that name"};
  test::ScriptedDevice device_;
  Result<std::unique_ptr<Backend>, BackendError> backend_ = make_cudnn_backend(
      {device_.parts(), missing_, std::make_shared<test::StreamLauncher>(device_.runtime), {}});
};

TEST_F(WithoutCudnnTest, SaysWhy) {
  ASSERT_TRUE(backend_.ok()) << backend_.error().reason;
  EXPECT_EQ(backend().name(), "cudnn");
  EXPECT_EQ(backend().library().version, "");
  EXPECT_EQ(backend().library().detail, missing_.reason);
}

struct Served {
  const char* op;
  const char* tokens;
  const char* implementation;
};
constexpr Served kServed[] = {{"softmax", "4x40", "bench:softmax_block"},
                              {"reorder", "2x32x5x5-nchw-nhwc", "bench:reorder_tiled"},
                              {"pointwise", "relu-2x16x5x5", "bench:elementwise"},
                              {"batch_norm", "n2c16h5", "bench:elementwise"},
                              {"pool", "max-n2c16h5r3", "bench:pool_vector"}};

TEST_F(WithoutCudnnTest, RunsNativeKernels) {
  for (const Served& row : kServed) {
    SCOPED_TRACE(row.op);
    const Problem asked = problem(row.op, row.tokens);
    EXPECT_EQ(check_support(asked, {nullptr, missing_.reason}).runs, Runnable::yes);
    const auto kernel = backend().create(asked);
    ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
    EXPECT_EQ((*kernel)->implementation(), row.implementation);
    test::expect_reference(device_, **kernel, asked);
  }
}

TEST_F(WithoutCudnnTest, RefusesTheRestForTheSameReason) {
  for (const auto& [op, tokens] :
       {std::pair("conv", "n2c4h5k6r3p1"), std::pair("conv", "n2c4h5k6r3p1+bias+relu")}) {
    const auto refused = backend().create(problem(op, tokens));
    ASSERT_FALSE(refused.ok()) << tokens;
    EXPECT_EQ(refused.error().kind, BackendError::Kind::unsupported);
    EXPECT_EQ(refused.error().reason, missing_.reason) << tokens;
  }
}

}  // namespace
}  // namespace bench::ops::cuda
