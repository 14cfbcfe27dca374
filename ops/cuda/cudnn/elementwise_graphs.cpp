// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/cudnn_entry.hpp"
#include "ops/cuda/cudnn/operator_graphs.hpp"

#include <algorithm>
#include <utility>

namespace bench::ops::cuda {

bool has_channels_innermost(const Problem& problem) {
  // Channels require a rank of at least four: n, c, and two spatial sizes.
  return problem.tensors[0].dims.size() > 3 && chosen_layout(problem) == Layout::nhwc;
}

std::vector<std::int64_t> padded_dims(const Dims& dims) {
  constexpr std::size_t kMinRank = 4;
  std::vector<std::int64_t> result(dims.size() < kMinRank ? kMinRank - dims.size() : 0, 1);
  result.insert(result.end(), dims.begin(), dims.end());
  return result;
}

TensorForm elementwise_form(const Problem& problem, std::size_t tensor,
                            std::vector<std::int64_t> dims) {
  if (!has_channels_innermost(problem)) std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
  return tensor_form(problem, tensor, std::move(dims), Layout::nhwc);
}

TensorForm elementwise_form(const Problem& problem, std::size_t tensor) {
  return elementwise_form(problem, tensor, padded_dims(problem.tensors[tensor].dims));
}

std::optional<PackedTensor> pack_elementwise(
    const Problem& problem, std::size_t tensor,
    const TensorForm& /*form: not needed, since it only renames dimensions*/) {
  const Tensor& problem_tensor = problem.tensors[tensor];
  if (has_channels_innermost(problem) && problem_tensor.dims.size() != 1) return std::nullopt;
  return PackedTensor{make_arrangement(problem_tensor.dims, MemoryLayout::plain),
                      format_layout(problem, tensor, Layout::nchw)};
}

}  // namespace bench::ops::cuda
