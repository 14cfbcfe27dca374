// SPDX-License-Identifier: Apache-2.0
// What NVIDIA's libraries ask of a product before it may run on tensor cores, as a table of rules
// over facts. Sources: NVIDIA's "Matrix Multiplication Background" (DU-09799), the manuals of
// cuBLAS and cuDNN, and what cuDNN 9.19 answers when it is asked without a device.
#pragma once

#include "ops/problem.hpp"
#include "ops/tensor_core/architecture.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace bench::ops {

// Of which a verdict consists: all of them must be fulfilled.
enum class TensorCorePart : std::uint8_t {
  arch_supports,     // architecture and libraries have the data type
  math_mode_allows,  // no rounding that was not asked for
  layout_ok,
  alignment_grade,
  min_dims_ok,
};
inline constexpr std::size_t kTensorCoreParts = 5;
std::span<const std::string_view> tensor_core_part_names();  // in the order of the enumerators

enum class TensorCoreLibrary : std::uint8_t { cublas, cudnn };  // cublas: with cuBLASLt
// What tensor cores would multiply, by itself; tf32: what f32 becomes.
enum class Operand : std::uint8_t { f16, bf16, tf32, f64, s8, u8, f8_e4m3, f8_e5m2 };
enum class OperandLayout : std::uint8_t {
  k_contiguous,  // gemm with trans_b and without trans_a: TN in cuBLAS's words
  transposed,    // gemm otherwise
  nhwc,          // and `any`, where cuDNN takes what it likes
  nchw,
};
// Bytes of which every row (of a matrix; of the channels of a pixel) is a multiple.
enum class RowAlignment : std::uint8_t { below_4, below_16, at_16, at_128 };
enum class Knowledge : std::uint8_t { older, known, dropped };  // of the architecture in a library
enum class Multiples : std::uint8_t { whole, broken };          // m, n, k; c, k of 16 bytes
enum class ProductSize : std::uint8_t {
  regular,
  vector,       // m = 1 or n = 1
  rank_one,     // k = 1
  uneven,       // int8: n or k no multiple of 4
  small,        // fewer than 8 rows or columns
  depthwise,    // one input channel a group
  thin_groups,  // groups of fewer channels than 16 bytes; of fp8 not in multiples of 4
  first_layer,  // 1 to 4 input channels of 16 bit
};

// What the rules look at.
struct TensorCoreFacts {
  TensorCoreLibrary library = TensorCoreLibrary::cublas;
  Sm architecture = Sm::sm_70;
  LibraryGeneration generation = LibraryGeneration::cuda13;
  Knowledge knowledge = Knowledge::known;
  Operand operand = Operand::f16;
  Math math = Math::standard;
  Direction direction = Direction::forward;
  OperandLayout layout = OperandLayout::k_contiguous;
  RowAlignment alignment = RowAlignment::at_128;
  Multiples multiples = Multiples::whole;
  ProductSize size = ProductSize::regular;
  // The values behind each part, for people: "weights: rows of 126 B".
  std::array<std::string, kTensorCoreParts> details;
};

// Some of an enumeration's values; without any, all of them.
template <class Enum>
class AnyOf {
 public:
  constexpr AnyOf() = default;
  constexpr AnyOf(Enum only) : bits_(bit(only)) {}
  constexpr AnyOf(std::initializer_list<Enum> values) : bits_(0) {
    for (const Enum value : values) bits_ |= bit(value);
  }
  static constexpr AnyOf from(Enum first) {
    AnyOf all;
    all.bits_ = ~(bit(first) - 1);
    return all;
  }
  static constexpr AnyOf before(Enum end) {
    AnyOf all;
    all.bits_ = bit(end) - 1;
    return all;
  }
  constexpr bool has(Enum value) const { return (bits_ & bit(value)) != 0; }

 private:
  static constexpr std::uint32_t bit(Enum value) {
    return std::uint32_t{1} << static_cast<unsigned>(value);
  }
  std::uint32_t bits_ = ~std::uint32_t{0};
};

struct TensorCoreCondition {
  AnyOf<TensorCoreLibrary> library = {};
  AnyOf<Sm> architecture = {};
  AnyOf<LibraryGeneration> generation = {};
  AnyOf<Knowledge> knowledge = {};
  AnyOf<Operand> operand = {};
  AnyOf<Math> math = {};
  AnyOf<Direction> direction = {};
  AnyOf<OperandLayout> layout = {};
  AnyOf<RowAlignment> alignment = {};
  AnyOf<Multiples> multiples = {};
  AnyOf<ProductSize> size = {};

  bool holds(const TensorCoreFacts& facts) const;
};

enum class RuleAnswer : std::uint8_t { no, yes };

// Of the rules of a part the first one whose condition holds decides it.
struct TensorCoreRule {
  std::string_view id;
  TensorCorePart part;
  RuleAnswer answer;
  std::string_view sentence;
  TensorCoreCondition when = {};
};
std::span<const TensorCoreRule> tensor_core_rules();
// Some rule of each part holds for any facts.
const TensorCoreRule& deciding_rule(TensorCorePart part, const TensorCoreFacts& facts);

// Operators that multiply no matrices, and why; the last row stands for all that no rule knows.
struct NoTensorCoreRule {
  std::string_view id;
  std::string_view op;  // its name; empty: any
  std::string_view sentence;
};
std::span<const NoTensorCoreRule> no_tensor_core_rules();

}  // namespace bench::ops
