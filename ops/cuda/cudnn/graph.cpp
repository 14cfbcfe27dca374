// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/graph.hpp"

#include "ops/cuda/cudnn/cudnn_entry.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bench::ops::cuda {
namespace {

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

const CudnnEntry* find_cudnn_entry(std::string_view op) {
  const auto all = cudnn_entries();
  const auto found = std::ranges::find(all, op, &CudnnEntry::op);
  return found == all.end() ? nullptr : *found;
}

cudnnDataType_t cudnn_type(DataType dtype) { return kTypes[static_cast<std::size_t>(dtype)].code; }

DataType compute_type(const Problem& problem) {
  if (info(problem.dtype).is_integer) return DataType::s32;
  return problem.dtype == DataType::f64 ? DataType::f64 : DataType::f32;
}

Result<OperationGraph, BackendError> operation_graph(const CudnnTarget& target,
                                                     const Problem& problem) {
  const CudnnEntry* entry = find_cudnn_entry(problem.op->name);
  if (entry != nullptr && entry->graph != nullptr) return entry->graph(target, problem);
  return unsupported(fmt::format("cuDNN has no kernel for {}", problem.op->name));
}

}  // namespace bench::ops::cuda
