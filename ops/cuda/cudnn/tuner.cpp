// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace bench::ops::cuda {
namespace {

constexpr std::size_t kSamples = 3;
constexpr std::int64_t kIterations = 10;
// Byte that fills all buffers. The resulting number is 1.06 in f16 and 0.01 in f32 and bf16. It is
// finite in every type, and not 0, because multipliers use less power on zeros.
constexpr std::uint8_t kFill = 0x3c;

Result<std::vector<DeviceBuffer>, BackendError> allocate_buffers(Runtime& runtime,
                                                                 const Kernel& kernel) {
  std::vector<DeviceBuffer> buffers;
  for (const KernelBuffer& description : kernel.buffers()) {
    BENCH_ASSIGN_OR_RETURN(DeviceBuffer buffer,
                           DeviceBuffer::create(runtime, description.size, "tuning"));
    if (const Status filled = runtime.fill(buffer.data(), kFill, description.size); !filled) {
      return BackendError{BackendError::Kind::failed, filled.error().message()};
    }
    buffers.push_back(std::move(buffer));
  }
  return buffers;
}

Result<Nanoseconds> measure_median_time(Kernel& kernel, std::span<void* const> addresses) {
  BENCH_RETURN_IF_ERROR(kernel.prepare(addresses));
  BENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Invocation> invocation, kernel.bind(addresses));
  Invocation* const rotation[] = {invocation.get()};
  std::array<Nanoseconds, kSamples> times{};
  for (Nanoseconds& time : times) {
    BENCH_ASSIGN_OR_RETURN(const DeviceSample sample,
                           kernel.sample({.rotation = rotation, .iterations = kIterations}));
    time = sample.device / kIterations;
  }
  std::ranges::sort(times);
  return times[kSamples / 2];
}

}  // namespace

std::string TunedChoice::text(std::span<const std::unique_ptr<Kernel>> kernels) const {
  std::string text = fmt::format("best of {}:", kernels.size());
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const std::string time = times[i] ? fmt::format("{} ns", times[i]->count()) : "failed";
    text += fmt::format("{} {} {}", i == 0 ? "" : ",", kernels[i]->implementation(), time);
  }
  return text;
}

Result<TunedChoice, BackendError> find_fastest(Runtime& runtime,
                                               std::span<const std::unique_ptr<Kernel>> kernels) {
  TunedChoice choice;
  std::string failure = "there is no kernel to choose from";
  for (const std::unique_ptr<Kernel>& kernel : kernels) {
    BENCH_ASSIGN_OR_RETURN(const std::vector<DeviceBuffer> buffers,
                           allocate_buffers(runtime, *kernel));
    std::vector<void*> addresses;
    for (const DeviceBuffer& buffer : buffers) addresses.push_back(buffer.data());
    const auto time = measure_median_time(*kernel, addresses);
    if (!time) failure = time.error().message();
    if (!time && runtime.lost()) break;
    choice.times.push_back(time ? std::optional(*time) : std::nullopt);
  }
  choice.times.resize(kernels.size());
  std::optional<Nanoseconds> best;
  for (std::size_t i = 0; i < choice.times.size(); ++i) {
    if (!choice.times[i] || (best && *best <= *choice.times[i])) continue;
    best = choice.times[i];
    choice.best = i;
  }
  if (!best || runtime.lost()) return BackendError{BackendError::Kind::failed, failure};
  return choice;
}

}  // namespace bench::ops::cuda
