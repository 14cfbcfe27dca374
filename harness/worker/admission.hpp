// SPDX-License-Identifier: Apache-2.0
// Decides whether a worker accepts a case.
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

// Rejects another device or backend, and parameters that make no valid problem. Also rejects cases
// that do not fit into `available` host memory or into the device's memory (if known). Nothing has
// been created by then.
Result<Subject, RefusedReply> admit(const CaseKey& key, const PlannedNetwork* network,
                                    ops::Backend& backend, std::optional<Bytes> available,
                                    const ops::Catalogue& catalogue = ops::built_in_catalogue());

}  // namespace bench
