// SPDX-License-Identifier: Apache-2.0
// Operators that are not part of this program, created from a description of their parameters. A
// plugin gives the description to a worker, and the worker sends it to its coordinator.
#pragma once

#include "base/result.hpp"
#include "ops/operator.hpp"
#include "ops/parameter.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops {

struct ParameterDescription {
  std::string name;
  std::string token;
  ParameterKind kind = ParameterKind::count;
  // A constant, "required", "optional", or an earlier parameter's name. If that parameter is not
  // set, this one is not set either.
  std::string fallback;
  std::string help;
  std::int64_t minimum = 1;
  std::vector<std::string> words;
};

struct OperatorDescription {
  std::string name;
  std::string help;
  std::vector<ParameterDescription> parameters;
  std::vector<Direction> directions;
  bool takes_post_ops = false;
};

// Whether `name` is a valid name of an operator, parameter or backend: lower-case letters, digits
// and _, beginning with a letter.
bool is_plugin_name(std::string_view name);

// Error: why the description is unusable, for example because a case id could not be parsed back.
Status check_description(const OperatorDescription& description);

// The functions of an Operator (ops/operator.hpp).
struct OperatorFunctions {
  std::function<Result<Model>(const Problem&)> model;
  std::function<Result<std::vector<double>>(const Problem&, ReferenceInputs, std::size_t output,
                                            std::span<const std::int64_t> positions)>
      reference;
  std::function<Tolerance(const Problem&)> tolerance;
};

// Requires a description that check_description() accepts. Operator::complete fills in the default
// values.
std::shared_ptr<const Operator> make_described_operator(OperatorDescription description,
                                                        OperatorFunctions functions);

}  // namespace bench::ops
