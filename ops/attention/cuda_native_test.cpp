// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel on the CPU against the reference.
#include "ops/attention/cuda_native.hpp"

#include "ops/cuda/kernels/launcher.hpp"
#include "ops/cuda/kernels/test_support.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bench::ops::cuda {
namespace {

// A block has 7 lanes here, for 7 keys and 7 elements, and 4 rows.
TEST(NativeForms, AttentionOfEveryTail) {
  for (const char* tokens :
       {"h1q1d1", "h2q5d7", "b2h3q4k9d8", "h4g2q3k21d15", "h8g1q1k30d6", "h2q9d3+causal",
        "h4g2q3k20d5+causal", "h1q12k5d4+causal", "h2q20d6w3+causal", "b3h2q2k16d9l1x16x7",
        "b3h2q2k16d9l1x16x7+causal", "training-h1q1d1", "training-h4g2q3k21d15",
        "training-h1q12k5d4+causal", "training-h2q20d6w3+causal",
        "training-b3h2q2k16d9l1x16x7+causal"}) {
    EXPECT_GT(test::expect_plain("attention", tokens), 0) << tokens;
  }
}

// Returns all results of a form.
std::vector<std::vector<double>> run_all(const NativeForm& form,
                                         const std::vector<std::vector<double>>& inputs) {
  std::vector<std::vector<std::byte>> buffers;
  std::vector<void*> addresses;
  for (std::size_t i = 0; i < form.tensors.size(); ++i) {
    const NativeTensor& tensor = form.tensors[i];
    const std::vector<double> unwritten(static_cast<std::size_t>(tensor.arrangement.plain_elements),
                                        -77.0);
    buffers.push_back(test::to_plain(i < inputs.size() ? inputs[i] : unwritten, tensor.dtype));
  }
  for (auto& buffer : buffers) addresses.push_back(buffer.data());
  EXPECT_TRUE(HostLauncher().launch(form.plan, addresses).ok());
  std::vector<std::vector<double>> results;
  for (std::size_t i = inputs.size(); i < buffers.size(); ++i) {
    std::vector<double>& values = results.emplace_back();
    const auto elements = static_cast<std::size_t>(form.tensors[i].arrangement.plain_elements);
    for (std::size_t j = 0; j < elements; ++j) {
      values.push_back(load_element(form.tensors[i].dtype, buffers[i].data(), j));
    }
  }
  return results;
}

TEST(NativeForms, GradientsOfAttentionOfEveryTail) {
  for (const char* tokens :
       {"h1q1d1", "b2h3q4k9d8", "h4g2q3k21d15", "h2q9d3+causal", "h1q12k5d4+causal",
        "h2q20d6w3+causal", "b3h2g1q2k16d9l1x16x7+causal"}) {
    for (const DataType dtype : {DataType::f32, DataType::f64, DataType::f16, DataType::bf16}) {
      const Problem problem =
          ops::op_test::problem("attention", tokens, dtype, Direction::backward_data);
      const auto form = native_form(problem);
      ASSERT_TRUE(form.ok()) << form.error().reason;
      const auto inputs = ops::op_test::random_inputs(problem, 5);
      const auto results = run_all(*form, inputs);
      ASSERT_EQ(results.size(), 3U);
      for (std::size_t i = 0; i < results.size(); ++i) {
        test::expect_near(results[i], built_in_reference(problem, inputs, i, {}),
                          problem.op->tolerance(problem), tokens);
      }
    }
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
