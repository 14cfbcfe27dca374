// SPDX-License-Identifier: Apache-2.0
// What the operators' models and references share: counting with overflow checks, compulsory bytes,
// tolerances, iterating over output positions.
#pragma once

#include "base/checked.hpp"
#include "base/data_type.hpp"
#include "base/result.hpp"
#include "ops/operator.hpp"
#include "ops/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops {

// A model under construction. Formulas are written without checks; finish_model checks them once
// for overflow.
struct DraftFormula {
  std::string name;
  std::string expression;
  std::string values;
  Checked result;
};
struct ModelDraft {
  std::vector<Tensor> tensors;
  std::optional<Checked> macs;
  Checked flops = 0;
  Checked flops_valid = 0;
  Checked sfu_ops = 0;
  std::vector<DraftFormula> formulas;
};

// Completes a model: checks the counts and adds the compulsory bytes with their formula. Error: a
// count exceeds 2^63 - 1; `where` is the parameter to reduce.
Result<Model> finish_model(ModelDraft draft, std::string_view where);

// Returns a tensor with the sizes of the parameter `parameter` ("shape"), as make_tensor does.
Result<Tensor> make_shaped_tensor(std::string_view name, TensorRole role, DataType dtype,
                                  std::string_view parameter, std::span<const std::int64_t> dims);

// Formats sizes for formulas and errors: "32x64x112x112"; the `separator` "*" gives products.
std::string join_dims(std::span<const std::int64_t> dims, std::string_view separator = "x");

// Returns the error of an operator that is not defined for integer data.
Error undefined_for_integers(std::string_view what, DataType dtype);

// Allows one rounding to `dtype` and `steps` roundings of the arithmetic before it (f64 for f64,
// else f32). Both are absolute (for operands of order 1) and relative. Integers: `integer_steps`
// units.
Tolerance rounding_tolerance(DataType dtype, double steps, double integer_steps);

// The smallest positive value of a floating-point type (2^-24 for f16).
double smallest_positive(DataType dtype);

// Returns what is stored for an exact result. Integers are rounded to nearest and saturated.
// Floating-point results stay exact; the tolerance covers their rounding.
double stored_value(DataType dtype, double value);

// Returns value(position) for each of `positions`, or for 0 .. elements - 1 if there are none.
template <class Function>
std::vector<double> evaluate(std::int64_t elements, std::span<const std::int64_t> positions,
                             Function value) {
  std::vector<double> result;
  if (positions.empty()) {
    result.reserve(static_cast<std::size_t>(elements));
    for (std::int64_t position = 0; position < elements; ++position) {
      result.push_back(value(position));
    }
  } else {
    result.reserve(positions.size());
    for (const std::int64_t position : positions) result.push_back(value(position));
  }
  return result;
}

}  // namespace bench::ops
