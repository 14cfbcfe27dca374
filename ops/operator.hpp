// SPDX-License-Identifier: Apache-2.0
// What an operator is: a row of data and pure functions. One `extern const Operator
// <name>_operator` in ops/<name>/op.cpp; the table all_operators() is generated from
// ops/CMakeLists.txt.
#pragma once

#include "base/result.hpp"
#include "ops/parameter.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bench::ops {

// How far an output may be from the reference: |got - want| <= absolute + relative * |want|.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

// Plain row-major inputs as doubles that the tensors' data types hold exactly, in the order of
// Model::tensors.
using ReferenceInputs = std::span<const std::vector<double>>;

struct Operator {
  std::string_view name;
  std::string_view help;  // one line
  std::span<const Parameter> parameters;
  std::span<const Direction> directions;
  bool takes_post_ops;  // in direction forward

  // Fills in defaults ("w = h"), expands scalars to one entry a spatial dimension (absent
  // dimensions stay absent) and checks what needs more than one value (groups divide channels,
  // output sizes >= 1). Errors: `where` is the parameter's name.
  Result<ParameterSet> (*complete)(const ParameterSet& given);

  // Tensors, work and formulas of a problem with complete parameters (its derived fields are not
  // read). Errors: overflow.
  Result<Model> (*model)(const Problem& problem);

  // The plain implementation: elements of output number `output` (0 = first output) at the flat
  // row-major `positions`; all elements in order when `positions` is empty. Post-ops are not
  // applied here (ops/post_op.hpp does). Accumulates in double.
  std::vector<double> (*reference)(const Problem& problem, ReferenceInputs inputs,
                                   std::size_t output, std::span<const std::int64_t> positions);

  // For inputs filled by ops/fill.hpp.
  Tolerance (*tolerance)(const Problem& problem);
};

std::span<const Operator* const> all_operators();
const Operator* find_operator(
    std::string_view name);  // nullptr when unknown; also knows the alias `inner_product` of gemm
std::vector<std::string_view> operator_names();

}  // namespace bench::ops
