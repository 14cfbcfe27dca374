// SPDX-License-Identifier: Apache-2.0
// The CPU version of a native kernel. HostLauncher (launcher.hpp) runs it with the device's element
// functions.
#pragma once

#include "ops/cuda/kernels/native_plan.hpp"
#include "ops/cuda/kernels/plans.hpp"

#include <cstdint>
#include <string_view>

namespace bench::ops::cuda {

// Returns the first of `count` items that belongs to a thread. Those of the next thread begin at
// part_begin(count, thread + 1, threads).
constexpr std::int64_t part_begin(std::int64_t count, int thread, int threads) {
  return count / threads * thread + count % threads * thread / threads;
}

struct HostKernel {
  std::string_view kernel;  // Plan::kKernel
  void (*run)(const NativePlan& plan, const Addresses& tensors) = nullptr;
  // For operators that backend `native` serves on the CPU: does the work of thread `thread` of
  // `threads`, with vector instructions (ops/cuda/kernels/cpu_rows.hpp).
  void (*run_part)(const NativePlan& plan, const Addresses& tensors, int thread,
                   int threads) = nullptr;
  // For kernels whose threads use each other's results: what a thread does after all of them have
  // finished run_part().
  void (*finish_part)(const NativePlan& plan, const Addresses& tensors, int thread,
                      int threads) = nullptr;
  // The bytes of the memory that the threads share, if they need any. It is aligned to 64 bytes,
  // and its address follows those of the plan's tensors.
  std::int64_t (*memory_bytes)(const NativePlan& plan, int threads) = nullptr;
};

// The number of lanes that share the work of a block, as a block's threads do on the device. A
// device's block has more threads.
inline constexpr int kHostLanes = 7;

// Calls `run` with a zero of the type that `precision` selects.
template <class Run>
void run_by(Precision precision, Run run) {
  if (precision == Precision::wide) {
    run(double());
  } else {
    run(float());
  }
}

}  // namespace bench::ops::cuda
