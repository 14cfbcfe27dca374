// SPDX-License-Identifier: Apache-2.0
// For tests of operators: compares gradients with differences of the forward function.
#pragma once

#include "ops/test_support.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops::op_test {

// Compares each output of the gradient ("diff_source", ...) with the difference quotient of a
// random sum of the forward pass's first output, along each element of the tensor that it belongs
// to. Both problems have the same parameters; f64 keeps the quotients exact enough.
inline void expect_gradients_equal_differences(std::string_view op, const std::string& tokens,
                                               Direction direction) {
  const Problem forward = problem(op, tokens, DataType::f64);
  const Problem backward = problem(op, tokens, DataType::f64, direction);
  auto inputs = random_inputs(forward, 5);
  auto given = random_inputs(backward, 6);
  const std::vector<double> factors = given.back();
  std::map<std::string, std::size_t> numbers;
  for (std::size_t i = 0; i < inputs.size(); ++i) numbers[forward.tensors[i].name] = i;
  for (std::size_t i = 0; i + 1 < given.size(); ++i) {
    ASSERT_EQ(numbers.count(backward.tensors[i].name), 1u) << backward.tensors[i].name;
    given[i] = inputs[numbers.at(backward.tensors[i].name)];
  }
  const auto loss = [&] {
    const std::vector<double> result = built_in_reference(forward, inputs, 0, {});
    double sum = 0;
    for (std::size_t i = 0; i < result.size(); ++i) sum += factors[i] * result[i];
    return sum;
  };
  constexpr double kStep = 1e-5;
  for (std::size_t output = 0; output < backward.output_count(); ++output) {
    const std::string& name = backward.output(output).name;
    ASSERT_TRUE(name.starts_with("diff_")) << name;
    std::vector<double>& values = inputs[numbers.at(name.substr(5))];
    const std::vector<double> gradient = built_in_reference(backward, given, output, {});
    ASSERT_EQ(gradient.size(), values.size());
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double x = values[i];
      values[i] = x + kStep;
      const double above = loss();
      values[i] = x - kStep;
      const double below = loss();
      values[i] = x;
      ASSERT_NEAR(gradient[i], (above - below) / (2 * kStep), 1e-6 * (1 + std::abs(gradient[i])))
          << op << "/" << tokens << ": " << name << " " << i;
    }
  }
}

}  // namespace bench::ops::op_test
