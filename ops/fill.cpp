// SPDX-License-Identifier: Apache-2.0
#include "ops/fill.hpp"

#include "base/random.hpp"
#include "ops/description.hpp"
#include "ops/operator.hpp"
#include "ops/tensor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace bench::ops {
namespace {

// Returns a uniform value in [0, 1), a multiple of 2^-23. Twice the value minus 1 is exact in f32.
double to_unit_interval(std::uint64_t bits) { return static_cast<double>(bits >> 41) * 0x1p-23; }

bool must_be_positive(const Problem& problem, std::size_t tensor) {
  const auto is_positive = problem.op->filling.is_positive;
  // Operators of plugins have no such function. Their tensors named `variance` are positive.
  if (is_positive == nullptr) return problem.tensors[tensor].name == "variance";
  return is_positive(problem, tensor);
}

// Without VNNI, a CPU multiplies pairs of bytes into 16 bits. To stay in that range, oneDNN halves
// s8 weights there. Even weights keep the result exact on every CPU.
bool must_be_even(const Tensor& tensor) {
  return tensor.role == TensorRole::weights && tensor.dtype == DataType::s8;
}

struct Range {
  double low;
  double high;
};

Range fill_range(const Problem& problem, std::size_t tensor) {
  const DataType type = problem.tensors[tensor].dtype;
  const bool is_positive = must_be_positive(problem, tensor);
  if (info(type).is_integer) {
    if (is_positive) return {1, 8};
    return type == DataType::u8 ? Range{0, 16} : Range{-8, 8};
  }
  return is_positive ? Range{0.5, 1.5} : Range{-1, 1};
}

// Weights are divided by the square root of the number of products in one output element.
double compute_scale(const Problem& problem, const Tensor& tensor) {
  if (tensor.name != "weights" || info(tensor.dtype).is_integer || !problem.work.macs) return 1;
  const std::int64_t outputs = problem.output().elements();
  const double fan_in = static_cast<double>(*problem.work.macs) /
                        static_cast<double>(std::max<std::int64_t>(1, outputs));
  return 1 / std::sqrt(std::max(1.0, fan_in));
}

// A pseudo-random permutation of 0 .. limit - 1: returns the image of `i`. Four Feistel rounds
// permute the next power of 4; images beyond the limit are permuted again.
std::uint64_t permute(std::uint64_t i, std::uint64_t limit, std::uint64_t key) {
  const int half = (std::bit_width(limit - 1) + 1) / 2;
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  do {
    std::uint64_t left = i >> half, right = i & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      left ^= mix(mix(key + round) + right) & mask;
      std::swap(left, right);
    }
    i = left << half | right;
  } while (i >= limit);
  return i;
}

// The limit of a plugin's operator is unknown; 0 is valid for every tensor.
std::vector<double> index_values(const Problem& problem, const Tensor& tensor,
                                 std::uint64_t stream) {
  const auto& description = problem.op->description;
  const auto limit = static_cast<std::uint64_t>(std::max<std::int64_t>(
      1, description == nullptr ? 0 : description->index_limit(problem, tensor.name)));
  std::vector<double> values(static_cast<std::size_t>(tensor.elements()));
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(permute(i % limit, limit, stream + i / limit));
  }
  return values;
}

}  // namespace

DataType representable_type(const Problem& problem, const Tensor& tensor) {
  const DataTypeInfo& type = info(problem.dtype);
  if (tensor.name != "bias" || type.is_integer || type.bytes >= 4) return tensor.dtype;
  return type.bytes == 1 ? DataType::bf16 : problem.dtype;
}

std::vector<double> random_values(const Problem& problem, std::size_t tensor, std::uint64_t seed) {
  const Tensor& description = problem.tensors[tensor];
  const Range range = fill_range(problem, tensor);
  const bool is_integer = info(description.dtype).is_integer;
  const double step = must_be_even(description) ? 2 : 1;
  const double scale = compute_scale(problem, description);
  const std::uint64_t stream = mix(mix(seed) + tensor);
  if (holds_indices(description)) return index_values(problem, description, stream);
  if (problem.op->filling.values != nullptr) {
    if (auto values = problem.op->filling.values(problem, tensor, stream)) {
      return *std::move(values);
    }
  }
  std::vector<double> values(static_cast<std::size_t>(description.elements()));
  if (is_integer) {
    const double choices = (range.high - range.low) / step + 1;
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = range.low + step * std::floor(to_unit_interval(mix(stream + i)) * choices);
    }
    return values;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double unit = to_unit_interval(mix(stream + i));
    values[i] = scale * (range.low + unit * (range.high - range.low));
  }
  round_all_to(representable_type(problem, description), values);
  return values;
}

void fill_any_type(std::uint16_t* units, std::size_t count, std::uint64_t seed) {
  // Exponents near 1 for the high byte of f16, bf16, f32, f64 and for each byte as an 8-bit float.
  // Sign and mantissa bits are random, and no byte is 0.
  constexpr std::uint64_t kFixedBits = 0x3c383c383c383c38u;
  constexpr std::uint64_t kRandomMask = 0x8387838783878387u;
  const std::uint64_t stream = mix(seed);
  for (std::size_t i = 0; i < count; i += 4) {
    const std::uint64_t bits = kFixedBits | (mix(stream + i) & kRandomMask);
    for (std::size_t j = 0; j < std::min<std::size_t>(4, count - i); ++j) {
      units[i + j] = static_cast<std::uint16_t>(bits >> (16 * j));
    }
  }
}

}  // namespace bench::ops
