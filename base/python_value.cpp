// SPDX-License-Identifier: Apache-2.0
#include "base/python_value.hpp"

#include "base/characters.hpp"

#include <charconv>
#include <cmath>
#include <utility>

namespace bench {
namespace {

constexpr int kMaxPythonDepth = 32;
constexpr double kMaxExactInteger = 9007199254740992.0;  // 2^53

class PythonParser {
 public:
  explicit PythonParser(std::string_view text) : rest_(text) {}

  std::optional<PythonValue> parse() {
    auto value = read_value(0);
    skip_blanks();
    return value && rest_.empty() ? value : std::nullopt;
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() &&
           (rest_.front() == ' ' || rest_.front() == '\t' || rest_.front() == '\r'))
      rest_.remove_prefix(1);
  }

  bool skip(char expected) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != expected) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::string_view cut(std::size_t size) {
    const std::string_view part = rest_.substr(0, size);
    rest_.remove_prefix(part.size());
    return part;
  }

  std::optional<PythonValue> read_value(int depth) {
    skip_blanks();
    if (rest_.empty() || depth > kMaxPythonDepth) return std::nullopt;
    if (skip('(')) return read_items(')', depth);
    if (skip('[')) return read_items(']', depth);
    if (skip('{')) return read_items('}', depth);
    const char first = rest_.front();
    if (first == '\'' || first == '"') return read_string();
    if (is_digit(first) || first == '-' || first == '.') return read_number();
    return read_name(depth);
  }

  // Reads the values up to the closing character: "a, b=c, 'd': e".
  std::optional<PythonValue> read_items(char end, int depth) {
    PythonValue list{.kind = PythonValue::Kind::list};
    while (!skip(end)) {
      auto item = read_value(depth + 1);
      if (!item) return std::nullopt;
      const bool has_key = item->kind == PythonValue::Kind::word && (skip('=') || skip(':'));
      if (has_key) {
        const std::string_view key = item->word;
        item = read_value(depth + 1);
        if (!item) return std::nullopt;
        item->keyword = key;
      }
      list.items.push_back(*std::move(item));
      if (skip(',')) continue;
      if (!skip(end)) return std::nullopt;
      break;
    }
    return list;
  }

  std::optional<PythonValue> read_string() {
    std::size_t end = 1;
    while (end < rest_.size() && rest_[end] != rest_.front()) end += rest_[end] == '\\' ? 2 : 1;
    if (end >= rest_.size()) return std::nullopt;
    const std::string_view quoted = cut(end + 1);
    return PythonValue{.word = quoted.substr(1, quoted.size() - 2)};
  }

  std::optional<PythonValue> read_number() {
    double number = 0;
    const auto [end, code] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (code != std::errc()) return std::nullopt;
    cut(static_cast<std::size_t>(end - rest_.data()));
    return PythonValue{.kind = PythonValue::Kind::number, .number = number};
  }

  std::optional<PythonValue> read_name(int depth) {
    std::size_t size = 0;
    while (size < rest_.size() && (is_word(rest_[size]) || rest_[size] == '.')) ++size;
    if (size == 0) return std::nullopt;
    const std::string_view name = cut(size);
    if (!skip('(')) return PythonValue{.word = name};
    auto call = read_items(')', depth);
    if (!call) return std::nullopt;
    call->kind = PythonValue::Kind::call;
    call->word = name;
    return call;
  }

  std::string_view rest_;
};

}  // namespace

std::string PythonValue::text() const {
  constexpr std::string_view kEscaped = "'\"\\tnr";
  constexpr std::string_view kMeant = "'\"\\\t\n\r";
  std::string result;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const bool is_escape = word[i] == '\\' && i + 1 < word.size();
    const std::size_t found = is_escape ? kEscaped.find(word[i + 1]) : std::string_view::npos;
    if (found != std::string_view::npos) ++i;
    result += found == std::string_view::npos ? word[i] : kMeant[found];
  }
  return result;
}

std::optional<std::int64_t> PythonValue::integer() const {
  if (is("True")) return 1;
  if (is("False")) return 0;
  const bool is_whole =
      kind == Kind::number && std::floor(number) == number && std::abs(number) < kMaxExactInteger;
  return is_whole ? std::optional(static_cast<std::int64_t>(number)) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> PythonValue::integers() const {
  if (const auto single = integer()) return std::vector<std::int64_t>{*single};
  if (kind != Kind::list) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const PythonValue& item : items) {
    const auto value = item.integer();
    if (!value) return std::nullopt;
    numbers.push_back(*value);
  }
  return numbers;
}

std::optional<PythonValue> parse_python_value(std::string_view text) {
  return PythonParser(text).parse();
}

}  // namespace bench
