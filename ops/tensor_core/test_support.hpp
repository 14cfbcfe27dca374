// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/tensor_core/eligibility.hpp"
#include "ops/test_support.hpp"

#include <string>
#include <string_view>

namespace bench::ops::op_test {

struct Asked {
  DataType dtype = DataType::f16;
  Direction direction = Direction::forward;
  Layout layout = Layout::any;
  Math math = Math::standard;
};

inline Problem asked_problem(std::string_view op, std::string_view tokens, const Asked& asked) {
  Problem made = problem(op, tokens, asked.dtype, asked.direction);
  made.layout = asked.layout;
  made.math = asked.math;
  return made;
}

inline TensorCoreEligibility ask(std::string_view op, std::string_view tokens,
                                 std::string_view platform, const Asked& asked = {}) {
  return assess_tensor_cores(asked_problem(op, tokens, asked), parse_platform(platform).value());
}

inline bool is_eligible(const TensorCoreEligibility& verdict) {
  return verdict.answer == TensorCoreAnswer::eligible;
}

inline std::string_view find_rule(const TensorCoreEligibility& verdict, TensorCorePart part) {
  return verdict.parts.at(static_cast<std::size_t>(part)).rule;
}

}  // namespace bench::ops::op_test
