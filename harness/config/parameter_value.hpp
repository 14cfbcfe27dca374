// SPDX-License-Identifier: Apache-2.0
// Values of operators' parameters as YAML writes them.
#pragma once

#include "harness/config/reader.hpp"
#include "ops/operator.hpp"
#include "ops/parameter.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bench {

// The value by the parameter's kind: integers, words, flags and reals as scalars; spatial
// parameters a scalar or a list; paddings a scalar, a list, or a list of pairs; shapes a list.
// Checked against the parameter's minimum and words.
std::optional<ops::Value> read_parameter(const Reader& reader, const ops::Parameter& parameter,
                                         const yaml::Node& node);

// "integer >= 1", "integer or list [d, h, w]": for messages and the manual.
std::string type_text(const ops::Parameter& parameter);

// A list of post-ops as case ids write them: [add, relu, leaky_relu0.1].
std::vector<ops::PostOp> read_post_ops(const Reader& reader, const yaml::Node& node);

// An operator by its name or alias; a finding with the nearest name when there is none.
const ops::Operator* read_operator(const Reader& reader, const yaml::Node& node);

}  // namespace bench
