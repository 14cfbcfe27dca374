// SPDX-License-Identifier: Apache-2.0
// table: one row per rule; in each part, the first rule whose condition holds decides
#include "ops/tensor_core/rules.hpp"

#include "ops/operator.hpp"

#include <cassert>

namespace bench::ops {
namespace {

using enum TensorCorePart;
using enum TensorCoreLibrary;
using enum RuleAnswer;
using enum RowAlignment;
using enum Sm;

using Condition = TensorCoreCondition;

constexpr EnumSet<Operand> kHalf = {Operand::f16, Operand::bf16};
constexpr EnumSet<Operand> kFp8 = {Operand::f8_e4m3, Operand::f8_e5m2};
constexpr EnumSet<Direction> kGradients = {Direction::backward_data, Direction::backward_weights};
// Architectures whose fp8 kernels read both operands only along k. Data-centre Blackwell's tcgen05
// removed that limit; desktop Blackwell does not have tcgen05.
constexpr EnumSet<Sm> kFp8AlongK = {sm_89, sm_90, sm_120, sm_121};

constexpr std::array kRules = {
    // Architecture and libraries
    TensorCoreRule{"libraries-older", arch_supports, no,
                   "these libraries are older than the architecture",
                   Condition{.library_support = LibrarySupport::too_old}},
    TensorCoreRule{"libraries-dropped", arch_supports, no,
                   "these libraries no longer have kernels for the architecture",
                   Condition{.library_support = LibrarySupport::dropped}},
    TensorCoreRule{"attention-types", arch_supports, no,
                   "cuDNN's attention computes f16 and bf16 only",
                   Condition{.library = attention,
                             .operand = {Operand::tf32, Operand::f64, Operand::s8, Operand::u8,
                                         Operand::f8_e4m3, Operand::f8_e5m2}}},
    TensorCoreRule{"attention-arch", arch_supports, no, "cuDNN's attention needs sm_80",
                   Condition{.library = attention, .architecture = EnumSet<Sm>::before(sm_80)}},
    TensorCoreRule{"conv-f64", arch_supports, no,
                   "cuDNN convolves f64 on CUDA cores on every architecture",
                   Condition{.library = cudnn, .operand = Operand::f64}},
    TensorCoreRule{"u8", arch_supports, no,
                   "cuBLASLt and cuDNN multiply s8 by s8 on tensor cores, not u8",
                   Condition{.operand = Operand::u8}},
    TensorCoreRule{"conv-int8-forward", arch_supports, no,
                   "cuDNN convolves 8-bit integers forward only",
                   Condition{.library = cudnn, .operand = Operand::s8, .direction = kGradients}},
    TensorCoreRule{"gemm-e5m2", arch_supports, no,
                   "cuBLASLt multiplies f8_e5m2 with f8_e4m3 only, not with itself",
                   Condition{.library = cublas, .operand = Operand::f8_e5m2}},
    TensorCoreRule{
        "conv-fp8-forward", arch_supports, no, "on sm_89 cuDNN convolves fp8 forward only",
        Condition{
            .library = cudnn, .architecture = sm_89, .operand = kFp8, .direction = kGradients}},
    TensorCoreRule{"arch-f16", arch_supports, yes, "tensor cores multiply f16 from sm_70 on",
                   Condition{.operand = Operand::f16}},
    TensorCoreRule{"arch-bf16", arch_supports, yes, "tensor cores multiply bf16 from sm_80 on",
                   Condition{.architecture = EnumSet<Sm>::from(sm_80), .operand = Operand::bf16}},
    TensorCoreRule{"arch-tf32", arch_supports, yes,
                   "tensor cores multiply f32 as TF32 from sm_80 on",
                   Condition{.architecture = EnumSet<Sm>::from(sm_80), .operand = Operand::tf32}},
    TensorCoreRule{"arch-int8", arch_supports, yes,
                   "tensor cores multiply 8-bit integers from sm_72 on",
                   Condition{.architecture = EnumSet<Sm>::from(sm_72), .operand = Operand::s8}},
    TensorCoreRule{"arch-fp8", arch_supports, yes, "tensor cores multiply fp8 from sm_89 on",
                   Condition{.architecture = EnumSet<Sm>::from(sm_89), .operand = kFp8}},
    TensorCoreRule{"arch-f64", arch_supports, yes,
                   "tensor cores multiply f64 only on sm_80, sm_90 and sm_100",
                   Condition{.architecture = {sm_80, sm_90, sm_100}, .operand = Operand::f64}},
    TensorCoreRule{"arch-none", arch_supports, no,
                   "the architecture's tensor cores do not multiply this type"},

    // Math mode
    TensorCoreRule{
        "math-default", math_mode_allows, no,
        "`math: default` keeps f32 as it is: bench forbids TF32 to cuBLAS, and to cuDNN, "
        "which would use it by default",
        Condition{.operand = Operand::tf32, .math = Math::standard}},
    TensorCoreRule{"math-tf32", math_mode_allows, yes,
                   "`math: tf32` allows f32 operands to be rounded to TF32",
                   Condition{.operand = Operand::tf32, .math = Math::tf32}},
    TensorCoreRule{"math-native", math_mode_allows, yes,
                   "the type is multiplied as it is: no rounding needs to be allowed"},

    // Layout
    TensorCoreRule{"layout-attention-nhwc", layout_ok, no,
                   "attention takes plain tensors, not nhwc",
                   Condition{.library = attention, .layout = OperandLayout::nhwc}},
    TensorCoreRule{"layout-attention", layout_ok, yes, "attention takes plain tensors",
                   Condition{.library = attention}},
    TensorCoreRule{
        "layout-fp8", layout_ok, no,
        "fp8 needs both operands contiguous along k, except on sm_100 to sm_110",
        Condition{
            .architecture = kFp8AlongK, .operand = kFp8, .layout = OperandLayout::transposed}},
    TensorCoreRule{
        "layout-int8", layout_ok, no, "8-bit integers need both operands contiguous along k",
        Condition{.operand = {Operand::s8, Operand::u8}, .layout = OperandLayout::transposed}},
    TensorCoreRule{"layout-gemm", layout_ok, yes,
                   "cuBLAS has tensor-core kernels for these transpositions",
                   Condition{.library = cublas}},
    TensorCoreRule{
        "layout-conv-int8", layout_ok, no,
        "before sm_80 cuDNN's first choice for convolutions of 8-bit integers in nchw is on CUDA "
        "cores",
        Condition{.architecture = EnumSet<Sm>::before(sm_80),
                  .operand = {Operand::s8, Operand::u8},
                  .layout = OperandLayout::nchw}},
    TensorCoreRule{"layout-conv-fp8", layout_ok, yes,
                   "cuDNN has engines for fp8 in nhwc and in nchw, all of them for tensor cores",
                   Condition{.operand = kFp8}},
    TensorCoreRule{"layout-few-channels", layout_ok, yes,
                   "possible, but on sm_90 cuDNN's first choice for up to 8 channels in nchw is "
                   "often on CUDA cores",
                   Condition{.architecture = sm_90,
                             .operand = kHalf,
                             .direction = Direction::forward,
                             .layout = OperandLayout::nchw,
                             .size = {ProductSize::first_layer, ProductSize::few_channels}}},
    TensorCoreRule{"layout-nchw", layout_ok, yes,
                   "cuDNN copies nchw tensors into nhwc and back around the kernel",
                   Condition{.layout = OperandLayout::nchw}},
    TensorCoreRule{"layout-nhwc", layout_ok, yes,
                   "nhwc is what tensor-core convolutions read; with `layout: any` cuDNN takes it"},

    // Alignment
    TensorCoreRule{"align-attention", alignment_grade, no,
                   "cuDNN's attention needs `head_dim` in multiples of 8",
                   Condition{.library = attention, .alignment = {below_4, below_16}}},
    TensorCoreRule{"align-required", alignment_grade, no,
                   "cuBLAS 10 and cuDNN before 7.6.3 need m, n and k (c and k) in multiples of 16 "
                   "bytes: 8 in f16, 16 in int8",
                   Condition{.generation = LibraryGeneration::cuda10,
                             .size_alignment = SizeAlignment::unaligned}},
    TensorCoreRule{"align-fp8", alignment_grade, no,
                   "fp8 needs every row to be a multiple of 16 bytes",
                   Condition{.library = cublas, .operand = kFp8, .alignment = {below_4, below_16}}},
    TensorCoreRule{"align-conv-fp8", alignment_grade, no,
                   "cuDNN's gradients of fp8 need c and k in multiples of 16",
                   Condition{.library = cudnn,
                             .operand = kFp8,
                             .direction = kGradients,
                             .alignment = {below_4, below_16}}},
    TensorCoreRule{"align-int8", alignment_grade, no,
                   "8-bit integers need every row to be a multiple of 4 bytes",
                   Condition{.operand = {Operand::s8, Operand::u8}, .alignment = below_4}},
    TensorCoreRule{"align-128", alignment_grade, yes,
                   "every row is a multiple of 128 bytes, the best there is",
                   Condition{.alignment = at_128}},
    TensorCoreRule{"align-16", alignment_grade, yes,
                   "every row is a multiple of 16 bytes, as fast loads such as TMA require; 128 "
                   "is better",
                   Condition{.alignment = at_16}},
    TensorCoreRule{"align-first-layer", alignment_grade, yes,
                   "cuDNN has an engine for first layers, which reads 1 to 4 channels as they are",
                   Condition{.library = cudnn,
                             .architecture = EnumSet<Sm>::before(sm_100),
                             .size = ProductSize::first_layer}},
    TensorCoreRule{
        "align-padded", alignment_grade, yes,
        "cuDNN pads channels to a multiple of 16 bytes, in copies",
        Condition{.library = cudnn, .operand = {Operand::f16, Operand::bf16, Operand::tf32}}},
    TensorCoreRule{
        "align-narrow", alignment_grade, yes,
        "rows are not a multiple of 16 bytes: there are tensor-core kernels for this, but "
        "they are slower"},

    // Size
    TensorCoreRule{"size-attention-unmatched", min_dims_ok, no,
                   "cuDNN's attention does not define results of queries without keys, nor "
                   "gradients of keys without queries or of a single pair",
                   Condition{.size = ProductSize::unmatched}},
    TensorCoreRule{"size-attention-huge", min_dims_ok, no,
                   "cuDNN's gradients of attention need a `head_dim` of at most 256",
                   Condition{.size = ProductSize::huge_heads}},
    TensorCoreRule{"size-attention-hopper", min_dims_ok, yes,
                   "on sm_90 cuDNN's gradients of attention have a `head_dim` of up to 256",
                   Condition{.architecture = sm_90, .size = ProductSize::large_heads}},
    TensorCoreRule{"size-attention-large", min_dims_ok, no,
                   "except on sm_90, cuDNN's gradients of attention need a `head_dim` of at most "
                   "128",
                   Condition{.size = ProductSize::large_heads}},
    TensorCoreRule{"size-attention", min_dims_ok, yes,
                   "cuDNN's attention uses tensor cores for any number of queries",
                   Condition{.library = attention}},
    TensorCoreRule{"size-int8", min_dims_ok, no, "8-bit integers need n and k in multiples of 4",
                   Condition{.library = cublas, .size = ProductSize::uneven}},
    TensorCoreRule{"size-8bit", min_dims_ok, yes,
                   "8-bit products have no alternative kernels on CUDA cores",
                   Condition{.library = cublas,
                             .operand = {Operand::s8, Operand::f8_e4m3, Operand::f8_e5m2},
                             .size = {ProductSize::one_row, ProductSize::vector,
                                      ProductSize::rank_one, ProductSize::small}}},
    TensorCoreRule{"size-one-row-hopper", min_dims_ok, yes,
                   "on sm_90 cuBLAS multiplies one row on tensor cores (nvjet)",
                   Condition{.library = cublas,
                             .architecture = sm_90,
                             .operand = kHalf,
                             .size = ProductSize::one_row}},
    TensorCoreRule{"size-vector", min_dims_ok, no,
                   "one row or one column is a matrix times a vector, for CUDA cores (gemv)",
                   Condition{.size = {ProductSize::one_row, ProductSize::vector}}},
    TensorCoreRule{"size-rank-one", min_dims_ok, no, "k = 1 is an outer product, for CUDA cores",
                   Condition{.size = ProductSize::rank_one}},
    TensorCoreRule{"size-small", min_dims_ok, yes,
                   "possible, but with fewer than 8 rows or columns cuBLAS often takes CUDA cores "
                   "(gemmSN)",
                   Condition{.size = ProductSize::small}},
    TensorCoreRule{
        "size-conv-fp8", min_dims_ok, no,
        "cuDNN has no engine for fp8 in groups whose input channels are not a multiple of 4",
        Condition{.operand = kFp8, .size = {ProductSize::depthwise, ProductSize::thin_groups}}},
    TensorCoreRule{"size-depthwise", min_dims_ok, no,
                   "a depthwise convolution multiplies no matrices: cuDNN takes CUDA cores",
                   Condition{.size = ProductSize::depthwise}},
    TensorCoreRule{"size-groups-gradient", min_dims_ok, yes,
                   "on sm_90 and sm_100 cuDNN's data gradient of groups of few channels is on "
                   "tensor cores",
                   Condition{.architecture = {sm_90, sm_100},
                             .operand = kHalf,
                             .direction = Direction::backward_data,
                             .size = ProductSize::thin_groups}},
    TensorCoreRule{"size-groups", min_dims_ok, no,
                   "groups of fewer than 4 channels, or 16 of 8 bits, go to CUDA cores",
                   Condition{.size = ProductSize::thin_groups}},
    TensorCoreRule{
        "size-first-layer-blackwell", min_dims_ok, no,
        "from sm_100 on cuDNN's first choice for 1 to 4 channels is on CUDA cores",
        Condition{.architecture = EnumSet<Sm>::from(sm_100), .size = ProductSize::first_layer}},
    TensorCoreRule{"size-first-layer", min_dims_ok, yes,
                   "1 to 4 channels are enough for cuDNN's engine for first layers",
                   Condition{.size = ProductSize::first_layer}},
    TensorCoreRule{"size-regular", min_dims_ok, yes, "large enough for the instructions' tiles"},
};

}  // namespace

bool TensorCoreCondition::holds(const TensorCoreFacts& facts) const {
  return library.has(facts.library) && architecture.has(facts.architecture) &&
         generation.has(facts.generation) && library_support.has(facts.library_support) &&
         operand.has(facts.operand) && math.has(facts.math) && direction.has(facts.direction) &&
         layout.has(facts.layout) && alignment.has(facts.alignment) &&
         size_alignment.has(facts.size_alignment) && size.has(facts.size);
}

std::span<const TensorCoreRule> tensor_core_rules() { return kRules; }

const TensorCoreRule& find_deciding_rule(TensorCorePart part, const TensorCoreFacts& facts) {
  const TensorCoreRule* last = nullptr;
  for (const TensorCoreRule& rule : kRules) {
    if (rule.part != part) continue;
    last = &rule;
    if (rule.when.holds(facts)) break;
  }
  assert(last != nullptr && last->when.holds(facts));
  return *last;
}

std::vector<NoTensorCoreRule> no_tensor_core_rules() {
  std::vector<NoTensorCoreRule> rules;
  for (const Operator* op : all_operators()) {
    const MatrixProduct& product = op->product;
    if (!product.rule.empty()) rules.push_back({product.rule, op->name, product.sentence});
  }
  rules.push_back({"op-unknown", "", "no rule covers this operator"});
  return rules;
}

}  // namespace bench::ops
