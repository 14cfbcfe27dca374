// SPDX-License-Identifier: Apache-2.0
#include "ops/math/functions.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

namespace bench::ops {
namespace {

using At = const MathArguments&;
using std::numbers::ln10, std::numbers::ln2, std::numbers::pi;

constexpr double kTwoBySqrtPi = 2 * std::numbers::inv_sqrtpi;
constexpr double kSeluScale = 1.0507009873554805, kSeluAlpha = 1.6732632423543772;

double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double soft(double x) { return std::log1p(std::exp(x)); }

// Shifts the argument to at least 12, where the asymptotic series has full precision.
double psi(double x) {
  double sum = 0;
  for (; x < 12; ++x) sum -= 1 / x;
  const double s = 1 / (x * x);
  return sum + std::log(x) - 0.5 / x -
         s * (1.0 / 12 - s * (1.0 / 120 - s * (1.0 / 252 - s * (1.0 / 240 - s / 132))));
}

// By bisection: independent of the rational approximations that kernels use.
double inverse_erf(double y) {
  double low = 0, high = 7;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (std::erf(middle) < std::abs(y) ? low : high) = middle;
  }
  return std::copysign(low, y);
}

std::int64_t whole(double x) { return static_cast<std::int64_t>(x); }

MathSlopes one(double slope) { return {slope, 0, 0}; }

constexpr MathRange kUnit, kPositive{0.5, 1.5}, kInside{-0.875, 0.875}, kAboveOne{1.5, 2.5};
constexpr MathRange kWide{-8, 8}, kPlus{2.25, 4.25}, kAngle{-1.25, 1.25};
constexpr MathRange kEqual{-2, 3, MathRange::Values::whole};
constexpr MathRange kBits{0, 16, MathRange::Values::whole};
constexpr MathRange kShift{0, 4, MathRange::Values::whole};
constexpr MathRange kFlag{0, 2, MathRange::Values::whole};
constexpr auto kFloating = MathTypes::floating;
constexpr auto kIntegers = MathTypes::integers;
constexpr auto kAny = MathTypes::any;
constexpr std::optional<MathWork> kNone;

using W = MathWork;
// clang-format off
#define BENCH_VALUE [](At x) -> double
#define BENCH_SLOPES [](At x) -> MathSlopes
constexpr MathFunction kFunctions[] = {
    // Signs and quotients
    {"neg", 1, {}, kFloating, {}, {0, 0}, W{0, 0}, BENCH_VALUE { return -x.a; }, BENCH_SLOPES { (void)x; return one(-1); }},
    {"reciprocal", 1, {}, kFloating, {kPositive}, {1, 0}, W{2, 0}, BENCH_VALUE { return 1 / x.a; }, BENCH_SLOPES { return one(-1 / (x.a * x.a)); }},
    {"sign", 1, {}, kAny, {kEqual}, {2, 0}, kNone, BENCH_VALUE { return x.a > 0 ? 1 : x.a < 0 ? -1 : 0; }, nullptr},
    {"degrees", 1, {}, kFloating, {}, {1, 0}, W{1, 0}, BENCH_VALUE { return x.a * 180 / pi; }, BENCH_SLOPES { (void)x; return one(180 / pi); }},
    {"radians", 1, {}, kFloating, {}, {1, 0}, W{1, 0}, BENCH_VALUE { return x.a * pi / 180; }, BENCH_SLOPES { (void)x; return one(pi / 180); }},
    // Powers, exponentials and logarithms
    {"power", 1, 3.0, kFloating, {kPositive}, {0, 1}, W{3, 1}, BENCH_VALUE { return std::pow(x.a, x.alpha); }, BENCH_SLOPES { return one(x.alpha * std::pow(x.a, x.alpha - 1)); }},
    {"rsqrt", 1, {}, kFloating, {kPositive}, {1, 1}, W{4, 1}, BENCH_VALUE { return 1 / std::sqrt(x.a); }, BENCH_SLOPES { return one(-0.5 / (x.a * std::sqrt(x.a))); }},
    {"cbrt", 1, {}, kFloating, {kPositive}, {0, 1}, W{3, 1}, BENCH_VALUE { return std::cbrt(x.a); }, BENCH_SLOPES { return one(1 / (3 * std::cbrt(x.a) * std::cbrt(x.a))); }},
    {"rcbrt", 1, {}, kFloating, {kPositive}, {1, 1}, W{4, 1}, BENCH_VALUE { return 1 / std::cbrt(x.a); }, BENCH_SLOPES { return one(-1 / (3 * x.a * std::cbrt(x.a))); }},
    {"exp2", 1, {}, kFloating, {}, {0, 1}, W{2, 1}, BENCH_VALUE { return std::exp2(x.a); }, BENCH_SLOPES { return one(std::exp2(x.a) * ln2); }},
    {"expm1", 1, {}, kFloating, {}, {0, 1}, W{1, 1}, BENCH_VALUE { return std::expm1(x.a); }, BENCH_SLOPES { return one(std::exp(x.a)); }},
    {"log2", 1, {}, kFloating, {kPositive}, {0, 1}, W{2, 0}, BENCH_VALUE { return std::log2(x.a); }, BENCH_SLOPES { return one(1 / (x.a * ln2)); }},
    {"log10", 1, {}, kFloating, {kPositive}, {0, 1}, W{2, 0}, BENCH_VALUE { return std::log10(x.a); }, BENCH_SLOPES { return one(1 / (x.a * ln10)); }},
    {"log1p", 1, {}, kFloating, {kPositive}, {0, 1}, W{2, 0}, BENCH_VALUE { return std::log1p(x.a); }, BENCH_SLOPES { return one(1 / (1 + x.a)); }},
    // Trigonometry
    {"sin", 1, {}, kFloating, {kWide}, {0, 1}, W{1, 1}, BENCH_VALUE { return std::sin(x.a); }, BENCH_SLOPES { return one(std::cos(x.a)); }},
    {"cos", 1, {}, kFloating, {kWide}, {0, 1}, W{1, 1}, BENCH_VALUE { return std::cos(x.a); }, BENCH_SLOPES { return one(-std::sin(x.a)); }},
    {"tan", 1, {}, kFloating, {kAngle}, {0, 1}, W{3, 1}, BENCH_VALUE { return std::tan(x.a); }, BENCH_SLOPES { return one(1 + std::tan(x.a) * std::tan(x.a)); }},
    {"asin", 1, {}, kFloating, {kInside}, {0, 1}, W{3, 1}, BENCH_VALUE { return std::asin(x.a); }, BENCH_SLOPES { return one(1 / std::sqrt(1 - x.a * x.a)); }},
    {"acos", 1, {}, kFloating, {kInside}, {0, 1}, W{3, 1}, BENCH_VALUE { return std::acos(x.a); }, BENCH_SLOPES { return one(-1 / std::sqrt(1 - x.a * x.a)); }},
    {"atan", 1, {}, kFloating, {}, {0, 1}, W{3, 0}, BENCH_VALUE { return std::atan(x.a); }, BENCH_SLOPES { return one(1 / (1 + x.a * x.a)); }},
    {"sinh", 1, {}, kFloating, {}, {0, 1}, W{1, 1}, BENCH_VALUE { return std::sinh(x.a); }, BENCH_SLOPES { return one(std::cosh(x.a)); }},
    {"cosh", 1, {}, kFloating, {}, {0, 1}, W{1, 1}, BENCH_VALUE { return std::cosh(x.a); }, BENCH_SLOPES { return one(std::sinh(x.a)); }},
    {"asinh", 1, {}, kFloating, {}, {0, 1}, W{3, 1}, BENCH_VALUE { return std::asinh(x.a); }, BENCH_SLOPES { return one(1 / std::sqrt(x.a * x.a + 1)); }},
    {"acosh", 1, {}, kFloating, {kAboveOne}, {0, 1}, W{3, 1}, BENCH_VALUE { return std::acosh(x.a); }, BENCH_SLOPES { return one(1 / std::sqrt(x.a * x.a - 1)); }},
    {"atanh", 1, {}, kFloating, {kInside}, {0, 1}, W{3, 0}, BENCH_VALUE { return std::atanh(x.a); }, BENCH_SLOPES { return one(1 / (1 - x.a * x.a)); }},
    // Error and gamma functions
    {"erf", 1, {}, kFloating, {}, {0, 1}, W{3, 1}, BENCH_VALUE { return std::erf(x.a); }, BENCH_SLOPES { return one(kTwoBySqrtPi * std::exp(-x.a * x.a)); }},
    {"erfc", 1, {}, kFloating, {}, {0, 1}, W{3, 1}, BENCH_VALUE { return std::erfc(x.a); }, BENCH_SLOPES { return one(-kTwoBySqrtPi * std::exp(-x.a * x.a)); }},
    {"erfinv", 1, {}, kFloating, {kInside}, {0, 1}, W{3, 2}, BENCH_VALUE { return inverse_erf(x.a); }, BENCH_SLOPES { const double y = inverse_erf(x.a); return one(std::exp(y * y) / kTwoBySqrtPi); }},
    {"lgamma", 1, {}, kFloating, {kPlus}, {0, 1}, W{1, 1}, BENCH_VALUE { return std::lgamma(x.a); }, BENCH_SLOPES { return one(psi(x.a)); }},
    {"gamma", 1, {}, kFloating, {kPlus}, {0, 1}, W{2, 2}, BENCH_VALUE { return std::tgamma(x.a); }, BENCH_SLOPES { return one(std::tgamma(x.a) * psi(x.a)); }},
    {"digamma", 1, {}, kFloating, {kPlus}, {0, 1}, kNone, BENCH_VALUE { return psi(x.a); }, nullptr},
    // Rounding
    {"ceil", 1, {}, kFloating, {kWide}, {1, 0}, kNone, BENCH_VALUE { return std::ceil(x.a); }, nullptr},
    {"floor", 1, {}, kFloating, {kWide}, {1, 0}, kNone, BENCH_VALUE { return std::floor(x.a); }, nullptr},
    {"round", 1, {}, kFloating, {kWide}, {1, 0}, kNone, BENCH_VALUE { return std::nearbyint(x.a); }, nullptr},
    {"trunc", 1, {}, kFloating, {kWide}, {1, 0}, kNone, BENCH_VALUE { return std::trunc(x.a); }, nullptr},
    {"frac", 1, {}, kFloating, {kWide}, {2, 0}, W{0, 0}, BENCH_VALUE { return x.a - std::trunc(x.a); }, BENCH_SLOPES { (void)x; return one(1); }},
    // Activations
    {"softplus", 1, 1.0, kFloating, {}, {3, 2}, W{4, 1}, BENCH_VALUE { return soft(x.alpha * x.a) / x.alpha; }, BENCH_SLOPES { return one(logistic(x.alpha * x.a)); }},
    {"log_sigmoid", 1, {}, kFloating, {}, {1, 2}, W{3, 1}, BENCH_VALUE { return -soft(-x.a); }, BENCH_SLOPES { return one(logistic(-x.a)); }},
    {"mish", 1, {}, kFloating, {}, {2, 3}, W{9, 4}, BENCH_VALUE { return x.a * std::tanh(soft(x.a)); }, BENCH_SLOPES { const double t = std::tanh(soft(x.a)); return one(t + x.a * (1 - t * t) * logistic(x.a)); }},
    {"selu", 1, {}, kFloating, {}, {3, 1}, W{3, 1}, BENCH_VALUE { return kSeluScale * (x.a > 0 ? x.a : kSeluAlpha * std::expm1(x.a)); }, BENCH_SLOPES { return one(kSeluScale * (x.a > 0 ? 1 : kSeluAlpha * std::exp(x.a))); }},
    {"softsign", 1, {}, kFloating, {}, {3, 0}, W{5, 0}, BENCH_VALUE { return x.a / (1 + std::abs(x.a)); }, BENCH_SLOPES { const double d = 1 + std::abs(x.a); return one(1 / (d * d)); }},
    {"logical_not", 1, {}, kAny, {kFlag}, {1, 0}, kNone, BENCH_VALUE { return x.a == 0; }, nullptr},
    // Two tensors
    {"pow", 2, {}, kFloating, {kPositive, kUnit}, {0, 1}, W{6, 3}, BENCH_VALUE { return std::pow(x.a, x.b); }, BENCH_SLOPES { return {x.b * std::pow(x.a, x.b - 1), std::pow(x.a, x.b) * std::log(x.a), 0}; }},
    {"atan2", 2, {}, kFloating, {kPositive, kPositive}, {1, 1}, W{7, 0}, BENCH_VALUE { return std::atan2(x.a, x.b); }, BENCH_SLOPES { const double r = x.a * x.a + x.b * x.b; return {x.b / r, -x.a / r, 0}; }},
    {"hypot", 2, {}, kFloating, {kPositive, kPositive}, {3, 1}, W{7, 1}, BENCH_VALUE { return std::hypot(x.a, x.b); }, BENCH_SLOPES { const double r = std::hypot(x.a, x.b); return {x.a / r, x.b / r, 0}; }},
    {"logaddexp", 2, {}, kFloating, {}, {4, 2}, W{5, 1}, BENCH_VALUE { return std::max(x.a, x.b) + soft(-std::abs(x.a - x.b)); }, BENCH_SLOPES { const double s = logistic(x.a - x.b); return {s, 1 - s, 0}; }},
    {"mod", 2, {}, kFloating, {kWide, kPositive}, {4, 0}, W{3, 0}, BENCH_VALUE { const double r = std::fmod(x.a, x.b); return r != 0 && (r < 0) != (x.b < 0) ? r + x.b : r; }, BENCH_SLOPES { return {1, -std::floor(x.a / x.b), 0}; }},
    {"fmod", 2, {}, kFloating, {kWide, kPositive}, {3, 0}, W{3, 0}, BENCH_VALUE { return std::fmod(x.a, x.b); }, BENCH_SLOPES { return {1, -std::trunc(x.a / x.b), 0}; }},
    {"floor_div", 2, {}, kFloating, {kWide, kPositive}, {2, 0}, kNone, BENCH_VALUE { return std::floor(x.a / x.b); }, nullptr},
    {"eq", 2, {}, kAny, {kEqual, kEqual}, {1, 0}, kNone, BENCH_VALUE { return x.a == x.b; }, nullptr},
    {"ne", 2, {}, kAny, {kEqual, kEqual}, {1, 0}, kNone, BENCH_VALUE { return x.a != x.b; }, nullptr},
    {"lt", 2, {}, kAny, {kEqual, kEqual}, {1, 0}, kNone, BENCH_VALUE { return x.a < x.b; }, nullptr},
    {"le", 2, {}, kAny, {kEqual, kEqual}, {1, 0}, kNone, BENCH_VALUE { return x.a <= x.b; }, nullptr},
    {"gt", 2, {}, kAny, {kEqual, kEqual}, {1, 0}, kNone, BENCH_VALUE { return x.a > x.b; }, nullptr},
    {"ge", 2, {}, kAny, {kEqual, kEqual}, {1, 0}, kNone, BENCH_VALUE { return x.a >= x.b; }, nullptr},
    {"logical_and", 2, {}, kAny, {kFlag, kFlag}, {3, 0}, kNone, BENCH_VALUE { return x.a != 0 && x.b != 0; }, nullptr},
    {"logical_or", 2, {}, kAny, {kFlag, kFlag}, {3, 0}, kNone, BENCH_VALUE { return x.a != 0 || x.b != 0; }, nullptr},
    {"logical_xor", 2, {}, kAny, {kFlag, kFlag}, {3, 0}, kNone, BENCH_VALUE { return (x.a != 0) != (x.b != 0); }, nullptr},
    {"bit_and", 2, {}, kIntegers, {kBits, kBits}, {1, 0}, kNone, BENCH_VALUE { return static_cast<double>(whole(x.a) & whole(x.b)); }, nullptr},
    {"bit_or", 2, {}, kIntegers, {kBits, kBits}, {1, 0}, kNone, BENCH_VALUE { return static_cast<double>(whole(x.a) | whole(x.b)); }, nullptr},
    {"bit_xor", 2, {}, kIntegers, {kBits, kBits}, {1, 0}, kNone, BENCH_VALUE { return static_cast<double>(whole(x.a) ^ whole(x.b)); }, nullptr},
    {"shift_left", 2, {}, kIntegers, {kShift, kShift}, {1, 0}, kNone, BENCH_VALUE { return static_cast<double>(whole(x.a) << whole(x.b)); }, nullptr},
    {"shift_right", 2, {}, kIntegers, {kBits, kShift}, {1, 0}, kNone, BENCH_VALUE { return static_cast<double>(whole(x.a) >> whole(x.b)); }, nullptr},
    {"squared_error", 2, {}, kFloating, {}, {2, 0}, W{3, 0}, BENCH_VALUE { return (x.a - x.b) * (x.a - x.b); }, BENCH_SLOPES { return {2 * (x.a - x.b), -2 * (x.a - x.b), 0}; }},
    // Three tensors
    {"select", 3, {}, kAny, {kUnit, kUnit, kFlag}, {1, 0}, W{1, 0}, BENCH_VALUE { return x.c != 0 ? x.a : x.b; }, BENCH_SLOPES { return {x.c != 0 ? 1.0 : 0.0, x.c != 0 ? 0.0 : 1.0, 0}; }},
    {"clamp", 3, {}, kFloating, {kUnit, {-0.75, -0.25}, {0.25, 0.75}}, {2, 0}, W{5, 0}, BENCH_VALUE { return std::min(std::max(x.a, x.b), x.c); }, BENCH_SLOPES { const bool above = x.a > x.c, below = x.a < x.b; return {above || below ? 0.0 : 1.0, below ? 1.0 : 0.0, above ? 1.0 : 0.0}; }},
    {"addcmul", 3, 1.0, kFloating, {}, {3, 0}, W{3, 0}, BENCH_VALUE { return x.a + x.alpha * x.b * x.c; }, BENCH_SLOPES { return {1, x.alpha * x.c, x.alpha * x.b}; }},
    {"addcdiv", 3, 1.0, kFloating, {kUnit, kUnit, kPositive}, {3, 0}, W{5, 0}, BENCH_VALUE { return x.a + x.alpha * x.b / x.c; }, BENCH_SLOPES { return {1, x.alpha / x.c, -x.alpha * x.b / (x.c * x.c)}; }},
    {"lerp", 3, {}, kFloating, {kUnit, kUnit, {0, 1}}, {3, 0}, W{5, 0}, BENCH_VALUE { return x.a + x.c * (x.b - x.a); }, BENCH_SLOPES { return {1 - x.c, x.c, x.b - x.a}; }},
};
#undef BENCH_VALUE
#undef BENCH_SLOPES
// clang-format on

constexpr auto kMathNames = [] {
  std::array<std::string_view, std::size(kFunctions)> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kFunctions[i].name;
  return names;
}();

}  // namespace

std::span<const MathFunction> math_functions() { return kFunctions; }

const MathFunction* find_math_function(std::string_view name) {
  const auto* const row = std::ranges::find(kFunctions, name, &MathFunction::name);
  return row == std::end(kFunctions) ? nullptr : row;
}

std::span<const std::string_view> math_function_names() { return kMathNames; }

}  // namespace bench::ops
