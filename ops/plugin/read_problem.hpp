// SPDX-License-Identifier: Apache-2.0
// Converts problems and networks of the plugin interface to this program's: the inverse of
// c_problem.hpp.
#pragma once

#include "base/result.hpp"
#include "ops/network/network.hpp"
#include "ops/plugin/bench_plugin.h"
#include "ops/problem.hpp"

namespace bench::ops {

// Recreates a problem of a built-in operator from operator, codes and tokens. Errors: unknown
// operator, a code out of range, tokens that do not give a valid problem.
Result<Problem> read_problem(const bench_request& request);
// The same with post-ops. Also an error: the tensors differ from those in `problem`, as between two
// versions of this program.
Result<Problem> read_problem(const bench_problem& problem);
// The result lacks what the interface does not contain: the layers fused into a node, and the
// number of learned values.
Result<Network> read_network(const bench_network& network);

}  // namespace bench::ops
