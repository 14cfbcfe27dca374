// SPDX-License-Identifier: Apache-2.0
// Splits a case id into one parameter and the rest: cases with the same rest differ in that
// parameter alone.
#pragma once

#include "ops/operator_registry.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct ParameterSplit {
  std::string rest;   // equal for two cases that differ in the parameter alone; not an id
  std::string value;  // "bf16", "4", "all" (threads), "true"
};

// `parameter` is a segment of the id (direction, dtype, backend, device, cache), an option
// (threads, streams, layout, math), a parameter of the operator (n, m, bias, ...) or batch, mode
// and fuse of a network. A backend decides its device, so the rest for either has neither. A size
// that repeats another one
// ("w" of a square image) goes with it. Returns nullopt if the case has no such parameter or the id
// is not canonical.
std::optional<ParameterSplit> split_parameter(
    std::string_view id, std::string_view parameter,
    const ops::OperatorRegistry& registry = ops::built_in_operators());

// The parameters that split_parameter() knows for this case.
std::vector<std::string> list_parameters(
    std::string_view id, const ops::OperatorRegistry& registry = ops::built_in_operators());

// Whether the parameter may change how much is computed. Others only change how.
bool changes_work(std::string_view parameter);

}  // namespace bench
