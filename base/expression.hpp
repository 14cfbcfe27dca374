// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic in texts: the formulas of users' work files and of the operators'
// descriptions.
//   numbers   + - * / (a remainder has no result), ( ), unary -
//   tests     == != < <= > >=, not, and, or: 1 or 0; `a ? b : c` evaluates only what it takes
//   lists     [a, b] (lists inside are spliced in), shape[0], shape[-1], shape[:axis], shape[axis:]
//   words     'max', which can only be compared
//   functions rank(list) (its length), prod, sum, min, max (of numbers and lists), ascending(list),
//             only(list, positions), reduced(list, positions) (with 1 at these positions),
//             permuted(list, order) (element order[0], then order[1], ...; without an order as it
//             is)
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

// A number of an evaluation. nullopt: it exceeds 64 bits or is not defined (a division with a
// remainder). `origin`: the first name that it was computed from, a part of the Expression; empty
// if there is none.
struct ExpressionNumber {
  std::optional<std::int64_t> value;
  std::string_view origin = {};
};
using ExpressionList = std::vector<ExpressionNumber>;

struct ExpressionValue {
  enum class Kind { number, list, word };
  Kind kind = Kind::number;
  ExpressionList numbers = {};  // one if the value is a number
  std::string word = {};

  static ExpressionValue of(ExpressionNumber number) { return {Kind::number, {number}, {}}; }
  static ExpressionValue of(std::int64_t number) { return of(ExpressionNumber{number}); }
  static ExpressionValue of(ExpressionList list) { return {Kind::list, std::move(list), {}}; }
  static ExpressionValue of(std::string word) { return {Kind::word, {}, std::move(word)}; }
};

class Expression {
 public:
  // Names consist of letters, digits, underscores and dots, and do not begin with a digit. The
  // error states what is wrong; its `where` is the column, from 1.
  static Result<Expression> parse(std::string_view text);

  const std::string& text() const { return text_; }
  // Returns each name once, in order of first use.
  const std::vector<std::string>& names() const { return names_; }

  // Returns the value of a name; nullopt if the name is unknown.
  using NumberLookup = std::function<std::optional<std::int64_t>(const std::string& name)>;
  // Returns nullopt if a name is unknown, or the result is not a number, has a division by zero or
  // with a remainder, or exceeds 64 bits.
  std::optional<std::int64_t> evaluate(const NumberLookup& lookup) const;

  using Lookup = std::function<std::optional<ExpressionValue>(const std::string& name)>;
  // Evaluates names of any kind, and only those that the result needs. Error: an unknown name, an
  // operand of the wrong kind, an index outside of its list.
  Result<ExpressionValue> evaluate_any(const Lookup& lookup) const;

  // Returns the text with each name replaced. `text_of` returns nullopt for names that stay.
  std::string substitute(
      const std::function<std::optional<std::string>(const std::string&)>& text_of) const;

  // Parts of an expression that has only these parts.
  // Returns the name of an expression that is a name alone.
  std::optional<std::string> as_name() const;
  // Returns the elements of a list in brackets; the expression itself otherwise.
  std::vector<Expression> elements() const;
  // Returns the names of `list[start:]`, if both are names alone.
  struct Tail {
    std::string list, start;
  };
  std::optional<Tail> as_tail() const;

 private:
  friend class ExpressionParser;
  friend class ExpressionEvaluator;
  enum class Kind {
    number,
    name,
    word,
    list,
    add,
    subtract,
    multiply,
    divide,
    negate,
    equal,
    unequal,
    less,
    at_most,
    negation,
    conjunction,
    disjunction,
    choice,
    index,
    slice,
    absent,  // a bound that a slice leaves out
    rank,
    prod,
    sum,
    min,
    max,
    ascending,
    only,
    reduced,
    permuted,
  };
  struct Node {
    Kind kind;
    std::int64_t number = 0;                 // value of a number, or index of a name or word
    std::vector<std::size_t> operands = {};  // indexes in nodes_
    std::size_t begin = 0, end = 0;          // in text_
  };

  std::string text_;
  std::vector<Node> nodes_;
  std::size_t root_ = 0;
  std::vector<std::string> names_;
  std::vector<std::string> words_;
};

}  // namespace bench
