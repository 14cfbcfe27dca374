// SPDX-License-Identifier: Apache-2.0
// Kernels on the CPU whose buffers are the plain tensors of the problem: loops of this program, and
// products of libraries.
#pragma once

#include "ops/backend/kernel.hpp"

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

namespace bench::ops {

// What computes a problem on its tensors.
struct PlainCode {
  std::string name;  // Kernel::implementation()
  // Creates an invocation on the tensors of `problem`, in its order, each aligned to 64 bytes. The
  // problem outlives the invocation.
  std::function<std::unique_ptr<Invocation>(const Problem& problem, std::span<void* const> buffers)>
      bind;
  std::map<std::string, std::string> details = {};  // Kernel::details()
  KernelThreads threads = KernelThreads::openmp;    // Kernel::threads()
};

std::unique_ptr<Kernel> make_plain_kernel(Problem problem, PlainCode code);

}  // namespace bench::ops
