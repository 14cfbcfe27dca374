// SPDX-License-Identifier: Apache-2.0
// table: one row per operator of ONNX
// Quantised models. Nodes that quantise a tensor are the scales of the products that they surround;
// any other one is work that no operator does.
#include "harness/import/onnx_network.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace bench::onnx {
namespace {

using Integers = Result<std::vector<Value>>;

Error no_integers(std::string what) { return {std::move(what), "", ""}; }

Result<Value> integer_input(const NodeView& view, std::size_t index) {
  const Value* value = view.input(index);
  if (value == nullptr) return no_integers("an input is missing or unknown");
  return *value;
}

bool has_zero_point(const Value* zero_point) {
  if (zero_point == nullptr) return false;
  if (!zero_point->content) return true;
  return std::ranges::any_of(*zero_point->content, [](double point) { return point != 0; });
}

Quantised describe_integers(const Value* scale, const Value* zero_point, int type) {
  return {.type = type == kUint8 ? kUint8 : kInt8,
          .has_zero_point = has_zero_point(zero_point),
          .is_per_channel = scale != nullptr && ops::element_count(scale->dims) != 1};
}

// The scales of an operator on integers are inputs `first` and `first` + 1.
Quantised operand_integers(const NodeView& view, const Value& operand, std::size_t scale,
                           std::size_t zero_point) {
  return describe_integers(view.input(scale), view.input(zero_point), operand.type);
}

// QuantizeLinear and DequantizeLinear pass the values on; NetworkBuilder's caller finds out whether
// products use them.
Integers lower_scales(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(Value value, integer_input(view, 0));
  const bool quantises = view.node.op == "QuantizeLinear";
  const Value* zero_point = view.input(2);
  const int type = quantises ? (zero_point != nullptr ? zero_point->type : kUint8) : value.type;
  if (type != kInt8 && type != kUint8 && type != kInt32)
    return no_integers("no operator computes with integers of this type");
  if (type == kInt32) {  // a bias
    value.type = kFloat;
    return std::vector<Value>{std::move(value)};
  }
  if (quantises) {
    if (auto* integers = builder.integers_of_layer(value); integers != nullptr && *integers)
      (*integers)->destination = type;
  }
  value.quantised = describe_integers(view.input(1), zero_point, type);
  value.type = quantises ? type : kFloat;
  return std::vector<Value>{std::move(value)};
}

// x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, bias
Integers lower_qlinear_conv(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value source, integer_input(view, 0));
  BENCH_ASSIGN_OR_RETURN(const Value weights, integer_input(view, 3));
  BENCH_ASSIGN_OR_RETURN(Value result,
                         add_convolution(builder, view, source, weights, view.input(8)));
  builder.mark_integers(result, {operand_integers(view, source, 1, 2),
                                 operand_integers(view, weights, 4, 5), true, source.type});
  return std::vector<Value>{std::move(result)};
}

// a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point
Integers lower_qlinear_matmul(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value left, integer_input(view, 0));
  BENCH_ASSIGN_OR_RETURN(const Value right, integer_input(view, 3));
  BENCH_ASSIGN_OR_RETURN(Value result,
                         add_product(builder, left, right, Transposed::neither, nullptr));
  const Value* zero_point = view.input(7);
  builder.mark_integers(
      result, {operand_integers(view, left, 1, 2), operand_integers(view, right, 4, 5), true,
               zero_point == nullptr ? kUint8 : zero_point->type});
  return std::vector<Value>{std::move(result)};
}

// a, a_scale, a_zero_point, b, b_scale, b_zero_point, bias, y_scale, y_zero_point
Integers lower_qgemm(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value left, integer_input(view, 0));
  BENCH_ASSIGN_OR_RETURN(const Value right, integer_input(view, 3));
  const Transposed transposed =
      view.integer("transB", 0) != 0 ? Transposed::right : Transposed::neither;
  if (view.integer("transA", 0) != 0) return no_integers("its source is stored transposed");
  BENCH_ASSIGN_OR_RETURN(Value result,
                         add_product(builder, left, right, transposed, view.input(6)));
  const bool is_quantised = view.input(7) != nullptr;
  builder.mark_integers(
      result, {operand_integers(view, left, 1, 2), operand_integers(view, right, 4, 5), true,
               is_quantised ? left.type : 0});
  return std::vector<Value>{std::move(result)};
}

// a, b, a_zero_point, b_zero_point; the sums are the result.
Integers lower_integer_product(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value left, integer_input(view, 0));
  BENCH_ASSIGN_OR_RETURN(const Value right, integer_input(view, 1));
  Result<Value> result = view.node.op == "ConvInteger"
                             ? add_convolution(builder, view, left, right, nullptr)
                             : add_product(builder, left, right, Transposed::neither, nullptr);
  if (!result.ok()) return std::move(result).error();
  builder.mark_integers(*result, {describe_integers(nullptr, view.input(2), left.type),
                                  describe_integers(nullptr, view.input(3), right.type), false});
  return std::vector<Value>{*std::move(result)};
}

constexpr std::array kQuantisedRows = {
    LoweringRow{"", "QuantizeLinear", lower_scales},
    LoweringRow{"", "DequantizeLinear", lower_scales},
    LoweringRow{"com.microsoft", "QuantizeLinear", lower_scales},
    LoweringRow{"com.microsoft", "DequantizeLinear", lower_scales},
    LoweringRow{"", "QLinearConv", lower_qlinear_conv},
    LoweringRow{"", "QLinearMatMul", lower_qlinear_matmul},
    LoweringRow{"com.microsoft", "QGemm", lower_qgemm},
    LoweringRow{"", "MatMulInteger", lower_integer_product},
    LoweringRow{"", "ConvInteger", lower_integer_product},
};

}  // namespace

std::span<const LoweringRow> quantised_rows() { return kQuantisedRows; }

}  // namespace bench::onnx
