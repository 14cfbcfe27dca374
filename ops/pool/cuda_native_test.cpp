// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel on the CPU against the reference.
#include "ops/pool/cuda_native.hpp"

#include "ops/cuda/kernels/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace bench::ops::cuda {
namespace {

constexpr const char* kFunctions[] = {"max", "avg_include_pad", "avg_exclude_pad"};

// Windows of one to three axes, shorter and longer than the batches of loads, with even and uneven
// padding, of whole images, and with numbers of channels that fill 16 bytes in some types, in all,
// or in none.
constexpr const char* kShapes[] = {"n2c16h9r3u2p1",     "n2c4h9r3u2p1_0",     "n1c8h6r2",
                                   "n2c32h7+global",    "n2c16d3h4w5+global", "n2c16w40r13u3p5",
                                   "n2c16d5h6t2r3u2p1", "n1c3h7r5u1p2",       "n1c24h9w12r1s9u1p0"};

TEST(NativePool, ComputesWhatTheReferenceDoes) {
  int problems = 0;
  for (const char* function : kFunctions) {
    for (const char* shape : kShapes) {
      for (const DataTypeInfo& type : data_types()) {
        auto problem = ops::op_test::try_problem("pool", std::string(function) + "-" + shape,
                                                 type.type, Direction::forward);
        if (!type.is_case_type || !problem) continue;
        for (const Layout layout : {Layout::any, Layout::nchw, Layout::nhwc}) {
          problem->layout = layout;
          test::expect_reference(*problem);
          ++problems;
        }
      }
    }
  }
  EXPECT_GT(problems, 300);
}

std::string implementation(const char* tokens, DataType dtype, Layout layout) {
  Problem problem = ops::op_test::problem("pool", tokens, dtype);
  problem.layout = layout;
  const auto form = native_form(problem);
  return form ? form->implementation : form.error().reason;
}

TEST(NativePool, ReadsChannelsIn16BytesIfTheyAreInnermost) {
  EXPECT_EQ(implementation("max-n2c8h9r3", DataType::bf16, Layout::nhwc), "bench:pool_vector");
  EXPECT_EQ(implementation("max-n2c8h9r3", DataType::bf16, Layout::any), "bench:pool_vector");
  EXPECT_EQ(implementation("max-n2c8h9r3", DataType::u8, Layout::nhwc), "bench:pool_scalar");
  EXPECT_EQ(implementation("max-n2c8h9r3", DataType::bf16, Layout::nchw), "bench:pool_scalar");
  for (const DataType dtype : {DataType::f64, DataType::f8_e4m3}) {
    EXPECT_EQ(implementation("max-n2c16h9r3", dtype, Layout::nhwc), "bench:pool_scalar");
  }
}

// The name states what runs: the kernel of 16 bytes has indexes of 32 bits, so larger results are
// planned for the other one.
TEST(NativePool, IsNamedAfterTheKernelThatRunsOfLargeResults) {
  EXPECT_EQ(implementation("max-n32768c512h257r2", DataType::f16, Layout::nhwc),
            "bench:pool_scalar");
  EXPECT_EQ(implementation("max-n32c512h257r2", DataType::f16, Layout::nhwc), "bench:pool_vector");
}

TEST(NativePool, HasNoGradients) {
  const auto form = native_form(
      ops::op_test::problem("pool", "max-n2c8h9r3", DataType::f32, Direction::backward_data));
  ASSERT_FALSE(form.ok());
  EXPECT_EQ(form.error().kind, BackendError::Kind::unsupported);
}

}  // namespace
}  // namespace bench::ops::cuda
