// SPDX-License-Identifier: Apache-2.0
// One problem on a backend of the plugin, with memory of its own.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/problem.hpp"

#include <memory>
#include <vector>

namespace bench::ops::cuda {

// Bound and executed once. Members end in the right order.
struct BoundCase {
  std::shared_ptr<Backend> backend;
  std::unique_ptr<Kernel> kernel;
  std::vector<std::shared_ptr<void>> memory;  // every tensor, of the same small number
  std::unique_ptr<Invocation> invocation;
};

// Error: the backend refuses the problem, there is no memory for it, or its execution fails.
Result<BoundCase> bind_case(std::shared_ptr<Backend> backend, const Problem& problem);

}  // namespace bench::ops::cuda
