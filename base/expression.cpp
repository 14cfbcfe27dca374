// SPDX-License-Identifier: Apache-2.0
// Translates the text into steps of a stack machine by recursive descent:
//   sum = product { ("+" | "-") product };  product = factor { ("*" | "/") factor };
//   factor = "-" factor | "(" sum ")" | number | name
#include "base/expression.hpp"

#include "base/characters.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace bench {
namespace {

// No realistic formula nests deeper.
constexpr int kMaxDepth = 64;

bool is_space(char c) { return c == ' ' || c == '\t'; }
bool is_name_start(char c) { return is_letter(c) || c == '_' || c == '.'; }

std::optional<std::int64_t> divide(std::int64_t a, std::int64_t b) {
  // Only the smallest number divided by -1 overflows.
  if (b == 0 || (b == -1 && a == INT64_MIN) || a % b != 0) return std::nullopt;
  return a / b;
}

}  // namespace

class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : text_(text) {}

  Result<Expression> parse() {
    BENCH_RETURN_IF_ERROR(parse_sum(0));
    if (at_ < text_.size()) return make_error("expected an operator or the end");
    return std::move(result_);
  }

 private:
  using Kind = Expression::Kind;

  Error make_error(std::string what) const {
    return {std::move(what), std::to_string(at_ + 1), "write for example 2*n*c"};
  }
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  // Skips the next character and the blanks around it. Returns false if it is not `expected`.
  bool accept(char expected) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != expected) return false;
    ++at_;
    skip_space();
    return true;
  }
  void emit(Kind kind, std::int64_t number = 0) { result_.steps_.push_back({kind, number}); }

  Status parse_sum(int depth) {
    if (depth > kMaxDepth) return make_error("too deeply nested");
    BENCH_RETURN_IF_ERROR(parse_product(depth));
    for (;;) {
      const bool plus = accept('+');
      if (!plus && !accept('-')) return Done{};
      BENCH_RETURN_IF_ERROR(parse_product(depth));
      emit(plus ? Kind::add : Kind::subtract);
    }
  }

  Status parse_product(int depth) {
    BENCH_RETURN_IF_ERROR(parse_factor(depth));
    for (;;) {
      const bool times = accept('*');
      if (!times && !accept('/')) return Done{};
      BENCH_RETURN_IF_ERROR(parse_factor(depth));
      emit(times ? Kind::multiply : Kind::divide);
    }
  }

  Status parse_factor(int depth) {
    if (depth > kMaxDepth) return make_error("too deeply nested");
    if (accept('-')) {
      BENCH_RETURN_IF_ERROR(parse_factor(depth + 1));
      emit(Kind::negate);
      return Done{};
    }
    if (accept('(')) {
      BENCH_RETURN_IF_ERROR(parse_sum(depth + 1));
      return accept(')') ? Status(Done{}) : Status(make_error("expected `)`"));
    }
    skip_space();
    if (at_ < text_.size() && is_digit(text_[at_])) return parse_number();
    if (at_ < text_.size() && is_name_start(text_[at_])) return parse_name();
    return make_error("expected a number, a name or `(`");
  }

  Status parse_number() {
    std::int64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, code] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (code != std::errc()) return make_error("a number beyond 2^63 - 1");
    at_ += static_cast<std::size_t>(end - begin);
    emit(Kind::number, value);
    skip_space();
    return Done{};
  }

  Status parse_name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_name_start(text_[at_]) || is_digit(text_[at_]))) ++at_;
    std::string text(text_.substr(begin, at_ - begin));
    const auto entry = std::find(result_.names_.begin(), result_.names_.end(), text);
    emit(Kind::name, entry - result_.names_.begin());
    if (entry == result_.names_.end()) result_.names_.push_back(std::move(text));
    skip_space();
    return Done{};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Expression result_;
};

Result<Expression> Expression::parse(std::string_view text) {
  return ExpressionParser(text).parse();
}

std::optional<std::int64_t> Expression::evaluate(const Lookup& lookup) const {
  std::vector<std::optional<std::int64_t>> values;
  for (const std::string& name : names_) values.push_back(lookup(name));
  std::vector<std::int64_t> stack;
  const auto pop = [&] {
    const std::int64_t value = stack.back();
    stack.pop_back();
    return value;
  };
  for (const Step& step : steps_) {
    std::optional<std::int64_t> value;
    if (step.kind == Kind::number) {
      value = step.number;
    } else if (step.kind == Kind::name) {
      value = values[static_cast<std::size_t>(step.number)];
    } else {
      const std::int64_t b = pop();
      const std::int64_t a = step.kind == Kind::negate ? 0 : pop();
      std::int64_t result = 0;
      bool overflow = false;
      if (step.kind == Kind::add) overflow = __builtin_add_overflow(a, b, &result);
      if (step.kind == Kind::multiply) overflow = __builtin_mul_overflow(a, b, &result);
      if (step.kind == Kind::subtract || step.kind == Kind::negate) {
        overflow = __builtin_sub_overflow(a, b, &result);
      }
      if (!overflow) value = step.kind == Kind::divide ? divide(a, b) : std::optional(result);
    }
    if (!value) return std::nullopt;
    stack.push_back(*value);
  }
  return stack.back();
}

}  // namespace bench
