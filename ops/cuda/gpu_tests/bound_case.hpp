// SPDX-License-Identifier: Apache-2.0
// Runs a problem on a backend of the plugin, with its own memory.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/problem.hpp"

#include <memory>
#include <vector>

namespace bench::ops::cuda {

// A kernel that was bound and executed once. The invocation must be destroyed first and the backend
// last, so the order of the members matters.
struct BoundCase {
  std::shared_ptr<Backend> backend;
  std::unique_ptr<Kernel> kernel;
  std::vector<std::shared_ptr<void>> memory;  // every tensor, filled with the same small number
  std::unique_ptr<Invocation> invocation;
};

// Error: the backend does not support the problem, there is not enough memory, or the execution
// fails.
Result<BoundCase> bind_case(std::shared_ptr<Backend> backend, const Problem& problem);

}  // namespace bench::ops::cuda
