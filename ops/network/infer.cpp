// SPDX-License-Identifier: Apache-2.0
#include "ops/network/infer.hpp"

#include "ops/model.hpp"
#include "ops/pointwise/functions.hpp"
#include "ops/spatial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace bench::ops {
namespace {

constexpr std::size_t kBatchAndChannels = 2;
constexpr std::size_t kMaxSpatial = 3;

std::string value_text(const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::to_string(*number);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* dims = std::get_if<Dims>(&value)) return join_dims(*dims);
  return "of another kind";
}

Status put(ParameterSet& set, std::string_view name, Value value) {
  if (set.has(name) && set.value(name) != value) {
    return Error{.what = fmt::format("`{}` is {}, but the layer's input makes it {}", name,
                                     value_text(set.value(name)), value_text(value)),
                 .where = std::string(name),
                 .next = fmt::format("leave `{}` out: it follows from the input", name)};
  }
  set.set(name, std::move(value));
  return Done{};
}

Status infer_image(ParameterSet& set, std::span<const Dims> inputs) {
  const Dims& dims = inputs[0];
  if (dims.size() <= kBatchAndChannels || dims.size() > kBatchAndChannels + kMaxSpatial) {
    return Error{.what = fmt::format("the input {} does not have 1 to 3 spatial dimensions",
                                     join_dims(dims)),
                 .where = "inputs",
                 .next = "expected n, c, then spatial sizes"};
  }
  BENCH_RETURN_IF_ERROR(put(set, "n", dims[0]));
  BENCH_RETURN_IF_ERROR(put(set, "c", dims[1]));
  const std::span<const std::int64_t> sizes = std::span(dims).subspan(kBatchAndChannels);
  const std::span<const std::string_view> names = size_names(static_cast<int>(sizes.size()));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    BENCH_RETURN_IF_ERROR(put(set, names[i], sizes[i]));
  }
  return Done{};
}

Status infer_gemm(ParameterSet& set, std::span<const Dims> inputs) {
  const Dims& dims = inputs[0];
  if (dims.size() < 2) {
    return Error{
        .what = fmt::format("the input {} has no dimension besides the batch", join_dims(dims)),
        .where = "inputs",
        .next = {}};
  }
  const std::optional<std::int64_t> columns = element_count(std::span(dims).subspan(1));
  BENCH_RETURN_IF_ERROR(put(set, "batch", std::int64_t{1}));
  BENCH_RETURN_IF_ERROR(put(set, "trans_a", false));
  BENCH_RETURN_IF_ERROR(put(set, "m", dims[0]));
  BENCH_RETURN_IF_ERROR(put(set, "k", *columns));  // smaller than the input's element count
  if (!set.has("trans_b")) set.set("trans_b", true);
  return Done{};
}

Status infer_shape(ParameterSet& set, std::span<const Dims> inputs) {
  return put(set, "shape", inputs[0]);
}

// Infers the sizes of plugin operators by the usual names.
Status infer_by_names(ParameterSet& set, std::span<const Dims> inputs) {
  const auto kind_of = [&](std::string_view name) {
    const Parameter* parameter = find_parameter(set.table(), name);
    return parameter == nullptr ? std::optional<ParameterKind>() : parameter->kind;
  };
  const Dims& dims = inputs[0];
  if (kind_of("shape") == ParameterKind::shape) return put(set, "shape", dims);
  std::vector<std::string_view> names = {"n", "c"};
  if (dims.size() > kBatchAndChannels && dims.size() <= kBatchAndChannels + kMaxSpatial) {
    const auto sizes = size_names(static_cast<int>(dims.size() - kBatchAndChannels));
    names.insert(names.end(), sizes.begin(), sizes.end());
  }
  for (std::size_t i = 0; i < std::min(names.size(), dims.size()); ++i) {
    if (kind_of(names[i]) != ParameterKind::count) {
      return Error{.what = fmt::format("its sizes do not follow from the input {}: it has neither "
                                       "`shape` nor a count `{}`",
                                       join_dims(dims), names[i]),
                   .where = "op",
                   .next =
                       "a plugin's operator can be a layer if its sizes are `shape`, or n, c, "
                       "d, h, w"};
    }
    BENCH_RETURN_IF_ERROR(put(set, names[i], dims[i]));
  }
  return Done{};
}

bool is_binary(const ParameterSet& set) {
  return set.has("function") && find_binary_function(set.word("function")) != nullptr;
}

Status infer_pointwise(ParameterSet& set, std::span<const Dims> inputs) {
  if (!is_binary(set)) return infer_shape(set, inputs);
  BENCH_RETURN_IF_ERROR(put(set, "a", inputs[0]));
  return put(set, "b", inputs[1]);
}

std::size_t one_input(const ParameterSet& /*of any kind*/) { return 1; }
std::size_t pointwise_inputs(const ParameterSet& set) { return is_binary(set) ? 2 : 1; }

struct Rule {
  std::string_view op;
  std::size_t (*input_count)(const ParameterSet& written);
  Status (*infer)(ParameterSet& set, std::span<const Dims> inputs);
};

constexpr std::array<Rule, 7> kRules = {{
    {"conv", one_input, infer_image},
    {"gemm", one_input, infer_gemm},
    {"pool", one_input, infer_image},
    {"pointwise", pointwise_inputs, infer_pointwise},
    {"batch_norm", one_input, infer_image},
    {"softmax", one_input, infer_shape},
    {"reorder", one_input, infer_shape},
}};

}  // namespace

Result<ParameterSet> infer_parameters(const Operator& op, const ParameterSet& written,
                                      std::span<const Dims> inputs) {
  const auto* rule = std::ranges::find(kRules, op.name, &Rule::op);
  // A layer without any written parameters has no table.
  ParameterSet set = written.table().empty() ? ParameterSet(op.parameters) : written;
  if (rule == kRules.end()) {
    BENCH_RETURN_IF_ERROR(infer_by_names(set, inputs));
    return set;
  }
  const std::size_t expected = rule->input_count(set);
  if (inputs.size() != expected) {
    return Error{
        .what = fmt::format("the layer has {} inputs, expected {}", inputs.size(), expected),
        .where = "inputs",
        .next = {}};
  }
  BENCH_RETURN_IF_ERROR(rule->infer(set, inputs));
  return set;
}

}  // namespace bench::ops
