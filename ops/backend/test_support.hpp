// SPDX-License-Identifier: Apache-2.0
// Supports tests of kernels with plain buffers.
#pragma once

#include "ops/backend/kernel.hpp"
#include "ops/onednn/aligned_buffer.hpp"
#include "ops/test_support.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace bench::ops::op_test {

// Runs the kernel of a problem once on plain, aligned buffers with these inputs, and returns its
// outputs.
inline std::vector<std::vector<double>> plain_outputs(
    Kernel& kernel, const Problem& problem, const std::vector<std::vector<double>>& inputs) {
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
  const auto invocation = kernel.bind(buffers);
  EXPECT_TRUE(invocation.ok());
  EXPECT_TRUE((*invocation)->run());
  std::vector<std::vector<double>> outputs;
  for (std::size_t k = inputs.size(); k < buffers.size(); ++k) {
    const Tensor& output = problem.tensors[k];
    std::vector<double>& values = outputs.emplace_back();
    for (std::int64_t i = 0; i < output.elements(); ++i) {
      values.push_back(load_element(output.dtype, buffers[k], static_cast<std::size_t>(i)));
    }
  }
  return outputs;
}

}  // namespace bench::ops::op_test
