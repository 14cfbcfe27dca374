// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel on the CPU against the reference.
#include "ops/attention/cuda_native.hpp"

#include "ops/cuda/kernels/test_support.hpp"

#include <gtest/gtest.h>

#include <string>

namespace bench::ops::cuda {
namespace {

// A block has 7 lanes here, for 7 keys and 7 elements, and 4 rows.
TEST(NativeForms, AttentionOfEveryTail) {
  for (const char* tokens :
       {"h1q1d1", "h2q5d7", "b2h3q4k9d8", "h4g2q3k21d15", "h8g1q1k30d6", "h2q9d3+causal",
        "h4g2q3k20d5+causal", "h1q12k5d4+causal", "h2q20d6w3+causal", "b3h2q2k16d9l1x16x7",
        "b3h2q2k16d9l1x16x7+causal"}) {
    EXPECT_GT(test::expect_plain("attention", tokens), 0) << tokens;
  }
}

TEST(NativeForms, AttentionRefusesTooManyLengths) {
  std::string tokens = "b300h1q1k2d1l1";
  for (int i = 1; i < 300; ++i) tokens += "x2";
  const auto form = native_form(ops::op_test::problem("attention", tokens));
  ASSERT_FALSE(form.ok());
  EXPECT_EQ(form.error().reason, "the kernel takes the `lengths` of up to 256 sequences");
}

}  // namespace
}  // namespace bench::ops::cuda
