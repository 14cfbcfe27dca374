// SPDX-License-Identifier: Apache-2.0
// A network's definition as sent to a worker. Private to this folder.
#pragma once

#include "harness/config/plan.hpp"

#include <nlohmann/json_fwd.hpp>

#include <memory>

namespace bench {

nlohmann::json network_to_json(const PlannedNetwork& network);
// Throws nlohmann::json's exceptions, or std::runtime_error for unknown operators and parameters.
// decode_request converts both to an Error.
std::shared_ptr<const PlannedNetwork> network_from_json(const nlohmann::json& value,
                                                        const ops::Catalogue& catalogue);

}  // namespace bench
