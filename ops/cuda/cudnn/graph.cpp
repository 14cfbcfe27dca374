// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/graph.hpp"

#include "ops/cuda/cudnn/operator_graphs.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>

namespace bench::ops::cuda {
namespace {

using MakeGraph = Result<OperationGraph, Refusal> (*)(const CudnnTarget&, const Problem&);
struct OperatorRow {
  std::string_view name;
  MakeGraph make;
};
constexpr OperatorRow kOperators[] = {{"conv", conv_graph},
                                      {"pool", pool_graph},
                                      {"pointwise", pointwise_graph},
                                      {"batch_norm", batch_norm_graph},
                                      {"reorder", reorder_graph}};

struct TypeRow {
  DataType type;
  cudnnDataType_t code;
};
// In the order of the enumerators.
constexpr TypeRow kTypes[] = {
    {DataType::f64, CUDNN_DATA_DOUBLE},      {DataType::f32, CUDNN_DATA_FLOAT},
    {DataType::f16, CUDNN_DATA_HALF},        {DataType::bf16, CUDNN_DATA_BFLOAT16},
    {DataType::s32, CUDNN_DATA_INT32},       {DataType::s8, CUDNN_DATA_INT8},
    {DataType::u8, CUDNN_DATA_UINT8},        {DataType::f8_e4m3, CUDNN_DATA_FP8_E4M3},
    {DataType::f8_e5m2, CUDNN_DATA_FP8_E5M2}};

}  // namespace

cudnnDataType_t cudnn_type(DataType dtype) { return kTypes[static_cast<std::size_t>(dtype)].code; }

DataType compute_type(const Problem& problem) {
  if (info(problem.dtype).is_integer) return DataType::s32;
  return problem.dtype == DataType::f64 ? DataType::f64 : DataType::f32;
}

Result<OperationGraph, Refusal> operation_graph(const CudnnTarget& target, const Problem& problem) {
  for (const OperatorRow& row : kOperators) {
    if (row.name == problem.op->name) return row.make(target, problem);
  }
  return unsupported(fmt::format("cuDNN has no kernel for {}", problem.op->name));
}

}  // namespace bench::ops::cuda
