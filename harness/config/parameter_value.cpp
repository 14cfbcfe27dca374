// SPDX-License-Identifier: Apache-2.0
#include "harness/config/parameter_value.hpp"

#include "base/text.hpp"
#include "ops/foreign_words.hpp"
#include "ops/post_op.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace bench {
namespace {

// Whether the list has values, all of which are integers or lists of such values.
bool is_list_of_integers(const yaml::Node& node) {
  return node.kind == yaml::Kind::sequence && !node.items.empty() &&
         std::ranges::all_of(node.items, [](const yaml::Node* item) {
           return item->kind == yaml::Kind::sequence
                      ? is_list_of_integers(*item)
                      : item->kind == yaml::Kind::scalar &&
                            parse_number<std::int64_t>(item->text).has_value();
         });
}

// Reports a list `found` in place of one value. `values` are all values of the parameter.
void report_list(const Reader& reader, const ops::Parameter& parameter, const yaml::Node& found,
                 const yaml::Node& values) {
  reader.report_mismatch(found, parameter.name, "one value",
                         is_list_of_integers(values)
                             ? fmt::format("for a case of each, write `sweep: {{ {}: {} }}`",
                                           parameter.name, yaml::format_flow(values))
                             : "");
}

// Reads one integer of at least the parameter's minimum.
std::optional<std::int64_t> read_integer(const Reader& reader, const ops::Parameter& parameter,
                                         const yaml::Node& node) {
  if (node.kind == yaml::Kind::sequence) {
    report_list(reader, parameter, node, node);
    return std::nullopt;
  }
  return reader.integer(node, parameter.name, parameter.minimum,
                        std::numeric_limits<std::int64_t>::max());
}

std::optional<ops::Value> read_numbers(const Reader& reader, const ops::Parameter& parameter,
                                       const yaml::Node& node) {
  std::vector<std::int64_t> numbers;
  const std::vector<const yaml::Node*> items = reader.items(node, parameter.name);
  for (const yaml::Node* item : items) {
    if (item->kind == yaml::Kind::sequence) {
      report_list(reader, parameter, *item, node);
    } else if (const auto number = read_integer(reader, parameter, *item)) {
      numbers.push_back(*number);
    }
  }
  if (numbers.empty() || numbers.size() != items.size()) return std::nullopt;
  return ops::Value(std::move(numbers));
}

std::optional<ops::PadPair> read_pad(const Reader& reader, const ops::Parameter& parameter,
                                     const yaml::Node& node) {
  constexpr std::int64_t kMaxPad = std::numeric_limits<std::int64_t>::max();
  if (node.kind != yaml::Kind::sequence) {
    const auto both = reader.integer(node, parameter.name, 0, kMaxPad);
    if (!both) return std::nullopt;
    return ops::PadPair{*both, *both};
  }
  if (node.items.size() != 2) {
    reader.report_mismatch(node, parameter.name, "a pair [begin, end]");
    return std::nullopt;
  }
  const auto begin = reader.integer(*node.items[0], parameter.name, 0, kMaxPad);
  const auto end = reader.integer(*node.items[1], parameter.name, 0, kMaxPad);
  if (!begin || !end) return std::nullopt;
  return ops::PadPair{*begin, *end};
}

std::optional<ops::Value> read_padding(const Reader& reader, const ops::Parameter& parameter,
                                       const yaml::Node& node) {
  std::vector<ops::PadPair> pads;
  const std::vector<const yaml::Node*> items = reader.items(node, parameter.name);
  for (const yaml::Node* item : items) {
    if (const auto pad = read_pad(reader, parameter, *item)) pads.push_back(*pad);
  }
  if (pads.empty() || pads.size() != items.size()) return std::nullopt;
  return ops::Value(std::move(pads));
}

// Reads a value of the parameter's kind. read_parameter() checks it.
std::optional<ops::Value> read_by_kind(const Reader& reader, const ops::Parameter& parameter,
                                       const yaml::Node& node) {
  const auto wrap = [](const auto& value) {
    return value ? std::optional<ops::Value>(*value) : std::nullopt;
  };
  switch (parameter.kind) {
    case ops::ParameterKind::count:
      return wrap(read_integer(reader, parameter, node));
    case ops::ParameterKind::flag:
      return wrap(reader.flag(node, parameter.name));
    case ops::ParameterKind::real:
      return wrap(reader.real(node, parameter.name));
    case ops::ParameterKind::word: {
      const auto index = reader.word(node, parameter.name, parameter.words);
      if (!index) return std::nullopt;
      return ops::Value(std::string(parameter.words[*index]));
    }
    case ops::ParameterKind::spatial:
    case ops::ParameterKind::shape:
      return read_numbers(reader, parameter, node);
    case ops::ParameterKind::padding:
      return read_padding(reader, parameter, node);
  }
  return std::nullopt;
}

}  // namespace

std::optional<ops::Value> read_parameter(const Reader& reader, const ops::Parameter& parameter,
                                         const yaml::Node& node) {
  std::optional<ops::Value> value = read_by_kind(reader, parameter, node);
  if (!value) return std::nullopt;
  const Status status = ops::check_value(parameter, *value);
  if (!status.ok()) {
    reader.report_error(node.location, status.error().what, status.error().next);
    return std::nullopt;
  }
  return value;
}

std::string format_type(const ops::Parameter& parameter) {
  switch (parameter.kind) {
    case ops::ParameterKind::count:
      return fmt::format("integer >= {}", parameter.minimum);
    case ops::ParameterKind::flag:
      return "`true`, `false`";
    case ops::ParameterKind::word:
      return fmt::format("`{}`", fmt::join(parameter.words, "`, `"));
    case ops::ParameterKind::real:
      return "number";
    case ops::ParameterKind::spatial:
      return fmt::format("integer >= {}, or list in the order d, h, w", parameter.minimum);
    case ops::ParameterKind::padding:
      return "integer >= 0, or list in the order d, h, w, or list of pairs [begin, end]";
    case ops::ParameterKind::shape:
      return parameter.minimum == 0 ? "axis >= 0, or list of axes"
                                    : "list of sizes >= 1, outermost first";
  }
  return "";
}

std::vector<ops::PostOp> read_post_ops(const Reader& reader, const yaml::Node& node) {
  std::vector<ops::PostOp> post_ops;
  for (const yaml::Node* item : reader.items(node, "post_ops")) {
    const auto text = reader.text(*item, "post_ops");
    if (!text) continue;
    auto post_op = ops::parse_post_op(*text);
    if (post_op.ok()) {
      post_ops.push_back(*std::move(post_op));
    } else {
      reader.report_error(item->location, "`post_ops`: " + post_op.error().what,
                          post_op.error().next);
    }
  }
  return post_ops;
}

const ops::Operator* read_operator(const Reader& reader, const yaml::Node& node) {
  const auto name = reader.text(node, "op");
  if (!name) return nullptr;
  const ops::Operator* op = reader.registry().find(*name);
  if (op == nullptr) {
    reader.report_error(node.location, "unknown operator " + quote(*name),
                        ops::expected_word(*name, reader.registry().operator_names()));
  }
  return op;
}

}  // namespace bench
