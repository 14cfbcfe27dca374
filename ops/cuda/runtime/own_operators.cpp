// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/own_operators.hpp"

#include "ops/operator.hpp"

#include <fmt/format.h>

#include <utility>

namespace bench::ops::cuda {

Result<Problem, BackendError> with_own_operator(Problem problem) {
  const std::string_view name = problem.op->name;
  problem.op = find_operator(name);
  if (problem.op != nullptr) return problem;
  return BackendError{BackendError::Kind::unsupported,
                      fmt::format("no backend of a GPU serves the operator `{}`", name)};
}

Result<Network, BackendError> with_own_operators(Network network) {
  for (Node& node : network.nodes) {
    BENCH_ASSIGN_OR_RETURN(node.problem, with_own_operator(std::move(node.problem)));
  }
  return network;
}

}  // namespace bench::ops::cuda
