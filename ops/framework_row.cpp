// SPDX-License-Identifier: Apache-2.0
#include "ops/framework_row.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace bench::ops::framework {
namespace {

struct DtypeRow {
  std::string_view name;
  DataType dtype;
};
constexpr std::array<DtypeRow, 7> kDtypes = {{{"float64", DataType::f64},
                                              {"double", DataType::f64},
                                              {"float32", DataType::f32},
                                              {"float", DataType::f32},
                                              {"float16", DataType::f16},
                                              {"half", DataType::f16},
                                              {"bfloat16", DataType::bf16}}};

}  // namespace

std::span<const std::int64_t> tensor_shape(const FrameworkCall& call, std::size_t index) {
  if (index >= call.inputs->size()) return {};
  return (*call.inputs)[index];
}

std::optional<Equivalent> equivalent(std::string_view op, ParameterSet parameters,
                                     Fidelity fidelity) {
  ProblemRequest request;
  request.op = find_operator(op);
  request.parameters = std::move(parameters);
  return Equivalent{.request = std::move(request), .fidelity = fidelity};
}

std::optional<Equivalent> with_other_tensors(std::optional<Equivalent> result) {
  if (result) result->tensors = Tensors::others;
  return result;
}

ParameterSet default_parameters(std::string_view op) {
  return ParameterSet(find_operator(op)->parameters);
}

bool is_image(std::span<const std::int64_t> shape) {
  return shape.size() > kFirstSpatial && shape.size() <= kFirstSpatial + kMaxSpatialRank;
}

const FrameworkArgument* find_argument(const Arguments& arguments, std::string_view name,
                                       std::size_t position) {
  const auto named_argument = std::ranges::find(arguments, name, &FrameworkArgument::name);
  if (named_argument != arguments.end()) return &*named_argument;
  return position < arguments.size() && arguments[position].name.empty() ? &arguments[position]
                                                                         : nullptr;
}

bool is_none(const FrameworkArgument* argument) {
  return argument == nullptr || argument->type == "NoneType";
}

std::optional<Numbers> argument_numbers(const Arguments& arguments, std::string_view name,
                                        std::size_t position, std::size_t rank,
                                        Numbers default_value) {
  const FrameworkArgument* argument = find_argument(arguments, name, position);
  if (is_none(argument)) return default_value;
  const bool is_empty_list = argument->numbers.empty() && argument->type != "str";
  if (is_empty_list && !default_value.empty()) return default_value;  // stride=() of a pooling
  if (argument->numbers.size() == 1) return Numbers(rank, argument->numbers.front());
  if (argument->numbers.size() != rank) return std::nullopt;
  return argument->numbers;
}

std::optional<bool> argument_flag(const Arguments& arguments, std::string_view name,
                                  std::size_t position, bool default_value) {
  const auto value = argument_numbers(arguments, name, position, 1, {default_value ? 1 : 0});
  if (!value) return std::nullopt;
  return value->front() != 0;
}

std::vector<PadPair> to_pad_pairs(const Numbers& pads) {
  std::vector<PadPair> pairs;
  for (const std::int64_t pad : pads) pairs.push_back({pad, pad});
  return pairs;
}

std::span<const std::int64_t> image_argument(const Arguments& arguments, std::size_t rank) {
  const FrameworkArgument* source = find_argument(arguments, "input", 0);
  if (source == nullptr || source->shape.size() != kFirstSpatial + rank) return {};
  return source->shape;
}

std::optional<ProblemRequest> make_request(std::string_view op, ParameterSet parameters) {
  ProblemRequest request;
  request.op = find_operator(op);
  request.parameters = std::move(parameters);
  return request;
}

ParameterSet image_parameters(std::string_view op, std::span<const std::int64_t> source) {
  ParameterSet set(find_operator(op)->parameters);
  set.set("n", source[0]);
  set.set("c", source[1]);
  set_spatial_sizes(set, kSpatialSizeNames, source.subspan(kFirstSpatial));
  return set;
}

std::optional<DataType> find_argument_type(const std::vector<FrameworkArgument>& arguments) {
  std::string_view name;
  for (const FrameworkArgument& argument : arguments) {
    if (argument.dtype.empty()) continue;
    if (!name.empty() && name != argument.dtype) return std::nullopt;
    name = argument.dtype;
  }
  const auto row = std::ranges::find(kDtypes, name, &DtypeRow::name);
  return row == kDtypes.end() ? std::nullopt : std::optional(row->dtype);
}

}  // namespace bench::ops::framework
