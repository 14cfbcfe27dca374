// SPDX-License-Identifier: Apache-2.0
// Requests for models and their answers as JSON. Reading throws nlohmann::json's exceptions and
// std::runtime_error. Private to the protocol.
#pragma once

#include "base/result.hpp"
#include "harness/run/protocol.hpp"
#include "ops/problem.hpp"

#include <nlohmann/json_fwd.hpp>

namespace bench {

nlohmann::json to_json(const ModelRequest& request);
ModelRequest model_request(const nlohmann::json& value);
nlohmann::json to_json(const Result<ops::Model>& model);
Result<ops::Model> model_result(const nlohmann::json& value);

}  // namespace bench
