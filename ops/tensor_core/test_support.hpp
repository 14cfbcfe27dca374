// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/tensor_core/eligibility.hpp"
#include "ops/test_support.hpp"

#include <string>
#include <string_view>

namespace bench::ops::op_test {

struct CaseSettings {
  DataType dtype = DataType::f16;
  Direction direction = Direction::forward;
  Layout layout = Layout::any;
  Math math = Math::standard;
};

inline Problem make_case_problem(std::string_view op, std::string_view tokens,
                                 const CaseSettings& settings) {
  Problem result = problem(op, tokens, settings.dtype, settings.direction);
  result.layout = settings.layout;
  result.math = settings.math;
  return result;
}

inline TensorCoreEligibility assess(std::string_view op, std::string_view tokens,
                                    std::string_view platform, const CaseSettings& settings = {}) {
  return assess_tensor_cores(make_case_problem(op, tokens, settings),
                             parse_platform(platform).value());
}

inline bool is_eligible(const TensorCoreEligibility& verdict) {
  return verdict.answer == TensorCoreAnswer::eligible;
}

inline std::string_view find_rule(const TensorCoreEligibility& verdict, TensorCorePart part) {
  return verdict.parts.at(static_cast<std::size_t>(part)).rule;
}

}  // namespace bench::ops::op_test
