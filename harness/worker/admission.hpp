// SPDX-License-Identifier: Apache-2.0
// Whether a worker takes on a case at all.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "harness/config/case_id.hpp"
#include "harness/wire/messages.hpp"
#include "harness/worker/subject.hpp"
#include "ops/backend/kernel.hpp"

#include <optional>
#include <span>
#include <string>

namespace bench {

RefusedReply refused(const ops::Refusal& refusal);

// Refuses another device or backend, what makes no problem, and what cannot fit into `available`
// memory of the host, or into that of the backend's device (where known). Nothing has been created
// by then.
Result<Subject, RefusedReply> admit(const CaseKey& key, const PlannedNetwork* network,
                                    ops::Backend& backend, std::optional<Bytes> available,
                                    const ops::Catalogue& catalogue = ops::built_in_catalogue());

}  // namespace bench
