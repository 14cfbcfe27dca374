// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/cudnn_entry.hpp"
#include "ops/cuda/cudnn/operator_graphs.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

namespace bench::ops::cuda {
namespace {

Result<OperationGraph, BackendError> reorder_graph(const CudnnTarget& target,
                                                   const Problem& problem) {
  if (!problem.parameters.has("from")) {
    return unsupported("cuDNN does not permute axes or convert types of plain tensors here");
  }
  // The sizes are logical in both layouts: n and c come first.
  std::vector<std::int64_t> dims = problem.tensors[0].dims;
  if (dims.size() == 3) dims.insert(dims.begin() + 2, 1);
  std::vector<TensorForm> forms;
  for (const char* parameter : {"from", "to"}) {
    const std::string& layout = problem.parameters.word(parameter);
    if (layout != "nchw" && layout != "nhwc") {
      return unsupported(fmt::format("cuDNN does not support the layout `{}`", layout));
    }
    forms.push_back(
        tensor_form(problem, forms.size(), dims, layout == "nhwc" ? Layout::nhwc : Layout::nchw));
  }
  GraphBuilder builder(target);
  const std::size_t x = builder.tensor(forms[0]);
  const std::size_t y = builder.tensor(forms[1]);
  builder.pointwise({CUDNN_POINTWISE_IDENTITY, pointwise_compute_type(problem)}, x, std::nullopt,
                    y);
  return builder.finish();
}

constexpr CudnnGap kGaps[] = {
    {always, "cuDNN has no engine that only moves a tensor"},
};

}  // namespace

extern const CudnnEntry reorder_cudnn;
const CudnnEntry reorder_cudnn = {.op = "reorder", .graph = reorder_graph, .gaps = kGaps};

}  // namespace bench::ops::cuda
