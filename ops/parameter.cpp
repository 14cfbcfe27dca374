// SPDX-License-Identifier: Apache-2.0
#include "ops/parameter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cmath>

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
      return "a finite number";
    case ParameterKind::spatial:
      return fmt::format("an integer >= {0}, or a list of them", parameter.minimum);
    case ParameterKind::padding:
      return fmt::format("an integer >= {}, or a list of integers or [begin, end] pairs",
                         parameter.minimum);
    case ParameterKind::shape:
      return fmt::format("a list of sizes >= {}", parameter.minimum);
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
  const std::string_view text = parameter.fallback;
  const auto* const end = text.data() + text.size();
  std::int64_t integer = 0;
  const bool is_integer = std::from_chars(text.data(), end, integer).ptr == end && !text.empty();
  double number = 0;
  const bool is_number = std::from_chars(text.data(), end, number).ptr == end && !text.empty();
  switch (parameter.kind) {
    case ParameterKind::count:
      return is_integer ? Value(integer) : Value();
    case ParameterKind::flag:
      return Value(text == "true");
    case ParameterKind::word:
      return Value(std::string(text));
    case ParameterKind::real:
      return is_number ? Value(number) : Value();
    case ParameterKind::spatial:
      if (!is_integer) return {};
      return std::vector<std::int64_t>(std::get<std::vector<std::int64_t>>(like).size(), integer);
    case ParameterKind::padding:
      if (!is_integer) return {};
      return std::vector<PadPair>(std::get<std::vector<PadPair>>(like).size(),
                                  PadPair{integer, integer});
    case ParameterKind::shape:
      return {};
  }
  return {};
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
      if (std::isfinite(std::get<double>(value))) return Done{};
      return unexpected(parameter, "not finite");
    case ParameterKind::spatial:
    case ParameterKind::shape:
      return check_numbers(parameter, std::get<std::vector<std::int64_t>>(value));
    case ParameterKind::padding:
      return check_padding(parameter, std::get<std::vector<PadPair>>(value));
  }
  return Done{};
}

namespace {

// The default of an axis, a parameter of kind count: the innermost dimension of the parameter
// `shape`. For a word it is an ordinary constant.
constexpr std::string_view kLastAxis = "last";

bool is_last_axis(const ParameterSet& complete, const Value& value) {
  const auto last = static_cast<std::int64_t>(complete.numbers("shape").size()) - 1;
  return value == Value(last);
}

}  // namespace

bool is_default(const ParameterSet& complete, std::size_t index) {
  const Parameter& parameter = complete.table()[index];
  const Value& value = complete.value(index);
  if (std::holds_alternative<std::monostate>(value)) return false;
  if (parameter.fallback == kRequired || parameter.fallback == kOptional) return false;
  if (find_parameter(complete.table().first(index), parameter.fallback) != nullptr) {
    return value == complete.value(parameter.fallback);
  }
  const bool is_axis = parameter.kind == ParameterKind::count && parameter.fallback == kLastAxis;
  if (is_axis) return is_last_axis(complete, value);
  return value == parse_constant_default(parameter, value);
}

}  // namespace bench::ops
