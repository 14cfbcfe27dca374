// SPDX-License-Identifier: Apache-2.0
// Finds the fastest of several candidates by measuring them.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/cuda/runtime/kernel.hpp"
#include "ops/cuda/runtime/sampler.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench::ops::cuda {

struct FastestCandidate {
  std::size_t index = 0;
  Nanoseconds time{0};
  std::size_t failed = 0;  // candidates that could not be measured
};

// Returns the fastest candidate. `measure(i)` returns the time of candidate i. Of equally fast
// candidates, the first wins. Error: no candidate could be measured, with the error of the first.
Result<FastestCandidate> choose_fastest(
    std::size_t candidates, const std::function<Result<Nanoseconds>(std::size_t)>& measure);

// Allocates memory for trials and fills every tensor with the same small number, in the tensor's
// type.
Result<std::vector<DeviceBuffer>, BackendError> allocate_trial_buffers(
    Runtime& runtime, std::span<const KernelBuffer> buffers);

std::vector<void*> buffer_addresses(std::span<const DeviceBuffer> buffers);

// Returns the time of one execution: the median of three samples with hot caches. Each sample has
// as many executions as fit into 2 ms, but at least one and at most 200.
Result<Nanoseconds> measure_tuning_time(const DeviceParts& device, CudaInvocation& invocation);

// Formats a candidate's number, counted from 1: "3 of 8" or "3 of 8, 2 failed".
std::string format_fastest_candidate(const FastestCandidate& choice, std::size_t candidates);

}  // namespace bench::ops::cuda
