// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cublas/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace bench::ops::cuda {
namespace {

constexpr Nanoseconds kSampleTime = std::chrono::milliseconds(2);
constexpr std::int64_t kMaxIterations = 200;

}  // namespace

Result<FastestCandidate> choose_fastest(
    std::size_t candidates, const std::function<Result<Nanoseconds>(std::size_t)>& measure) {
  std::optional<FastestCandidate> best;
  std::optional<Error> first_error;
  std::size_t failed = 0;
  for (std::size_t i = 0; i < candidates; ++i) {
    auto time = measure(i);
    if (!time) {
      ++failed;
      if (!first_error) first_error = std::move(time).error();
    } else if (!best || *time < best->time) {
      best = FastestCandidate{i, *time};
    }
  }
  if (!best) return first_error.value_or(Error{"nothing to choose from", "", ""});
  best->failed = failed;
  return *best;
}

Result<std::vector<DeviceBuffer>, BackendError> allocate_trial_buffers(
    Runtime& runtime, std::span<const KernelBuffer> buffers) {
  constexpr std::uint8_t kPattern = 0x3c;  // f16: 1.06; f32, bf16: 0.011; e4m3: 1.5; e5m2: 1
  std::vector<DeviceBuffer> trial;
  for (const KernelBuffer& buffer : buffers) {
    BENCH_ASSIGN_OR_RETURN(DeviceBuffer memory,
                           DeviceBuffer::create(runtime, buffer.size, "tuning"));
    if (const Status filled = runtime.fill(memory.data(), kPattern, buffer.size); !filled) {
      return BackendError{BackendError::Kind::failed, filled.error().message()};
    }
    trial.push_back(std::move(memory));
  }
  return trial;
}

std::vector<void*> buffer_addresses(std::span<const DeviceBuffer> buffers) {
  std::vector<void*> addresses;
  addresses.reserve(buffers.size());
  for (const DeviceBuffer& buffer : buffers) addresses.push_back(buffer.data());
  return addresses;
}

Result<Nanoseconds> measure_tuning_time(const DeviceParts& device, CudaInvocation& invocation) {
  KernelSampling sampling(device.runtime);
  Invocation* const rotation[] = {&invocation};
  SampleRequest request{rotation, 0, 1, SampleMethod::stream};
  BENCH_ASSIGN_OR_RETURN(const DeviceSample one, device.sampler->sample(sampling, request));
  const std::int64_t single = std::max<std::int64_t>(one.device.count(), 1);
  request.iterations = std::clamp<std::int64_t>(kSampleTime.count() / single, 1, kMaxIterations);
  std::array<Nanoseconds, 3> times{};
  for (Nanoseconds& time : times) {
    BENCH_ASSIGN_OR_RETURN(const DeviceSample sample, device.sampler->sample(sampling, request));
    time = sample.device / request.iterations;
  }
  std::sort(times.begin(), times.end());
  return times[1];
}

std::string format_fastest_candidate(const FastestCandidate& choice, std::size_t candidates) {
  std::string text = fmt::format("{} of {}", choice.index + 1, candidates);
  if (choice.failed > 0) text += fmt::format(", {} failed", choice.failed);
  return text;
}

}  // namespace bench::ops::cuda
