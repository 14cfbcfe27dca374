// SPDX-License-Identifier: Apache-2.0
#include "harness/run/gpu_peak_plan.hpp"

#include "harness/config/case_id.hpp"
#include "ops/peak/peak.hpp"
#include "ops/tensor_core/architecture.hpp"
#include "ops/tensor_core/eligibility.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <utility>

namespace bench {
namespace {

constexpr std::int64_t kMinMemoryWorkingSet = std::int64_t{1} << 29;  // bytes
constexpr std::string_view kL2 = "l2";
constexpr std::string_view kGpuMemory = kMemoryLevels.back();

constexpr std::array<std::string_view, 3> kCudaCoreTypes = {"f32", "f64", "f16"};
constexpr std::array<std::string_view, 3> kL2Loops = {"read", "copy", "triad"};
constexpr std::array<std::string_view, 4> kGpuMemoryLoops = {"read", "write", "copy", "triad"};

// A matrix product on tensor cores. `options`: options of the case, with which the library selects
// its fastest kernels.
struct TensorProduct {
  std::string_view operand;
  std::string_view dtype;
  std::string_view options;
};
constexpr std::array<TensorProduct, 6> kTensorProducts = {
    {{"f16", "f16", ""},
     {"bf16", "bf16", ""},
     {"tf32", "f32", "/tf32"},
     {"f8_e4m3", "f8_e4m3", "/fast_accumulation"},
     {"s8", "s8", ""},
     {"f64", "f64", ""}}};

class GpuPeakPlan {
 public:
  explicit GpuPeakPlan(const ops::cuda::DeviceProperties& device) : device_(device) {}

  void add_cores() {
    for (const std::string_view dtype : kCudaCoreTypes) {
      add(fmt::format("peak/forward/{}-s{}/{}/cudnn/cuda/hot", ops::kGpuArithmetic,
                      ops::kMaxPeakSteps, dtype),
          fmt::format("{}{}", kCudaCoreCeiling, dtype), "");
    }
  }

  void add_products() {
    const auto platform = ops::parse_platform(fmt::format("{}.{}", device_.major, device_.minor));
    const std::int64_t edge = compute_product_edge(device_);
    for (const TensorProduct& product : kTensorProducts) {
      std::string id = fmt::format("gemm/forward/m{0}n{0}k{0}+tb/{1}/cublaslt/cuda/hot{2}", edge,
                                   product.dtype, product.options);
      std::string name = fmt::format("{}{}", kLibraryCeiling, product.operand);
      const auto error = platform ? find_obstacle(id, *platform) : platform.error().what;
      if (error.empty()) {
        add(std::move(id), std::move(name), "");
      } else {
        peaks_.left_out.push_back(fmt::format("{}: {}", name, error));
      }
    }
  }

  // Adds loops over arrays of `total` bytes. An iteration repeats a loop until it has moved twice
  // the bytes of gpu_memory_working_set(). The start of the kernel is then negligible.
  void add_movement(std::span<const std::string_view> functions, std::string_view level,
                    Bytes total) {
    const Bytes moved{2 * gpu_memory_working_set(device_).count};
    for (const std::string_view function : functions) {
      add(movement_case_id(function, total, moved, "cudnn/cuda"), std::string(function),
          std::string(level));
    }
  }

  void add_levels() {
    // Uses a quarter of the L2 cache, because the halves of a large cache keep copies of each
    // other's lines.
    constexpr std::int64_t kCacheDivisor = 4;
    if (device_.l2_bytes > 0) add_movement(kL2Loops, kL2, {device_.l2_bytes / kCacheDivisor});
    add_movement(kGpuMemoryLoops, kGpuMemory, gpu_memory_working_set(device_));
  }

  void add_dispatch() {
    add(fmt::format("peak/forward/copy-b{}/f32/cudnn/cuda/hot", 2 * ops::kPeakChunk),
        std::string(kDispatchCeiling), "");
  }

  GpuPeaks peaks() && { return std::move(peaks_); }

 private:
  // Returns why tensor cores cannot compute the case; empty if they can.
  static std::string find_obstacle(const std::string& id, const ops::Platform& platform) {
    const auto key = parse_id(id);
    if (!key) return key.error().message();
    const auto problem = problem_from_key(*key);
    if (!problem) return problem.error().message();
    auto verdict = ops::assess_tensor_cores(*problem, platform);
    return verdict.answer == ops::TensorCoreAnswer::eligible ? "" : std::move(verdict.reason);
  }

  void add(std::string id, std::string name, std::string level) {
    peaks_.cases.push_back({std::move(id), std::move(name), std::move(level), 1, device_.name});
  }

  const ops::cuda::DeviceProperties& device_;
  GpuPeaks peaks_;
};

std::string find_detail(const std::map<std::string, std::string>& details, const char* name) {
  const auto found = details.find(name);
  return found == details.end() ? std::string() : found->second;
}

}  // namespace

GpuPeaks gpu_peaks(const ops::cuda::DeviceProperties& device) {
  GpuPeakPlan plan(device);
  plan.add_cores();
  plan.add_products();
  plan.add_levels();
  plan.add_dispatch();
  return std::move(plan).peaks();
}

bool is_most_valuable_gpu_peak(const PeakCase& entry) {
  constexpr std::array<std::string_view, 6> kNames = {"gemm_f16", "gemm_bf16",    "gemm_tf32",
                                                      "read",     "fma_cuda_f32", kDispatchCeiling};
  return std::ranges::find(kNames, entry.name) != kNames.end();
}

Bytes gpu_memory_working_set(const ops::cuda::DeviceProperties& device) {
  constexpr std::int64_t kGpuCacheFactor = 8, kMemoryDivisor = 4;
  const std::int64_t size = std::max(kGpuCacheFactor * device.l2_bytes, kMinMemoryWorkingSet);
  return {std::min(size, device.memory_bytes / kMemoryDivisor)};
}

std::int64_t compute_product_edge(const ops::cuda::DeviceProperties& device) {
  constexpr double kElementsPerProcessor = 128 * 128 * 32;
  constexpr std::int64_t kEdgeUnit = 512;  // a multiple of every kernel's tile
  const double edge = std::sqrt(kElementsPerProcessor * device.multiprocessors);
  return std::max(static_cast<std::int64_t>(edge) / kEdgeUnit, std::int64_t{1}) * kEdgeUnit;
}

std::optional<BytesPerSecond> memory_bandwidth_by_clock(const ops::cuda::DeviceProperties& device) {
  if (!device.memory_clock_khz || !device.memory_bus_bits) return std::nullopt;
  constexpr double kTransfersPerClock = 2, kBitsPerByte = 8, kHertzPerKilohertz = 1000;
  const double clock = static_cast<double>(*device.memory_clock_khz) * kHertzPerKilohertz;
  const double width = static_cast<double>(*device.memory_bus_bits) / kBitsPerByte;
  if (clock <= 0 || width <= 0) return std::nullopt;
  return BytesPerSecond{kTransfersPerClock * clock * width};
}

Ceilings select_gpu_ceilings(const std::map<std::string, std::string>& details) {
  Ceilings ceilings;
  ceilings.gpu = find_detail(details, "gpu.name");
  ceilings.capability = find_detail(details, "gpu.compute_capability");
  const std::string l2 = find_detail(details, "gpu.l2_bytes");
  std::int64_t bytes = 0;
  std::from_chars(l2.data(), l2.data() + l2.size(), bytes);
  if (bytes > 0) ceilings.caches.emplace(kL2, Bytes{bytes});
  return ceilings;
}

}  // namespace bench
