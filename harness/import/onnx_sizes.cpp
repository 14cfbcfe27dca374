// SPDX-License-Identifier: Apache-2.0
// Attributes of nodes, and the sizes of operators that move or reshape a tensor.
#include "base/checked.hpp"
#include "harness/import/onnx_fold.hpp"
#include "ops/model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

namespace bench::onnx {
namespace {

using ops::Dims;

Error misfit(std::string what) { return {std::move(what), "", "export the model again"}; }

Result<Dims> reshape_dims(const NodeView& view) {
  const Dims& from = view.input(0)->dims;
  const auto shape = view.integers("shape", 1);
  if (!shape) return Error{"its shape depends on the data", "", ""};
  const bool keeps_zero = view.integer("allowzero", 0) == 0;
  Dims dims;
  std::optional<std::size_t> rest;
  Checked known = 1;
  for (std::size_t i = 0; i < shape->size(); ++i) {
    std::int64_t size = (*shape)[i];
    if (size == 0 && keeps_zero && i < from.size()) size = from[i];
    if (size == -1 && !rest)
      rest = i;
    else
      known *= size;
    dims.push_back(size);
  }
  const std::int64_t count = ops::element_count(from).value_or(0);
  const std::int64_t part = known.value().value_or(0);
  if (rest && part > 0 && count % part == 0) dims[*rest] = count / part;
  const bool fits = std::ranges::all_of(dims, [](std::int64_t size) { return size >= 0; }) &&
                    ops::element_count(dims) == count;
  if (!fits)
    return misfit(fmt::format("it makes [{}] of [{}], which has another number of elements",
                              fmt::join(*shape, ", "), fmt::join(from, ", ")));
  return dims;
}

Result<Dims> flatten_dims(const NodeView& view) {
  const Dims& from = view.input(0)->dims;
  const std::int64_t axis = view.integer("axis", 1);
  const std::int64_t at = axis < 0 ? axis + std::ssize(from) : axis;
  if (at < 0 || at > std::ssize(from)) return misfit("a Flatten has no such axis");
  const auto split = static_cast<std::size_t>(at);
  return Dims{ops::element_count(std::span(from).first(split)).value_or(0),
              ops::element_count(std::span(from).subspan(split)).value_or(0)};
}

Result<Dims> squeeze_dims(const NodeView& view) {
  const Dims& from = view.input(0)->dims;
  const bool has_axes = view.attribute("axes") != nullptr || view.input(1) != nullptr;
  const auto axes = view.integers("axes", 1);
  if (has_axes && !axes) return Error{"its axes depend on the data", "", ""};
  std::vector<bool> is_removed(from.size(), false);
  for (std::size_t i = 0; i < from.size(); ++i) is_removed[i] = !has_axes && from[i] == 1;
  for (const std::int64_t axis : axes.value_or(std::vector<std::int64_t>())) {
    const auto at = find_axis(axis, from.size());
    if (!at || from[*at] != 1) return misfit("a Squeeze removes a dimension that is not 1");
    is_removed[*at] = true;
  }
  Dims dims;
  for (std::size_t i = 0; i < from.size(); ++i)
    if (!is_removed[i]) dims.push_back(from[i]);
  return dims;
}

Result<Dims> unsqueeze_dims(const NodeView& view) {
  const Dims& from = view.input(0)->dims;
  const auto axes = view.integers("axes", 1);
  if (!axes) return Error{"its axes depend on the data", "", ""};
  if (from.size() + axes->size() > kMaxRank) return misfit("a tensor has too many dimensions");
  Dims dims(from.size() + axes->size(), 0);
  for (const std::int64_t axis : *axes) {
    const auto at = find_axis(axis, dims.size());
    if (!at || dims[*at] == 1) return misfit("an Unsqueeze has no such axis");
    dims[*at] = 1;
  }
  auto next = from.begin();
  std::vector<bool> is_new(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) is_new[i] = dims[i] == 1;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (!is_new[i]) dims[i] = *next++;
  return dims;
}

struct ViewRow {
  std::string_view op;
  Result<Dims> (*dims)(const NodeView& view);
};
constexpr std::array kViewRows = {
    ViewRow{"Reshape", reshape_dims},
    ViewRow{"Flatten", flatten_dims},
    ViewRow{"Squeeze", squeeze_dims},
    ViewRow{"Unsqueeze", unsqueeze_dims},
    ViewRow{"Identity", [](const NodeView& view) -> Result<Dims> { return view.input(0)->dims; }},
};

// The range of one axis, as Python's slices: out of range values are clamped.
AxisRange clamp_range(std::size_t axis, std::int64_t size, std::int64_t begin, std::int64_t end,
                      std::int64_t step) {
  const std::int64_t lowest = step > 0 ? 0 : -1;
  const std::int64_t highest = step > 0 ? size : size - 1;
  const auto clamp = [&](std::int64_t at) {
    return std::clamp(at < 0 ? at + size : at, lowest, highest);
  };
  begin = clamp(begin);
  end = clamp(end);
  const std::int64_t distance = step > 0 ? end - begin : begin - end;
  const std::int64_t stride = step > 0 ? step : -step;
  return {axis, begin, step, distance <= 0 ? 0 : (distance + stride - 1) / stride};
}

}  // namespace

const Attribute* NodeView::attribute(std::string_view name) const {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? nullptr : &found->second;
}

std::int64_t NodeView::integer(std::string_view name, std::int64_t default_value) const {
  const Attribute* found = attribute(name);
  return found == nullptr ? default_value : found->integer;
}

double NodeView::real(std::string_view name, double default_value) const {
  const Attribute* found = attribute(name);
  return found == nullptr ? default_value : found->real;
}

std::optional<std::vector<std::int64_t>> NodeView::integers(std::string_view name,
                                                            std::size_t index) const {
  if (const Attribute* found = attribute(name)) return found->integers;
  return integers_of(input(index));
}

std::optional<std::vector<std::int64_t>> integers_of(const Value* value) {
  if (value == nullptr || !value->content) return std::nullopt;
  std::vector<std::int64_t> integers;
  constexpr double kLimit = 4e18;  // the ends of slices are beyond it
  for (const double element : *value->content)
    integers.push_back(
        static_cast<std::int64_t>(element == element ? std::clamp(element, -kLimit, kLimit) : 0.0));
  return integers;
}

std::optional<double> scalar_of(const Value* value) {
  if (value == nullptr || !value->content || value->content->size() != 1) return std::nullopt;
  return value->content->front();
}

std::optional<std::size_t> find_axis(std::int64_t axis, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank);
  if (axis < -count || axis >= count) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

std::optional<Dims> broadcast_dims(const Dims& a, const Dims& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Dims dims(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t left = i < rank - a.size() ? 1 : a[i - (rank - a.size())];
    const std::int64_t right = i < rank - b.size() ? 1 : b[i - (rank - b.size())];
    if (left != right && left != 1 && right != 1) return std::nullopt;
    dims[i] = left == 1 ? right : left;
    if (dims[i] < 0) return std::nullopt;
  }
  if (rank > kMaxRank || !ops::element_count(dims)) return std::nullopt;
  return dims;
}

bool is_view_operator(std::string_view op) {
  return std::ranges::find(kViewRows, op, &ViewRow::op) != kViewRows.end();
}

Result<Dims> view_dims(const NodeView& view) {
  const auto* row = std::ranges::find(kViewRows, view.node.op, &ViewRow::op);
  return row->dims(view);
}

Result<std::vector<AxisRange>> slice_ranges(const NodeView& view) {
  const Dims& dims = view.input(0)->dims;
  const auto begins = view.integers("starts", 1);
  const auto ends = view.integers("ends", 2);
  if (!begins || !ends || begins->size() != ends->size())
    return Error{"its range depends on the data", "", ""};
  auto axes = view.integers("axes", 3);
  const auto steps = integers_of(view.input(4));
  const bool is_unknown =
      (view.input(3) != nullptr && !axes) || (view.input(4) != nullptr && !steps);
  if (is_unknown) return Error{"its range depends on the data", "", ""};
  if (!axes) {
    axes.emplace(begins->size());
    std::iota(axes->begin(), axes->end(), 0);
  }
  std::vector<AxisRange> ranges;
  for (std::size_t i = 0; i < begins->size(); ++i) {
    const auto axis = i < axes->size() ? find_axis((*axes)[i], dims.size()) : std::nullopt;
    const std::int64_t step = steps && i < steps->size() ? (*steps)[i] : 1;
    if (!axis || step == 0) return misfit("a Slice has no such axis or step");
    const std::int64_t stride =
        std::clamp<std::int64_t>(step, -(std::int64_t{1} << 40), std::int64_t{1} << 40);
    ranges.push_back(clamp_range(*axis, dims[*axis], (*begins)[i], (*ends)[i], stride));
  }
  return ranges;
}

Result<std::vector<std::int64_t>> split_sizes(const NodeView& view, std::size_t axis) {
  const std::int64_t whole = view.input(0)->dims[axis];
  const auto written = view.integers("split", 1);
  if (view.input(1) != nullptr && !written) return Error{"its sizes depend on the data", "", ""};
  const auto parts = static_cast<std::int64_t>(view.node.outputs.size());
  if (parts == 0) return misfit("a Split has no result");
  std::vector<std::int64_t> sizes;
  if (written) {
    sizes = *written;
  } else {
    const std::int64_t size = (whole + parts - 1) / parts;
    for (std::int64_t i = 0; i < parts; ++i)
      sizes.push_back(std::clamp<std::int64_t>(whole - i * size, 0, size));
  }
  Checked sum = 0;
  for (const std::int64_t size : sizes) {
    if (size < 0) return misfit("a Split has a negative size");
    sum += size;
  }
  if (std::ssize(sizes) != parts || sum.value() != whole)
    return misfit("the sizes of a Split do not add up");
  return sizes;
}

Result<std::vector<std::int64_t>> permutation_of(const NodeView& view) {
  const std::size_t rank = view.input(0)->dims.size();
  std::vector<std::int64_t> permutation;
  if (const Attribute* written = view.attribute("perm")) {
    permutation = written->integers;
  } else {
    for (std::size_t i = rank; i-- > 0;) permutation.push_back(static_cast<std::int64_t>(i));
  }
  std::vector<bool> is_used(rank, false);
  for (const std::int64_t axis : permutation) {
    const bool fits = axis >= 0 && axis < static_cast<std::int64_t>(rank) &&
                      !is_used[static_cast<std::size_t>(axis)];
    if (!fits) return misfit("a Transpose has an impossible order of axes");
    is_used[static_cast<std::size_t>(axis)] = true;
  }
  if (permutation.size() != rank) return misfit("a Transpose has an impossible order of axes");
  return permutation;
}

}  // namespace bench::onnx
