// SPDX-License-Identifier: Apache-2.0
// Problems and networks of the plugin interface as this program's: the inverse of c_problem.hpp.
#pragma once

#include "base/result.hpp"
#include "ops/network/network.hpp"
#include "ops/plugin/bench_plugin.h"
#include "ops/problem.hpp"

namespace bench::ops {

// Of built-in operators, made anew from operator, codes and tokens. Errors: no such operator, a
// code out of range, tokens that make no problem.
Result<Problem> read_problem(const bench_request& request);
// The same with its post-ops. Error also: the tensors are others than those that come with it, as
// between two versions of this program.
Result<Problem> read_problem(const bench_problem& problem);
// Without what the interface does not say: the layers that were fused into a node, the number of
// learned values.
Result<Network> read_network(const bench_network& network);

}  // namespace bench::ops
