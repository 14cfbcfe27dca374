// SPDX-License-Identifier: Apache-2.0
// The workload that a worker measures: a problem, or a network together with its twin, whose
// results check the network's. The twin of a fused network is the same network unfused, and the
// reverse.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "harness/config/case_id.hpp"
#include "harness/config/plan.hpp"
#include "harness/wire/messages.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/network/network.hpp"
#include "ops/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace bench {

struct NetworkPair {
  ops::Network network;
  ops::Network separate;  // unfused; equal to `network` if that is unfused
  // Another execution of the same, to compare with: fused, or for a training step in plain layouts.
  // nullopt if the network cannot be fused.
  std::optional<ops::Network> other;
};

using Workload = std::variant<ops::Problem, NetworkPair>;

// Creates the workload of a case. `network`: the definition if the operator is `network`, else
// null. Returns an error if the parameters do not describe a valid problem.
Result<Workload> make_workload(const CaseKey& key, const PlannedNetwork* network,
                               const ops::OperatorRegistry& registry);

std::span<const ops::Tensor> workload_tensors(const Workload& workload);
const ops::Work& workload_work(const Workload& workload);
// `input_layouts`: for a layer, the layouts of its inputs inside the network; else empty.
Result<std::unique_ptr<ops::Kernel>, ops::BackendError> create_kernel(
    ops::Backend& backend, const Workload& workload, const ops::InputLayouts& input_layouts);
// Returns the values of all tensors except outputs, in the order of the tensors.
std::vector<std::vector<double>> input_values(const Workload& workload, std::uint64_t seed);

// Returns the other execution of a network (unfused for fused and the reverse); nullopt for
// problems and for networks without one.
std::optional<Workload> make_twin(const Workload& workload);

ErrorReply to_error_reply(const ops::BackendError& error);

// Creates the workload of a case if the worker accepts the case. Rejects another device or backend,
// and parameters that do not describe a valid problem. Also rejects cases that do not fit into
// `available` host memory or into the device's memory (if known). Creates no kernel or buffer.
Result<Workload, ErrorReply> admit(
    const CaseKey& key, const PlannedNetwork* network, ops::Backend& backend,
    std::optional<Bytes> available,
    const ops::OperatorRegistry& registry = ops::built_in_operators());

}  // namespace bench
