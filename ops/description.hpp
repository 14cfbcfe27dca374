// SPDX-License-Identifier: Apache-2.0
// An operator described as data that a person reads on one screen: parameters, sizes, tensors,
// work. describe() makes the functions of an Operator from it. What a table says worse than code
// stays a named function: the reference, the tolerance, kernels.
//
// Texts are expressions (base/expression.hpp). Their names are
//   parameters           counts, lists of sizes, words; a flag is 0 or 1; a real is its sign, -1,
//                        0 or 1
//   quantities           those of earlier rows
//   forward, backward_data, backward_weights   1 for the problem's direction, else 0
//   integer, element_bytes  of the case's type: 1 if it is an integer, else 0; bytes of an element
//   each                 an element of TensorRow::for_each
// A condition holds if it is not 0. An empty condition always holds.
#pragma once

#include "base/expression.hpp"
#include "ops/operator.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops {

// A condition on several parameters, or on one with the direction or data type of the case.
// Conditions on one are in its row (`minimum`, `above`, `words`). `message` and `next`: texts of
// the error, in which `{expression}` stands for its value.
struct Requirement {
  std::string_view condition;
  std::string_view where;  // the parameter that the error names, or `dtype`
  std::string_view message;
  std::string_view next = {};
};

// The requirement of a parameter `axis` of the parameter `shape`.
inline constexpr Requirement kAxisOfShape = {
    "axis < rank(shape)", "axis",
    "`axis` is {axis}, the shape {shape} has the axes 0 to {rank(shape) - 1}"};

// The requirement of a parameter `rows` whose values are named by indices.
inline constexpr Requirement kIndexableRows = {
    "rows <= 2147483647", "rows", "`rows` is {rows}, indices (s32) name 2147483647 at most"};

// A number with a name. The names flops, flops_valid (that of flops if it is absent), sfu_ops and
// macs are the work of a problem. `explain` shows a quantity that is `shown` with its expression,
// its values and its result; `{expression}` in a text is shown as its value in both columns.
// `function` computes what an expression cannot say, such as a sum with a loop; nullopt: it exceeds
// 64 bits. `expression` then only describes it, and the first column shows its text.
struct Quantity {
  std::string_view name;
  std::string_view expression;
  enum class Shown { no, yes } shown = Shown::yes;
  std::string_view when = {};  // else the row is absent; another row may have the name
  std::optional<std::int64_t> (*function)(const ParameterSet& complete) = nullptr;
};

// of_case: the case's data type. statistic: f32, f64 for f64, as libraries keep scales and sums.
// source, weights, destination: those of a product (ops/data_types.hpp). index: s32. converted: the
// type that the parameter `dst_dtype` names, that of the case if it names none. f32, bf16, s32,
// s8, u8: this type.
enum class ElementType {
  of_case,
  statistic,
  source,
  weights,
  destination,
  index,
  converted,
  f32,
  bf16,
  s32,
  s8,
  u8
};

struct TensorRow {
  std::string_view name;
  TensorRole role;
  std::string_view sizes;  // a list, outermost first
  ElementType type = ElementType::of_case;
  std::string_view when = {};
  std::string_view touched = {};  // elements that are used; empty: all
  std::string_view below = {};    // range of an index: 0 to `below` - 1
  // If set, the row stands for one tensor per element of this list parameter: `source0`, `source1`,
  // ... In `sizes`, the name `each` is the element.
  std::string_view for_each = {};
};

// A function of a framework (PyTorch) that the operator computes. `arguments`: the names of the
// tensors in the order of the function's arguments, separated by blanks; `_` is another argument.
// The presence of a tensor whose condition begins with a flag sets this flag. `settings`: further
// parameters as "parameter=value", separated by blanks.
struct FrameworkFunction {
  std::string_view name;
  std::string_view arguments;
  std::string_view settings = {};
  Direction direction = Direction::forward;
};

enum class DataTypes { any, floating };

struct Description {
  std::string_view name;
  std::string_view help;
  std::span<const Parameter> parameters;
  std::span<const Requirement> requirements = {};
  std::span<const Quantity> quantities;
  std::span<const TensorRow> tensors;  // in the order of Model::tensors
  std::string_view where;              // the parameter that an overflow error names
  std::span<const Direction> directions = kForwardOnly;
  DataTypes data_types = DataTypes::any;
  bool takes_post_ops = false;
  std::span<const FrameworkFunction> framework = {};
  // Checks what no requirement can say, before defaults are filled in.
  Status (*check)(const ParameterSet& given) = nullptr;

  static constexpr Direction kForwardOnly[] = {Direction::forward};
};

class DescribedCase;

class CompiledDescription {
 public:
  // Error: a text does not parse, or a name in it is unknown.
  static Result<CompiledDescription> compile(const Description& description);

  const Description& description() const { return description_; }

  // Implements Operator::complete and Operator::model.
  Result<ParameterSet> complete(const ParameterSet& given) const;
  Result<Model> model(const Problem& problem) const;

  // Returns the value of a quantity of a valid problem; it must have one.
  std::int64_t quantity(const Problem& problem, std::string_view name) const;

  // Returns the number of values that an index of a valid problem can have; 0 if the tensor holds
  // no indices.
  std::int64_t index_limit(const Problem& problem, std::string_view tensor) const;

  // Sets the parameters that follow from the sizes of a tensor: a parameter that is the tensor's
  // list or one of its elements, and `axis` of `shape[axis:]` if the shape is known. Error: another
  // value is already set, or the number of dimensions differs.
  Status infer(ParameterSet& set, std::string_view tensor,
               std::span<const std::int64_t> sizes) const;
  // Returns the tensors that a layer of a network takes from other layers: those with the role
  // input, in order. `written` contains the parameters that the network file sets.
  std::vector<std::string_view> input_tensors(const ParameterSet& written) const;

 private:
  friend class DescribedCase;
  // A text in which each `{expression}` stands for its value.
  struct Template {
    std::vector<std::string> literals;  // one more than expressions
    std::vector<Expression> expressions;
  };
  struct CompiledQuantity {
    const Quantity* row;
    std::optional<Expression> value;  // nullopt: a function computes it
    Template shown;
    std::optional<Expression> when;
  };
  struct CompiledTensor {
    const TensorRow* row;
    Expression sizes;
    std::optional<Expression> when, touched, below;
  };
  // Whether a requirement has a name of the problem itself.
  enum class RequirementScope { parameters, of_case };
  struct CompiledRequirement {
    const Requirement* row;
    RequirementScope scope;
    Expression condition;
    Template message, next;
  };

  static Result<Template> compile_template(std::string_view text);
  static Result<std::optional<Expression>> compile_optional(std::string_view text);
  Status check_requirements(const DescribedCase& described, RequirementScope scope) const;
  // Error: an expression has a name that neither the parameters nor earlier quantities have.
  Status check_names() const;

  Description description_;
  std::vector<CompiledRequirement> requirements_;
  std::vector<CompiledQuantity> quantities_;
  std::vector<CompiledTensor> tensors_;
};

// Makes an operator. `facts`: its named functions and other facts, in an Operator whose fields
// name, help, parameters, directions, takes_post_ops, complete and model are empty. Its inference
// is that of the description if none is set. Asserts that the description compiles; a test compiles
// all.
Operator describe(const Description& description, Operator facts);

// Finds the problem of a call of a function from the shapes of its arguments (empty: no tensor).
// Returns nullopt if a tensor is missing, or the shapes do not fit together.
std::optional<ProblemRequest> solve_framework_call(const Operator& op,
                                                   const FrameworkFunction& function,
                                                   std::span<const Dims> arguments);

// Returns a quantity of a problem of a described operator.
std::int64_t quantity(const Problem& problem, std::string_view name);

}  // namespace bench::ops
