// SPDX-License-Identifier: Apache-2.0
// The cases that measure the ceilings of a GPU: loops of the operator peak, products of the library
// on tensor cores, and the shortest copy.
#pragma once

#include "base/units.hpp"
#include "harness/host/cuda_status.hpp"
#include "harness/result/ceilings.hpp"
#include "harness/run/peak_plan.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

struct GpuPeaks {
  std::vector<PeakCase> cases;
  // "gemm_f8_e4m3: sm_80 has no ...": the ceilings that the GPU cannot have, and why.
  std::vector<std::string> left_out;
};
GpuPeaks gpu_peaks(const ops::cuda::DeviceProperties& device);

// Bytes that the L2 cache does not hold: eight times its size, and at least 512 MiB. Less on a
// GPU with so little memory that this would be more than a quarter of it.
Bytes gpu_memory_size(const ops::cuda::DeviceProperties& device);

// The edge of a product that keeps all multiprocessors busy for about thirty tiles of 128 x 128
// each: 8192 on 132 of them.
std::int64_t product_edge(const ops::cuda::DeviceProperties& device);

// What the memory moves by its clock and the width of its bus, with two transfers per clock.
// nullopt if the driver does not report both.
std::optional<BytesPerSecond> memory_bandwidth_by_clock(const ops::cuda::DeviceProperties& device);

// Ceilings without rows, for stored_gpu_ceilings(). `details`: those of a run (gpu_details). `gpu`
// is empty if they describe no GPU.
Ceilings select_gpu_ceilings(const std::map<std::string, std::string>& details);

}  // namespace bench
