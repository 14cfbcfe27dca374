// SPDX-License-Identifier: Apache-2.0
#include "ops/model.hpp"
#include "ops/peak/peak.hpp"

#include <algorithm>
#include <functional>

namespace bench::ops {
namespace {

std::function<double(std::size_t)> make_expected_value(const Problem& problem,
                                                       ReferenceInputs inputs) {
  const std::string& function = problem.parameters.word("function");
  const auto* movement_loop = find_movement_loop(function);
  if (movement_loop == nullptr) {
    const ArithmeticLoop& loop = *find_arithmetic_loop(function, problem.dtype);
    const double product = info(loop.sums).is_integer ? 1 : kPeakProduct;
    const double added = static_cast<double>(peak_steps(problem) * loop.terms) * product;
    return [source = inputs[0].data(), added](std::size_t i) { return source[i] + added; };
  }
  const double* first = inputs[0].data();
  switch (movement_loop->movement) {
    case Movement::read:
      return [largest = *std::ranges::max_element(inputs[0])](std::size_t) { return largest; };
    case Movement::write:
      return [first](std::size_t) { return *first; };
    case Movement::copy:
      return [first](std::size_t i) { return first[i]; };
    case Movement::triad:
      break;
  }
  const double* second = inputs[1].data();
  return [first, second](std::size_t i) { return first[i] + kTriadFactor * second[i]; };
}

}  // namespace

std::vector<double> peak_reference(const Problem& problem, ReferenceInputs inputs,
                                   std::size_t /*output: there is one*/,
                                   std::span<const std::int64_t> positions) {
  const auto value = make_expected_value(problem, inputs);
  return evaluate(problem.tensors.back().elements(), positions,
                  [&](std::int64_t position) { return value(static_cast<std::size_t>(position)); });
}

}  // namespace bench::ops
