// SPDX-License-Identifier: Apache-2.0
#include "ops/pointwise/functions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace bench::ops {
namespace {

constexpr double kGeluScale = 0.7978845608028654;  // sqrt(2 / pi)
constexpr double kGeluCubic = 0.044715;
constexpr double kNormalDensity = 0.3989422804014327;  // 1 / sqrt(2 pi)

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double relu(double x, double, double) { return std::max(x, 0.0); }
double relu_derivative(double x, double, double) { return x > 0 ? 1 : 0; }

double leaky_relu(double x, double alpha, double) { return x > 0 ? x : alpha * x; }
double leaky_relu_derivative(double x, double alpha, double) { return x > 0 ? 1 : alpha; }

double elu(double x, double alpha, double) { return x > 0 ? x : alpha * std::expm1(x); }
double elu_derivative(double x, double alpha, double) { return x > 0 ? 1 : alpha * std::exp(x); }

double gelu_erf(double x, double, double) {
  return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
}
double gelu_erf_derivative(double x, double, double) {
  return 0.5 * (1 + std::erf(x / std::numbers::sqrt2)) +
         x * kNormalDensity * std::exp(-0.5 * x * x);
}

double gelu_tanh(double x, double, double) {
  return 0.5 * x * (1 + std::tanh(kGeluScale * x * (1 + kGeluCubic * x * x)));
}
double gelu_tanh_derivative(double x, double, double) {
  const double t = std::tanh(kGeluScale * x * (1 + kGeluCubic * x * x));
  const double inner = kGeluScale * (1 + 3 * kGeluCubic * x * x);
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * inner;
}

double sigmoid_value(double x, double, double) { return sigmoid(x); }
double sigmoid_derivative(double x, double, double) { return sigmoid(x) * (1 - sigmoid(x)); }

double tanh_value(double x, double, double) { return std::tanh(x); }
double tanh_derivative(double x, double, double) { return 1 - std::tanh(x) * std::tanh(x); }

double swish(double x, double alpha, double) { return x * sigmoid(alpha * x); }
double swish_derivative(double x, double alpha, double) {
  const double s = sigmoid(alpha * x);
  return s + alpha * x * s * (1 - s);
}

double hardswish(double x, double, double) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }
double hardswish_derivative(double x, double, double) {
  if (x <= -3) return 0;
  return x >= 3 ? 1 : x / 3 + 0.5;
}

double hardsigmoid(double x, double, double) { return std::clamp(x / 6 + 0.5, 0.0, 1.0); }
double hardsigmoid_derivative(double x, double, double) { return x > -3 && x < 3 ? 1.0 / 6 : 0; }

double exp_value(double x, double, double) { return std::exp(x); }
double log_value(double x, double, double) { return std::log(x); }
double log_derivative(double x, double, double) { return 1 / x; }
double sqrt_value(double x, double, double) { return std::sqrt(x); }
double sqrt_derivative(double x, double, double) { return 0.5 / std::sqrt(x); }

double abs_value(double x, double, double) { return std::abs(x); }
double abs_derivative(double x, double, double) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

double clip(double x, double alpha, double beta) { return std::min(std::max(x, alpha), beta); }
double clip_derivative(double x, double alpha, double beta) { return x > alpha && x <= beta; }

double square(double x, double, double) { return x * x; }
double square_derivative(double x, double, double) { return 2 * x; }

double scale(double x, double alpha, double) { return alpha * x; }
double scale_derivative(double, double alpha, double) { return alpha; }

constexpr Domain kAll = Domain::everywhere;
constexpr Domain kPositive = Domain::positive;

// clang-format off
constexpr std::array<UnaryFunction, 17> kUnary = {{
    // name     coefficients alpha beta domain integers forward backward value derivative
    {"relu",       0, 0,    0, kAll,      true,  {1, 0}, {1, 0},  relu,          relu_derivative},
    {"leaky_relu", 1, 0.01, 0, kAll,      false, {2, 0}, {2, 0},  leaky_relu,    leaky_relu_derivative},
    {"elu",        1, 1,    0, kAll,      false, {3, 1}, {3, 1},  elu,           elu_derivative},
    {"gelu_erf",   0, 0,    0, kAll,      false, {4, 1}, {9, 2} , gelu_erf,      gelu_erf_derivative},
    {"gelu_tanh",  0, 0,    0, kAll,      false, {8, 1}, {17, 1}, gelu_tanh,     gelu_tanh_derivative},
    {"sigmoid",    0, 0,    0, kAll,      false, {2, 1}, {5, 1},  sigmoid_value, sigmoid_derivative},
    {"tanh",       0, 0,    0, kAll,      false, {0, 1}, {3, 1},  tanh_value,    tanh_derivative},
    {"swish",      1, 1,    0, kAll,      false, {3, 1}, {7, 1},  swish,         swish_derivative},
    {"hardswish",  0, 0,    0, kAll,      false, {4, 0}, {4, 0},  hardswish,     hardswish_derivative},
    {"hardsigmoid",0, 0,    0, kAll,      false, {3, 0}, {2, 0},  hardsigmoid,   hardsigmoid_derivative},
    {"exp",        0, 0,    0, kAll,      false, {0, 1}, {1, 1},  exp_value,     exp_value},
    {"log",        0, 0,    0, kPositive, false, {0, 1}, {1, 0},  log_value,     log_derivative},
    {"sqrt",       0, 0,    0, kPositive, false, {0, 1}, {2, 1},  sqrt_value,    sqrt_derivative},
    {"abs",        0, 0,    0, kAll,      true,  {1, 0}, {1, 0},  abs_value,     abs_derivative},
    {"clip",       2, 0,    6, kAll,      true,  {1, 0}, {1, 0},  clip,          clip_derivative},
    {"square",     0, 0,    0, kAll,      true,  {1, 0}, {2, 0},  square,        square_derivative},
    {"scale",      1, 1,    0, kAll,      false, {1, 0}, {1, 0},  scale,         scale_derivative},
}};
// clang-format on

double add(double a, double b) { return a + b; }
double sub(double a, double b) { return a - b; }
double mul(double a, double b) { return a * b; }
double div(double a, double b) { return a / b; }
double max(double a, double b) { return std::max(a, b); }
double min(double a, double b) { return std::min(a, b); }

constexpr std::array<BinaryFunction, 6> kBinary = {{
    {"add", kAll, add},
    {"sub", kAll, sub},
    {"mul", kAll, mul},
    {"div", kPositive, div},
    {"max", kAll, max},
    {"min", kAll, min},
}};

constexpr auto kNames = [] {
  std::array<std::string_view, kUnary.size() + kBinary.size()> names;
  std::size_t next = 0;
  for (const UnaryFunction& row : kUnary) names[next++] = row.name;
  for (const BinaryFunction& row : kBinary) names[next++] = row.name;
  return names;
}();

template <class Row>
const Row* find_row(std::span<const Row> rows, std::string_view name) {
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const Row& candidate) { return candidate.name == name; });
  return row == rows.end() ? nullptr : &*row;
}

}  // namespace

std::span<const UnaryFunction> unary_functions() { return kUnary; }

const UnaryFunction* find_unary_function(std::string_view name) {
  return find_row<UnaryFunction>(kUnary, name);
}

std::span<const BinaryFunction> binary_functions() { return kBinary; }

const BinaryFunction* find_binary_function(std::string_view name) {
  return find_row<BinaryFunction>(kBinary, name);
}

std::span<const std::string_view> pointwise_function_names() { return kNames; }

}  // namespace bench::ops
