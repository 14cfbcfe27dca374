// SPDX-License-Identifier: Apache-2.0
// Translates problems of the program that has loaded this library (ops/cuda/plugin/handover.hpp).
// Both contain a table of operators. Code in ops/cuda compares operators by address, and its own
// problems refer to the table of the library.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/network/network.hpp"

namespace bench::ops::cuda {

// Return the same with the operators of this copy that have the same names. The parameters keep
// the caller's table, which nothing compares and which lives as long as the process. Error: not a
// built-in operator.
Result<Problem, BackendError> with_own_operator(Problem problem);
Result<Network, BackendError> with_own_operators(Network network);

}  // namespace bench::ops::cuda
