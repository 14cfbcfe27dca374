// SPDX-License-Identifier: Apache-2.0
// A table of rules that state when NVIDIA's libraries may run a product on tensor cores. The rules
// evaluate facts about the product. Sources: NVIDIA's "Matrix Multiplication Background"
// (DU-09799), the manuals of cuBLAS and cuDNN, and the answers of cuDNN 9.19 when queried without a
// device.
#pragma once

#include "base/enumerators.hpp"
#include "ops/problem.hpp"
#include "ops/tensor_core/architecture.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops {

// The parts of a verdict. All of them must be fulfilled.
BENCH_ENUM(TensorCorePart, arch_supports,  // architecture and libraries support the data type
           math_mode_allows,               // no rounding that was not requested
           layout_ok, alignment_grade, min_dims_ok);
inline constexpr std::size_t kTensorCoreParts = enumerator_names<TensorCorePart>().size();

// What computes a product. cublas: including cuBLASLt. cudnn: its convolutions. attention: cuDNN's
// attention, and a kernel of bench without tensor cores for what cuDNN does not compute.
enum class TensorCoreLibrary : std::uint8_t { cublas, cudnn, attention };
// The operand type that tensor cores would multiply. tf32: for f32 operands.
enum class Operand : std::uint8_t { f16, bf16, tf32, f64, s8, u8, f8_e4m3, f8_e5m2 };
enum class OperandLayout : std::uint8_t {
  k_contiguous,  // gemm with trans_b and without trans_a: TN in cuBLAS's terms
  transposed,    // any other gemm
  nhwc,          // also for `any`: cuDNN then chooses the layout
  nchw,
};
// The number of bytes of which every row is a multiple. A row is a row of a matrix or the channels
// of a pixel.
enum class RowAlignment : std::uint8_t { below_4, below_16, at_16, at_128 };
// Whether the library supports the architecture.
enum class LibrarySupport : std::uint8_t { too_old, supported, dropped };
// Whether m, n, k (gemm) or c, k (conv) are multiples of 16 bytes.
enum class SizeAlignment : std::uint8_t { aligned, unaligned };
enum class ProductSize : std::uint8_t {
  regular,
  one_row,       // m = 1
  vector,        // n = 1
  rank_one,      // k = 1
  uneven,        // int8: n or k is not a multiple of 4
  small,         // fewer than 8 rows or columns
  depthwise,     // one input channel per group
  thin_groups,   // groups of fewer than 4 channels, or 16 of 8 bits; fp8: not a multiple of 4
  first_layer,   // 1 to 4 input channels of 16 bits
  few_channels,  // up to 8 input channels of 16 bits, more than first_layer
  unmatched,     // attention: queries without keys; gradients: keys without queries, or one pair
  large_heads,   // gradients of attention: a head of more than 128 elements
  huge_heads,    // gradients of attention: a head of more than 256 elements
};

// The facts that the rules evaluate.
struct TensorCoreFacts {
  TensorCoreLibrary library = TensorCoreLibrary::cublas;
  Sm architecture = Sm::sm_70;
  LibraryGeneration generation = LibraryGeneration::cuda13;
  LibrarySupport library_support = LibrarySupport::supported;
  Operand operand = Operand::f16;
  Math math = Math::standard;
  Direction direction = Direction::forward;
  OperandLayout layout = OperandLayout::k_contiguous;
  RowAlignment alignment = RowAlignment::at_128;
  SizeAlignment size_alignment = SizeAlignment::aligned;
  ProductSize size = ProductSize::regular;
  // The values behind each part, human-readable: "weights: rows of 126 B".
  std::array<std::string, kTensorCoreParts> details;
};

// A set of values of an enumeration. By default it contains all values.
template <class Enum>
class EnumSet {
 public:
  constexpr EnumSet() = default;
  constexpr EnumSet(Enum only) : bits_(bit(only)) {}
  constexpr EnumSet(std::initializer_list<Enum> values) : bits_(0) {
    for (const Enum value : values) bits_ |= bit(value);
  }
  // Returns the set of `first` and all values after it.
  static constexpr EnumSet from(Enum first) {
    EnumSet set;
    set.bits_ = ~(bit(first) - 1);
    return set;
  }
  // Returns the set of all values before `end`.
  static constexpr EnumSet before(Enum end) {
    EnumSet set;
    set.bits_ = bit(end) - 1;
    return set;
  }
  constexpr bool has(Enum value) const { return (bits_ & bit(value)) != 0; }

 private:
  static constexpr std::uint32_t bit(Enum value) {
    return std::uint32_t{1} << static_cast<unsigned>(value);
  }
  std::uint32_t bits_ = ~std::uint32_t{0};
};

// A condition on the facts. It holds if each fact is in its set.
struct TensorCoreCondition {
  EnumSet<TensorCoreLibrary> library = {};
  EnumSet<Sm> architecture = {};
  EnumSet<LibraryGeneration> generation = {};
  EnumSet<LibrarySupport> library_support = {};
  EnumSet<Operand> operand = {};
  EnumSet<Math> math = {};
  EnumSet<Direction> direction = {};
  EnumSet<OperandLayout> layout = {};
  EnumSet<RowAlignment> alignment = {};
  EnumSet<SizeAlignment> size_alignment = {};
  EnumSet<ProductSize> size = {};

  bool holds(const TensorCoreFacts& facts) const;
};

enum class RuleAnswer : std::uint8_t { no, yes };

// A rule of the table. The first rule of a part whose condition holds decides the part.
struct TensorCoreRule {
  std::string_view id;
  TensorCorePart part;
  RuleAnswer answer;
  std::string_view sentence;
  TensorCoreCondition when = {};
};
std::span<const TensorCoreRule> tensor_core_rules();
// Returns the first rule of the part whose condition holds. The table has one for any facts.
const TensorCoreRule& find_deciding_rule(TensorCorePart part, const TensorCoreFacts& facts);

// A built-in operator that does not multiply matrices, with the reason (Operator::product). The
// last row of the table covers all operators without a rule.
struct NoTensorCoreRule {
  std::string_view id;
  std::string_view op;  // the operator's name; empty: any operator
  std::string_view sentence;
};
std::vector<NoTensorCoreRule> no_tensor_core_rules();

}  // namespace bench::ops
