// SPDX-License-Identifier: Apache-2.0
// Plans the cases that measure the ceilings of a GPU: loops of the operator `peak`, the library's
// products on tensor cores, and the shortest copy.
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
  // The ceilings that the GPU cannot have, with the reason: "gemm_f8_e4m3: sm_80 has no ...".
  std::vector<std::string> left_out;
};
// Returns the cases for all ceilings of the device, the most valuable first: products on tensor
// cores and the memory, which limit most cases.
GpuPeaks gpu_peaks(const ops::cuda::DeviceProperties& device);
// Whether a ceiling limits so many cases that it is measured before the others: products in f16,
// bf16 and tf32, reading, multiply-adds in f32, and the launch.
bool is_most_valuable_gpu_peak(const PeakCase& entry);

// Returns the size of the data that measure the GPU's memory. The L2 cache cannot hold them: eight
// times its size, and at least 512 MiB, but at most a quarter of the memory.
Bytes gpu_memory_working_set(const ops::cuda::DeviceProperties& device);

// Returns the edge length of a square matrix product that measures the tensor cores. Each
// multiprocessor computes about 32 tiles of 128 x 128. Example: 8192 for 132 multiprocessors.
std::int64_t compute_product_edge(const ops::cuda::DeviceProperties& device);

// Returns the memory bandwidth according to the memory's clock and bus width, with two transfers
// per clock. Returns nullopt if the driver does not report both.
std::optional<BytesPerSecond> memory_bandwidth_by_clock(const ops::cuda::DeviceProperties& device);

// Returns ceilings without rows that name the GPU, for stored_gpu_ceilings(). `details`: details of
// a run's environment (gpu_details()). `gpu` is empty if they do not describe a GPU.
Ceilings select_gpu_ceilings(const std::map<std::string, std::string>& details);

}  // namespace bench
