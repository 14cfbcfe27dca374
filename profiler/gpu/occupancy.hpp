// SPDX-License-Identifier: Apache-2.0
// Theoretical occupancy of a launch: the fraction of a multiprocessor's warps that can be resident.
// It depends only on the device's limits.
#pragma once

#include "profiler/gpu/gpu_record.hpp"

#include <cstdint>
#include <optional>

namespace bench {

struct GpuOccupancy {
  std::int64_t blocks_per_multiprocessor = 0;
  double share = 0;  // resident warps / warps that the multiprocessor can hold, 0 to 1
};

// Computes how many blocks fit into a multiprocessor. The scarcest resource decides: each row below
// divides what a multiprocessor has by what a block takes (CUDA C++ Programming Guide, "Hardware
// Multithreading" and the table of compute capabilities):
//   warps:     warps_per_multiprocessor / w, w = ceil(threads / warp_size)
//   registers: a warp takes registers x warp_size, rounded up to 256, out of one of 4 partitions
//   shared:    static + dynamic + reserved (1 KiB from compute capability 8.0 on), rounded up to
//              128 B (256 B below 8.0), out of all that the multiprocessor can give to blocks
//   blocks:    blocks_per_multiprocessor
// The driver may use more of the memory as cache, which keeps fewer blocks resident. Returns
// nullopt if the limits are incomplete or the launch cannot run on such a device.
std::optional<GpuOccupancy> theoretical_occupancy(const GpuLimits& limits, const GpuKernel& launch);

}  // namespace bench
