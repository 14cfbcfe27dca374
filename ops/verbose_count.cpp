// SPDX-License-Identifier: Apache-2.0
// table: one row per primitive
#include "ops/verbose_count.hpp"

#include "base/text.hpp"
#include "ops/verbose_text.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace bench::ops {
namespace {

using Count = std::optional<PrimitiveCount>;

// Returns nullopt if the number of elements exceeds 64 bits.
std::optional<Tensor> make_tensor(std::string_view name, TensorRole role, Dims dims) {
  const auto elements = element_count(dims);
  if (!elements) return std::nullopt;
  return Tensor{std::string(name), role, DataType::f32, std::move(dims), *elements};
}

// Builds a count from tensors, of which the first ones are read and the last one is written.
class Counter {
 public:
  Counter& read(std::string_view name, Dims dims) {
    return add(name, TensorRole::input, std::move(dims));
  }
  Counter& write(std::string_view name, Dims dims) {
    return add(name, TensorRole::output, std::move(dims));
  }
  Counter& flops(Checked flops) {
    count_.flops = flops;
    return *this;
  }
  Counter& macs(Checked macs) {
    count_.macs = macs.value();
    return *this;
  }
  Count finish() const { return is_valid_ && count_.flops.value() ? Count(count_) : std::nullopt; }

 private:
  Counter& add(std::string_view name, TensorRole role, Dims dims) {
    auto tensor = make_tensor(name, role, std::move(dims));
    is_valid_ = is_valid_ && tensor.has_value();
    if (tensor) count_.tensors.push_back(*std::move(tensor));
    return *this;
  }

  PrimitiveCount count_;
  bool is_valid_ = true;
};

Checked elements(const Dims& dims) {
  Checked count = 1;
  for (const std::int64_t size : dims) count *= size;
  return count;
}

// Parses "2x16x8x8", or "mb2ic16_ih8iw8" as for primitives with spatial sizes.
std::optional<Dims> parse_shape(std::string_view text) {
  if (auto dims = parse_dims(text)) return dims;
  const auto words = ProblemWords::parse(text);
  if (!words || !words->find("mb") || !words->find("ic")) return std::nullopt;
  Dims dims;
  for (const std::string_view name : {"mb", "ic", "id", "ih", "iw"}) {
    if (const auto size = words->find(name)) dims.push_back(*size);
  }
  return std::ranges::all_of(dims, [](std::int64_t size) { return size > 0; })
             ? std::optional(std::move(dims))
             : std::nullopt;
}

bool is_forward(const VerbosePrimitive& primitive) {
  return primitive.propagation == "undef" || primitive.propagation.starts_with("forward");
}

// A function that no operator of this program has counts one FLOP per element.
Count count_eltwise(const VerbosePrimitive& primitive) {
  auto shape = parse_shape(primitive.problem);
  if (!shape || !is_forward(primitive)) return std::nullopt;
  return Counter()
      .flops(elements(*shape))
      .read("source", *shape)
      .write("destination", *shape)
      .finish();
}

Count count_binary(const VerbosePrimitive& primitive) {
  auto shapes = parse_dims_list(primitive.problem.substr(0, primitive.problem.find(' ')));
  if (!shapes || shapes->size() < 2 || (*shapes)[0].size() != (*shapes)[1].size()) {
    return std::nullopt;
  }
  Dims result = (*shapes)[0];
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = std::max(result[i], (*shapes)[1][i]);
  return Counter()
      .flops(elements(result))
      .read("a", (*shapes)[0])
      .read("b", (*shapes)[1])
      .write("destination", result)
      .finish();
}

// Returns the number of sources that lines until 1.0 state: "num:2".
std::optional<std::int64_t> parse_source_count(const VerbosePrimitive& primitive) {
  return parse_number<std::int64_t>(auxiliary_value(primitive.auxiliary, "num"));
}

// Lines until 1.0 state the result only: the sources have its elements together. The operator
// concat has the later ones.
Count count_concat(const VerbosePrimitive& primitive) {
  const auto result = parse_dims(primitive.problem);
  if (!parse_source_count(primitive) || !result) return std::nullopt;
  return Counter().read("source", *result).write("destination", *result).finish();
}

// All sources have the shape of the result. The line does not state their factors.
Count count_sum(const VerbosePrimitive& primitive) {
  auto shape = parse_dims(primitive.problem.substr(0, primitive.problem.find_first_of(": ")));
  const auto described = std::ranges::count(primitive.memory, "src", &MemoryDescriptor::argument);
  const std::int64_t sources = parse_source_count(primitive).value_or(described);
  constexpr std::int64_t kMaxSources = 1024;
  if (!shape || sources < 1 || sources > kMaxSources) return std::nullopt;
  Counter counter;
  for (std::int64_t i = 0; i < sources; ++i) counter.read("source", *shape);
  return counter.flops(elements(*shape) * (sources - 1)).write("destination", *shape).finish();
}

Count count_shuffle(const VerbosePrimitive& primitive) {
  auto shape = parse_shape(primitive.problem);
  if (!shape) return std::nullopt;
  return Counter().read("source", *shape).write("destination", *shape).finish();
}

// A comparison and a product per element.
Count count_prelu(const VerbosePrimitive& primitive) {
  auto shapes = parse_dims_list(primitive.problem);
  if (!shapes || shapes->size() != 2 || !is_forward(primitive)) return std::nullopt;
  return Counter()
      .flops(elements((*shapes)[0]) * 2)
      .read("source", (*shapes)[0])
      .read("weights", (*shapes)[1])
      .write("destination", (*shapes)[0])
      .finish();
}

// "mb2ic16_ih8oh16_iw8ow16". Linear: the product of each of 2^d neighbours, and their sum.
Count count_resampling(const VerbosePrimitive& primitive) {
  const auto words = ProblemWords::parse(primitive.problem);
  auto source = parse_shape(primitive.problem);
  if (!words || !source || !is_forward(primitive)) return std::nullopt;
  Dims result = {(*source)[0], (*source)[1]};
  for (const std::string_view name : {"od", "oh", "ow"}) {
    if (const auto size = words->find(name)) result.push_back(*size);
  }
  if (result.size() != source->size()) return std::nullopt;
  const bool is_linear = auxiliary_value(primitive.auxiliary, "alg") == "resampling_linear";
  const std::int64_t per_element = is_linear ? (std::int64_t{1} << (result.size() - 1)) - 1 : 0;
  return Counter()
      .flops(elements(result) * per_element)
      .read("source", *source)
      .write("destination", result)
      .finish();
}

// A square and an addition per neighbour; then a product, an addition and a product per element.
Count count_lrn(const VerbosePrimitive& primitive) {
  const std::string_view sizes = primitive.problem.substr(0, primitive.problem.find("beta"));
  const auto words = ProblemWords::parse(sizes);
  auto shape = parse_shape(sizes);
  const auto size = words ? words->find("ls") : std::nullopt;
  if (!shape || !size || !is_forward(primitive)) return std::nullopt;
  const bool is_within = auxiliary_value(primitive.auxiliary, "alg") == "lrn_within_channel";
  Checked neighbours = *size;
  for (std::size_t axis = 3; is_within && axis < shape->size(); ++axis) neighbours *= *size;
  return Counter()
      .flops(elements(*shape) * (neighbours * 2 + 3))
      .read("source", *shape)
      .write("destination", *shape)
      .finish();
}

// As a batch norm: 2 per element, with statistics of its own 4 more, scale 1, shift 1.
Count count_group_norm(const VerbosePrimitive& primitive) {
  auto shape = parse_shape(primitive.problem);
  const auto flags = parse_normalisation_flags(primitive.auxiliary);
  if (!shape || !flags || flags->root_mean_square || !is_forward(primitive)) return std::nullopt;
  const std::int64_t per_element = 2 + (flags->given_statistics ? 0 : 4) + (flags->scale ? 1 : 0) +
                                   (flags->shift ? 1 : 0) + (flags->relu ? 1 : 0);
  Counter counter;
  counter.flops(elements(*shape) * per_element).read("source", *shape);
  const Dims channels = {(*shape)[1]};
  if (flags->scale) counter.read("scale", channels);
  if (flags->shift) counter.read("shift", channels);
  return counter.write("destination", *shape).finish();
}

// "1x2x384x128:1x2x128x384:1x2x384x128": queries, transposed keys, values. Two products, without
// the softmax between them. A mask, causal or not, changes nothing: its elements are counted.
Count count_attention(const VerbosePrimitive& primitive) {
  constexpr std::size_t kRank = 4;
  auto shapes = parse_dims_list(primitive.problem);
  if (!shapes || shapes->size() < 3) return std::nullopt;
  const Dims& query = (*shapes)[0];
  const Dims& key = (*shapes)[1];
  const Dims& value = (*shapes)[2];
  const auto has_rank = [](const Dims& dims) { return dims.size() == kRank; };
  if (!has_rank(query) || !has_rank(key) || !has_rank(value)) return std::nullopt;
  if (query[3] != key[2] || key[3] != value[2]) return std::nullopt;
  const Checked pairs = Checked(query[0]) * query[1] * query[2] * key[3];
  const Checked macs = pairs * query[3] + pairs * value[3];
  return Counter()
      .macs(macs)
      .flops(macs * 2)
      .read("query", query)
      .read("key", key)
      .read("value", value)
      .write("destination", {query[0], query[1], query[2], value[3]})
      .finish();
}

// The gates of a cell, and the FLOPs per element of the state beside the products: additions,
// products and differences that combine the gates.
struct CellRow {
  std::string_view algorithm;
  std::int64_t gates;
  std::int64_t combination;
};
constexpr std::array<CellRow, 6> kCells = {{{"vanilla_rnn", 1, 0},
                                            {"vanilla_lstm", 4, 4},
                                            {"vanilla_gru", 3, 5},
                                            {"lbr_gru", 3, 5},
                                            {"vanilla_augru", 3, 7},
                                            {"lbr_augru", 3, 7}}};

// "l1t7mb3sic16slc16dhc16dic16": layers, time steps, batch, sizes of the state and of the source.
Count count_rnn(const VerbosePrimitive& primitive) {
  const auto words = ProblemWords::parse(primitive.problem);
  const std::string_view algorithm = auxiliary_value(primitive.auxiliary, "alg");
  const auto* cell = std::ranges::find(kCells, algorithm, &CellRow::algorithm);
  if (!words || cell == kCells.end() || !is_forward(primitive)) return std::nullopt;
  const auto size = [&](std::string_view name) { return words->find(name).value_or(0); };
  const std::int64_t layers = size("l"), steps = size("t"), batch = size("mb"), state = size("sic"),
                     source = size("slc"), hidden = size("dhc");
  if (layers < 1 || steps < 1 || batch < 1 || state < 1 || source < 1 || hidden < 1) {
    return std::nullopt;
  }
  const std::string_view direction = auxiliary_value(primitive.auxiliary, "direction");
  const std::int64_t directions = direction.starts_with("bidirectional") ? 2 : 1;
  const std::int64_t results = direction == "bidirectional_concat" ? 2 * hidden : hidden;
  const Checked cells = Checked(layers) * directions * steps * batch;
  const Checked macs = cells * cell->gates * hidden * (Checked(source) + state);
  const bool has_bias = primitive.find("bias") != nullptr;
  const Checked others = cells * hidden * (cell->combination + (has_bias ? cell->gates : 0));
  Counter counter;
  counter.macs(macs).flops(macs * 2 + others).read("src_layer", {steps, batch, source});
  for (const std::string_view name : {"src_iter", "src_iter_c"}) {
    if (primitive.find(name) != nullptr) counter.read(name, {layers, directions, batch, state});
  }
  counter.read("wei_layer", {layers, directions, source, cell->gates, hidden})
      .read("wei_iter", {layers, directions, state, cell->gates, hidden});
  if (has_bias) counter.read("bias", {layers, directions, cell->gates, hidden});
  for (const std::string_view name : {"dst_iter", "dst_iter_c"}) {
    if (primitive.find(name) != nullptr) counter.write(name, {layers, directions, batch, hidden});
  }
  return counter.write("dst_layer", {steps, batch, results}).finish();
}

struct CountRow {
  std::string_view primitive;
  Count (*count)(const VerbosePrimitive& primitive);
};
constexpr std::array<CountRow, 12> kCounts = {{{"eltwise", count_eltwise},
                                               {"binary", count_binary},
                                               {"concat", count_concat},
                                               {"sum", count_sum},
                                               {"shuffle", count_shuffle},
                                               {"prelu", count_prelu},
                                               {"resampling", count_resampling},
                                               {"lrn", count_lrn},
                                               {"group_normalization", count_group_norm},
                                               {"sdpa", count_attention},
                                               {"rnn", count_rnn}}};

}  // namespace

Count count_other_primitive(const VerbosePrimitive& primitive) {
  const auto* row = std::ranges::find(kCounts, primitive.primitive, &CountRow::primitive);
  return row == kCounts.end() ? std::nullopt : row->count(primitive);
}

}  // namespace bench::ops
