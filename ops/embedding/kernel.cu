// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/row_kernel.cuh"
#include "ops/embedding/cuda_native.hpp"

namespace bench::ops::cuda {
namespace {

constexpr int kLookupThreads = 256;

// Copies one unit per thread and step.
template <class Unit>
__global__ void lookup_kernel(const __grid_constant__ Addresses tensors,
                              const __grid_constant__ EmbeddingPlan plan) {
  const auto* table = static_cast<const Unit*>(tensors.at[0]);
  auto* destination = static_cast<Unit*>(tensors.at[2]);
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < plan.units(); i += stride) {
    destination[i] = table[plan.source_of(tensors.at[1], i)];
  }
}

template <class Unit>
void start_lookup(cudaStream_t stream, const EmbeddingPlan& plan, const Addresses& tensors) {
  const unsigned grid = grid_size((plan.units() + kLookupThreads - 1) / kLookupThreads);
  lookup_kernel<Unit><<<grid, kLookupThreads, 0, stream>>>(tensors, plan);
}

cudaError_t launch_embedding(cudaStream_t stream, const NativePlan& bytes,
                             const Addresses& tensors) {
  const auto plan = bytes.as<EmbeddingPlan>();
  if (plan.function == EmbeddingFunction::gradient) {
    return launch_rows<EmbeddingPlan>(stream, bytes, tensors);
  }
  if (plan.units() == 0) return cudaSuccess;
  if (plan.unit == 16) start_lookup<uint4>(stream, plan, tensors);
  if (plan.unit == 8) start_lookup<std::uint64_t>(stream, plan, tensors);
  if (plan.unit == 4) start_lookup<std::uint32_t>(stream, plan, tensors);
  if (plan.unit == 2) start_lookup<std::uint16_t>(stream, plan, tensors);
  if (plan.unit == 1) start_lookup<std::uint8_t>(stream, plan, tensors);
  return cudaGetLastError();
}

}  // namespace

extern const DeviceKernel embedding_device_kernel;
const DeviceKernel embedding_device_kernel = {EmbeddingPlan::kKernel, launch_embedding};

}  // namespace bench::ops::cuda
