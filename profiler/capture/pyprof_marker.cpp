// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/pyprof_marker.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <utility>

namespace bench {
namespace {

constexpr std::string_view kHead = "{'mod': ";

// Parses printed Python values from the beginning of a text.
class PythonText {
 public:
  explicit PythonText(std::string_view text) : rest_(text) {}

  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool at_end() const { return rest_.empty(); }

  // Parses 'text' or "text". Returns nullopt if it contains an escape: no relevant name does.
  std::optional<std::string_view> take_string() {
    if (rest_.empty() || (rest_.front() != '\'' && rest_.front() != '"')) return std::nullopt;
    const std::size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view text = rest_.substr(1, end - 1);
    if (text.find('\\') != std::string_view::npos) return std::nullopt;
    rest_.remove_prefix(end + 1);
    return text;
  }

  // Parses an integer or a Boolean.
  std::optional<std::int64_t> take_integer() {
    if (take("True")) return 1;
    if (take("False")) return 0;
    std::int64_t number = 0;
    const auto [end, code] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    const auto size = static_cast<std::size_t>(end - rest_.data());
    const bool is_real = size < rest_.size() && (rest_[size] == '.' || rest_[size] == 'e');
    if (code != std::errc() || is_real) return std::nullopt;
    rest_.remove_prefix(size);
    return number;
  }

  // Parses "(1, 2)", "(1,)" or "[1, 2]". Returns nullopt if it contains anything but integers.
  std::optional<std::vector<std::int64_t>> take_integers() {
    const bool is_tuple = take("(");
    if (!is_tuple && !take("[")) return std::nullopt;
    const std::string_view end = is_tuple ? ")" : "]";
    std::vector<std::int64_t> numbers;
    while (!take(end)) {
      const auto number = take_integer();
      if (!number) return std::nullopt;
      numbers.push_back(*number);
      if (!take(", ")) take(",");
    }
    return numbers;
  }

  // Skips any value, up to but excluding the brace that closes its dictionary.
  void skip_value() {
    char quote = '\0';
    std::size_t i = 0;
    for (; i < rest_.size(); ++i) {
      const char c = rest_[i];
      if (quote != '\0') {
        if (c == '\\') ++i;
        if (c == quote) quote = '\0';
      } else if (c == '\'' || c == '"') {
        quote = c;
      } else if (c == '}') {
        break;
      }
    }
    rest_.remove_prefix(std::min(i, rest_.size()));
  }

 private:
  std::string_view rest_;
};

bool take_tensor(PythonText& text, FrameworkArgument& argument) {
  auto shape = text.take_integers();
  if (!shape || !text.take(", 'dtype': ")) return false;
  const auto dtype = text.take_string();
  if (!dtype) return false;
  for (const std::int64_t size : *shape) {
    if (size < 0) return false;
  }
  argument.shape = std::move(*shape);
  argument.dtype = *dtype;
  return true;
}

// If the value is not an integer or a sequence of them, the argument has no numbers.
void take_value(PythonText& text, FrameworkArgument& argument) {
  const PythonText before = text;
  if (auto numbers = text.take_integers()) {
    argument.numbers = std::move(*numbers);
  } else {
    text = before;
    if (const auto number = text.take_integer()) argument.numbers = {*number};
  }
  text.skip_value();
}

bool take_argument(PythonText& text, FrameworkArgument& argument) {
  if (!text.take("{'name': ")) return false;
  const auto name = text.take_string();
  if (!name || !text.take(", 'type': ")) return false;
  const auto type = text.take_string();
  if (!type) return false;
  argument.name = *name;
  argument.type = *type;
  if (text.take(", 'shape': ")) {
    if (!take_tensor(text, argument)) return false;
  } else if (text.take(", 'value': ")) {
    take_value(text, argument);
  } else {
    return false;
  }
  return text.take("}");
}

}  // namespace

std::optional<FrameworkRange> parse_pyprof_marker(std::string_view marker) {
  PythonText text(marker);
  if (!text.take(kHead)) return std::nullopt;
  const auto module = text.take_string();
  if (!module || !text.take(", 'op': ")) return std::nullopt;
  const auto op = text.take_string();
  if (!op || op->empty() || !text.take(", 'args': [")) return std::nullopt;
  FrameworkRange range;
  range.module = *module;
  range.name = *op;
  while (!text.take("]}")) {
    FrameworkArgument argument;
    if (!take_argument(text, argument)) return std::nullopt;
    range.inputs.push_back(argument.shape);
    range.arguments.push_back(std::move(argument));
    text.take(", ");
  }
  if (!text.at_end()) return std::nullopt;
  return range;
}

}  // namespace bench
