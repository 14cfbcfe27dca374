// SPDX-License-Identifier: Apache-2.0
// The implementations that oneDNN offers for a problem, in the order of the library, which takes
// the first one by itself; and their times on the same memory.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/backend/tuning.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bench::ops {

struct Implementation {
  int position;      // in the library's list, from 0
  std::string name;  // the library's; the second one of a name has " #2" behind it
};

// Lists at most `count` implementations. `describe` returns the library's name of the
// implementation at a position, or why there is none, which ends the list. Leaves out the library's
// reference implementations, one execution of which can take minutes, unless the library takes one
// by itself. BackendError: there is not even a first one.
Result<std::vector<Implementation>, BackendError> list_implementations(
    std::size_t count,
    const std::function<Result<std::string, BackendError>(int position)>& describe);

// A kernel of one implementation, or why it could not be created.
struct TrialKernel {
  std::string name;
  Result<std::unique_ptr<Kernel>, BackendError> kernel;
};

// Measures the kernels, which compute the same problem, by turns on the same buffers with hot
// caches (ops/backend/tuning.hpp). The first one is the default. If there is not enough memory for
// measuring, chooses the first one and states the reason. BackendError: no kernel runs. Throws
// std::bad_alloc.
Result<TunedChoice, BackendError> measure_kernels(std::span<const TrialKernel> kernels,
                                                  Clock& clock);

}  // namespace bench::ops
