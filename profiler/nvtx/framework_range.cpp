// SPDX-License-Identifier: Apache-2.0
#include "profiler/nvtx/framework_range.hpp"

#include "base/characters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace bench {

namespace {

constexpr std::array<std::string_view, 4> kKeys = {"seq", "op_id", "sizes", "input_op_ids"};
// Prefix of the range that the autograd engine puts around each of its nodes.
constexpr std::string_view kEvaluation = "autograd::engine::evaluate_function: ";
constexpr std::string_view kAccumulation = "torch::autograd::AccumulateGrad";

// Parses a text from its beginning.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::optional<std::int64_t> take_number() {
    std::int64_t number = 0;
    const auto [end, code] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (code != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return number;
  }
  // Removes and returns "[...]" up to the matching bracket. Returns an empty text if there is none.
  std::string_view take_brackets() {
    std::size_t depth = 0;
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      if (rest_[i] == '[') ++depth;
      if (rest_[i] == ']' && depth > 0) --depth;
      if (depth > 0) continue;
      const std::string_view list = i == 0 ? std::string_view() : rest_.substr(0, i + 1);
      rest_.remove_prefix(list.size());
      return list;
    }
    return {};
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

// Parses "[ITEM, ITEM]". Returns false if the text does not have this form.
template <class TakeItem>
bool take_list(Cursor& cursor, TakeItem take_item) {
  if (!cursor.take("[")) return false;
  if (cursor.take("]")) return true;
  do {
    if (!take_item()) return false;
  } while (cursor.take(", ") || cursor.take(","));
  return cursor.take("]");
}

std::vector<FrameworkRange::Origin> parse_origins(std::string_view text) {
  Cursor cursor(text);
  std::vector<FrameworkRange::Origin> origins;
  const bool is_list = take_list(cursor, [&] {
    if (!cursor.take("(")) return false;
    const auto op_id = cursor.take_number();
    if (!op_id || !cursor.take(",")) return false;
    const auto output = cursor.take_number();
    if (!output || !cursor.take(")")) return false;
    origins.push_back({*op_id, *output});
    return true;
  });
  if (!is_list || !cursor.at_end()) origins.clear();
  return origins;
}

// Returns the first position of ", KEY = " with a known key, or npos.
std::size_t find_fields(std::string_view text) {
  for (std::size_t comma = text.find(", "); comma != std::string_view::npos;
       comma = text.find(", ", comma + 1)) {
    const std::string_view rest = text.substr(comma + 2);
    for (const std::string_view key : kKeys) {
      if (rest.starts_with(key) && rest.substr(key.size()).starts_with(" = ")) return comma;
    }
  }
  return std::string_view::npos;
}

bool take_field(Cursor& cursor, FrameworkRange& range) {
  if (cursor.take("seq = ")) {
    range.sequence = cursor.take_number();
    const bool is_number = range.sequence.has_value();
    if (is_number && *range.sequence < 0) range.sequence.reset();  // old versions write -1 for none
    return is_number;
  }
  if (cursor.take("op_id = ")) return (range.op_id = cursor.take_number()).has_value();
  if (cursor.take("sizes = ")) {
    range.sizes = cursor.take_brackets();
    range.inputs = parse_framework_shapes(range.sizes);
    return !range.sizes.empty();
  }
  if (!cursor.take("input_op_ids = ")) return false;
  const std::string_view list = cursor.take_brackets();
  range.origins = parse_origins(list);
  return !list.empty();
}

}  // namespace

std::vector<FrameworkRange::Shape> parse_framework_shapes(std::string_view text) {
  Cursor cursor(text);
  std::vector<FrameworkRange::Shape> shapes;
  const bool is_list = take_list(cursor, [&] {
    shapes.emplace_back();
    return take_list(cursor, [&] {
      const auto size = cursor.take_number();
      if (!size || *size < 0) return false;
      shapes.back().push_back(*size);
      return true;
    });
  });
  if (!is_list || !cursor.at_end()) shapes.clear();
  return shapes;
}

std::string format_framework_shapes(const std::vector<FrameworkRange::Shape>& shapes) {
  std::string text;
  for (const FrameworkRange::Shape& shape : shapes) {
    if (shape.empty()) continue;
    text += fmt::format("{}{}", text.empty() ? "" : " ", fmt::join(shape, "x"));
  }
  return text;
}

// Matches "AddmmBackward0", "MyFunctionBackward" and the older "AddmmBackward".
bool is_framework_backward(std::string_view name) {
  if (name.starts_with(kEvaluation) || name == kAccumulation) return true;
  while (!name.empty() && is_digit(name.back())) name.remove_suffix(1);
  return name.ends_with("Backward");
}

std::optional<FrameworkRange> parse_framework_range(std::string_view text) {
  const std::size_t fields = find_fields(text);
  if (fields == std::string_view::npos || fields == 0) return std::nullopt;
  FrameworkRange range;
  range.name = text.substr(0, fields);
  Cursor cursor(text.substr(fields));
  while (!cursor.at_end()) {
    if (!cursor.take(", ") || !take_field(cursor, range)) return std::nullopt;
  }
  if (range.origins.size() != range.inputs.size()) range.origins.clear();
  if (is_framework_backward(range.name)) {
    range.direction = FrameworkDirection::backward;
  } else if (range.sequence) {
    range.direction = FrameworkDirection::forward;
  }
  return range;
}

namespace {

constexpr std::string_view kPyProfStart = "{'mod': ";

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
  if (!text.take(kPyProfStart)) return std::nullopt;
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

std::optional<std::string> parse_trace_marker(std::string_view marker) {
  PythonText text(marker);
  if (!text.take("{'traceMarker': [")) return std::nullopt;
  std::string stack;
  while (!text.take("]")) {
    const auto place = text.take_string();
    if (!place) return std::nullopt;
    stack += fmt::format("{}{}", stack.empty() ? "" : ",", *place);
    text.take(", ");
  }
  return stack.empty() ? std::nullopt : std::optional(std::move(stack));
}

namespace {

// Parts of the names of operators whose output shapes depend on strides and paddings, or on a
// requested size. Ranges do not contain these numbers.
constexpr std::array<std::string_view, 2> kForwardNames = {"conv", "adaptive_avg_pool"};
constexpr std::array<std::string_view, 2> kBackwardNames = {"Convolution", "AdaptiveAvgPool"};

bool contains_any(std::string_view name, std::span<const std::string_view> parts) {
  for (const std::string_view part : parts) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

bool FrameworkOutputs::concerns(const FrameworkRange& range) {
  return range.direction != FrameworkDirection::backward && contains_any(range.name, kForwardNames);
}

void FrameworkOutputs::note(std::int64_t pid, const FrameworkRange& range, Level level) {
  // Only the first consumer counts: later the number may refer to another tensor at the same
  // address.
  for (std::size_t i = 0; i < range.origins.size(); ++i) {
    if (range.origins[i].output != 0 || range.inputs[i].empty()) continue;
    const auto producer = by_op_id_.find({pid, range.origins[i].op_id});
    if (producer != by_op_id_.end() && !producer->second) producer->second = range.inputs[i];
  }
  if (concerns(range)) {
    if (range.op_id) by_op_id_.try_emplace({pid, *range.op_id});
    if (range.sequence && level == Level::outermost) ++by_sequence_[{pid, *range.sequence}].forward;
    return;
  }
  const bool has_gradient =
      range.sequence && !range.inputs.empty() && contains_any(range.name, kBackwardNames);
  if (!has_gradient) return;
  Gradient& gradient = by_sequence_[{pid, *range.sequence}];
  ++gradient.backward;
  gradient.shape = range.inputs.front();
}

const FrameworkRange::Shape* FrameworkOutputs::find(std::int64_t pid,
                                                    const FrameworkRange& range) const {
  if (!concerns(range)) return nullptr;
  if (range.op_id) {
    const auto found = by_op_id_.find({pid, *range.op_id});
    if (found != by_op_id_.end() && found->second) return &*found->second;
  }
  if (!range.sequence) return nullptr;
  const auto found = by_sequence_.find({pid, *range.sequence});
  if (found == by_sequence_.end()) return nullptr;
  const Gradient& gradient = found->second;
  const bool is_unique = gradient.forward == 1 && gradient.backward == 1;
  return is_unique && !gradient.shape.empty() ? &gradient.shape : nullptr;
}

}  // namespace bench
