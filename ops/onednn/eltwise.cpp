// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/eltwise.hpp"

#include <algorithm>
#include <array>

namespace bench::ops {
namespace {

using dnnl::algorithm;

// The source of the library's coefficients.
enum class Coefficients { of_function, hardswish };

struct UnaryRow {
  std::string_view function;
  algorithm eltwise;
  Coefficients coefficients = Coefficients::of_function;
};

constexpr std::array<UnaryRow, 15> kUnary = {{
    {"relu", algorithm::eltwise_relu},
    {"leaky_relu", algorithm::eltwise_relu},
    {"elu", algorithm::eltwise_elu},
    {"gelu_erf", algorithm::eltwise_gelu_erf},
    {"gelu_tanh", algorithm::eltwise_gelu_tanh},
    {"sigmoid", algorithm::eltwise_logistic},
    {"tanh", algorithm::eltwise_tanh},
    {"swish", algorithm::eltwise_swish},
    {"hardswish", algorithm::eltwise_hardswish, Coefficients::hardswish},
    {"exp", algorithm::eltwise_exp},
    {"log", algorithm::eltwise_log},
    {"sqrt", algorithm::eltwise_sqrt},
    {"abs", algorithm::eltwise_abs},
    {"clip", algorithm::eltwise_clip},
    {"square", algorithm::eltwise_square},
}};

struct BinaryRow {
  std::string_view function;
  algorithm binary;
};

constexpr std::array<BinaryRow, 6> kBinary = {{
    {"add", algorithm::binary_add},
    {"sub", algorithm::binary_sub},
    {"mul", algorithm::binary_mul},
    {"div", algorithm::binary_div},
    {"max", algorithm::binary_max},
    {"min", algorithm::binary_min},
}};

// x * clamp(x/6 + 1/2, 0, 1)
constexpr float kHardswishAlpha = 1.0F / 6;
constexpr float kHardswishBeta = 0.5F;

}  // namespace

std::optional<EltwiseAlgorithm> find_eltwise(std::string_view function, double alpha, double beta) {
  const auto* row = std::ranges::find(kUnary, function, &UnaryRow::function);
  if (row == kUnary.end()) return std::nullopt;
  if (row->coefficients == Coefficients::hardswish) {
    return EltwiseAlgorithm{row->eltwise, kHardswishAlpha, kHardswishBeta};
  }
  return EltwiseAlgorithm{row->eltwise, static_cast<float>(alpha), static_cast<float>(beta)};
}

std::optional<algorithm> find_binary(std::string_view function) {
  const auto* row = std::ranges::find(kBinary, function, &BinaryRow::function);
  if (row == kBinary.end()) return std::nullopt;
  return row->binary;
}

}  // namespace bench::ops
