// SPDX-License-Identifier: Apache-2.0
// Whether a worker takes on a case at all.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "harness/config/case_id.hpp"
#include "harness/run/protocol.hpp"
#include "harness/run/subject.hpp"
#include "ops/kernel.hpp"

#include <optional>
#include <span>
#include <string>

namespace bench {

RefusedReply refused(const ops::Refusal& refusal);

// Why the host cannot hold a case of these tensors: how much memory it needs at least and for what,
// and how much is available. Nullopt if it can, or if `available` is unknown. Nothing has to be
// created for the answer, so that `bench list` can ask as well.
std::optional<std::string> memory_shortage(std::span<const ops::Tensor> tensors,
                                           std::optional<Bytes> available);

// Refuses another device or backend, what makes no problem, and what cannot fit into `available`
// memory of the host, or into that of the backend's device (where known). Nothing has been created
// by then.
Result<Subject, RefusedReply> admit(const CaseKey& key, const PlannedNetwork* network,
                                    ops::Backend& backend, std::optional<Bytes> available,
                                    const ops::Catalogue& catalogue = ops::built_in_catalogue());

}  // namespace bench
