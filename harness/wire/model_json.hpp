// SPDX-License-Identifier: Apache-2.0
// Model requests and their answers as JSON. Reading throws nlohmann::json's exceptions and
// std::runtime_error. Private to the protocol.
#pragma once

#include "base/result.hpp"
#include "harness/config/plan.hpp"
#include "harness/wire/messages.hpp"
#include "ops/problem.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace bench {

// "count", "flag", ...: names of the parameter kinds, in the order of the enumerators.
std::span<const std::string_view> parameter_kind_names();

// Returns the index of a word in the names of an enumeration. The names are in the enumerators'
// order.
std::size_t word_index(const nlohmann::json& value, std::span<const std::string_view> names);
template <class Enumeration>
Enumeration enumerator(const nlohmann::json& value, std::span<const std::string_view> names) {
  return static_cast<Enumeration>(word_index(value, names));
}

nlohmann::json to_json(const ModelRequest& request);
ModelRequest model_request(const nlohmann::json& value);
nlohmann::json to_json(const Result<ops::Model>& model);
Result<ops::Model> model_result(const nlohmann::json& value);

// A network's definition as sent to a worker. Private to this folder.

nlohmann::json network_to_json(const PlannedNetwork& network);
// Throws nlohmann::json's exceptions, or std::runtime_error for unknown operators and parameters.
// decode_request converts both to an Error.
std::shared_ptr<const PlannedNetwork> network_from_json(const nlohmann::json& value,
                                                        const ops::OperatorRegistry& catalogue);

}  // namespace bench
