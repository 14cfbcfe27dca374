// SPDX-License-Identifier: Apache-2.0
#include "ops/parameter.hpp"

#include "ops/number_text.hpp"
#include "ops/spatial.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <utility>

namespace bench::ops {
namespace {

// Index of the alternative of `Value` for each kind, in the order of ParameterKind.
constexpr std::array<std::size_t, 7> kAlternativeIndexes = {1, 2, 4, 3, 5, 6, 5};

std::size_t alternative_index(ParameterKind kind) {
  return kAlternativeIndexes[static_cast<std::size_t>(kind)];
}

std::size_t find_index(std::span<const Parameter> table, std::string_view name) {
  const auto row = std::ranges::find(table, name, &Parameter::name);
  assert(row != table.end() && "the operator's table has no such parameter");
  return static_cast<std::size_t>(row - table.begin());
}

std::string kind_expectation(const Parameter& parameter) {
  switch (parameter.kind) {
    case ParameterKind::count:
      return fmt::format("an integer >= {}", parameter.minimum);
    case ParameterKind::flag:
      return "true or false";
    case ParameterKind::word:
      return fmt::format("one of {}", fmt::join(parameter.words, ", "));
    case ParameterKind::real:
      return parameter.above ? fmt::format("a number above {}", *parameter.above)
                             : "a finite number";
    case ParameterKind::spatial:
      return fmt::format("an integer >= {0}, or a list of them", parameter.minimum);
    case ParameterKind::padding:
      return fmt::format("an integer >= {}, or a list of integers or [begin, end] pairs",
                         parameter.minimum);
    case ParameterKind::shape:
      return parameter.minimum == 0 ? "an axis >= 0, or a list of them" : "a list of sizes >= 1";
  }
  return {};
}

Error unexpected(const Parameter& parameter, std::string_view found) {
  return Error{
      fmt::format("`{}` is {}, expected {}", parameter.name, found, kind_expectation(parameter)),
      std::string(parameter.name),
      {}};
}

Status check_minimum(const Parameter& parameter, std::int64_t number) {
  if (number >= parameter.minimum) return Done{};
  return unexpected(parameter, fmt::to_string(number));
}

Status check_numbers(const Parameter& parameter, const std::vector<std::int64_t>& numbers) {
  if (numbers.empty()) return unexpected(parameter, "an empty list");
  for (const std::int64_t number : numbers) {
    BENCH_RETURN_IF_ERROR(check_minimum(parameter, number));
  }
  return Done{};
}

Status check_real(const Parameter& parameter, double number) {
  if (!std::isfinite(number)) return unexpected(parameter, "not finite");
  if (!parameter.above || number > *parameter.above) return Done{};
  return unexpected(parameter, fmt::to_string(number));
}

Status check_padding(const Parameter& parameter, const std::vector<PadPair>& pads) {
  if (pads.empty()) return unexpected(parameter, "an empty list");
  for (const PadPair& pad : pads) {
    BENCH_RETURN_IF_ERROR(check_minimum(parameter, std::min(pad.begin, pad.end)));
  }
  return Done{};
}

// Returns the value of a constant default, with as many entries as `like`; empty if the default is
// not a constant.
Value parse_constant_default(const Parameter& parameter, const Value& like) {
  const bool is_spatial = parameter.kind == ParameterKind::spatial;
  if (!is_spatial && parameter.kind != ParameterKind::padding) {
    return constant_default(parameter.kind, parameter.fallback).value_or(Value());
  }
  const auto constant = constant_default(ParameterKind::count, parameter.fallback);
  if (!constant) return {};
  const std::int64_t entry = std::get<std::int64_t>(*constant);
  if (is_spatial) {
    return std::vector<std::int64_t>(std::get<std::vector<std::int64_t>>(like).size(), entry);
  }
  return std::vector<PadPair>(std::get<std::vector<PadPair>>(like).size(), PadPair{entry, entry});
}

}  // namespace

bool ParameterSet::has(std::string_view name) const {
  return !std::holds_alternative<std::monostate>(value(name));
}

const Value& ParameterSet::value(std::string_view name) const {
  return values_[find_index(table_, name)];
}

void ParameterSet::set(std::string_view name, Value value) {
  const std::size_t index = find_index(table_, name);
  assert((value.index() == 0 || value.index() == alternative_index(table_[index].kind)) &&
         "a value of another kind than the parameter's");
  values_[index] = std::move(value);
}

std::int64_t ParameterSet::count(std::string_view name) const {
  return std::get<std::int64_t>(value(name));
}

bool ParameterSet::flag(std::string_view name) const { return std::get<bool>(value(name)); }

double ParameterSet::real(std::string_view name) const { return std::get<double>(value(name)); }

const std::string& ParameterSet::word(std::string_view name) const {
  return std::get<std::string>(value(name));
}

const std::vector<std::int64_t>& ParameterSet::numbers(std::string_view name) const {
  return std::get<std::vector<std::int64_t>>(value(name));
}

const std::vector<PadPair>& ParameterSet::padding(std::string_view name) const {
  return std::get<std::vector<PadPair>>(value(name));
}

const Parameter* find_parameter(std::span<const Parameter> table, std::string_view name) {
  const auto row = std::ranges::find(table, name, &Parameter::name);
  return row == table.end() ? nullptr : &*row;
}

Status check_value(const Parameter& parameter, const Value& value) {
  if (std::holds_alternative<std::monostate>(value)) return Done{};
  if (value.index() != alternative_index(parameter.kind)) {
    return unexpected(parameter, "of another kind");
  }
  switch (parameter.kind) {
    case ParameterKind::count:
      return check_minimum(parameter, std::get<std::int64_t>(value));
    case ParameterKind::flag:
      return Done{};
    case ParameterKind::word: {
      const auto& word = std::get<std::string>(value);
      if (std::ranges::find(parameter.words, word) != parameter.words.end()) return Done{};
      return unexpected(parameter, fmt::format("`{}`", word));
    }
    case ParameterKind::real:
      return check_real(parameter, std::get<double>(value));
    case ParameterKind::spatial:
    case ParameterKind::shape:
      return check_numbers(parameter, std::get<std::vector<std::int64_t>>(value));
    case ParameterKind::padding:
      return check_padding(parameter, std::get<std::vector<PadPair>>(value));
  }
  return Done{};
}

Status require(const ParameterSet& given, std::string_view name) {
  if (given.has(name)) return Done{};
  return Error{
      .what = fmt::format("`{}` is missing", name), .where = std::string(name), .next = {}};
}

std::optional<Value> constant_default(ParameterKind kind, std::string_view fallback) {
  switch (kind) {
    case ParameterKind::count: {
      const auto number = read_integer(fallback);
      return number && fallback.empty() ? std::optional<Value>(*number) : std::nullopt;
    }
    case ParameterKind::flag:
      if (fallback != "true" && fallback != "false") return std::nullopt;
      return Value(fallback == "true");
    case ParameterKind::word:
      return Value(std::string(fallback));
    case ParameterKind::real: {
      const auto number = read_real(fallback);
      return number && fallback.empty() ? std::optional<Value>(*number) : std::nullopt;
    }
    case ParameterKind::spatial:
    case ParameterKind::padding:
    case ParameterKind::shape:
      return std::nullopt;
  }
  return std::nullopt;
}

namespace {

// The default of an axis or a list of axes: the innermost dimension of the parameter `shape`. For a
// word it is an ordinary constant.
constexpr std::string_view kLastAxis = "last";

bool is_last_axis(const Parameter& parameter) {
  return (parameter.kind == ParameterKind::count || parameter.kind == ParameterKind::shape) &&
         parameter.fallback == kLastAxis;
}

Value last_axis(const Parameter& parameter, const ParameterSet& set) {
  const auto axis = static_cast<std::int64_t>(set.numbers("shape").size()) - 1;
  return parameter.kind == ParameterKind::count ? Value(axis) : Value(std::vector{axis});
}

// The default of a size of an image: the size before ("like h").
bool is_like_a_size(const Parameter& parameter) { return parameter.fallback.starts_with("like "); }

// Sets the parameter to the value of the earlier parameter that is its default. If that one is not
// set, this one stays unset.
Status copy_default(const Parameter& parameter, ParameterSet& set) {
  const Value value = set.value(parameter.fallback);
  if (Status status = check_value(parameter, value); !status) {
    Error error = std::move(status).error();
    error.next = fmt::format("set `{}`; its default is the value of `{}`", parameter.name,
                             parameter.fallback);
    return error;
  }
  set.set(parameter.name, value);
  return Done{};
}

Status set_default(const Parameter& parameter, std::span<const Parameter> earlier,
                   ParameterSet& set) {
  if (set.has(parameter.name) || parameter.fallback == kOptional || is_like_a_size(parameter)) {
    return Done{};
  }
  if (parameter.fallback == kRequired) return require(set, parameter.name);
  if (find_parameter(earlier, parameter.fallback) != nullptr) return copy_default(parameter, set);
  if (is_last_axis(parameter)) {
    set.set(parameter.name, last_axis(parameter, set));
  } else if (auto constant = constant_default(parameter.kind, parameter.fallback)) {
    set.set(parameter.name, *std::move(constant));
  }
  return Done{};
}

}  // namespace

Result<ParameterSet> complete_defaults(const ParameterSet& given) {
  ParameterSet set = given;
  const std::span<const Parameter> table = set.table();
  for (std::size_t i = 0; i < table.size(); ++i) {
    BENCH_RETURN_IF_ERROR(set_default(table[i], table.first(i), set));
    BENCH_RETURN_IF_ERROR(check_value(table[i], set.value(i)));
  }
  if (std::ranges::any_of(table, is_like_a_size)) BENCH_RETURN_IF_ERROR(complete_sizes(set));
  return set;
}

bool is_default(const ParameterSet& complete, std::size_t index) {
  const Parameter& parameter = complete.table()[index];
  const Value& value = complete.value(index);
  if (std::holds_alternative<std::monostate>(value)) return false;
  if (parameter.fallback == kRequired || parameter.fallback == kOptional) return false;
  if (find_parameter(complete.table().first(index), parameter.fallback) != nullptr) {
    return value == complete.value(parameter.fallback);
  }
  if (is_last_axis(parameter)) return value == last_axis(parameter, complete);
  return value == parse_constant_default(parameter, value);
}

}  // namespace bench::ops
