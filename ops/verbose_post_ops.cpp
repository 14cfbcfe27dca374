// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose_post_ops.hpp"

#include "base/characters.hpp"
#include "ops/pointwise/functions.hpp"
#include "ops/verbose_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace bench::ops {
namespace {

// How a row uses the printed coefficients.
enum class Coefficients {
  as_printed,    // they are the coefficients of the function
  none,          // they have no meaning
  zero_alpha,    // the row applies only to alpha 0
  upper_limit,   // alpha is the upper limit of a clip from 0
  of_hardswish,  // the row applies only to alpha 1/6 and beta 1/2
};

struct EltwiseRow {
  std::string_view algorithm;
  std::string_view function;
  Coefficients coefficients = Coefficients::as_printed;
};

// The first matching row applies. An algorithm "..._use_dst_for_bwd" has the same forward pass as
// the one without the suffix.
constexpr std::array<EltwiseRow, 25> kEltwise = {{
    {"eltwise_relu", "relu", Coefficients::zero_alpha},
    {"eltwise_relu", "leaky_relu"},
    {"eltwise_relu_use_dst_for_bwd", "relu", Coefficients::zero_alpha},
    {"eltwise_relu_use_dst_for_bwd", "leaky_relu"},
    {"eltwise_elu", "elu"},
    {"eltwise_elu_use_dst_for_bwd", "elu"},
    {"eltwise_gelu_erf", "gelu_erf", Coefficients::none},
    {"eltwise_gelu_tanh", "gelu_tanh", Coefficients::none},
    {"eltwise_gelu", "gelu_tanh", Coefficients::none},  // 2.x and earlier
    {"eltwise_logistic", "sigmoid", Coefficients::none},
    {"eltwise_logistic_use_dst_for_bwd", "sigmoid", Coefficients::none},
    {"eltwise_tanh", "tanh", Coefficients::none},
    {"eltwise_tanh_use_dst_for_bwd", "tanh", Coefficients::none},
    {"eltwise_swish", "swish"},
    {"eltwise_hardswish", "hardswish", Coefficients::of_hardswish},
    {"eltwise_exp", "exp", Coefficients::none},
    {"eltwise_exp_use_dst_for_bwd", "exp", Coefficients::none},
    {"eltwise_log", "log", Coefficients::none},
    {"eltwise_sqrt", "sqrt", Coefficients::none},
    {"eltwise_sqrt_use_dst_for_bwd", "sqrt", Coefficients::none},
    {"eltwise_abs", "abs", Coefficients::none},
    {"eltwise_clip", "clip"},
    {"eltwise_clip_v2", "clip"},
    {"eltwise_bounded_relu", "clip", Coefficients::upper_limit},  // 2.x and earlier
    {"eltwise_square", "square", Coefficients::none},
}};

constexpr double kHardswishAlpha = 1.0 / 6;
constexpr double kHardswishBeta = 0.5;
constexpr double kPrintedPrecision = 1e-5;  // "%g" keeps 6 digits

bool applies(const EltwiseRow& row, double alpha, double beta) {
  switch (row.coefficients) {
    case Coefficients::zero_alpha:
      return alpha == 0;
    case Coefficients::of_hardswish:
      return std::abs(alpha - kHardswishAlpha) < kPrintedPrecision && beta == kHardswishBeta;
    case Coefficients::as_printed:
    case Coefficients::none:
    case Coefficients::upper_limit:
      return true;
  }
  return false;
}

VerboseFunction make_function(const EltwiseRow& row, double alpha, double beta) {
  const UnaryFunction& function = *find_unary_function(row.function);
  if (row.coefficients == Coefficients::upper_limit) return {row.function, 0, alpha};
  return {row.function, function.coefficients > 0 ? alpha : function.alpha,
          function.coefficients > 1 ? beta : function.beta};
}

struct BinaryRow {
  std::string_view algorithm;
  std::string_view function;
};
constexpr std::array<BinaryRow, 6> kBinary = {{
    {"binary_add", "add"},
    {"binary_sub", "sub"},
    {"binary_mul", "mul"},
    {"binary_div", "div"},
    {"binary_max", "max"},
    {"binary_min", "min"},
}};

// Attributes that add no work in the model: their names until version 2.2, then those since 2.3.
constexpr std::array<std::string_view, 14> kAttributesWithoutWork = {"scratchpad_mode",
                                                                     "oscale",
                                                                     "scales",
                                                                     "zero_points",
                                                                     "attr-scratchpad",
                                                                     "attr-fpmath_mode",
                                                                     "attr-fpmath",
                                                                     "attr-acc",
                                                                     "attr-acc-mode",
                                                                     "attr-oscale",
                                                                     "attr-scales",
                                                                     "attr-zero-points",
                                                                     "attr-rounding-mode",
                                                                     "attr-deterministic"};

// Splits the text at each separator. Leaves out empty parts.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    // The '+' of "1e+06" is not a separator.
    const bool is_exponent = i > 0 && i < text.size() && separator == '+' && text[i - 1] == 'e' &&
                             i > 1 && is_digit(text[i - 2]);
    if (i < text.size() && (text[i] != separator || is_exponent)) continue;
    if (i > begin) parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return parts;
}

using ParsedPostOps = std::optional<std::vector<VerbosePostOp>>;

// Parses "sum", "sum:1:0:u8": scale, zero point and data type of the addend.
std::optional<VerbosePostOp> parse_sum(std::span<const std::string_view> words) {
  const auto number = [&](std::size_t i, double default_value) {
    return i < words.size() ? parse_real(words[i]) : std::optional(default_value);
  };
  if (words.size() > 4 || number(1, 1) != 1.0 || number(2, 0) != 0.0) return std::nullopt;
  VerbosePostOp sum{PostOp{"add"}, std::nullopt};
  if (words.size() == 4) {
    sum.dtype = data_type_from_name(words[3]);
    if (!sum.dtype) return std::nullopt;
  }
  return sum;
}

// Parses "binary_add:f32:15[:tag]". Bit i of the mask is set if the tensor extends along dimension
// i. It must be set for exactly the dimensions of the output whose size is not 1, because a Problem
// has no post-ops with broadcast tensors.
std::optional<VerbosePostOp> parse_binary(std::span<const std::string_view> words,
                                          std::span<const std::int64_t> dims) {
  if (words[0] != "binary_add" || words.size() < 3) return std::nullopt;
  double mask = 0;
  for (std::size_t i = 0; i < dims.size(); ++i)
    mask += dims[i] != 1 ? std::ldexp(1.0, static_cast<int>(i)) : 0;
  const auto dtype = data_type_from_name(words[1]);
  if (!dtype || parse_real(words[2]) != mask) return std::nullopt;
  return VerbosePostOp{PostOp{"add"}, dtype};
}

// Parses "eltwise_relu[:alpha[:beta[:scale]]]".
std::optional<VerbosePostOp> parse_eltwise(std::span<const std::string_view> words) {
  std::array<double, 3> numbers = {0, 0, 1};
  if (words.size() > numbers.size() + 1) return std::nullopt;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto number = parse_real(words[i]);
    if (!number) return std::nullopt;
    numbers[i - 1] = *number;
  }
  const auto function = find_verbose_eltwise(words[0], numbers[0], numbers[1]);
  if (!function || numbers[2] != 1) return std::nullopt;
  return VerbosePostOp{PostOp{std::string(function->function), function->alpha, function->beta},
                       std::nullopt};
}

ParsedPostOps parse_list(std::span<const std::string_view> items,
                         std::span<const std::int64_t> dims) {
  std::vector<VerbosePostOp> post_ops;
  for (const std::string_view item : items) {
    const std::vector<std::string_view> words = split(item, ':');
    if (words.empty()) return std::nullopt;
    const auto post_op = words[0] == "sum"                 ? parse_sum(words)
                         : words[0].starts_with("binary_") ? parse_binary(words, dims)
                                                           : parse_eltwise(words);
    if (!post_op) return std::nullopt;
    post_ops.push_back(*post_op);
  }
  return post_ops;
}

bool is_without_work(std::string_view attribute) {
  const std::string_view name = attribute.substr(0, attribute.find(':'));
  return std::ranges::find(kAttributesWithoutWork, name) != kAttributesWithoutWork.end();
}

// Parses the form of versions until 2.2: "oscale:0:2;post_ops:'sum;eltwise_relu;';".
ParsedPostOps parse_quoted(std::string_view attributes, std::span<const std::int64_t> dims) {
  constexpr std::string_view kBegin = "post_ops:'";
  std::string others(attributes);
  std::string_view list;
  const std::size_t begin = attributes.find(kBegin);
  if (begin != std::string_view::npos) {
    const std::size_t end = attributes.find('\'', begin + kBegin.size());
    if (end == std::string_view::npos) return std::nullopt;
    list = attributes.substr(begin + kBegin.size(), end - begin - kBegin.size());
    others.erase(begin, end + 1 - begin);
  }
  if (!std::ranges::all_of(split(others, ';'), is_without_work)) return std::nullopt;
  return parse_list(split(list, ';'), dims);
}

}  // namespace

ParsedPostOps parse_post_ops(std::string_view attributes, std::span<const std::int64_t> dims) {
  if (attributes.find(';') != std::string_view::npos) return parse_quoted(attributes, dims);
  constexpr std::string_view kPostOps = "attr-post-ops:";
  std::string_view list;
  for (const std::string_view attribute : split(attributes, ' ')) {
    if (attribute.starts_with(kPostOps)) {
      list = attribute.substr(kPostOps.size());
    } else if (!is_without_work(attribute)) {
      return std::nullopt;
    }
  }
  return parse_list(split(list, '+'), dims);
}

std::optional<VerboseFunction> find_verbose_eltwise(std::string_view algorithm, double alpha,
                                                    double beta) {
  for (const EltwiseRow& row : kEltwise) {
    if (row.algorithm == algorithm && applies(row, alpha, beta)) {
      return make_function(row, alpha, beta);
    }
  }
  return std::nullopt;
}

std::optional<std::string_view> find_verbose_binary(std::string_view algorithm) {
  const auto* row = std::ranges::find(kBinary, algorithm, &BinaryRow::algorithm);
  return row == kBinary.end() ? std::nullopt : std::optional(row->function);
}

}  // namespace bench::ops
