// SPDX-License-Identifier: Apache-2.0
// table: one row per operator of ONNX
// Convolutions, matrix products and pooling.
#include "harness/import/onnx_network.hpp"
#include "ops/parameter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace bench::onnx {
namespace {

using Lowered = Result<std::vector<Value>>;
using ops::Dims;
using ops::PadPair;

// Sizes, steps and padding beyond it are not those of an image; products of two stay in range.
constexpr std::int64_t kMaxExtent = std::int64_t{1} << 28;
constexpr std::size_t kSpatial = 2;  // dimensions before the spatial ones: images and channels

Error inexpressible(std::string what) { return {std::move(what), "", ""}; }

Lowered one(Result<Value> value) {
  if (!value.ok()) return std::move(value).error();
  return std::vector<Value>{*std::move(value)};
}

Result<Value> require_input(const NodeView& view, std::size_t index) {
  const Value* value = view.input(index);
  if (value == nullptr) return inexpressible("an input is missing or unknown");
  return *value;
}

// Attributes of a window that moves over an image.
struct Window {
  Dims kernel, strides, dilations;
  std::vector<PadPair> pads;
};

std::vector<std::int64_t> numbers_or(const NodeView& view, std::string_view name,
                                     std::size_t rank) {
  const Attribute* attribute = view.attribute(name);
  if (attribute != nullptr && attribute->integers.size() == rank) return attribute->integers;
  return std::vector<std::int64_t>(rank, 1);
}

// The padding that gives ceil(size / stride) results, with the odd element at the end or the start.
PadPair same_padding(std::int64_t size, std::int64_t extent, std::int64_t stride, bool at_end) {
  const std::int64_t results = (size + stride - 1) / stride;
  const std::int64_t total = std::max<std::int64_t>(0, (results - 1) * stride + extent - size);
  const std::int64_t small = total / 2;
  return at_end ? PadPair{small, total - small} : PadPair{total - small, small};
}

Result<Window> read_window(const NodeView& view, const Dims& source, Dims kernel) {
  const std::size_t rank = kernel.size();
  if (rank < 1 || rank > 3 || source.size() != rank + kSpatial)
    return inexpressible("the image does not have 1 to 3 spatial dimensions");
  if (std::ranges::any_of(source, [](std::int64_t size) { return size > kMaxExtent; }))
    return inexpressible("a size of the image is out of range");
  Window window{std::move(kernel), numbers_or(view, "strides", rank),
                numbers_or(view, "dilations", rank), std::vector<PadPair>(rank)};
  for (const auto* numbers : {&window.kernel, &window.strides, &window.dilations}) {
    if (std::ranges::any_of(*numbers, [](auto size) { return size < 1 || size > kMaxExtent; }))
      return inexpressible("a kernel, stride or dilation is out of range");
  }
  const Attribute* mode = view.attribute("auto_pad");
  const std::string automatic = mode == nullptr || mode->text.empty() ? "NOTSET" : mode->text;
  const Attribute* pads = view.attribute("pads");
  for (std::size_t i = 0; i < rank; ++i) {
    if (automatic.starts_with("SAME")) {
      const std::int64_t extent = (window.kernel[i] - 1) * window.dilations[i] + 1;
      window.pads[i] =
          same_padding(source[i + kSpatial], extent, window.strides[i], automatic == "SAME_UPPER");
    } else if (automatic == "NOTSET" && pads != nullptr && pads->integers.size() == 2 * rank) {
      window.pads[i] = {pads->integers[i], pads->integers[i + rank]};
    }
    if (window.pads[i].begin < 0 || window.pads[i].end < 0)
      return inexpressible("the padding is negative");
    if (window.pads[i].begin > kMaxExtent || window.pads[i].end > kMaxExtent)
      return inexpressible("the padding is out of range");
  }
  return window;
}

bool are_all(const std::vector<std::int64_t>& numbers, std::int64_t value) {
  return std::ranges::all_of(numbers, [&](std::int64_t number) { return number == value; });
}

// Sets what differs from the defaults of conv and pool.
void add_window(const Window& window, LayerParameters& parameters) {
  if (!are_all(window.strides, 1)) parameters.emplace_back("stride", window.strides);
  if (!std::ranges::all_of(window.pads, [](const PadPair& pad) { return pad == PadPair{}; }))
    parameters.emplace_back("pad", window.pads);
}

void add_kernel(const Dims& kernel, LayerParameters& parameters) {
  constexpr std::array<std::string_view, 3> kNames = {"t", "r", "s"};
  const std::size_t skipped = kNames.size() - kernel.size();
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    // A size that repeats the one before is its default.
    if (i > 0 && kernel[i] == kernel[i - 1]) continue;
    parameters.emplace_back(kNames[skipped + i], kernel[i]);
  }
}

// The padding of a transposed convolution whose result has the sizes `output_shape`.
Status set_output_shape(const NodeView& view, const Dims& source, Window& window,
                        const std::vector<std::int64_t>& extra) {
  const Attribute* shape = view.attribute("output_shape");
  const Attribute* mode = view.attribute("auto_pad");
  const bool is_same = mode != nullptr && mode->text.starts_with("SAME");
  if (!is_same && (shape == nullptr || shape->integers.empty())) return Done{};
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    const std::int64_t size = source[i + kSpatial];
    const std::int64_t stride = window.strides[i];
    const bool is_written = shape != nullptr && shape->integers.size() == window.kernel.size();
    const std::int64_t wanted = is_written ? shape->integers[i] : size * stride;
    if (wanted < 1 || wanted > kMaxExtent * kMaxExtent || extra[i] < 0 || extra[i] > kMaxExtent)
      return inexpressible("`output_shape` or `output_padding` is out of range");
    const std::int64_t total =
        stride * (size - 1) + extra[i] + (window.kernel[i] - 1) * window.dilations[i] + 1 - wanted;
    if (total < 0) return inexpressible("`output_shape` needs negative padding");
    const bool at_end = mode != nullptr && mode->text == "SAME_UPPER";
    const std::int64_t small = total / 2;
    window.pads[i] = at_end ? PadPair{small, total - small} : PadPair{total - small, small};
  }
  return Done{};
}

// com.microsoft's operators with an activation.
struct ActivationRow {
  std::string_view name;
  std::string_view function;
};
constexpr std::array kActivations = {
    ActivationRow{"Relu", "relu"},           ActivationRow{"LeakyRelu", "leaky_relu"},
    ActivationRow{"Sigmoid", "sigmoid"},     ActivationRow{"Tanh", "tanh"},
    ActivationRow{"HardSwish", "hardswish"}, ActivationRow{"HardSigmoid", "hardsigmoid"},
    ActivationRow{"Clip", "clip"},
};

// Adds the function that the attribute `activation` names, if there is one.
Result<Value> add_activation(const NodeView& view, NetworkBuilder& builder, Value value) {
  const Attribute* activation = view.attribute("activation");
  if (activation == nullptr || activation->text.empty()) return value;
  const auto* row = std::ranges::find(kActivations, activation->text, &ActivationRow::name);
  if (row == kActivations.end())
    return inexpressible(fmt::format("no operator for the activation {}", activation->text));
  return builder.add_unary(row->function, value);
}

// The fourth input of FusedConv is added to the result.
Lowered lower_fused_conv(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value source, require_input(view, 0));
  BENCH_ASSIGN_OR_RETURN(const Value weights, require_input(view, 1));
  BENCH_ASSIGN_OR_RETURN(Value result,
                         add_convolution(builder, view, source, weights, view.input(2)));
  if (const Value* addend = view.input(3)) {
    BENCH_ASSIGN_OR_RETURN(result, builder.add_binary("add", result, *addend));
  }
  return one(add_activation(view, builder, std::move(result)));
}

Lowered lower_conv(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value source, require_input(view, 0));
  BENCH_ASSIGN_OR_RETURN(const Value weights, require_input(view, 1));
  Result<Value> result = add_convolution(builder, view, source, weights, view.input(2));
  if (result.ok() && source.quantised && weights.quantised)
    builder.mark_integers(*result, {*source.quantised, *weights.quantised, true});
  return one(std::move(result));
}

Lowered lower_matmul(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value left, require_input(view, 0));
  BENCH_ASSIGN_OR_RETURN(const Value right, require_input(view, 1));
  const bool a = view.integer("transA", 0) != 0;
  const bool b = view.integer("transB", 0) != 0;
  if (view.integer("transBatchA", 0) != 0 || view.integer("transBatchB", 0) != 0)
    return inexpressible("the batch is not the first dimension of its operands");
  const Transposed transposed =
      a ? (b ? Transposed::both : Transposed::left) : (b ? Transposed::right : Transposed::neither);
  Result<Value> result = add_product(builder, left, right, transposed, view.input(2));
  if (result.ok() && left.quantised && right.quantised)
    builder.mark_integers(*result, {*left.quantised, *right.quantised, true});
  return one(std::move(result));
}

bool is_row(const Value& value, std::int64_t columns) {
  if (!value.is_constant() || value.dims.empty() || value.dims.back() != columns) return false;
  return ops::element_count(value.dims) == columns;
}

Lowered lower_gemm(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value left, require_input(view, 0));
  BENCH_ASSIGN_OR_RETURN(const Value right, require_input(view, 1));
  if (left.dims.size() != 2 || right.dims.size() != 2)
    return inexpressible("its operands are not matrices");
  const bool a = view.integer("transA", 0) != 0;
  const bool b = view.integer("transB", 0) != 0;
  const Transposed transposed =
      a ? (b ? Transposed::both : Transposed::left) : (b ? Transposed::right : Transposed::neither);
  const Value* addend = view.input(2);
  const std::int64_t columns = b ? right.dims[0] : right.dims[1];
  const bool is_bias = addend != nullptr && right.is_constant() && is_row(*addend, columns);
  BENCH_ASSIGN_OR_RETURN(Value result,
                         add_product(builder, left, right, transposed, is_bias ? addend : nullptr));
  if (left.quantised && right.quantised)
    builder.mark_integers(result, {*left.quantised, *right.quantised, true});
  if (addend == nullptr || is_bias) return std::vector<Value>{std::move(result)};
  return one(builder.add_binary("add", result, *addend));
}

Lowered lower_fused_gemm(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const auto results, lower_gemm(view, builder));
  return one(add_activation(view, builder, results.front()));
}

std::string_view pool_function(const NodeView& view) {
  if (view.node.op.ends_with("MaxPool")) return "max";
  return view.integer("count_include_pad", 0) != 0 ? "avg_include_pad" : "avg_exclude_pad";
}

// Pads the end as far as the last window of `ceil_mode` reaches. Returns whether it reaches
// further.
bool extend_to_ceiling(const Dims& source, Window& window) {
  bool is_longer = false;
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    const std::int64_t size = source[i + kSpatial];
    PadPair& pad = window.pads[i];
    const std::int64_t rest = size + pad.begin + pad.end - window.kernel[i];
    if (rest < 0) continue;
    std::int64_t results = (rest + window.strides[i] - 1) / window.strides[i] + 1;
    // A window that begins in the padding does not count.
    if ((results - 1) * window.strides[i] >= size + pad.begin) --results;
    const std::int64_t end =
        (results - 1) * window.strides[i] + window.kernel[i] - size - pad.begin;
    if (end <= pad.end) continue;
    pad.end = end;
    is_longer = true;
  }
  return is_longer;
}

Lowered lower_pool(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value source, require_input(view, 0));
  const Attribute* kernel = view.attribute("kernel_shape");
  if (kernel == nullptr) return inexpressible("`kernel_shape` is missing");
  BENCH_ASSIGN_OR_RETURN(Window window, read_window(view, source.dims, kernel->integers));
  if (!are_all(window.dilations, 1)) return inexpressible("pool has no dilation");
  if (view.node.outputs.size() > 1 && !view.node.outputs[1].empty())
    return inexpressible("pool does not return the places of the maxima");
  const std::string_view function = pool_function(view);
  if (view.integer("ceil_mode", 0) != 0 && extend_to_ceiling(source.dims, window) &&
      function == "avg_include_pad")
    return inexpressible("the last window of `ceil_mode` counts only a part of the padding");
  LayerParameters parameters = {{"function", std::string(function)}, {"window", window.kernel}};
  // The default stride of pool is the window, that of ONNX is 1.
  if (window.strides != window.kernel) parameters.emplace_back("stride", window.strides);
  std::ranges::fill(window.strides, 1);
  add_window(window, parameters);
  return one(builder.add("pool", parameters, {source}));
}

Lowered lower_global_pool(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value source, require_input(view, 0));
  const bool is_max = view.node.op == "GlobalMaxPool";
  return one(builder.add(
      "pool", {{"function", std::string(is_max ? "max" : "avg_exclude_pad")}, {"global", true}},
      {source}));
}

// The operands of a product as matrices: all dimensions but the last two are a batch.
struct Operand {
  Value value;
  Dims batch;
  std::int64_t rows, columns;
};

Operand as_operand(const Value& value, bool is_transposed) {
  const std::size_t rank = value.dims.size();
  Operand operand{value, Dims(value.dims.begin(), value.dims.end() - 2), value.dims[rank - 2],
                  value.dims[rank - 1]};
  if (is_transposed) std::swap(operand.rows, operand.columns);
  return operand;
}

std::int64_t count_of(const Dims& dims) { return ops::element_count(dims).value_or(0); }

Dims joined(Dims batch, std::int64_t rows, std::int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

// A product with weights, which all rows of the source share.
Result<Value> add_weighted(NetworkBuilder& builder, const Operand& left, const Operand& right,
                           bool is_transposed, bool has_bias) {
  const Value rows = with_dims(left.value, {count_of(left.batch) * left.rows, left.columns});
  LayerParameters parameters = {{"n", right.columns}};
  // In a network, weights are stored transposed by default.
  if (!is_transposed) parameters.emplace_back("trans_b", false);
  if (has_bias) parameters.emplace_back("bias", true);
  BENCH_ASSIGN_OR_RETURN(Value result, builder.add("gemm", parameters, {rows}));
  return with_dims(std::move(result), joined(left.batch, left.rows, right.columns));
}

constexpr std::array kProducts = {
    LoweringRow{"", "Conv", lower_conv},
    LoweringRow{"", "ConvTranspose", lower_conv},
    LoweringRow{"", "Gemm", lower_gemm},
    LoweringRow{"", "MatMul", lower_matmul},
    LoweringRow{"com.microsoft", "FusedMatMul", lower_matmul},
    LoweringRow{"com.microsoft", "TransposeMatMul", lower_matmul},
    LoweringRow{"com.microsoft", "FusedConv", lower_fused_conv},
    LoweringRow{"com.microsoft", "FusedGemm", lower_fused_gemm},
    LoweringRow{"", "MaxPool", lower_pool},
    LoweringRow{"", "AveragePool", lower_pool},
    LoweringRow{"", "GlobalAveragePool", lower_global_pool},
    LoweringRow{"", "GlobalMaxPool", lower_global_pool},
};

}  // namespace

Result<Value> add_convolution(NetworkBuilder& builder, const NodeView& view, const Value& source,
                              const Value& weights, const Value* bias) {
  if (!weights.is_constant()) return inexpressible("its weights are computed");
  if (bias != nullptr && !bias->is_constant()) return inexpressible("its bias is computed");
  if (weights.dims.size() < 3) return inexpressible("its weights are not those of an image");
  const bool is_transposed = view.node.op == "ConvTranspose";
  BENCH_ASSIGN_OR_RETURN(
      Window window,
      read_window(view, source.dims, Dims(weights.dims.begin() + kSpatial, weights.dims.end())));
  const std::int64_t groups = view.integer("group", 1);
  if (groups < 1 || groups > kMaxExtent || weights.dims[1] > kMaxExtent)
    return inexpressible("its groups or channels are out of range");
  const std::int64_t channels = is_transposed ? weights.dims[0] : weights.dims[1] * groups;
  if (channels != source.dims[1])
    return inexpressible(
        fmt::format("the image has {} channels, the weights are for {}", source.dims[1], channels));
  LayerParameters parameters = {{"k", is_transposed ? weights.dims[1] * groups : weights.dims[0]}};
  if (groups != 1) parameters.emplace_back("g", groups);
  add_kernel(window.kernel, parameters);
  if (is_transposed) {
    const Attribute* written = view.attribute("output_padding");
    std::vector<std::int64_t> extra(window.kernel.size(), 0);
    if (written != nullptr && written->integers.size() == extra.size()) extra = written->integers;
    BENCH_RETURN_IF_ERROR(set_output_shape(view, source.dims, window, extra));
    parameters.emplace_back("transposed", true);
    if (!are_all(extra, 0)) parameters.emplace_back("output_pad", extra);
  }
  if (!are_all(window.dilations, 1)) parameters.emplace_back("dilation", window.dilations);
  add_window(window, parameters);
  if (bias != nullptr) parameters.emplace_back("bias", true);
  return builder.add("conv", parameters, {source});
}

Result<Value> add_product(NetworkBuilder& builder, const Value& left_value,
                          const Value& right_value, Transposed transposed, const Value* bias) {
  // A vector is a row on the left, a column on the right; its dimension of 1 is removed afterwards.
  // It has no other order.
  const bool has_row = left_value.dims.size() == 1;
  const bool has_column = right_value.dims.size() == 1;
  if (left_value.dims.empty() || right_value.dims.empty())
    return inexpressible("its operands are not matrices");
  const bool is_both = transposed == Transposed::both;
  bool is_left = !has_row && (is_both || transposed == Transposed::left);
  const bool is_right = !has_column && (is_both || transposed == Transposed::right);
  Operand left =
      as_operand(has_row ? with_dims(left_value, {1, left_value.dims[0]}) : left_value, is_left);
  const Operand right = as_operand(
      has_column ? with_dims(right_value, {right_value.dims[0], 1}) : right_value, is_right);
  if (left.columns != right.rows)
    return inexpressible(fmt::format("the left operand has {} columns, the right one {} rows",
                                     left.columns, right.rows));
  const auto batch = broadcast_dims(left.batch, right.batch);
  if (!batch) return inexpressible("the batches of its operands differ");
  Dims dims = joined(*batch, left.rows, right.columns);
  if (has_column) dims.pop_back();
  if (has_row) dims.erase(dims.end() - (has_column ? 1 : 2));
  const bool has_weights = right.value.is_constant() && count_of(right.batch) == 1;
  const bool is_shared = count_of(right.batch) == 1 && count_of(*batch) > 1;
  if (is_left && (has_weights || is_shared)) {
    std::vector<std::int64_t> axes;
    for (std::size_t i = 0; i < left.value.dims.size(); ++i)
      axes.push_back(static_cast<std::int64_t>(i));
    std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
    BENCH_ASSIGN_OR_RETURN(left.value, builder.add_permutation(left.value, axes));
    is_left = false;
  }
  if (has_weights) {
    BENCH_ASSIGN_OR_RETURN(Value result,
                           add_weighted(builder, left, right, is_right, bias != nullptr));
    return with_dims(std::move(result), std::move(dims));
  }
  if (bias != nullptr) {
    BENCH_ASSIGN_OR_RETURN(const Value product,
                           add_product(builder, left_value, right_value, transposed, nullptr));
    return builder.add_binary("add", product, *bias);
  }
  if (count_of(left.batch) != count_of(right.batch) && !is_shared)
    return inexpressible(
        "several products share a matrix of the left operand, or one of several "
        "of the right operand");
  Value a = left.value;
  Value b = with_dims(right.value, {count_of(right.batch), is_right ? right.columns : right.rows,
                                    is_right ? right.rows : right.columns});
  if (is_shared) {
    a = with_dims(a, {1, count_of(left.batch) * left.rows, left.columns});
  } else {
    a = with_dims(a, {count_of(left.batch), is_left ? left.columns : left.rows,
                      is_left ? left.rows : left.columns});
  }
  LayerParameters parameters;
  if (is_left) parameters.emplace_back("trans_a", true);
  if (is_right) parameters.emplace_back("trans_b", true);
  BENCH_ASSIGN_OR_RETURN(Value result, builder.add("gemm", parameters, {a, b}));
  return with_dims(std::move(result), std::move(dims));
}

std::span<const LoweringRow> product_rows() { return kProducts; }

}  // namespace bench::onnx
