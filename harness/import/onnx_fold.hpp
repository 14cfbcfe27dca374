// SPDX-License-Identifier: Apache-2.0
// Computes what exporters leave as nodes although it is constant: shapes, indices, masks, and
// rearranged weights. Also the sizes of operators that only give a tensor another shape.
#pragma once

#include "base/result.hpp"
#include "harness/import/onnx_model.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::onnx {

// The integers of a tensor in a quantised model.
struct Quantised {
  int type = kInt8;  // kInt8 or kUint8
  bool has_zero_point = false;
  bool is_per_channel = false;
  std::vector<std::size_t> nodes = {};  // the nodes that quantise and dequantise it
};

// What an import knows about a value of the model.
struct Value {
  // constant: does not depend on inputs. hole: the result of a node that cannot be expressed.
  enum class Origin { constant, input, layer, hole };
  Origin origin = Origin::constant;
  int type = kFloat;
  ops::Dims dims;
  std::optional<Content> content = std::nullopt;  // of small constants
  // The layer or input of the network that has the elements, in the sizes `source_dims`; for holes
  // and constants the name of the value in the model.
  std::string source;
  ops::Dims source_dims;
  bool is_after_layers = false;  // a hole that depends on the result of a layer
  std::optional<Quantised> quantised = std::nullopt;

  bool is_constant() const { return origin == Origin::constant; }
};

Value make_constant(int type, ops::Dims dims, std::optional<Content> content);

// Inputs of a node; nullptr: omitted.
using Inputs = std::span<const Value* const>;

// A node with its inputs.
struct NodeView {
  const Node& node;
  Inputs inputs;
  std::int64_t opset;

  const Value* input(std::size_t index) const {
    return index < inputs.size() ? inputs[index] : nullptr;
  }
  const Attribute* attribute(std::string_view name) const;
  std::int64_t integer(std::string_view name, std::int64_t default_value) const;
  double real(std::string_view name, double default_value) const;
  // Integers from an attribute, or from the constant input `index`, as operators changed between
  // opsets. nullopt: neither is given, or the input is not known.
  std::optional<std::vector<std::int64_t>> integers(std::string_view name, std::size_t index) const;
};

// The integers of a constant; nullopt: it is not one, or its content is not known.
std::optional<std::vector<std::int64_t>> integers_of(const Value* value);
// The only element of a constant.
std::optional<double> scalar_of(const Value* value);
// Counts a negative axis from the end. nullopt: out of range.
std::optional<std::size_t> find_axis(std::int64_t axis, std::size_t rank);
// The sizes of two operands after broadcasting; nullopt: they do not fit.
std::optional<ops::Dims> broadcast_dims(const ops::Dims& a, const ops::Dims& b);

// Whether the operator only gives its first input another shape.
bool is_view_operator(std::string_view op);
// Returns the sizes of its result. Error: the shape is not constant, or does not fit.
Result<ops::Dims> view_dims(const NodeView& view);

// A range along an axis, as in Slice.
struct AxisRange {
  std::size_t axis;
  std::int64_t begin, step, count;
};
Result<std::vector<AxisRange>> slice_ranges(const NodeView& view);
// The sizes of the pieces of a Split along its axis.
Result<std::vector<std::int64_t>> split_sizes(const NodeView& view, std::size_t axis);
// The order of axes of a Transpose.
Result<std::vector<std::int64_t>> permutation_of(const NodeView& view);

// Returns the results of a node whose value does not depend on the data: all inputs are constants,
// or only shapes are read. nullopt: it depends on them, or the operator is not one of those that
// are folded. Error: the node is not valid.
Result<std::optional<std::vector<Value>>> fold_node(const NodeView& view);

}  // namespace bench::onnx
