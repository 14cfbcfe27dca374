// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose_post_ops.hpp"

#include "base/characters.hpp"
#include "base/checked.hpp"
#include "base/text.hpp"
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
  as_printed,   // they are the coefficients of the function
  none,         // they have no meaning
  zero_alpha,   // the row applies only to alpha 0
  zero_beta,    // the row applies only to beta 0
  upper_limit,  // alpha is the upper limit of a clip from 0
  of_gate,      // the row applies only to alpha 1/6 and beta 1/2
};

struct EltwiseRow {
  std::string_view algorithm;
  std::string_view function;
  Coefficients coefficients = Coefficients::as_printed;
};

// The first matching row applies. An algorithm "..._use_dst_for_bwd" has the same forward pass as
// the one without the suffix.
constexpr std::array<EltwiseRow, 28> kEltwise = {{
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
    {"eltwise_hardswish", "hardswish", Coefficients::of_gate},
    {"eltwise_hardsigmoid", "hardsigmoid", Coefficients::of_gate},
    {"eltwise_exp", "exp", Coefficients::none},
    {"eltwise_exp_use_dst_for_bwd", "exp", Coefficients::none},
    {"eltwise_log", "log", Coefficients::none},
    {"eltwise_sqrt", "sqrt", Coefficients::none},
    {"eltwise_sqrt_use_dst_for_bwd", "sqrt", Coefficients::none},
    {"eltwise_abs", "abs", Coefficients::none},
    {"eltwise_clip", "clip"},
    {"eltwise_clip_v2", "clip"},
    {"eltwise_clip_v2_use_dst_for_bwd", "clip"},
    {"eltwise_bounded_relu", "clip", Coefficients::upper_limit},  // 2.x and earlier
    {"eltwise_square", "square", Coefficients::none},
    {"eltwise_linear", "scale", Coefficients::zero_beta},
}};

constexpr double kGateAlpha = 1.0 / 6;
constexpr double kGateBeta = 0.5;
constexpr double kPrintedPrecision = 1e-5;  // "%g" keeps 6 digits

bool applies(const EltwiseRow& row, double alpha, double beta) {
  switch (row.coefficients) {
    case Coefficients::zero_alpha:
      return alpha == 0;
    case Coefficients::zero_beta:
      return beta == 0;
    case Coefficients::of_gate:
      return std::abs(alpha - kGateAlpha) < kPrintedPrecision && beta == kGateBeta;
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

// Returns the elements of a tensor that extends along dimension i if bit i of the mask is set.
std::int64_t count_elements(std::string_view mask, std::span<const std::int64_t> dims) {
  const auto bits = parse_number<std::uint32_t>(mask).value_or(0);
  Checked elements = 1;
  for (std::size_t i = 0; i < dims.size() && i < 32; ++i) {
    if ((bits >> i & 1U) != 0) elements *= dims[i];
  }
  return elements.value().value_or(0);
}

bool is_number(std::span<const std::string_view> words, std::size_t i, double expected) {
  return i >= words.size() || parse_real(words[i]) == expected;
}

// Parses "sum", "sum:1:0:u8": scale, zero point and data type of the addend.
VerbosePostOp parse_sum(std::span<const std::string_view> words,
                        std::span<const std::int64_t> dims) {
  VerbosePostOp sum;
  if (words.size() > 3) sum.dtype = words[3];
  if (is_number(words, 1, 1) && is_number(words, 2, 0)) sum.post_op = PostOp{"add"};
  sum.elements = element_count(dims).value_or(0);
  return sum;
}

// Parses "binary_add:f32:15[:tag]". A problem can only add a tensor of the output's shape: bit i
// of the mask must be set for exactly the dimensions of the output whose size is not 1.
VerbosePostOp parse_binary(std::span<const std::string_view> words,
                           std::span<const std::int64_t> dims) {
  VerbosePostOp binary;
  if (words.size() < 3) return binary;
  binary.dtype = words[1];
  binary.elements = count_elements(words[2], dims);
  double mask = 0;
  for (std::size_t i = 0; i < dims.size(); ++i)
    mask += dims[i] != 1 ? std::ldexp(1.0, static_cast<int>(i)) : 0;
  if (words[0] == "binary_add" && parse_real(words[2]) == mask) binary.post_op = PostOp{"add"};
  return binary;
}

// Parses "prelu:2[:s8]": mask and data type of the weights.
VerbosePostOp parse_prelu(std::span<const std::string_view> words,
                          std::span<const std::int64_t> dims) {
  VerbosePostOp prelu;
  if (words.size() > 1) prelu.elements = count_elements(words[1], dims);
  prelu.dtype = words.size() > 2 ? words[2] : "f32";
  return prelu;
}

// Parses "k3s2p1" of "dw:k3s2p1" or "dw_k3s2p1".
VerbosePostOp parse_depthwise(std::string_view text) {
  VerbosePostOp post_op;
  const auto words = ProblemWords::parse(text);
  if (!words) return post_op;
  const VerboseDepthwise depthwise{words->find("k").value_or(0), words->find("s").value_or(0),
                                   words->find("p").value_or(0)};
  if (depthwise.kernel > 0 && depthwise.stride > 0) post_op.depthwise = depthwise;
  return post_op;
}

// Parses "eltwise_relu[:alpha[:beta[:scale]]]".
VerbosePostOp parse_eltwise(std::span<const std::string_view> words) {
  std::array<double, 3> numbers = {0, 0, 1};
  if (words.size() > numbers.size() + 1) return {};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto number = parse_real(words[i]);
    if (!number) return {};
    numbers[i - 1] = *number;
  }
  const auto function = find_verbose_eltwise(words[0], numbers[0], numbers[1]);
  if (!function || numbers[2] != 1) return {};
  return {PostOp{std::string(function->function), function->alpha, function->beta}, {}, 0};
}

VerbosePostOp parse_post_op(std::string_view item, std::span<const std::int64_t> dims) {
  const std::vector<std::string_view> words = split(item, ':');
  if (words.empty()) return {};
  constexpr std::string_view kOldDepthwise = "dw_";
  if (words[0] == "sum") return parse_sum(words, dims);
  if (words[0] == "prelu") return parse_prelu(words, dims);
  if (words[0] == "dw") return parse_depthwise(words.size() > 1 ? words[1] : "");
  if (words[0].starts_with(kOldDepthwise))
    return parse_depthwise(words[0].substr(kOldDepthwise.size()));
  return words[0].starts_with("binary_") ? parse_binary(words, dims) : parse_eltwise(words);
}

// Returns the list of post-ops: "sum+eltwise_relu", or "sum;eltwise_relu;" until version 2.2.
std::vector<std::string_view> find_list(std::string_view attributes) {
  constexpr std::string_view kQuoted = "post_ops:'";
  const std::size_t begin = attributes.find(kQuoted);
  if (begin != std::string_view::npos) {
    const std::string_view list = attributes.substr(begin + kQuoted.size());
    return split(list.substr(0, list.find('\'')), ';');
  }
  constexpr std::string_view kPostOps = "attr-post-ops:";
  for (const std::string_view attribute : split(attributes, ' ')) {
    if (attribute.starts_with(kPostOps)) return split(attribute.substr(kPostOps.size()), '+');
  }
  return {};
}

}  // namespace

std::vector<VerbosePostOp> parse_post_ops(std::string_view attributes,
                                          std::span<const std::int64_t> dims) {
  std::vector<VerbosePostOp> post_ops;
  for (const std::string_view item : find_list(attributes)) {
    post_ops.push_back(parse_post_op(item, dims));
  }
  return post_ops;
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
