// SPDX-License-Identifier: Apache-2.0
#include "ops/network/statistics.hpp"

#include "base/checked.hpp"
#include "ops/conv/conv.hpp"
#include "ops/operator.hpp"
#include "ops/pool/pool.hpp"
#include "ops/spatial.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace bench::ops {
namespace {

// How much of an axis of the network's input a value depends on. `jump`: input positions between
// two neighbouring values; nullopt: not a whole number.
struct AxisField {
  Checked size = 1;
  std::optional<std::int64_t> jump = 1;
};
using Field = std::vector<AxisField>;  // per spatial dimension

// An input of a layer.
struct FieldInput {
  std::optional<Field> field;
  Dims seen;      // sizes in which the layer reads it
  Dims produced;  // sizes in which it was computed
};

// Adds the positions of `steps` further values of an axis. They are unknown if `jump` is.
bool widen(AxisField& axis, std::int64_t steps) {
  if (steps > 0 && !axis.jump) return false;
  if (steps > 0) axis.size += Checked(steps) * *axis.jump;
  return true;
}

// r_out = r_in + (kernel - 1)*jump, jump_out = jump*stride: Araujo, Norris and Sim, "Computing
// receptive fields of convolutional neural networks", Distill 2019. A transposed convolution reads
// one of `stride` taps.
std::optional<Field> through_window(std::span<const SpatialAxis> axes, Sweep sweep, Field field) {
  if (field.size() != axes.size()) return std::nullopt;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto& [name, input, kernel, stride, pad, dilation, output_pad, output] = axes[i];
    const std::int64_t extent = dilation * (kernel - 1) + 1;
    const bool is_transposed = sweep == Sweep::transposed;
    const std::int64_t taps = is_transposed ? (extent + stride - 1) / stride : extent;
    if (!widen(field[i], taps - 1)) return std::nullopt;
    if (!field[i].jump) continue;
    if (is_transposed) {
      const bool is_whole = *field[i].jump % stride == 0;
      field[i].jump = is_whole ? std::optional(*field[i].jump / stride) : std::nullopt;
    } else {
      field[i].jump = (Checked(*field[i].jump) * stride).value();
    }
  }
  return field;
}

std::optional<Field> conv_field(const Problem& problem, std::span<const FieldInput> inputs) {
  const ConvShape shape = conv_shape(problem.parameters);
  return through_window(shape.axes, shape.sweep, *inputs.front().field);
}

std::optional<Field> pool_field(const Problem& problem, std::span<const FieldInput> inputs) {
  return through_window(pool_axes(problem.parameters), Sweep::convolution, *inputs.front().field);
}

// Layers that combine values at the same positions: the largest field of the inputs. An input of
// one position (of squeeze and excitation) has no say in the jump.
std::optional<Field> positions_field(const Problem& problem, std::span<const FieldInput> inputs) {
  const Dims& result = problem.output().dims;
  Field field = *inputs.front().field;
  for (const FieldInput& input : inputs) {
    if (input.field->size() != field.size()) return std::nullopt;
    for (std::size_t i = 0; i < field.size(); ++i) {
      const AxisField& other = (*input.field)[i];
      const auto size = field[i].size.value(), other_size = other.size.value();
      if (!size || !other_size) return std::nullopt;
      field[i].size = std::max(*size, *other_size);
      const std::size_t axis = kFirstSpatial + i;
      if (axis < result.size() && axis < input.seen.size() && input.seen[axis] == result[axis]) {
        field[i].jump = other.jump;
      }
    }
  }
  return field;
}

// A dense layer reads all positions of an image.
std::optional<Field> dense_field(const Problem& problem, std::span<const FieldInput> inputs) {
  if (problem.parameters.flag("two_inputs")) return std::nullopt;
  Field field = *inputs.front().field;
  const Dims& image = inputs.front().produced;
  for (std::size_t i = 0; i < field.size() && kFirstSpatial + i < image.size(); ++i) {
    if (!widen(field[i], image[kFirstSpatial + i] - 1)) return std::nullopt;
  }
  return field;
}

// What a value depends on along an axis of the input: a window, the same position, or all of it.
// The last kind may read an input in other sizes, as a classifier does.
enum class Reads { window, position, everything };

struct FieldRow {
  std::string_view op;
  Reads reads;
  std::optional<Field> (*field)(const Problem& problem, std::span<const FieldInput> inputs);
};

constexpr std::array kFieldRows = {
    FieldRow{"conv", Reads::window, conv_field},
    FieldRow{"pool", Reads::window, pool_field},
    FieldRow{"gemm", Reads::everything, dense_field},
    FieldRow{"batch_norm", Reads::position, positions_field},
    FieldRow{"concat", Reads::position, positions_field},
    FieldRow{"pointwise", Reads::position, positions_field},
    FieldRow{"slice", Reads::position, positions_field},
};

const FieldRow* find_field_row(const Problem& problem) {
  const auto* const row = std::ranges::find(kFieldRows, problem.op->name, &FieldRow::op);
  return row == kFieldRows.end() ? nullptr : row;
}

std::optional<Field> field_of(const Problem& problem, std::span<const FieldInput> inputs) {
  const FieldRow* const row = find_field_row(problem);
  if (row == nullptr || inputs.empty()) return std::nullopt;
  for (const FieldInput& input : inputs) {
    if (!input.field) return std::nullopt;
    if (row->reads != Reads::everything && input.seen != input.produced) return std::nullopt;
  }
  return row->field(problem, inputs);
}

std::optional<std::vector<std::int64_t>> field_sizes(const std::optional<Field>& field) {
  if (!field || field->empty()) return std::nullopt;
  std::vector<std::int64_t> sizes;
  for (const AxisField& axis : *field) {
    const auto size = axis.size.value();
    if (!size) return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

// Returns the field of a tensor that comes from outside: each value is itself.
std::optional<Field> outer_field(const Dims& dims) {
  if (dims.size() <= kFirstSpatial || dims.size() > kFirstSpatial + kMaxSpatialRank) {
    return std::nullopt;
  }
  return Field(dims.size() - kFirstSpatial);
}

LayerStatistics count_elements(const Problem& problem) {
  LayerStatistics statistics;
  for (const Tensor& tensor : problem.tensors) {
    if (is_learned(tensor)) statistics.parameters += tensor.elements();
    if (tensor.role == TensorRole::output) statistics.activations += tensor.elements();
  }
  return statistics;
}

}  // namespace

LayerStatistics problem_statistics(const Problem& problem) {
  LayerStatistics statistics = count_elements(problem);
  const FieldRow* const row = find_field_row(problem);
  const bool has_window = row != nullptr && row->reads == Reads::window;
  if (!has_window || problem.direction != Direction::forward) return statistics;
  const Dims& dims = problem.tensors.front().dims;
  const FieldInput input{.field = outer_field(dims), .seen = dims, .produced = dims};
  statistics.receptive_field = field_sizes(field_of(problem, {&input, 1}));
  return statistics;
}

std::vector<LayerStatistics> layer_statistics(const Network& network) {
  std::vector<LayerStatistics> layers;
  std::vector<std::optional<Field>> fields;  // by node
  for (const Node& node : network.nodes) {
    std::vector<FieldInput> inputs;
    for (std::size_t i = 0; i < node.sources.size(); ++i) {
      const Source& source = node.sources[i];
      const bool is_outer = source.kind == Source::Kind::input;
      if (!is_outer && source.kind != Source::Kind::node) continue;
      const Dims& produced = is_outer ? network.tensors[source.index].dims
                                      : network.nodes[source.index].problem.output().dims;
      inputs.push_back({.field = is_outer ? outer_field(produced) : fields[source.index],
                        .seen = node.problem.tensors[i].dims,
                        .produced = produced});
    }
    LayerStatistics statistics = count_elements(node.problem);
    const bool is_forward = node.pass == Pass::forward;
    fields.push_back(is_forward ? field_of(node.problem, inputs) : std::nullopt);
    statistics.receptive_field = field_sizes(fields.back());
    layers.push_back(std::move(statistics));
  }
  std::map<std::string_view, std::size_t> positions;
  for (std::size_t i = 0; i < network.nodes.size(); ++i) positions[network.nodes[i].name] = i;
  for (const DistinctLayer& distinct : distinct_layers(network)) {
    if (distinct.pass != Pass::forward) continue;
    for (const std::string& name : distinct.layers) {
      layers[positions.at(name)].equal_layers = distinct.layers.size();
    }
  }
  return layers;
}

}  // namespace bench::ops
