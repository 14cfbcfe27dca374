// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic that users write: + - * / ( ) over names and numbers.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

class Expression {
 public:
  // Names are letters, digits, _ and dots, and do not begin with a digit. Error: what is wrong,
  // with `where` the column, from 1.
  static Result<Expression> parse(std::string_view text);

  // Each name once, in order of first use.
  const std::vector<std::string>& names() const { return names_; }

  // Values of names; absent: unknown. The result is absent where one of them is unknown, a division
  // is by zero or leaves a rest, or a number leaves 64 bits.
  using Lookup = std::function<std::optional<std::int64_t>(const std::string& name)>;
  std::optional<std::int64_t> evaluate(const Lookup& lookup) const;

 private:
  friend class ExpressionParser;
  enum class Kind { number, name, add, subtract, multiply, divide, negate };
  struct Step {  // of a stack machine
    Kind kind;
    std::int64_t number = 0;  // or the name's place in names_
  };
  std::vector<Step> steps_;
  std::vector<std::string> names_;
};

}  // namespace bench
