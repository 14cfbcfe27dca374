// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/occupancy.hpp"

#include <algorithm>
#include <array>

namespace bench {
namespace {

// Valid for every compute capability from 7.0 on (Programming Guide, table of capabilities).
constexpr std::int64_t kRegisterUnit = 256;
constexpr std::int64_t kMaxRegisters = 255;  // per thread
constexpr std::int64_t kPartitions = 4;

struct SharedMemoryRule {
  std::int64_t unit;      // bytes
  std::int64_t reserved;  // bytes of each block that the driver reserves
};

SharedMemoryRule shared_memory_rule(std::int64_t compute_major) {
  return compute_major >= 8 ? SharedMemoryRule{128, 1024} : SharedMemoryRule{256, 0};
}

std::int64_t divided_up(std::int64_t amount, std::int64_t unit) {
  return (amount + unit - 1) / unit;
}
std::int64_t rounded_up(std::int64_t amount, std::int64_t unit) {
  return divided_up(amount, unit) * unit;
}

bool is_complete(const GpuLimits& limits) {
  const std::array values = {limits.compute_major,
                             limits.warp_size,
                             limits.warps_per_multiprocessor,
                             limits.blocks_per_multiprocessor,
                             limits.threads_per_block,
                             limits.registers_per_multiprocessor,
                             limits.registers_per_block,
                             limits.shared_bytes_per_multiprocessor};
  return std::all_of(values.begin(), values.end(), [](std::int64_t value) { return value > 0; });
}

// Returns the number of blocks with `warps` warps, or nullopt if registers do not limit it.
std::optional<std::int64_t> by_registers(const GpuLimits& limits, const GpuKernel& launch,
                                         std::int64_t warps) {
  if (launch.registers == 0) return std::nullopt;
  if (launch.registers > kMaxRegisters) return 0;
  const std::int64_t warp = rounded_up(launch.registers * limits.warp_size, kRegisterUnit);
  // The hardware counts a block as if its warps filled all partitions.
  if (warp * rounded_up(warps, kPartitions) > limits.registers_per_block) return 0;
  const std::int64_t warps_of_partition = limits.registers_per_multiprocessor / kPartitions / warp;
  return warps_of_partition * kPartitions / warps;
}

std::optional<std::int64_t> by_shared_memory(const GpuLimits& limits, const GpuKernel& launch) {
  const SharedMemoryRule rule = shared_memory_rule(limits.compute_major);
  const std::int64_t block = rounded_up(
      launch.static_shared_bytes + launch.dynamic_shared_bytes + rule.reserved, rule.unit);
  if (block == 0) return std::nullopt;
  return limits.shared_bytes_per_multiprocessor / block;
}

}  // namespace

std::optional<GpuOccupancy> theoretical_occupancy(const GpuLimits& limits,
                                                  const GpuKernel& launch) {
  const std::int64_t threads = launch.block.count();
  if (!is_complete(limits) || threads <= 0 || threads > limits.threads_per_block) {
    return std::nullopt;
  }
  const std::int64_t warps = divided_up(threads, limits.warp_size);
  std::int64_t blocks =
      std::min(limits.blocks_per_multiprocessor, limits.warps_per_multiprocessor / warps);
  if (const auto limit = by_registers(limits, launch, warps)) blocks = std::min(blocks, *limit);
  if (const auto limit = by_shared_memory(limits, launch)) blocks = std::min(blocks, *limit);
  if (blocks <= 0) return std::nullopt;
  const double share =
      static_cast<double>(blocks * warps) / static_cast<double>(limits.warps_per_multiprocessor);
  return GpuOccupancy{blocks, share};
}

}  // namespace bench
