// SPDX-License-Identifier: Apache-2.0
// What an operator is: a row of data and pure functions. Of the built-in ones there is one
// `extern const Operator <name>_operator` each in ops/<name>/op.cpp; the table all_operators() is
// generated from ops/CMakeLists.txt. Plugins add others: ops/catalogue.hpp has them all.
#pragma once

#include "base/result.hpp"
#include "ops/parameter.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <functional>
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
  std::function<Result<ParameterSet>(const ParameterSet& given)> complete;

  // Tensors, work and formulas of a problem with complete parameters (its derived fields are not
  // read). Errors: overflow.
  std::function<Result<Model>(const Problem& problem)> model;

  // The plain implementation: elements of output number `output` (0 = first output) at the flat
  // row-major `positions`; all elements in order when `positions` is empty. Post-ops are not
  // applied here (ops/post_op.hpp does). Accumulates in double. Called in workers alone; only a
  // plugin's can fail.
  std::function<Result<std::vector<double>>(const Problem& problem, ReferenceInputs inputs,
                                            std::size_t output,
                                            std::span<const std::int64_t> positions)>
      reference;

  // For inputs filled by ops/fill.hpp.
  std::function<Tolerance(const Problem& problem)> tolerance;
};

// The built-in ones.
std::span<const Operator* const> all_operators();
const Operator* find_operator(
    std::string_view name);  // nullptr when unknown; also knows the alias `inner_product` of gemm
std::vector<std::string_view> operator_names();

}  // namespace bench::ops
