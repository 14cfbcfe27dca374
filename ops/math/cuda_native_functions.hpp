// SPDX-License-Identifier: Apache-2.0
// The functions of math for kernels, on a CUDA device and on the CPU. They have no branches and no
// loops of unknown length, so that the CPU's compiler vectorises loops over elements. C++17.
#pragma once

#include "ops/cuda/kernels/element_codes.hpp"

#include <cmath>
#include <cstdint>

namespace bench::ops::cuda {

// In the order of ops::math_functions().
// clang-format off
#define BENCH_MATH_FUNCTIONS(X) \
  X(neg) X(reciprocal) X(sign) X(degrees) X(radians) X(power) X(rsqrt) X(cbrt) X(rcbrt) X(exp2) \
  X(expm1) X(log2) X(log10) X(log1p) X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) \
  X(asinh) X(acosh) X(atanh) X(erf) X(erfc) X(erfinv) X(lgamma) X(gamma) X(digamma) X(ceil) \
  X(floor) X(round) X(trunc) X(frac) X(softplus) X(log_sigmoid) X(mish) X(selu) X(softsign) \
  X(logical_not) X(pow) X(atan2) X(hypot) X(logaddexp) X(mod) X(fmod) X(floor_div) X(eq) X(ne) \
  X(lt) X(le) X(gt) X(ge) X(logical_and) X(logical_or) X(logical_xor) X(bit_and) X(bit_or) \
  X(bit_xor) X(shift_left) X(shift_right) X(squared_error) X(select) X(clamp) X(addcmul) \
  X(addcdiv) X(lerp)
// clang-format on
#define BENCH_MATH_ENUMERATOR(name) name,
enum class MathCode : std::uint8_t { BENCH_MATH_FUNCTIONS(BENCH_MATH_ENUMERATOR) };
#undef BENCH_MATH_ENUMERATOR

template <class T>
struct MathElement {
  T a, b, c, alpha;
};
template <class T>
struct MathGradient {
  T a, b, c;
};

BENCH_BOTH_INLINED float multiply_add(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
BENCH_BOTH_INLINED double multiply_add(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}

template <class T>
BENCH_BOTH_INLINED T math_logistic(T x) {
  return T(1) / (T(1) + std::exp(-x));
}
// log(1 + exp(x)) without overflow.
template <class T>
BENCH_BOTH_INLINED T math_soft(T x) {
  return (x > T(0) ? x : T(0)) + std::log1p(std::exp(-std::abs(x)));
}

// The quotient of a and b without its fraction (`trunc`) or rounded down (`floor`). The rounded
// quotient may be one too large next to a whole number; the rest shows this exactly.
template <class T>
BENCH_BOTH_INLINED T whole_quotient(T a, T b) {
  const T q = std::trunc(a / b);
  const T rest = multiply_add(-q, b, a);
  const bool is_past = rest != T(0) && (rest < T(0)) != (a < T(0));
  const T step = (a < T(0)) == (b < T(0)) ? T(1) : T(-1);
  return is_past ? q - step : q;
}
template <class T>
BENCH_BOTH_INLINED T floor_quotient(T a, T b) {
  const T q = whole_quotient(a, b);
  const T rest = multiply_add(-q, b, a);
  return rest != T(0) && (rest < T(0)) != (b < T(0)) ? q - T(1) : q;
}

// Stirling's series at x + kSteps.
template <class T>
BENCH_BOTH_INLINED T math_digamma(T x) {
  constexpr int kSteps = 8;
  T sum = T(0);
  BENCH_UNROLL
  for (int i = 0; i < kSteps; ++i) sum -= T(1) / (x + T(i));
  const T at = x + T(kSteps), s = T(1) / (at * at);
  return sum + std::log(at) - T(0.5) / at -
         s * (T(1) / 12 -
              s * (T(1) / 120 - s * (T(1) / 252 - s * (T(1) / 240 - s * (T(1) / 132)))));
}
template <class T>
BENCH_BOTH_INLINED T math_lgamma(T x) {
  constexpr int kSteps = 8;
  T product = T(1);
  BENCH_UNROLL
  for (int i = 0; i < kSteps; ++i) product *= x + T(i);
  const T at = x + T(kSteps), s = T(1) / (at * at);
  const T high = T(1) / 1680 - s * (T(1) / 1188 - s * (T(691) / 360360));
  const T series = (T(1) / 12 - s * (T(1) / 360 - s * (T(1) / 1260 - s * high))) / at;
  return (at - T(0.5)) * std::log(at) - at + T(0.9189385332046727) + series - std::log(product);
}

// Winitzki's approximation, then Newton's method.
template <class T>
BENCH_BOTH_INLINED T math_erfinv(T y) {
  constexpr int kSteps = sizeof(T) == 4 ? 2 : 3;
  const T l = std::log1p(-y * y), k = T(4.330746750799873) + l / T(2);
  const T square = std::sqrt(k * k - l / T(0.147)) - k;
  T x = std::copysign(std::sqrt(square > T(0) ? square : T(0)), y);
  BENCH_UNROLL
  for (int i = 0; i < kSteps; ++i) {
    x -= (std::erf(x) - y) * T(0.8862269254527580) * std::exp(x * x);
  }
  return x;
}

template <class T>
BENCH_BOTH_INLINED std::int32_t math_bits(T x) {
  return static_cast<std::int32_t>(x);
}

// Functions of two or three values.
template <class T>
BENCH_BOTH_INLINED T math_of_more(MathCode code, const MathElement<T>& x) {
  const T a = x.a, b = x.b, c = x.c;
  switch (code) {
    case MathCode::squared_error:
      return (a - b) * (a - b);
    case MathCode::select:
      return c != T(0) ? a : b;
    case MathCode::clamp: {
      const T raised = a < b ? b : a;
      return raised > c ? c : raised;
    }
    case MathCode::addcmul:
      return a + x.alpha * b * c;
    case MathCode::addcdiv:
      return a + x.alpha * b / c;
    case MathCode::lerp:
      return a + c * (b - a);
    default:
      return T(0);
  }
}

// Comparisons and bits.
template <class T>
BENCH_BOTH_INLINED T math_tests(MathCode code, const MathElement<T>& x) {
  const T a = x.a, b = x.b;
  const auto truth = [](bool is_true) { return is_true ? T(1) : T(0); };
  switch (code) {
    case MathCode::eq:
      return truth(a == b);
    case MathCode::ne:
      return truth(a != b);
    case MathCode::lt:
      return truth(a < b);
    case MathCode::le:
      return truth(a <= b);
    case MathCode::gt:
      return truth(a > b);
    case MathCode::ge:
      return truth(a >= b);
    case MathCode::logical_and:
      return truth((a != T(0)) & (b != T(0)));
    case MathCode::logical_or:
      return truth((a != T(0)) | (b != T(0)));
    case MathCode::logical_xor:
      return truth((a != T(0)) != (b != T(0)));
    case MathCode::bit_and:
      return static_cast<T>(math_bits(a) & math_bits(b));
    case MathCode::bit_or:
      return static_cast<T>(math_bits(a) | math_bits(b));
    case MathCode::bit_xor:
      return static_cast<T>(math_bits(a) ^ math_bits(b));
    case MathCode::shift_left:
      return static_cast<T>(math_bits(a) * (1 << math_bits(b)));
    case MathCode::shift_right:
      return static_cast<T>(math_bits(a) >> math_bits(b));
    default:
      return math_of_more(code, x);
  }
}

// Functions of two values.
template <class T>
BENCH_BOTH_INLINED T math_of_two(MathCode code, const MathElement<T>& x) {
  const T a = x.a, b = x.b;
  switch (code) {
    case MathCode::pow:
      return std::pow(a, b);
    case MathCode::atan2:
      return std::atan2(a, b);
    case MathCode::hypot:
      return std::hypot(a, b);
    case MathCode::logaddexp:
      return (a > b ? a : b) + std::log1p(std::exp(-std::abs(a - b)));
    case MathCode::mod:
      return multiply_add(-floor_quotient(a, b), b, a);
    case MathCode::fmod:
      return multiply_add(-whole_quotient(a, b), b, a);
    case MathCode::floor_div:
      return floor_quotient(a, b);
    default:
      return math_tests(code, x);
  }
}

// Error and gamma functions, rounding, activations.
template <class T>
BENCH_BOTH_INLINED T math_special(MathCode code, const MathElement<T>& x) {
  const T a = x.a;
  const auto truth = [](bool is_true) { return is_true ? T(1) : T(0); };
  switch (code) {
    case MathCode::erf:
      return std::erf(a);
    case MathCode::erfc:
      return std::erfc(a);
    case MathCode::erfinv:
      return math_erfinv(a);
    case MathCode::lgamma:
      return math_lgamma(a);
    case MathCode::gamma:
      return std::exp(math_lgamma(a));
    case MathCode::digamma:
      return math_digamma(a);
    case MathCode::ceil:
      return std::ceil(a);
    case MathCode::floor:
      return std::floor(a);
    case MathCode::round:
      return std::rint(a);
    case MathCode::trunc:
      return std::trunc(a);
    case MathCode::frac:
      return a - std::trunc(a);
    case MathCode::softplus:
      return math_soft(x.alpha * a) / x.alpha;
    case MathCode::log_sigmoid:
      return -math_soft(-a);
    case MathCode::mish:
      return a * std::tanh(math_soft(a));
    case MathCode::selu:
      return T(1.0507009873554805) * (a > T(0) ? a : T(1.6732632423543772) * std::expm1(a));
    case MathCode::softsign:
      return a / (T(1) + std::abs(a));
    case MathCode::logical_not:
      return truth(a == T(0));
    default:
      return math_of_two(code, x);
  }
}

// Trigonometry.
template <class T>
BENCH_BOTH_INLINED T math_angles(MathCode code, const MathElement<T>& x) {
  const T a = x.a;
  switch (code) {
    case MathCode::sin:
      return std::sin(a);
    case MathCode::cos:
      return std::cos(a);
    case MathCode::tan:
      return std::tan(a);
    case MathCode::asin:
      return std::asin(a);
    case MathCode::acos:
      return std::acos(a);
    case MathCode::atan:
      return std::atan(a);
    case MathCode::sinh:
      return std::sinh(a);
    case MathCode::cosh:
      return std::cosh(a);
    case MathCode::asinh:
      return std::asinh(a);
    case MathCode::acosh:
      return std::acosh(a);
    case MathCode::atanh:
      return std::atanh(a);
    default:
      return math_special(code, x);
  }
}

// Returns the value of a function; the groups follow each other.
template <class T>
BENCH_BOTH_INLINED T math_value(MathCode code, const MathElement<T>& x) {
  const T a = x.a;
  const auto truth = [](bool is_true) { return is_true ? T(1) : T(0); };
  switch (code) {
    case MathCode::neg:
      return -a;
    case MathCode::reciprocal:
      return T(1) / a;
    case MathCode::sign:
      return truth(a > T(0)) - truth(a < T(0));
    case MathCode::degrees:
      return a * T(57.29577951308232);
    case MathCode::radians:
      return a * T(0.017453292519943295);
    case MathCode::power:
      return std::pow(a, x.alpha);
    case MathCode::rsqrt:
      return T(1) / std::sqrt(a);
    case MathCode::cbrt:
      return std::cbrt(a);
    case MathCode::rcbrt:
      return T(1) / std::cbrt(a);
    case MathCode::exp2:
      return std::exp2(a);
    case MathCode::expm1:
      return std::expm1(a);
    case MathCode::log2:
      return std::log2(a);
    case MathCode::log10:
      return std::log10(a);
    case MathCode::log1p:
      return std::log1p(a);
    default:
      return math_angles(code, x);
  }
}

// Derivatives of error and gamma functions and of activations.
template <class T>
BENCH_BOTH_INLINED T math_special_slope(MathCode code, T a, T alpha) {
  switch (code) {
    case MathCode::erf:
      return T(1.1283791670955126) * std::exp(-a * a);
    case MathCode::erfc:
      return T(-1.1283791670955126) * std::exp(-a * a);
    case MathCode::erfinv: {
      const T y = math_erfinv(a);
      return T(0.8862269254527580) * std::exp(y * y);
    }
    case MathCode::lgamma:
      return math_digamma(a);
    case MathCode::gamma:
      return std::exp(math_lgamma(a)) * math_digamma(a);
    case MathCode::frac:
      return T(1);
    case MathCode::softplus:
      return math_logistic(alpha * a);
    case MathCode::log_sigmoid:
      return math_logistic(-a);
    case MathCode::mish: {
      const T t = std::tanh(math_soft(a));
      return t + a * (T(1) - t * t) * math_logistic(a);
    }
    case MathCode::selu:
      return T(1.0507009873554805) * (a > T(0) ? T(1) : T(1.6732632423543772) * std::exp(a));
    case MathCode::softsign: {
      const T d = T(1) + std::abs(a);
      return T(1) / (d * d);
    }
    default:
      return T(0);  // the others have no gradient, or several operands
  }
}

// Derivatives of inverse trigonometric and of hyperbolic functions.
template <class T>
BENCH_BOTH_INLINED T math_angle_slope(MathCode code, T a, T alpha) {
  switch (code) {
    case MathCode::asin:
      return T(1) / std::sqrt(T(1) - a * a);
    case MathCode::acos:
      return T(-1) / std::sqrt(T(1) - a * a);
    case MathCode::atan:
      return T(1) / (T(1) + a * a);
    case MathCode::sinh:
      return std::cosh(a);
    case MathCode::cosh:
      return std::sinh(a);
    case MathCode::asinh:
      return T(1) / std::sqrt(a * a + T(1));
    case MathCode::acosh:
      return T(1) / std::sqrt(a * a - T(1));
    case MathCode::atanh:
      return T(1) / (T(1) - a * a);
    default:
      return math_special_slope(code, a, alpha);
  }
}

// Returns the derivative of a function of one value.
template <class T>
BENCH_BOTH_INLINED T math_slope(MathCode code, T a, T alpha) {
  switch (code) {
    case MathCode::neg:
      return T(-1);
    case MathCode::reciprocal:
      return T(-1) / (a * a);
    case MathCode::degrees:
      return T(57.29577951308232);
    case MathCode::radians:
      return T(0.017453292519943295);
    case MathCode::power:
      return alpha * std::pow(a, alpha - T(1));
    case MathCode::rsqrt:
      return T(-0.5) / (a * std::sqrt(a));
    case MathCode::cbrt: {
      const T root = std::cbrt(a);
      return T(1) / (T(3) * root * root);
    }
    case MathCode::rcbrt:
      return T(-1) / (T(3) * a * std::cbrt(a));
    case MathCode::exp2:
      return std::exp2(a) * T(0.6931471805599453);
    case MathCode::expm1:
      return std::exp(a);
    case MathCode::log2:
      return T(1.4426950408889634) / a;
    case MathCode::log10:
      return T(0.4342944819032518) / a;
    case MathCode::log1p:
      return T(1) / (T(1) + a);
    case MathCode::sin:
      return std::cos(a);
    case MathCode::cos:
      return -std::sin(a);
    case MathCode::tan: {
      const T t = std::tan(a);
      return T(1) + t * t;
    }
    default:
      return math_angle_slope(code, a, alpha);
  }
}

template <class T>
BENCH_BOTH_INLINED MathGradient<T> math_gradient(MathCode code, const MathElement<T>& x, T dy) {
  const T a = x.a, b = x.b, c = x.c;
  switch (code) {
    case MathCode::pow: {
      const T log_a = std::log(a);
      return {dy * b * std::exp((b - T(1)) * log_a), dy * std::exp(b * log_a) * log_a, T(0)};
    }
    case MathCode::atan2: {
      const T scale = dy / (a * a + b * b);
      return {b * scale, -a * scale, T(0)};
    }
    case MathCode::hypot: {
      const T scale = dy / std::sqrt(a * a + b * b);
      return {a * scale, b * scale, T(0)};
    }
    case MathCode::logaddexp: {
      const T s = math_logistic(a - b);
      return {dy * s, dy * (T(1) - s), T(0)};
    }
    case MathCode::mod:
      return {dy, -dy * floor_quotient(a, b), T(0)};
    case MathCode::fmod:
      return {dy, -dy * whole_quotient(a, b), T(0)};
    case MathCode::squared_error: {
      const T slope = T(2) * (a - b) * dy;
      return {slope, -slope, T(0)};
    }
    case MathCode::select:
      return {c != T(0) ? dy : T(0), c != T(0) ? T(0) : dy, T(0)};
    case MathCode::clamp:
      return {(a < b) | (a > c) ? T(0) : dy, a < b ? dy : T(0), a > c ? dy : T(0)};
    case MathCode::addcmul:
      return {dy, dy * x.alpha * c, dy * x.alpha * b};
    case MathCode::addcdiv: {
      const T scale = dy * x.alpha / c;
      return {dy, scale, -scale * b / c};
    }
    case MathCode::lerp:
      return {dy * (T(1) - c), dy * c, dy * (b - a)};
    default:
      return {math_slope(code, a, x.alpha) * dy, T(0), T(0)};
  }
}

}  // namespace bench::ops::cuda
