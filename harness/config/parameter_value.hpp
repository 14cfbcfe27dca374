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

// Reads a value according to the parameter's kind. Integers, words, flags and reals are scalars.
// Spatial parameters are a scalar or a list. Paddings are a scalar, a list, or a list of pairs.
// Shapes are lists. Checks the parameter's minimum and words.
std::optional<ops::Value> read_parameter(const Reader& reader, const ops::Parameter& parameter,
                                         const yaml::Node& node);

// Returns "integer >= 1" or "integer or list [d, h, w]", for messages and the manual.
std::string format_type(const ops::Parameter& parameter);

// Reads a list of post-ops in the form of case ids: [add, relu, leaky_relu0.1].
std::vector<ops::PostOp> read_post_ops(const Reader& reader, const yaml::Node& node);

// Finds an operator by name or alias; reports the nearest name if there is none.
const ops::Operator* read_operator(const Reader& reader, const yaml::Node& node);

}  // namespace bench
