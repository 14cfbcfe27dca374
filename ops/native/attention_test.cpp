// SPDX-License-Identifier: Apache-2.0
// Tests kernels of backend `native` with several results: attention in training and its gradients.
#include "ops/native/backend.hpp"
#include "ops/onednn/aligned_buffer.hpp"
#include "ops/test_support.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <cstring>
#include <string>

namespace bench::ops {
namespace {

void expect_results(Backend& backend, const Problem& problem) {
  const auto kernel = backend.create(problem);
  ASSERT_TRUE(kernel.ok());
  const auto inputs = op_test::random_inputs(problem, 1);
  std::vector<AlignedBuffer> memory;
  std::vector<void*> buffers;
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    const Tensor& tensor = problem.tensors[i];
    memory.emplace_back(static_cast<std::size_t>(tensor.size().count));
    std::memset(memory.back().data(), 0xff, memory.back().size());
    buffers.push_back(memory.back().data());
    if (i >= inputs.size()) continue;
    for (std::size_t j = 0; j < inputs[i].size(); ++j) {
      store_element(tensor.dtype, buffers.back(), j, inputs[i][j]);
    }
  }
  const auto invocation = (*kernel)->bind(buffers);
  ASSERT_TRUE(invocation.ok());
  ASSERT_TRUE((*invocation)->run());
  const Tolerance tolerance = problem.op->tolerance(problem);
  for (std::size_t output = 0; inputs.size() + output < problem.tensors.size(); ++output) {
    const Tensor& tensor = problem.tensors[inputs.size() + output];
    const auto want = built_in_reference(problem, inputs, output, {});
    ASSERT_EQ(static_cast<std::int64_t>(want.size()), tensor.elements());
    for (std::size_t i = 0; i < want.size(); ++i) {
      const double got = load_element(tensor.dtype, buffers[inputs.size() + output], i);
      ASSERT_NEAR(got, want[i], tolerance.absolute + tolerance.relative * std::abs(want[i]))
          << problem_tokens(problem) << " " << info(problem.dtype).name << " " << tensor.name
          << " at " << i;
    }
  }
}

// Chunks of rows and blocks of columns, each with a tail; rows and keys without partners.
TEST(NativeBackend, GradientsOfAttentionAreRightWithEveryNumberOfThreads) {
  const auto backend = make_native_backend();
  for (const DataType dtype : {DataType::f32, DataType::f64, DataType::f16, DataType::bf16}) {
    for (const char* tokens :
         {"h1q1d1", "h2q13d64", "b2h2q37k150d20", "h4g2q100k130d40+causal", "h2q60k20d33+causal",
          "h1q200d16w70+causal", "b3h4g2q16k200d24l200x7x131+causal", "h8g1q1k150d31"}) {
      for (const int threads : {1, 3}) {
        omp_set_num_threads(threads);
        expect_results(*backend,
                       op_test::problem("attention", tokens, dtype, Direction::backward_data));
      }
    }
  }
}

// Few rows, whose keys the threads share, and many; rows without keys.
TEST(NativeBackend, AttentionInTrainingIsRightWithEveryNumberOfThreads) {
  const auto backend = make_native_backend();
  for (const DataType dtype : {DataType::f32, DataType::f64, DataType::f16, DataType::bf16}) {
    for (const std::string tokens :
         {"h1q1d1", "h2q13d64", "b2h2q37k150d20", "h4g2q100k130d40+causal", "h2q60k20d33+causal",
          "h1q200d16w70+causal", "h8g1q1k1150d31", "h2q3k700d24+causal",
          "b3h4g2q2k600d24l600x7x131+causal"}) {
      for (const int threads : {1, 3}) {
        omp_set_num_threads(threads);
        expect_results(*backend, op_test::problem("attention", "training-" + tokens, dtype));
      }
    }
  }
}

}  // namespace
}  // namespace bench::ops
