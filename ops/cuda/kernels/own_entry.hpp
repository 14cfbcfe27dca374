// SPDX-License-Identifier: Apache-2.0
// How an operator gets its native form on a CUDA device: one `extern const OwnEntry <op>_own` in
// ops/<op>/own.cpp. The table own_entries() is generated from ops/CMakeLists.txt (the word `own`).
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/kernels/host_kernel.hpp"
#include "ops/cuda/kernels/own_forms.hpp"
#include "ops/problem.hpp"

#include <span>
#include <string_view>

namespace bench::ops::cuda {

struct OwnEntry {
  std::string_view op;
  // Refusal: there is no native kernel, with the reason.
  Result<NativeForm, Refusal> (*form)(const Problem& problem);
  // The operator's own kernel, on the CPU. ops/<op>/kernel.cu has the same kernel for a device (the
  // word `kernel`). Without it, all forms use kernels of ops/cuda/kernels.
  HostKernel host = {};
};

std::span<const OwnEntry* const> own_entries();

}  // namespace bench::ops::cuda
