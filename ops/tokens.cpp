// SPDX-License-Identifier: Apache-2.0
// Implements format_tokens and parse_tokens of ops/parameter.hpp, which convert between parameters
// and the text in a case id.
#include "base/characters.hpp"
#include "base/quote.hpp"
#include "ops/foreign_words.hpp"
#include "ops/number_text.hpp"
#include "ops/parameter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace bench::ops {
namespace {

// Default of a flag that is on unless its token is present.
constexpr std::string_view kDefaultOn = "true";

bool is_positional(const Parameter& parameter) {
  return parameter.token.empty() &&
         (parameter.kind == ParameterKind::word || parameter.kind == ParameterKind::shape);
}

// Whether the parameter is printed behind a '+'.
bool is_flag(const Parameter& parameter) {
  return parameter.kind == ParameterKind::flag ||
         (parameter.kind == ParameterKind::word && !parameter.token.empty());
}

// The flag without '+' that gives a parameter the value: "bias", "dst_s8".
std::string format_flag(const Parameter& parameter, std::string_view word) {
  return parameter.kind == ParameterKind::flag ? std::string(parameter.token)
                                               : fmt::format("{}_{}", parameter.token, word);
}

std::string format_pad(const PadPair& pad) {
  if (pad.begin == pad.end) return fmt::to_string(pad.begin);
  return fmt::format("{}_{}", pad.begin, pad.end);
}

// Joins the entries by 'x'. Formats only one entry if all are equal.
template <class T, class Format>
std::string format_spatial(const std::vector<T>& entries, Format format) {
  const bool are_equal =
      std::ranges::adjacent_find(entries, std::not_equal_to<>()) == entries.end();
  std::string joined;
  for (const T& entry : std::span(entries).first(are_equal ? 1 : entries.size())) {
    if (!joined.empty()) joined += 'x';
    joined += format(entry);
  }
  return joined;
}

std::string format_value(const Parameter& parameter, const Value& value) {
  switch (parameter.kind) {
    case ParameterKind::count:
      return fmt::to_string(std::get<std::int64_t>(value));
    case ParameterKind::flag:
      return {};
    case ParameterKind::word:
      return std::get<std::string>(value);
    case ParameterKind::real:
      return format_real(std::get<double>(value));
    case ParameterKind::spatial:
      return format_spatial(std::get<std::vector<std::int64_t>>(value),
                            [](std::int64_t number) { return fmt::to_string(number); });
    case ParameterKind::padding:
      return format_spatial(std::get<std::vector<PadPair>>(value), format_pad);
    case ParameterKind::shape:
      return fmt::format("{}", fmt::join(std::get<std::vector<std::int64_t>>(value), "x"));
  }
  return {};
}

std::vector<std::string_view> valid_tokens(std::span<const Parameter> table) {
  std::vector<std::string_view> tokens;
  for (const Parameter& parameter : table) {
    if (!parameter.token.empty() && !is_flag(parameter)) {
      tokens.push_back(parameter.token);
    }
  }
  return tokens;
}

// Reads a parameter segment from left to right.
class TokenReader {
 public:
  TokenReader(std::span<const Parameter> table, std::string_view text)
      : table_(table), text_(text), unread_(text), set_(table) {}

  Status read_positionals() {
    for (const Parameter& parameter : table_) {
      if (is_positional(parameter)) {
        BENCH_RETURN_IF_ERROR(read_positional(parameter));
      }
    }
    return Done{};
  }

  Status read_tokens() {
    while (!unread_.empty()) {
      const std::string_view name = unread_.substr(0, count_letters());
      const auto row = std::ranges::find_if(table_, [&](const Parameter& parameter) {
        return !is_flag(parameter) && !name.empty() && parameter.token == name;
      });
      if (row == table_.end()) return make_unknown_token_error(name);
      if (set_.has(row->name)) return make_error(fmt::format("`{}` is given twice", name));
      unread_.remove_prefix(name.size());
      BENCH_ASSIGN_OR_RETURN(Value value, read_value(*row));
      BENCH_RETURN_IF_ERROR(store(*row, std::move(value)));
    }
    return Done{};
  }

  ParameterSet take() { return std::move(set_); }

 private:
  Error make_error(std::string what, std::string next = {}) const {
    return Error{fmt::format("{} in {}", what, quote(text_)), {}, std::move(next)};
  }

  Error make_unknown_token_error(std::string_view name) const {
    const std::vector<std::string_view> tokens = valid_tokens(table_);
    if (tokens.empty())
      return make_error(fmt::format("nothing may follow before {}", quote(unread_)));
    const std::string_view quoted = name.empty() ? unread_ : name;
    return make_error(
        fmt::format("unknown token {}", quote(quoted)),
        fmt::format("valid tokens, each followed by its value: {}", fmt::join(tokens, ", ")));
  }

  // Returns the number of letters at the begin of the unread text, such as 5 for "alpha0.1".
  std::size_t count_letters() const {
    const auto end =
        std::ranges::find_if_not(unread_, [](char c) { return is_lower(c) || c == '_'; });
    return static_cast<std::size_t>(end - unread_.begin());
  }

  Status store(const Parameter& parameter, Value value) {
    Status status = check_value(parameter, value);
    if (!status.ok()) return make_error(status.error().what);
    set_.set(parameter.name, std::move(value));
    return Done{};
  }

  // Reads a word or a shape, which extends to the next '-' or the end. Does nothing if the text has
  // another form and the parameter is optional: the text then belongs to a later parameter.
  Status read_positional(const Parameter& parameter) {
    const std::string_view part = unread_.substr(0, unread_.find('-'));
    if (parameter.kind == ParameterKind::word) {
      const bool is_valid = std::ranges::find(parameter.words, part) != parameter.words.end();
      if (!is_valid && parameter.fallback != "required") return Done{};
      if (!is_valid) {
        return make_error(fmt::format("unknown `{}` {}", parameter.name, quote(part)),
                          expected_word(part, parameter.words));
      }
      set_.set(parameter.name, std::string(part));
    } else {
      std::string_view unread = part;
      const std::optional<std::vector<std::int64_t>> sizes = read_list(unread);
      if (!sizes || !unread.empty()) {
        if (parameter.fallback != "required") return Done{};
        return make_error(fmt::format("`{}` is {}, expected sizes such as 1x64x56x56",
                                      parameter.name, quote(part)));
      }
      BENCH_RETURN_IF_ERROR(store(parameter, *sizes));
    }
    unread_.remove_prefix(std::min(part.size() + 1, unread_.size()));
    return Done{};
  }

  Result<Value> read_value(const Parameter& parameter) {
    const std::string_view text = unread_;
    std::optional<Value> value;
    switch (parameter.kind) {
      case ParameterKind::count:
        value = as_value(read_integer(unread_));
        break;
      case ParameterKind::real:
        value = as_value(read_real(unread_));
        break;
      case ParameterKind::spatial:
      case ParameterKind::shape:
        value = as_value(read_list(unread_));
        break;
      case ParameterKind::padding:
        value = as_value(read_pads());
        break;
      case ParameterKind::word:
      case ParameterKind::flag:
        break;  // neither is among the tokens
    }
    if (value) return *std::move(value);
    return make_error(fmt::format("`{}` ({}) is followed by {}, expected a number below 2^63",
                                  parameter.token, parameter.name, quote(text)));
  }

  template <class T>
  static std::optional<Value> as_value(std::optional<T> read) {
    if (!read) return std::nullopt;
    return Value(*std::move(read));
  }

  static std::optional<std::vector<std::int64_t>> read_list(std::string_view& text) {
    std::vector<std::int64_t> numbers;
    do {
      const std::optional<std::int64_t> number = read_integer(text);
      if (!number) return std::nullopt;
      numbers.push_back(*number);
    } while (skip(text, 'x'));
    return numbers;
  }

  std::optional<std::vector<PadPair>> read_pads() {
    std::vector<PadPair> pads;
    do {
      const std::optional<std::int64_t> begin = read_integer(unread_);
      if (!begin) return std::nullopt;
      std::optional<std::int64_t> end = begin;
      if (skip(unread_, '_')) end = read_integer(unread_);
      if (!end) return std::nullopt;
      pads.push_back({*begin, *end});
    } while (skip(unread_, 'x'));
    return pads;
  }

  static bool skip(std::string_view& text, char expected) {
    if (!text.starts_with(expected)) return false;
    text.remove_prefix(1);
    return true;
  }

  std::span<const Parameter> table_;
  std::string_view text_;
  std::string_view unread_;  // the text that has not been read
  ParameterSet set_;
};

// Returns the value that a flag gives to the parameter, or nullopt if it is another's flag.
std::optional<Value> flag_value(const Parameter& parameter, std::string_view flag) {
  if (!is_flag(parameter)) return std::nullopt;
  if (parameter.kind == ParameterKind::flag) {
    if (flag != parameter.token) return std::nullopt;
    return Value(parameter.fallback != kDefaultOn);
  }
  for (const std::string_view word : parameter.words) {
    if (flag == format_flag(parameter, word)) return Value(std::string(word));
  }
  return std::nullopt;
}

// Splits "TOKENS+FLAG+FLAG" at each '+'. The first part is the tokens.
std::vector<std::string_view> split_flags(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t plus = text.find('+');
    parts.push_back(text.substr(0, plus));
    if (plus == std::string_view::npos) return parts;
    text.remove_prefix(plus + 1);
  }
}

}  // namespace

std::string format_tokens(const ParameterSet& complete) {
  std::string positionals;
  std::string tokens;
  std::string flags;
  for (std::size_t i = 0; i < complete.table().size(); ++i) {
    const Parameter& parameter = complete.table()[i];
    const Value& value = complete.value(i);
    if (std::holds_alternative<std::monostate>(value) || is_default(complete, i)) continue;
    if (is_flag(parameter)) {
      flags += "+" + format_flag(parameter, format_value(parameter, value));
    } else if (is_positional(parameter)) {
      if (!positionals.empty()) positionals += '-';
      positionals += format_value(parameter, value);
    } else {
      tokens += fmt::format("{}{}", parameter.token, format_value(parameter, value));
    }
  }
  if (!positionals.empty() && !tokens.empty()) positionals += '-';
  return positionals + tokens + flags;
}

Result<ParsedTokens> parse_tokens(std::span<const Parameter> table, std::string_view text) {
  const std::vector<std::string_view> parts = split_flags(text);
  TokenReader reader(table, parts.front());
  BENCH_RETURN_IF_ERROR(reader.read_positionals());
  BENCH_RETURN_IF_ERROR(reader.read_tokens());
  ParsedTokens parsed{reader.take(), {}};
  for (const std::string_view flag : std::span(parts).subspan(1)) {
    const auto row = std::ranges::find_if(
        table, [&](const Parameter& parameter) { return flag_value(parameter, flag).has_value(); });
    if (row == table.end()) {
      parsed.rest.emplace_back(flag);
    } else if (parsed.parameters.has(row->name)) {
      return Error{
          fmt::format("flag {} is given twice in {}", quote(fmt::format("+{}", flag)), quote(text)),
          {},
          {}};
    } else {
      parsed.parameters.set(row->name, *flag_value(*row, flag));
    }
  }
  return parsed;
}

}  // namespace bench::ops
