// SPDX-License-Identifier: Apache-2.0
// Translates the text into a tree by recursive descent:
//   choice = either [ "?" choice ":" choice ];  either = both { "or" both };
//   both = test { "and" test };  test = "not" test | sum [ comparison sum ];
//   sum = product { ("+" | "-") product };  product = factor { ("*" | "/") factor };
//   factor = "-" factor | primary { "[" index "]" };
//   primary = number | name | word | function "(" choices ")" | "(" choice ")" | "[" choices "]"
#include "base/expression.hpp"

#include "base/characters.hpp"
#include "base/checked.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace bench {
namespace {

// No realistic formula nests deeper.
constexpr int kMaxDepth = 64;

bool is_space(char c) { return c == ' ' || c == '\t'; }
bool is_name_start(char c) { return is_letter(c) || c == '_' || c == '.'; }
bool is_name_letter(char c) { return is_name_start(c) || is_digit(c); }

std::optional<std::int64_t> divide(std::int64_t a, std::int64_t b) {
  // Only the smallest number divided by -1 overflows.
  if (b == 0 || (b == -1 && a == INT64_MIN) || a % b != 0) return std::nullopt;
  return a / b;
}

}  // namespace

class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : text_(text) { result_.text_ = text; }

  Result<Expression> parse() {
    BENCH_ASSIGN_OR_RETURN(result_.root_, parse_choice(0));
    if (at_ < text_.size()) return make_error("expected an operator or the end");
    return std::move(result_);
  }

 private:
  using Kind = Expression::Kind;
  using Parsed = Result<std::size_t>;  // the index of a node

  Error make_error(std::string what) const {
    return {std::move(what), std::to_string(at_ + 1), "write for example 2*n*c"};
  }
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  // Skips the next characters and the blanks around them. Returns false if they are not `expected`.
  // A word must end there.
  bool accept(std::string_view expected) {
    skip_space();
    const std::string_view rest = text_.substr(at_);
    if (!rest.starts_with(expected)) return false;
    const bool is_word = is_letter(expected.front());
    if (is_word && rest.size() > expected.size() && is_name_letter(rest[expected.size()])) {
      return false;
    }
    at_ += expected.size();
    skip_space();
    return true;
  }
  std::size_t emit(Kind kind, std::vector<std::size_t> operands, std::size_t begin,
                   std::int64_t number = 0) {
    result_.nodes_.push_back({kind, number, std::move(operands), begin, at_});
    return result_.nodes_.size() - 1;
  }
  std::size_t begin_of(std::size_t node) const { return result_.nodes_[node].begin; }

  Parsed parse_choice(int depth) {
    if (depth > kMaxDepth) return make_error("too deeply nested");
    BENCH_ASSIGN_OR_RETURN(const std::size_t condition, (parse_chain<&ExpressionParser::parse_both>(
                                                            depth, {{{"or", Kind::disjunction}}})));
    if (!accept("?")) return condition;
    BENCH_ASSIGN_OR_RETURN(const std::size_t first, parse_choice(depth + 1));
    if (!accept(":")) return make_error("expected `:`");
    BENCH_ASSIGN_OR_RETURN(const std::size_t second, parse_choice(depth + 1));
    return emit(Kind::choice, {condition, first, second}, begin_of(condition));
  }

  using Operators = std::vector<std::pair<std::string_view, Kind>>;
  // Parses operands that the operators join from left to right.
  template <Parsed (ExpressionParser::*parse_operand)(int)>
  Parsed parse_chain(int depth, const Operators& operators) {
    BENCH_ASSIGN_OR_RETURN(std::size_t left, (this->*parse_operand)(depth));
    for (;;) {
      const auto found = std::ranges::find_if(
          operators, [&](const auto& candidate) { return accept(candidate.first); });
      if (found == operators.end()) return left;
      BENCH_ASSIGN_OR_RETURN(const std::size_t right, (this->*parse_operand)(depth));
      left = emit(found->second, {left, right}, begin_of(left));
    }
  }

  Parsed parse_both(int depth) {
    return parse_chain<&ExpressionParser::parse_test>(depth, {{{"and", Kind::conjunction}}});
  }

  Parsed parse_test(int depth) {
    if (depth > kMaxDepth) return make_error("too deeply nested");
    skip_space();
    const std::size_t begin = at_;
    if (accept("not")) {
      BENCH_ASSIGN_OR_RETURN(const std::size_t operand, parse_test(depth + 1));
      return emit(Kind::negation, {operand}, begin);
    }
    BENCH_ASSIGN_OR_RETURN(const std::size_t left, parse_sum(depth));
    struct Comparison {
      std::string_view text;
      Kind kind;
      bool swaps;
    };
    constexpr std::array<Comparison, 6> kComparisons = {{{"==", Kind::equal, false},
                                                         {"!=", Kind::unequal, false},
                                                         {"<=", Kind::at_most, false},
                                                         {">=", Kind::at_most, true},
                                                         {"<", Kind::less, false},
                                                         {">", Kind::less, true}}};
    for (const Comparison& comparison : kComparisons) {
      if (!accept(comparison.text)) continue;
      BENCH_ASSIGN_OR_RETURN(const std::size_t right, parse_sum(depth));
      return emit(comparison.kind,
                  comparison.swaps ? std::vector{right, left} : std::vector{left, right}, begin);
    }
    return left;
  }

  Parsed parse_sum(int depth) {
    return parse_chain<&ExpressionParser::parse_product>(depth,
                                                         {{"+", Kind::add}, {"-", Kind::subtract}});
  }

  Parsed parse_product(int depth) {
    return parse_chain<&ExpressionParser::parse_factor>(
        depth, {{"*", Kind::multiply}, {"/", Kind::divide}});
  }

  Parsed parse_factor(int depth) {
    if (depth > kMaxDepth) return make_error("too deeply nested");
    skip_space();
    const std::size_t begin = at_;
    if (accept("-")) {
      BENCH_ASSIGN_OR_RETURN(const std::size_t operand, parse_factor(depth + 1));
      return emit(Kind::negate, {operand}, begin);
    }
    BENCH_ASSIGN_OR_RETURN(std::size_t value, parse_primary(depth));
    while (accept("[")) {
      BENCH_ASSIGN_OR_RETURN(value, parse_index(value, depth + 1));
    }
    return value;
  }

  // Parses what follows the bracket: `1]`, `:axis]`, `axis:]`.
  Parsed parse_index(std::size_t list, int depth) {
    std::array<std::size_t, 2> bounds = {};
    const bool has_start = text_.substr(at_, 1) != ":";
    if (has_start) {
      BENCH_ASSIGN_OR_RETURN(bounds[0], parse_choice(depth));
      if (accept("]")) return emit(Kind::index, {list, bounds[0]}, begin_of(list));
    } else {
      bounds[0] = emit(Kind::absent, {}, at_);
    }
    if (!accept(":")) return make_error("expected `]` or `:`");
    if (accept("]")) {
      bounds[1] = emit(Kind::absent, {}, at_);
    } else {
      BENCH_ASSIGN_OR_RETURN(bounds[1], parse_choice(depth));
      if (!accept("]")) return make_error("expected `]`");
    }
    return emit(Kind::slice, {list, bounds[0], bounds[1]}, begin_of(list));
  }

  // Parses the rest of a list, up to `end`.
  Result<std::vector<std::size_t>> parse_choices(std::string_view end, int depth) {
    std::vector<std::size_t> items;
    if (accept(end)) return items;
    for (;;) {
      BENCH_ASSIGN_OR_RETURN(const std::size_t item, parse_choice(depth));
      items.push_back(item);
      if (accept(end)) return items;
      if (!accept(",")) {
        std::string what = "expected `,` or `";
        return make_error(what.append(end).append("`"));
      }
    }
  }

  Parsed parse_primary(int depth) {
    skip_space();
    const std::size_t begin = at_;
    if (accept("(")) {
      BENCH_ASSIGN_OR_RETURN(const std::size_t inner, parse_choice(depth + 1));
      if (!accept(")")) return make_error("expected `)`");
      result_.nodes_[inner].begin = begin;
      return inner;
    }
    if (accept("[")) {
      BENCH_ASSIGN_OR_RETURN(std::vector<std::size_t> items, parse_choices("]", depth + 1));
      return emit(Kind::list, std::move(items), begin);
    }
    if (at_ < text_.size() && is_digit(text_[at_])) return parse_number();
    if (at_ < text_.size() && text_[at_] == '\'') return parse_word();
    if (at_ < text_.size() && is_name_start(text_[at_])) return parse_name(depth);
    return make_error("expected a number, a name or `(`");
  }

  Parsed parse_number() {
    std::int64_t value = 0;
    const std::size_t start = at_;
    const char* begin = text_.data() + at_;
    const auto [end, code] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (code != std::errc()) return make_error("a number beyond 2^63 - 1");
    at_ += static_cast<std::size_t>(end - begin);
    const std::size_t node = emit(Kind::number, {}, start, value);
    skip_space();
    return node;
  }

  Parsed parse_word() {
    const std::size_t begin = at_++;
    const std::size_t end = text_.find('\'', at_);
    if (end == std::string_view::npos) return make_error("expected the end of a word, `'`");
    result_.words_.emplace_back(text_.substr(at_, end - at_));
    at_ = end + 1;
    const std::size_t node = emit(Kind::word, {}, begin, std::ssize(result_.words_) - 1);
    skip_space();
    return node;
  }

  Parsed parse_name(int depth) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name_letter(text_[at_])) ++at_;
    std::string text(text_.substr(begin, at_ - begin));
    if (text_.substr(at_, 1) == "(") return parse_call(text, begin, depth + 1);
    const auto entry = std::find(result_.names_.begin(), result_.names_.end(), text);
    const std::size_t node = emit(Kind::name, {}, begin, entry - result_.names_.begin());
    if (entry == result_.names_.end()) result_.names_.push_back(std::move(text));
    skip_space();
    return node;
  }

  Parsed parse_call(std::string_view name, std::size_t begin, int depth) {
    struct Function {
      std::string_view name;
      Kind kind;
      std::size_t operands;  // 0: any number
    };
    constexpr std::array<Function, 9> kFunctions = {{{"rank", Kind::rank, 1},
                                                     {"prod", Kind::prod, 0},
                                                     {"sum", Kind::sum, 0},
                                                     {"min", Kind::min, 0},
                                                     {"max", Kind::max, 0},
                                                     {"ascending", Kind::ascending, 1},
                                                     {"only", Kind::only, 2},
                                                     {"reduced", Kind::reduced, 2},
                                                     {"permuted", Kind::permuted, 2}}};
    const auto function = std::ranges::find(kFunctions, name, &Function::name);
    if (function == kFunctions.end()) return make_error("expected an operator or the end");
    accept("(");
    BENCH_ASSIGN_OR_RETURN(std::vector<std::size_t> operands, parse_choices(")", depth));
    if (operands.empty() || (function->operands != 0 && operands.size() != function->operands)) {
      return make_error("another number of operands than the function has");
    }
    return emit(function->kind, std::move(operands), begin);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Expression result_;
};

class ExpressionEvaluator {
 public:
  ExpressionEvaluator(const Expression& expression, const Expression::Lookup& lookup)
      : expression_(expression), lookup_(lookup) {}

  Result<ExpressionValue> evaluate(std::size_t index) const {
    const Node& node = expression_.nodes_[index];
    switch (node.kind) {
      case Kind::number:
        return ExpressionValue::of(node.number);
      case Kind::word:
        return ExpressionValue::of(expression_.words_[static_cast<std::size_t>(node.number)]);
      case Kind::name:
        return look_up(expression_.names_[static_cast<std::size_t>(node.number)]);
      case Kind::list: {
        BENCH_ASSIGN_OR_RETURN(ExpressionList list, evaluate_all(node.operands));
        return ExpressionValue::of(std::move(list));
      }
      case Kind::choice: {
        BENCH_ASSIGN_OR_RETURN(const bool holds, evaluate_test(node.operands[0]));
        return evaluate(node.operands[holds ? 1 : 2]);
      }
      case Kind::index:
      case Kind::slice:
        return evaluate_part(node);
      case Kind::only:
      case Kind::reduced:
        return evaluate_selection(node);
      case Kind::permuted:
        return evaluate_permuted(node);
      case Kind::equal:
      case Kind::unequal:
        return evaluate_equality(node);
      default: {
        BENCH_ASSIGN_OR_RETURN(const ExpressionNumber number, evaluate_number(node));
        return ExpressionValue::of(number);
      }
    }
  }

 private:
  using Kind = Expression::Kind;
  using Node = Expression::Node;

  Error make_error(const Node& node, std::string_view what) const {
    std::string text(expression_.text_.substr(node.begin, node.end - node.begin));
    return {"`" + text + "` " + std::string(what), std::to_string(node.begin + 1), {}};
  }

  Result<ExpressionValue> look_up(const std::string& name) const {
    std::optional<ExpressionValue> value = lookup_(name);
    if (!value) return Error{"the name `" + name + "` is unknown", {}, {}};
    for (ExpressionNumber& number : value->numbers) number.origin = name;
    return std::move(*value);
  }

  Result<ExpressionNumber> evaluate_scalar(std::size_t index) const {
    BENCH_ASSIGN_OR_RETURN(const ExpressionValue value, evaluate(index));
    if (value.kind == ExpressionValue::Kind::number) return value.numbers.front();
    return make_error(expression_.nodes_[index], "is not a number");
  }
  Result<bool> evaluate_test(std::size_t index) const {
    BENCH_ASSIGN_OR_RETURN(const ExpressionNumber number, evaluate_scalar(index));
    return number.value.value_or(0) != 0;
  }
  Result<ExpressionList> evaluate_list(std::size_t index) const {
    BENCH_ASSIGN_OR_RETURN(ExpressionValue value, evaluate(index));
    if (value.kind == ExpressionValue::Kind::list) return std::move(value.numbers);
    return make_error(expression_.nodes_[index], "is not a list");
  }
  // The numbers and the elements of the lists, one after the other.
  Result<ExpressionList> evaluate_all(const std::vector<std::size_t>& indexes) const {
    ExpressionList all;
    for (const std::size_t index : indexes) {
      BENCH_ASSIGN_OR_RETURN(const ExpressionValue value, evaluate(index));
      if (value.kind == ExpressionValue::Kind::word) {
        return make_error(expression_.nodes_[index], "is a word, not a number");
      }
      all.insert(all.end(), value.numbers.begin(), value.numbers.end());
    }
    return all;
  }

  // Returns a position in a list, counted from its end if it is negative.
  Result<std::size_t> evaluate_position(const Node& node, std::size_t index, std::size_t size,
                                        std::size_t limit) const {
    BENCH_ASSIGN_OR_RETURN(const ExpressionNumber number, evaluate_scalar(index));
    std::int64_t position = number.value.value_or(-1);
    if (position < 0) position += static_cast<std::int64_t>(size);
    if (position < 0 || position >= static_cast<std::int64_t>(limit)) {
      return make_error(node, "is outside of the list");
    }
    return static_cast<std::size_t>(position);
  }

  Result<ExpressionValue> evaluate_part(const Node& node) const {
    BENCH_ASSIGN_OR_RETURN(ExpressionList list, evaluate_list(node.operands[0]));
    if (node.kind == Kind::index) {
      BENCH_ASSIGN_OR_RETURN(const std::size_t position,
                             evaluate_position(node, node.operands[1], list.size(), list.size()));
      return ExpressionValue::of(list[position]);
    }
    std::array<std::size_t, 2> bounds = {0, list.size()};
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      const std::size_t operand = node.operands[i + 1];
      if (expression_.nodes_[operand].kind == Kind::absent) continue;
      BENCH_ASSIGN_OR_RETURN(bounds[i],
                             evaluate_position(node, operand, list.size(), list.size() + 1));
    }
    if (bounds[0] > bounds[1]) return make_error(node, "ends before it begins");
    const auto begin = list.begin();
    return ExpressionValue::of(ExpressionList(begin + static_cast<std::ptrdiff_t>(bounds[0]),
                                              begin + static_cast<std::ptrdiff_t>(bounds[1])));
  }

  // The elements at the positions of a second list, or the list with 1 at these positions.
  Result<ExpressionValue> evaluate_selection(const Node& node) const {
    BENCH_ASSIGN_OR_RETURN(const ExpressionList list, evaluate_list(node.operands[0]));
    BENCH_ASSIGN_OR_RETURN(const ExpressionList positions, evaluate_all({node.operands[1]}));
    ExpressionList selection;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const bool is_named = std::ranges::any_of(positions, [&](const ExpressionNumber& position) {
        return position.value == static_cast<std::int64_t>(i);
      });
      if (node.kind == Kind::reduced) {
        selection.push_back({is_named ? 1 : list[i].value, list[i].origin});
      } else if (is_named) {
        selection.push_back(list[i]);
      }
    }
    return ExpressionValue::of(std::move(selection));
  }

  Result<ExpressionValue> evaluate_permuted(const Node& node) const {
    BENCH_ASSIGN_OR_RETURN(ExpressionList list, evaluate_list(node.operands[0]));
    BENCH_ASSIGN_OR_RETURN(const ExpressionList order, evaluate_all({node.operands[1]}));
    if (order.empty()) return ExpressionValue::of(std::move(list));
    ExpressionList permuted;
    for (const ExpressionNumber& position : order) {
      const std::int64_t index = position.value.value_or(-1);
      if (index < 0 || index >= std::ssize(list)) return make_error(node, "is outside of the list");
      permuted.push_back(list[static_cast<std::size_t>(index)]);
    }
    return ExpressionValue::of(std::move(permuted));
  }

  Result<ExpressionValue> evaluate_equality(const Node& node) const {
    BENCH_ASSIGN_OR_RETURN(const ExpressionValue a, evaluate(node.operands[0]));
    BENCH_ASSIGN_OR_RETURN(const ExpressionValue b, evaluate(node.operands[1]));
    if (a.kind != b.kind) return make_error(node, "compares values of two kinds");
    const bool is_equal =
        a.word == b.word && std::ranges::equal(a.numbers, b.numbers, {}, &ExpressionNumber::value,
                                               &ExpressionNumber::value);
    return ExpressionValue::of(is_equal == (node.kind == Kind::equal) ? 1 : 0);
  }

  Result<ExpressionNumber> evaluate_number(const Node& node) const {
    if (node.kind == Kind::rank) {
      BENCH_ASSIGN_OR_RETURN(const ExpressionList list, evaluate_list(node.operands[0]));
      return ExpressionNumber{std::ssize(list),
                              list.empty() ? std::string_view() : list.front().origin};
    }
    if (node.kind == Kind::ascending) {
      BENCH_ASSIGN_OR_RETURN(const ExpressionList list, evaluate_list(node.operands[0]));
      return ExpressionNumber{
          std::ranges::is_sorted(list, std::ranges::less_equal(), &ExpressionNumber::value)};
    }
    if (node.kind == Kind::prod || node.kind == Kind::sum || node.kind == Kind::min ||
        node.kind == Kind::max) {
      BENCH_ASSIGN_OR_RETURN(const ExpressionList all, evaluate_all(node.operands));
      return fold(node, all);
    }
    if (node.kind == Kind::conjunction || node.kind == Kind::disjunction) {
      BENCH_ASSIGN_OR_RETURN(const bool first, evaluate_test(node.operands[0]));
      if (first == (node.kind == Kind::disjunction)) return ExpressionNumber{first ? 1 : 0};
      BENCH_ASSIGN_OR_RETURN(const bool second, evaluate_test(node.operands[1]));
      return ExpressionNumber{second ? 1 : 0};
    }
    BENCH_ASSIGN_OR_RETURN(ExpressionNumber a, evaluate_scalar(node.operands[0]));
    if (node.kind == Kind::negation) return ExpressionNumber{a.value.value_or(0) == 0 ? 1 : 0};
    if (node.kind == Kind::negate) {
      a.value = a.value ? (Checked(0) - *a.value).value() : std::nullopt;
      return a;
    }
    BENCH_ASSIGN_OR_RETURN(const ExpressionNumber b, evaluate_scalar(node.operands[1]));
    return combine(node.kind, a, b);
  }

  // All elements of a product, sum, minimum or maximum.
  Result<ExpressionNumber> fold(const Node& node, const ExpressionList& all) const {
    if (all.empty()) {
      if (node.kind == Kind::min || node.kind == Kind::max) {
        return make_error(node, "has no elements");
      }
      return ExpressionNumber{node.kind == Kind::prod ? 1 : 0};
    }
    ExpressionNumber result = all.front();
    for (std::size_t i = 1; i < all.size(); ++i) result = combine(node.kind, result, all[i]);
    return result;
  }

  static ExpressionNumber combine(Kind kind, const ExpressionNumber& a, const ExpressionNumber& b) {
    ExpressionNumber result{std::nullopt, a.origin.empty() ? b.origin : a.origin};
    if (a.value && b.value) result.value = combine(kind, *a.value, *b.value);
    return result;
  }
  static std::optional<std::int64_t> combine(Kind kind, std::int64_t a, std::int64_t b) {
    switch (kind) {
      case Kind::add:
      case Kind::sum:
        return (Checked(a) + b).value();
      case Kind::subtract:
        return (Checked(a) - b).value();
      case Kind::multiply:
      case Kind::prod:
        return (Checked(a) * b).value();
      case Kind::divide:
        return divide(a, b);
      case Kind::min:
        return std::min(a, b);
      case Kind::max:
        return std::max(a, b);
      case Kind::less:
        return a < b ? 1 : 0;
      case Kind::at_most:
        return a <= b ? 1 : 0;
      default:
        return std::nullopt;
    }
  }

  const Expression& expression_;
  const Expression::Lookup& lookup_;
};

Result<Expression> Expression::parse(std::string_view text) {
  return ExpressionParser(text).parse();
}

std::optional<std::int64_t> Expression::evaluate(const NumberLookup& lookup) const {
  // An unknown name makes the whole unknown, even where the result does not need it. Each name is
  // looked up once.
  std::vector<std::int64_t> values;
  for (const std::string& name : names_) {
    const std::optional<std::int64_t> value = lookup(name);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  const auto result = evaluate_any([&](const std::string& name) -> std::optional<ExpressionValue> {
    const auto index = std::ranges::find(names_, name) - names_.begin();
    return ExpressionValue::of(values[static_cast<std::size_t>(index)]);
  });
  if (!result.ok() || result->kind != ExpressionValue::Kind::number) return std::nullopt;
  return result->numbers.front().value;
}

Result<ExpressionValue> Expression::evaluate_any(const Lookup& lookup) const {
  return ExpressionEvaluator(*this, lookup).evaluate(root_);
}

std::string Expression::substitute(
    const std::function<std::optional<std::string>(const std::string&)>& text_of) const {
  std::string result;
  std::size_t at = 0;
  // The parser creates the nodes of names in the order of the text.
  for (const Node& node : nodes_) {
    if (node.kind != Kind::name) continue;
    const auto replacement = text_of(names_[static_cast<std::size_t>(node.number)]);
    if (!replacement) continue;
    result.append(text_, at, node.begin - at).append(*replacement);
    at = node.end;
  }
  return result.append(text_, at);
}

std::optional<std::string> Expression::as_name() const {
  const Node& root = nodes_[root_];
  if (root.kind != Kind::name) return std::nullopt;
  return names_[static_cast<std::size_t>(root.number)];
}

std::vector<Expression> Expression::elements() const {
  const Node& root = nodes_[root_];
  if (root.kind != Kind::list) return {*this};
  std::vector<Expression> all;
  for (const std::size_t operand : root.operands) {
    Expression element = *this;
    element.root_ = operand;
    all.push_back(std::move(element));
  }
  return all;
}

std::optional<Expression::Tail> Expression::as_tail() const {
  const Node& root = nodes_[root_];
  if (root.kind != Kind::slice) return std::nullopt;
  const Node& list = nodes_[root.operands[0]];
  const Node& start = nodes_[root.operands[1]];
  if (list.kind != Kind::name || start.kind != Kind::name ||
      nodes_[root.operands[2]].kind != Kind::absent) {
    return std::nullopt;
  }
  return Tail{names_[static_cast<std::size_t>(list.number)],
              names_[static_cast<std::size_t>(start.number)]};
}

}  // namespace bench
