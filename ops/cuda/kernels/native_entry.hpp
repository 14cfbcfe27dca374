// SPDX-License-Identifier: Apache-2.0
// An operator with native kernels for CUDA defines one `extern const NativeEntry <op>_own` in
// ops/<op>/cuda_native.cpp. The build generates the table native_entries() from the operators that
// ops/CMakeLists.txt lists with the argument `own`.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/kernels/host_kernel.hpp"
#include "ops/cuda/kernels/native_forms.hpp"
#include "ops/problem.hpp"

#include <span>
#include <string_view>

namespace bench::ops::cuda {

struct NativeEntry {
  std::string_view op;
  // BackendError: there is no native kernel, with the reason.
  Result<NativeForm, BackendError> (*form)(const Problem& problem);
  // CPU version of the operator's own kernel, for tests. ops/<op>/kernel.cu has the kernel for the
  // device (argument `kernel` in ops/CMakeLists.txt). An operator without its own kernel uses only
  // kernels of ops/cuda/kernels.
  HostKernel host = {};
};

std::span<const NativeEntry* const> native_entries();

}  // namespace bench::ops::cuda
