// SPDX-License-Identifier: Apache-2.0
#include "ops/unary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace bench::ops {
namespace {

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

double gelu_tanh(double x) {
  // The constants of the published approximation, sqrt(2/pi) and 0.044715.
  constexpr double kSqrtTwoOverPi = 0.79788456080286535588;
  return 0.5 * x * (1.0 + std::tanh(kSqrtTwoOverPi * (x + 0.044715 * x * x * x)));
}

constexpr std::optional<double> kNone = std::nullopt;

// Counts: a comparison, addition, multiplication or division is 1 FLOP, exp, log, sqrt, tanh and
// erf are one operation of the special-function unit each.
constexpr std::array<UnaryFunction, 15> kFunctions = {{
    {"relu", "max(x, 0)", kNone, kNone, 1, 0,
     [](double x, double, double) { return x > 0 ? x : 0.0; }},
    {"leaky_relu", "x > 0 ? x : a*x", 0.01, kNone, 2, 0,
     [](double x, double a, double) { return x > 0 ? x : a * x; }},
    {"elu", "x > 0 ? x : a*(exp(x) - 1)", 1.0, kNone, 3, 1,
     [](double x, double a, double) { return x > 0 ? x : a * std::expm1(x); }},
    {"gelu_erf", "0.5*x*(1 + erf(x/sqrt(2)))", kNone, kNone, 4, 1,
     [](double x, double, double) { return 0.5 * x * (1.0 + std::erf(x / std::numbers::sqrt2)); }},
    {"gelu_tanh", "0.5*x*(1 + tanh(sqrt(2/pi)*(x + 0.044715*x^3)))", kNone, kNone, 8, 1,
     [](double x, double, double) { return gelu_tanh(x); }},
    {"sigmoid", "1/(1 + exp(-x))", kNone, kNone, 2, 1,
     [](double x, double, double) { return sigmoid(x); }},
    {"tanh", "tanh(x)", kNone, kNone, 0, 1, [](double x, double, double) { return std::tanh(x); }},
    {"swish", "x/(1 + exp(-a*x))", 1.0, kNone, 3, 1,
     [](double x, double a, double) { return x * sigmoid(a * x); }},
    {"hardswish", "x*min(max(a*x + b, 0), 1)", 1.0 / 6.0, 0.5, 5, 0,
     [](double x, double a, double b) { return x * std::clamp(a * x + b, 0.0, 1.0); }},
    {"exp", "exp(x)", kNone, kNone, 0, 1, [](double x, double, double) { return std::exp(x); }},
    {"log", "log(x)", kNone, kNone, 0, 1, [](double x, double, double) { return std::log(x); }},
    {"sqrt", "sqrt(x)", kNone, kNone, 0, 1, [](double x, double, double) { return std::sqrt(x); }},
    {"abs", "|x|", kNone, kNone, 1, 0, [](double x, double, double) { return std::abs(x); }},
    {"clip", "min(max(x, a), b)", 0.0, 6.0, 2, 0,
     [](double x, double a, double b) { return std::min(std::max(x, a), b); }},
    {"square", "x*x", kNone, kNone, 1, 0, [](double x, double, double) { return x * x; }},
}};

}  // namespace

std::span<const UnaryFunction> unary_functions() { return kFunctions; }

const UnaryFunction* find_unary_function(std::string_view name) {
  const auto* row = std::ranges::find(kFunctions, name, &UnaryFunction::name);
  return row == kFunctions.end() ? nullptr : row;
}

std::vector<std::string_view> unary_function_names() {
  std::vector<std::string_view> names;
  for (const UnaryFunction& function : kFunctions) names.push_back(function.name);
  return names;
}

}  // namespace bench::ops
