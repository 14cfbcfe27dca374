// SPDX-License-Identifier: Apache-2.0
// Reads values of operator parameters from YAML.
#pragma once

#include "harness/config/reader.hpp"
#include "ops/operator.hpp"
#include "ops/parameter.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bench {

// Reads a value of the parameter's kind. Integers, words, flags and reals are scalars. Spatial
// parameters are a scalar or a list. Paddings are a scalar, a list, or a list of pairs. Shapes are
// lists. Checks the parameter's minimum and words. Returns nullopt after reporting an error.
std::optional<ops::Value> read_parameter(const Reader& reader, const ops::Parameter& parameter,
                                         const yaml::Node& node);

// Returns the type of a parameter for the manual, such as "integer >= 1" or "number".
std::string format_type(const ops::Parameter& parameter);

// Reads a list of post-ops, written as in case ids: [add, relu, leaky_relu0.1]. Reports and omits
// invalid ones.
std::vector<ops::PostOp> read_post_ops(const Reader& reader, const yaml::Node& node);

// Finds an operator by its name or alias. Returns nullptr after reporting an error with the nearest
// name.
const ops::Operator* read_operator(const Reader& reader, const yaml::Node& node);

}  // namespace bench
