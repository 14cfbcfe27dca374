// SPDX-License-Identifier: Apache-2.0
// table: one row per operator of ONNX
// What moves, selects or joins elements.
#include "harness/import/onnx_network.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace bench::onnx {
namespace {

using Moved = Result<std::vector<Value>>;
using ops::Dims;

Error unexpressed(std::string what) { return {std::move(what), "", ""}; }

Result<Value> moved_input(const NodeView& view, std::size_t index) {
  const Value* value = view.input(index);
  if (value == nullptr) return unexpressed("an input is missing or unknown");
  return *value;
}

Moved lower_view(const NodeView& view, NetworkBuilder& /*builder*/) {
  BENCH_ASSIGN_OR_RETURN(const Value input, moved_input(view, 0));
  BENCH_ASSIGN_OR_RETURN(Dims dims, view_dims(view));
  return std::vector<Value>{with_dims(input, std::move(dims))};
}

// Inference: dropout passes its input on.
Moved lower_dropout(const NodeView& view, NetworkBuilder& /*builder*/) {
  BENCH_ASSIGN_OR_RETURN(const Value input, moved_input(view, 0));
  if (scalar_of(view.input(2)).value_or(0) != 0)
    return unexpressed("dropout is in training mode; export the model for inference");
  return std::vector<Value>{input};
}

// A network has one floating-point type.
Moved lower_cast(const NodeView& view, NetworkBuilder& /*builder*/) {
  BENCH_ASSIGN_OR_RETURN(Value input, moved_input(view, 0));
  const int type = view.node.op == "CastLike" && view.input(1) != nullptr
                       ? view.input(1)->type
                       : static_cast<int>(view.integer("to", 0));
  const bool is_number = is_floating(type) && is_floating(input.type);
  const bool are_indices =
      (type == kInt64 || type == kInt32) && (input.type == kInt64 || input.type == kInt32);
  if (!is_number && !are_indices)
    return unexpressed("it converts between numbers and integers, which no layer does");
  input.type = type;
  return std::vector<Value>{std::move(input)};
}

Moved lower_transpose(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value input, moved_input(view, 0));
  BENCH_ASSIGN_OR_RETURN(const auto axes, permutation_of(view));
  BENCH_ASSIGN_OR_RETURN(Value result, builder.add_permutation(input, axes));
  return std::vector<Value>{std::move(result)};
}

Moved lower_concat(const NodeView& view, NetworkBuilder& builder) {
  std::vector<Value> parts;
  for (std::size_t i = 0; i < view.inputs.size(); ++i) {
    BENCH_ASSIGN_OR_RETURN(Value part, moved_input(view, i));
    // A cache that is empty at first.
    if (ops::element_count(part.dims) != 0) parts.push_back(std::move(part));
  }
  if (parts.empty()) return unexpressed("it joins nothing");
  if (parts.size() == 1) return std::vector<Value>{parts.front()};
  const auto axis = find_axis(view.integer("axis", 0), parts.front().dims.size());
  if (!axis) return unexpressed("it has no such axis");
  BENCH_ASSIGN_OR_RETURN(
      Value result, builder.add("concat", {{"axis", static_cast<std::int64_t>(*axis)}}, parts));
  return std::vector<Value>{std::move(result)};
}

// A range along an axis; all of it is the input itself.
Result<Value> add_range(const Value& input, std::size_t axis, std::int64_t begin, std::int64_t size,
                        NetworkBuilder& builder) {
  if (begin == 0 && size == input.dims[axis]) return input;
  if (size == 0) return unexpressed("a range has no elements");
  LayerParameters parameters;
  if (axis + 1 != input.dims.size())
    parameters.emplace_back("axis", static_cast<std::int64_t>(axis));
  if (begin != 0) parameters.emplace_back("begin", begin);
  parameters.emplace_back("size", size);
  return builder.add("slice", parameters, {input});
}

Moved lower_slice(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(Value value, moved_input(view, 0));
  BENCH_ASSIGN_OR_RETURN(const auto ranges, slice_ranges(view));
  for (const AxisRange& range : ranges) {
    if (range.step != 1 && range.count > 1) return unexpressed("slice has no steps");
    BENCH_ASSIGN_OR_RETURN(value, add_range(value, range.axis, range.begin, range.count, builder));
  }
  return std::vector<Value>{std::move(value)};
}

// A part that no node reads is not a layer.
Moved lower_split(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value input, moved_input(view, 0));
  const auto axis = find_axis(view.integer("axis", 0), input.dims.size());
  if (!axis) return unexpressed("it has no such axis");
  BENCH_ASSIGN_OR_RETURN(const auto sizes, split_sizes(view, *axis));
  std::vector<Value> parts;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Value part = input;
    if (!view.node.outputs[i].empty()) {
      BENCH_ASSIGN_OR_RETURN(part, add_range(input, *axis, begin, sizes[i], builder));
    }
    parts.push_back(std::move(part));
    begin += sizes[i];
  }
  return parts;
}

// Whether the indices are one after another, so that a range has the same elements.
bool are_consecutive(const std::vector<std::int64_t>& indices) {
  for (std::size_t i = 1; i < indices.size(); ++i)
    if (indices[i] != indices[i - 1] + 1) return false;
  return !indices.empty();
}

Dims gathered_dims(const Value& data, std::size_t axis, const Value& indices) {
  Dims dims(data.dims.begin(), data.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), data.dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1,
              data.dims.end());
  return dims;
}

// Rows of a table are an embedding; else a range or a gather. Only inputs of a network hold
// indices.
Moved lower_gather(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value data, moved_input(view, 0));
  BENCH_ASSIGN_OR_RETURN(const Value indices, moved_input(view, 1));
  const auto axis = find_axis(view.integer("axis", 0), data.dims.size());
  if (!axis) return unexpressed("it has no such axis");
  const Dims dims = gathered_dims(data, *axis, indices);
  auto constant = integers_of(&indices);
  if (constant && !data.is_constant()) {
    for (std::int64_t& index : *constant) index += index < 0 ? data.dims[*axis] : 0;
    const bool is_inside =
        !constant->empty() && constant->front() >= 0 && constant->back() < data.dims[*axis];
    if (are_consecutive(*constant) && is_inside) {
      BENCH_ASSIGN_OR_RETURN(
          Value range, add_range(data, *axis, constant->front(), std::ssize(*constant), builder));
      return std::vector<Value>{with_dims(std::move(range), dims)};
    }
  }
  if (indices.origin == Value::Origin::layer || is_floating(indices.type))
    return unexpressed("its indices are computed by a layer");
  const auto count = ops::element_count(indices.dims);
  const Value flat = with_dims(indices, {count.value_or(0)});
  const bool is_table = data.is_constant() && *axis == 0 && data.dims.size() == 2;
  if (is_table) {
    BENCH_ASSIGN_OR_RETURN(
        Value rows,
        builder.add("embedding", {{"rows", data.dims[0]}, {"dim", data.dims[1]}}, {flat}));
    rows.type = data.type;
    return std::vector<Value>{with_dims(std::move(rows), dims)};
  }
  LayerParameters parameters;
  if (*axis + 1 != data.dims.size())
    parameters.emplace_back("axis", static_cast<std::int64_t>(*axis));
  BENCH_ASSIGN_OR_RETURN(Value result, builder.add("gather", parameters, {data, flat}));
  return std::vector<Value>{with_dims(std::move(result), dims)};
}

// Copies along axes of size 1 are a concat of the tensor with itself, which moves as much.
Result<Value> repeat_along(Value value, std::size_t axis, std::int64_t times,
                           NetworkBuilder& builder) {
  constexpr std::int64_t kMaxCopies = 64;
  if (times == 1) return value;
  if (times < 1 || times > kMaxCopies)
    return unexpressed("it repeats a tensor, for which there is no operator");
  const std::vector<Value> copies(static_cast<std::size_t>(times), value);
  return builder.add("concat", {{"axis", static_cast<std::int64_t>(axis)}}, copies);
}

Moved lower_expand(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(Value value, moved_input(view, 0));
  const auto shape = integers_of(view.input(1));
  if (!shape) return unexpressed("its shape depends on the data");
  const auto dims = broadcast_dims(value.dims, *shape);
  if (!dims) return unexpressed("its shape does not fit");
  if (!is_floating(value.type)) return unexpressed("it repeats positions or masks");
  value.dims.insert(value.dims.begin(), dims->size() - value.dims.size(), 1);
  for (std::size_t i = 0; i < dims->size(); ++i) {
    const std::int64_t times = value.dims[i] == (*dims)[i] ? 1 : (*dims)[i];
    BENCH_ASSIGN_OR_RETURN(value, repeat_along(value, i, times, builder));
  }
  return std::vector<Value>{std::move(value)};
}

Moved lower_tile(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(Value value, moved_input(view, 0));
  const auto repeats = integers_of(view.input(1));
  if (!repeats || repeats->size() != value.dims.size())
    return unexpressed("its repeats depend on the data");
  if (!is_floating(value.type)) return unexpressed("it repeats positions or masks");
  for (std::size_t i = 0; i < repeats->size(); ++i) {
    BENCH_ASSIGN_OR_RETURN(value, repeat_along(value, i, (*repeats)[i], builder));
  }
  return std::vector<Value>{std::move(value)};
}

// Padding in front of a convolution is part of it (onnx_patterns.cpp); here only none at all.
Moved lower_pad(const NodeView& view, NetworkBuilder& /*builder*/) {
  BENCH_ASSIGN_OR_RETURN(const Value input, moved_input(view, 0));
  const auto pads = view.integers("pads", 1);
  const bool is_none =
      pads && std::ranges::all_of(*pads, [](std::int64_t pad) { return pad == 0; });
  if (!is_none) return unexpressed("no operator pads a tensor");
  return std::vector<Value>{input};
}

// [n, c*s*s, h, w] to [n, c, h*s, w*s], or back: a permutation between two views.
Moved lower_depth_to_space(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value input, moved_input(view, 0));
  const std::int64_t size = view.integer("blocksize", 0);
  const Dims& d = input.dims;
  const bool to_space = view.node.op == "DepthToSpace";
  const bool fits = d.size() == 4 && size > 0 && size < (1 << 15) &&
                    (to_space ? d[1] % (size * size) == 0 : d[2] % size == 0 && d[3] % size == 0);
  if (!fits) return unexpressed("its block size does not fit");
  const Attribute* mode = view.attribute("mode");
  const bool is_crd = mode != nullptr && mode->text == "CRD";
  Dims seen;
  Dims result;
  std::vector<std::int64_t> axes;
  if (to_space) {
    const std::int64_t channels = d[1] / (size * size);
    seen = is_crd ? Dims{d[0], channels, size, size, d[2], d[3]}
                  : Dims{d[0], size, size, channels, d[2], d[3]};
    axes = is_crd ? std::vector<std::int64_t>{0, 1, 4, 2, 5, 3}
                  : std::vector<std::int64_t>{0, 3, 4, 1, 5, 2};
    result = {d[0], channels, d[2] * size, d[3] * size};
  } else {
    seen = {d[0], d[1], d[2] / size, size, d[3] / size, size};
    axes = {0, 3, 5, 1, 2, 4};
    result = {d[0], d[1] * size * size, d[2] / size, d[3] / size};
  }
  BENCH_ASSIGN_OR_RETURN(Value moved, builder.add_permutation(with_dims(input, seen), axes));
  return std::vector<Value>{with_dims(std::move(moved), std::move(result))};
}

constexpr std::array kLayouts = {
    LoweringRow{"", "Reshape", lower_view},
    LoweringRow{"", "Flatten", lower_view},
    LoweringRow{"", "Squeeze", lower_view},
    LoweringRow{"", "Unsqueeze", lower_view},
    LoweringRow{"", "Identity", lower_view},
    LoweringRow{"", "Dropout", lower_dropout},
    LoweringRow{"", "Cast", lower_cast},
    LoweringRow{"", "CastLike", lower_cast},
    LoweringRow{"", "Transpose", lower_transpose},
    LoweringRow{"", "Concat", lower_concat},
    LoweringRow{"", "Slice", lower_slice},
    LoweringRow{"", "Split", lower_split},
    LoweringRow{"", "Gather", lower_gather},
    LoweringRow{"", "Expand", lower_expand},
    LoweringRow{"", "Tile", lower_tile},
    LoweringRow{"", "Pad", lower_pad},
    LoweringRow{"", "DepthToSpace", lower_depth_to_space},
    LoweringRow{"", "SpaceToDepth", lower_depth_to_space},
};

}  // namespace

std::span<const LoweringRow> layout_rows() { return kLayouts; }

}  // namespace bench::onnx
