// SPDX-License-Identifier: Apache-2.0
#include "ops/operator.hpp"

#include "ops/model.hpp"
#include "ops/spatial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <variant>

namespace bench::ops {
namespace {

struct Alias {
  std::string_view name;
  std::string_view target;
};

constexpr std::array<Alias, 1> kAliases = {{{"inner_product", "gemm"}}};

}  // namespace

const Operator* find_operator(std::string_view name) {
  const auto* alias = std::ranges::find(kAliases, name, &Alias::name);
  if (alias != kAliases.end()) name = alias->target;
  const std::span<const Operator* const> table = all_operators();
  const auto row = std::ranges::find(table, name, &Operator::name);
  return row == table.end() ? nullptr : *row;
}

std::vector<std::string_view> operator_names() {
  std::vector<std::string_view> names;
  for (const Operator* op : all_operators()) names.push_back(op->name);
  return names;
}

std::vector<std::string> operators_on(std::string_view backend) {
  std::vector<std::string> names;
  for (const Operator* op : all_operators()) {
    const bool is_served = std::ranges::find(op->cpu, backend) != op->cpu.end() ||
                           std::ranges::find(op->cuda, backend) != op->cuda.end();
    if (is_served) names.emplace_back(op->name);
  }
  return names;
}

namespace {

std::string format_inferred_value(const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::to_string(*number);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* dims = std::get_if<Dims>(&value)) return join_dims(*dims);
  return "of another kind";
}

}  // namespace

std::size_t one_input(const ParameterSet& /*any*/) { return 1; }

Status put_inferred(ParameterSet& set, std::string_view name, Value value) {
  if (set.has(name) && set.value(name) != value) {
    return Error{
        .what = fmt::format("`{}` is {}, but the layer's input makes it {}", name,
                            format_inferred_value(set.value(name)), format_inferred_value(value)),
        .where = std::string(name),
        .next = fmt::format("leave `{}` out: it follows from the input", name)};
  }
  set.set(name, std::move(value));
  return Done{};
}

Status infer_image(ParameterSet& set, std::span<const Dims> inputs) {
  const Dims& dims = inputs[0];
  if (dims.size() <= kFirstSpatial || dims.size() > kFirstSpatial + kMaxSpatialRank) {
    return Error{.what = fmt::format("the input {} does not have 1 to 3 spatial dimensions",
                                     join_dims(dims)),
                 .where = "inputs",
                 .next = "expected n, c, then spatial sizes"};
  }
  BENCH_RETURN_IF_ERROR(put_inferred(set, "n", dims[0]));
  BENCH_RETURN_IF_ERROR(put_inferred(set, "c", dims[1]));
  const std::span<const std::int64_t> sizes = std::span(dims).subspan(kFirstSpatial);
  const std::span<const std::string_view> names = size_names(static_cast<int>(sizes.size()));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    BENCH_RETURN_IF_ERROR(put_inferred(set, names[i], sizes[i]));
  }
  return Done{};
}

Status infer_shape(ParameterSet& set, std::span<const Dims> inputs) {
  return put_inferred(set, "shape", inputs[0]);
}

}  // namespace bench::ops
