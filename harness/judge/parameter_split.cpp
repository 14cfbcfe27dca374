// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/parameter_split.hpp"

#include "base/characters.hpp"
#include "harness/config/case_id.hpp"
#include "harness/result/record.hpp"
#include "ops/operator.hpp"
#include "ops/post_op.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <variant>

namespace bench {
namespace {

constexpr std::string_view kAnyValue = "*";

std::string joined(const IdSegments& id) {
  return fmt::format("{}/{}/{}/{}/{}/{}/{}/{}", id.op, id.direction, id.parameters, id.dtype,
                     id.backend, id.device, id.cache, id.options);
}

// A parameter whose value is a whole segment of the id.
struct SegmentParameter {
  std::string_view name;
  std::string IdSegments::*value;
  std::string IdSegments::*dependent = nullptr;  // another segment that depends on it
};
constexpr std::array<SegmentParameter, 5> kSegmentParameters = {
    {{"direction", &IdSegments::direction},
     {"dtype", &IdSegments::dtype},
     {"backend", &IdSegments::backend, &IdSegments::device},
     {"device", &IdSegments::device, &IdSegments::backend},
     {"cache", &IdSegments::cache}}};

bool is_thread_count(std::string_view option) {
  return option.size() > 1 && option.front() == 't' && is_digit(option[1]);
}
bool is_stream_count(std::string_view option) {
  return option.size() > 2 && option.starts_with("st") && is_digit(option[2]);
}
bool is_layout(std::string_view option) {
  return enumerator_from_name<ops::Layout>(option).has_value();
}
bool is_math(std::string_view option) {
  return enumerator_from_name<ops::Math>(option).has_value();
}

// An option at the end of the id. A missing option has the usual value.
struct OptionParameter {
  std::string_view name;
  bool (*recognises)(std::string_view option);
  std::string_view usual;
  std::size_t prefix;  // characters of the option before its value
};
constexpr std::array<OptionParameter, 4> kOptionParameters = {
    {{"threads", is_thread_count, "all", 1},
     {"streams", is_stream_count, "1", 2},
     {"layout", is_layout, "any", 0},
     {"math", is_math, "default", 0}}};

ParameterSplit split_option(IdSegments id, const OptionParameter& parameter) {
  std::string value(parameter.usual);
  std::string others;
  std::string_view rest = id.options;
  while (!rest.empty()) {
    const std::string_view option = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(option.size() + 1, rest.size()));
    if (parameter.recognises(option)) {
      value = option.substr(parameter.prefix);
    } else {
      others.append("/").append(option);
    }
  }
  id.options = others;
  return {joined(id), value};
}

// Joins the values of all dimensions: "3" if they are equal, else one per dimension: "1x3".
std::string join_dimensions(const std::vector<std::string>& texts) {
  const bool is_same = std::ranges::adjacent_find(texts, std::not_equal_to<>()) == texts.end();
  return is_same && !texts.empty() ? texts.front() : fmt::format("{}", fmt::join(texts, "x"));
}

std::string format_value(const ops::Value& value) {
  const auto format = [](const auto& known) -> std::string {
    using Type = std::decay_t<decltype(known)>;
    std::vector<std::string> texts;
    if constexpr (std::is_same_v<Type, std::monostate>) {
      return "none";
    } else if constexpr (std::is_same_v<Type, bool>) {
      return known ? "true" : "false";
    } else if constexpr (std::is_same_v<Type, std::vector<std::int64_t>>) {
      for (const std::int64_t number : known) texts.push_back(fmt::format("{}", number));
      return join_dimensions(texts);
    } else if constexpr (std::is_same_v<Type, std::vector<ops::PadPair>>) {
      for (const ops::PadPair& pad : known) {
        texts.push_back(pad.begin == pad.end ? fmt::format("{}", pad.begin)
                                             : fmt::format("{}_{}", pad.begin, pad.end));
      }
      return join_dimensions(texts);
    } else {
      return fmt::format("{}", known);
    }
  };
  return std::visit(format, value);
}

// Returns whether the default of `parameter` is the value of `other`, and it has that value.
bool follows_default(const ops::ParameterSet& values, const ops::Parameter& parameter,
                     const ops::Parameter& other) {
  return parameter.fallback == fmt::format("like {}", other.name) &&
         values.value(parameter.name) == values.value(other.name);
}

std::optional<ParameterSplit> split_operator(IdSegments id, const ops::Problem& problem,
                                             std::string_view name) {
  const ops::Parameter* chosen = ops::find_parameter(problem.parameters.table(), name);
  if (chosen == nullptr) return std::nullopt;
  std::string rest;
  for (const ops::Parameter& parameter : problem.parameters.table()) {
    const bool is_free =
        &parameter == chosen || follows_default(problem.parameters, parameter, *chosen);
    rest += fmt::format(
        "{}={},", parameter.name,
        is_free ? std::string(kAnyValue) : format_value(problem.parameters.value(parameter.name)));
  }
  for (const ops::PostOp& post_op : problem.post_ops) rest += "+" + ops::format_post_op(post_op);
  id.parameters = rest;
  return ParameterSplit{joined(id), format_value(problem.parameters.value(name))};
}

struct NetworkParameter {
  std::string_view name;
  std::string (*value)(const NetworkSegment& segment);
  void (*reset)(NetworkSegment& segment);
};
constexpr std::array<NetworkParameter, 3> kNetworkParameters = {{
    {"batch", [](const NetworkSegment& s) { return fmt::format("{}", s.batch); },
     [](NetworkSegment& s) { s.batch = 1; }},
    {"mode",
     [](const NetworkSegment& s) -> std::string {
       return s.mode == ops::Mode::inference ? "inference" : "training";
     },
     [](NetworkSegment& s) { s.mode = ops::Mode::inference; }},
    {"fuse",
     [](const NetworkSegment& s) -> std::string {
       return s.fusion == ops::Fusion::fused ? "true" : "false";
     },
     [](NetworkSegment& s) { s.fusion = ops::Fusion::fused; }},
}};

std::optional<ParameterSplit> split_network(IdSegments id, std::string_view name) {
  const auto parameter = std::ranges::find(kNetworkParameters, name, &NetworkParameter::name);
  auto segment = parse_network_segment(id.parameters);
  if (parameter == kNetworkParameters.end() || !segment) return std::nullopt;
  const std::string value = parameter->value(*segment);
  parameter->reset(*segment);
  id.parameters = format_network_segment(*segment);
  return ParameterSplit{joined(id), value};
}

std::optional<ops::Problem> problem_in(std::string_view id, const ops::OperatorRegistry& registry) {
  const auto key = parse_id(id, registry);
  if (!key || key->op == ops::kNetworkOperator) return std::nullopt;
  auto problem = problem_from_key(*key, registry);
  return problem ? std::optional(*std::move(problem)) : std::nullopt;
}

}  // namespace

std::optional<ParameterSplit> split_parameter(std::string_view id, std::string_view parameter,
                                              const ops::OperatorRegistry& registry) {
  IdSegments segments = split_id(id);
  if (segments.cache.empty()) return std::nullopt;
  const auto segment = std::ranges::find(kSegmentParameters, parameter, &SegmentParameter::name);
  if (segment != kSegmentParameters.end()) {
    std::string value = std::exchange(segments.*(segment->value), std::string(kAnyValue));
    if (segment->dependent != nullptr) segments.*(segment->dependent) = kAnyValue;
    return ParameterSplit{joined(segments), std::move(value)};
  }
  const auto option = std::ranges::find(kOptionParameters, parameter, &OptionParameter::name);
  if (option != kOptionParameters.end()) return split_option(std::move(segments), *option);
  if (segments.op == ops::kNetworkOperator) return split_network(std::move(segments), parameter);
  const auto problem = problem_in(id, registry);
  return problem ? split_operator(std::move(segments), *problem, parameter) : std::nullopt;
}

std::vector<std::string> list_parameters(std::string_view id,
                                         const ops::OperatorRegistry& registry) {
  std::vector<std::string> names;
  const IdSegments segments = split_id(id);
  if (segments.cache.empty()) return names;
  for (const SegmentParameter& row : kSegmentParameters) names.emplace_back(row.name);
  for (const OptionParameter& row : kOptionParameters) names.emplace_back(row.name);
  if (segments.op == ops::kNetworkOperator) {
    for (const NetworkParameter& row : kNetworkParameters) names.emplace_back(row.name);
  } else if (const auto problem = problem_in(id, registry)) {
    for (const ops::Parameter& row : problem->parameters.table()) names.emplace_back(row.name);
  }
  return names;
}

bool changes_work(std::string_view parameter) {
  const bool is_segment = std::ranges::any_of(
      kSegmentParameters, [&](const SegmentParameter& row) { return row.name == parameter; });
  const bool is_option = std::ranges::any_of(
      kOptionParameters, [&](const OptionParameter& row) { return row.name == parameter; });
  return parameter == "direction" || (!is_segment && !is_option);
}

}  // namespace bench
