// SPDX-License-Identifier: Apache-2.0
// What a worker measures: a problem, or a network together with its twin (the same network fused
// and unfused), which checks it.
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
  ops::Network separate;              // unfused; equal to `network` where that is
  std::optional<ops::Network> fused;  // absent where the network cannot be fused
};

using Subject = std::variant<ops::Problem, NetworkPair>;

// `network` is the definition for op `network`, else null. Errors: what makes no problem.
Result<Subject> make_subject(const CaseKey& key, const PlannedNetwork* network,
                             const ops::Catalogue& catalogue);

std::span<const ops::Tensor> subject_tensors(const Subject& subject);
const ops::Work& subject_work(const Subject& subject);
// `met`: of a layer, what its network hands over; else empty.
Result<std::unique_ptr<ops::Kernel>, ops::Refusal> create_kernel(ops::Backend& backend,
                                                                 const Subject& subject,
                                                                 const ops::MetLayouts& met);
// Values of all tensors that are no outputs, in order.
std::vector<std::vector<double>> input_values(const Subject& subject, std::uint64_t seed);

// The other execution of a network (unfused for fused and the reverse); absent for problems and
// where there is none.
std::optional<Subject> twin_of(const Subject& subject);

}  // namespace bench
