// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic in user input: + - * / ( ) over names and numbers.
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
  // Names consist of letters, digits, underscores and dots, and do not begin with a digit. The
  // error states what is wrong; its `where` is the column, from 1.
  static Result<Expression> parse(std::string_view text);

  // Returns each name once, in order of first use.
  const std::vector<std::string>& names() const { return names_; }

  // Returns the value of a name; nullopt if the name is unknown.
  using Lookup = std::function<std::optional<std::int64_t>(const std::string& name)>;
  // Returns nullopt if a name is unknown, a division is by zero or has a remainder, or a number
  // exceeds 64 bits.
  std::optional<std::int64_t> evaluate(const Lookup& lookup) const;

 private:
  friend class ExpressionParser;
  enum class Kind { number, name, add, subtract, multiply, divide, negate };
  struct Step {  // instruction of a stack machine
    Kind kind;
    std::int64_t number = 0;  // value of a number, or index of a name in names_
  };
  std::vector<Step> steps_;
  std::vector<std::string> names_;
};

}  // namespace bench
