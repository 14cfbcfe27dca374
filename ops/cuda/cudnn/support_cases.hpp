// SPDX-License-Identifier: Apache-2.0
// For tests: visits the examples of every operator in every direction, data type and layout.
#pragma once

#include "ops/operator.hpp"
#include "ops/test_support.hpp"

#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::ops::cuda::cudnn_test {

inline std::vector<std::pair<std::string_view, std::string_view>> operator_examples() {
  std::vector<std::pair<std::string_view, std::string_view>> examples;
  for (const Operator* op : all_operators()) {
    for (const std::string_view tokens : op->examples) examples.emplace_back(op->name, tokens);
  }
  return examples;
}

// Calls visit(problem, description) for each valid combination of an example with a data type, a
// direction and a layout.
inline void for_each_support_case(
    const std::function<void(const Problem& problem, const std::string& what)>& visit) {
  for (const auto& [op, tokens] : operator_examples()) {
    bool exists = false;
    for (const DataTypeInfo& type : data_types()) {
      for (const Direction direction :
           {Direction::forward, Direction::backward_data, Direction::backward_weights}) {
        auto problem = bench::ops::op_test::try_problem(op, tokens, type.type, direction);
        if (!type.is_case_type || !problem) continue;
        exists = true;
        for (const Layout layout : {Layout::any, Layout::nchw, Layout::nhwc}) {
          problem->layout = layout;
          visit(*problem, fmt::format("{} {} {} {} {}", op, tokens, type.name, to_string(direction),
                                      to_string(layout)));
        }
      }
    }
    EXPECT_TRUE(exists) << op << " " << tokens;
  }
}

}  // namespace bench::ops::cuda::cudnn_test
