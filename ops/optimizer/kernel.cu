// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/device_kernels.hpp"
#include "ops/cuda/kernels/device/launching.hpp"
#include "ops/optimizer/cuda_native.hpp"

namespace bench::ops::cuda {
namespace {

constexpr int kThreads = 256;

template <OptimizerFunction kFunction, Element kType>
__global__ void optimizer_kernel(const __grid_constant__ Addresses tensors,
                                 const __grid_constant__ OptimizerPlan plan) {
  const DeviceAccess<kType> access{tensors};
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < plan.elements; i += stride) {
    update_element<kFunction>(plan, access, i, access, i);
  }
}

cudaError_t launch(cudaStream_t stream, const NativePlan& bytes, const Addresses& tensors) {
  const auto plan = bytes.as<OptimizerPlan>();
  if (plan.elements == 0) return cudaSuccess;
  const unsigned grid = grid_size((plan.elements + kThreads - 1) / kThreads);
  return launch_by_type(plan.type, [&](auto type) {
    run_by_function(plan.function, [&](auto function) {
      optimizer_kernel<decltype(function)::kValue, decltype(type)::value>
          <<<grid, kThreads, 0, stream>>>(tensors, plan);
    });
  });
}

}  // namespace

extern const DeviceKernel optimizer_device_kernel;
const DeviceKernel optimizer_device_kernel = {OptimizerPlan::kKernel, launch};

}  // namespace bench::ops::cuda
