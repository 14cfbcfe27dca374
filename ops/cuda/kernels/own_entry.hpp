// SPDX-License-Identifier: Apache-2.0
// An operator with native kernels for CUDA defines one `extern const OwnEntry <op>_own` in
// ops/<op>/own.cpp. The build generates the table own_entries() from the operators that
// ops/CMakeLists.txt lists with the argument `own`.
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
  // BackendError: there is no native kernel, with the reason.
  Result<NativeForm, BackendError> (*form)(const Problem& problem);
  // CPU version of the operator's own kernel, for tests. ops/<op>/kernel.cu has the kernel for the
  // device (argument `kernel` in ops/CMakeLists.txt). An operator without its own kernel uses only
  // kernels of ops/cuda/kernels.
  HostKernel host = {};
};

std::span<const OwnEntry* const> own_entries();

}  // namespace bench::ops::cuda
