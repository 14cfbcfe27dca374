// SPDX-License-Identifier: Apache-2.0
// Norms with gradients as backend `native` runs them on the CPU (cpu_rows.hpp).
#pragma once

#include "ops/cuda/kernels/cpu_rows.hpp"
#include "ops/cuda/kernels/norm_gradient.hpp"

#include <cstdint>

namespace bench::ops::cuda {

// Groups and blocks of elements are different amounts of work, so the threads share each.
inline void run_norm_gradient_part(const NormGradientPlan& plan, const Addresses& tensors,
                                   int thread, int threads) {
  const auto run = [&](std::int64_t first, std::int64_t count) {
    run_row_range(plan, tensors, first + part_begin(count, thread, threads),
                  first + part_begin(count, thread + 1, threads));
  };
  run(0, plan.groups);
  run(plan.groups, plan.blocks());
}

// Implements HostKernel::run_part for a norm whose forward pass has the plan `Plan`.
template <class Plan>
void run_norm_part(const NativePlan& plan, const Addresses& tensors, int thread, int threads) {
  if (plan.kernel() == NormGradientPlan::kKernel) {
    return run_norm_gradient_part(plan.as<NormGradientPlan>(), tensors, thread, threads);
  }
  run_row_part<Plan>(plan, tensors, thread, threads);
}

}  // namespace bench::ops::cuda
