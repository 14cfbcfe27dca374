// SPDX-License-Identifier: Apache-2.0
// What a worker measures: a problem, or a network together with its twin, which checks it. The twin
// is the same network unfused if this one is fused, and the reverse.
#pragma once

#include "base/result.hpp"
#include "harness/config/case_id.hpp"
#include "harness/config/plan.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/network/network.hpp"
#include "ops/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace bench {

struct NetworkPair {
  ops::Network network;
  ops::Network separate;              // unfused; equal to `network` if that is unfused
  std::optional<ops::Network> fused;  // nullopt if the network cannot be fused
};

using Subject = std::variant<ops::Problem, NetworkPair>;

// `network` is the definition for op `network`, else null. Returns an error for parameters that
// make no valid problem.
Result<Subject> make_subject(const CaseKey& key, const PlannedNetwork* network,
                             const ops::Catalogue& catalogue);

std::span<const ops::Tensor> subject_tensors(const Subject& subject);
const ops::Work& subject_work(const Subject& subject);
// `met`: for a layer, the layouts of its inputs inside the network; else empty.
Result<std::unique_ptr<ops::Kernel>, ops::Refusal> create_kernel(ops::Backend& backend,
                                                                 const Subject& subject,
                                                                 const ops::MetLayouts& met);
// Values of all tensors except outputs, in order.
std::vector<std::vector<double>> input_values(const Subject& subject, std::uint64_t seed);

// Returns the other execution of a network (unfused for fused and the reverse); nullopt for
// problems and for networks without one.
std::optional<Subject> twin_of(const Subject& subject);

}  // namespace bench
