// SPDX-License-Identifier: Apache-2.0
// table: one row per word
#include "ops/foreign_words.hpp"

#include "base/characters.hpp"
#include "base/nearest_name.hpp"
#include "ops/math/functions.hpp"
#include "ops/pointwise/functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace bench::ops {
namespace {

// Module prefixes of a word. If one prefix starts with another, the longer one comes first.
constexpr std::array<std::string_view, 8> kModules = {
    "torch.nn.functional.", "torch.nn.", "torch.", "nn.functional.", "nn.", "f.", "aten::", "np."};

constexpr std::string_view kMath = "math";
constexpr std::string_view kPointwise = "pointwise";

constexpr std::string_view kLinear =
    "nn.Linear is `gemm` with `trans_b: true`: "
    "`{ op: gemm, m: 64, n: 1000, k: 512, trans_b: true, bias: true }`";
constexpr std::string_view kMatmul =
    "a matrix product is `gemm`: `{ op: gemm, m: 512, n: 512, k: 512 }`";
constexpr std::string_view kBatchedMatmul =
    "a batched matrix product is `gemm` with `batch`: `{ op: gemm, batch: 8, m: 128, n: 128, k: 64 "
    "}`";
constexpr std::string_view kAddedProduct =
    "a matrix product to which a row is added is `gemm` with `bias: true`: "
    "`{ op: gemm, m: 64, n: 1000, k: 512, bias: true }`";
constexpr std::string_view kConv1d =
    "a 1-D convolution is `conv` with `w` and `s`: `{ op: conv, c: 64, w: 1000, k: 64, s: 3, pad: "
    "1, bias: true }`";
constexpr std::string_view kConv2d =
    "a 2-D convolution is `conv` with `h` and `r`: `{ op: conv, c: 64, h: 56, k: 64, r: 3, pad: 1, "
    "bias: true }`";
constexpr std::string_view kConv3d =
    "a 3-D convolution is `conv` with `d` and `t`: `{ op: conv, c: 16, d: 16, h: 28, k: 32, t: 3, "
    "pad: 1, bias: true }`";
constexpr std::string_view kTransposed =
    "a transposed convolution is `conv` with `transposed: true`: `{ op: conv, c: 64, h: 28, k: 32, "
    "r: 4, stride: 2, pad: 1, bias: true, transposed: true }`";
constexpr std::string_view kDepthwise =
    "a depthwise convolution is `conv` with `g` = `c` = `k`: `{ op: conv, g: 64, c: 64, h: 56, k: "
    "64, r: 3, pad: 1 }`";
constexpr std::string_view kMaxPool1d =
    "max pooling is `pool` with `function: max`: `{ op: pool, function: max, c: 64, w: 1000, "
    "window: 2 }`";
constexpr std::string_view kMaxPool2d =
    "max pooling is `pool` with `function: max`: `{ op: pool, function: max, c: 64, h: 112, "
    "window: 3, stride: 2, pad: 1 }`";
constexpr std::string_view kMaxPool3d =
    "max pooling is `pool` with `function: max`: `{ op: pool, function: max, c: 16, d: 16, h: 56, "
    "window: 2 }`";
constexpr std::string_view kAveragePool1d =
    "average pooling is `pool` with `function: avg_include_pad`: `{ op: pool, function: "
    "avg_include_pad, c: 64, w: 1000, window: 2 }`";
constexpr std::string_view kAveragePool2d =
    "average pooling is `pool` with `function: avg_include_pad`: `{ op: pool, function: "
    "avg_include_pad, c: 64, h: 56, window: 2 }`";
constexpr std::string_view kAveragePool3d =
    "average pooling is `pool` with `function: avg_include_pad`: `{ op: pool, function: "
    "avg_include_pad, c: 16, d: 16, h: 56, window: 2 }`";
constexpr std::string_view kGlobalPool =
    "average pooling to one value is `pool` with `global: true`: `{ op: pool, function: "
    "avg_exclude_pad, c: 512, h: 7, global: true }`";
constexpr std::string_view kBatchNorm1d =
    "batch norm is `batch_norm`, in inference: `{ op: batch_norm, n: 8, c: 64, w: 1000 }`, in "
    "training: "
    "`{ op: batch_norm, mode: training, n: 8, c: 64, w: 1000 }`";
constexpr std::string_view kBatchNorm2d =
    "batch norm is `batch_norm`, in inference: `{ op: batch_norm, n: 8, c: 64, h: 56 }`, in "
    "training: "
    "`{ op: batch_norm, mode: training, n: 8, c: 64, h: 56 }`";
constexpr std::string_view kBatchNorm3d =
    "batch norm is `batch_norm`, in inference: `{ op: batch_norm, c: 16, d: 16, h: 56 }`, in "
    "training: "
    "`{ op: batch_norm, mode: training, n: 8, c: 16, d: 16, h: 56 }`";
constexpr std::string_view kLayerNorm =
    "layer norm is `layer_norm`, by default over the last dimension: `{ op: layer_norm, shape: [8, "
    "128, 768] }`";
constexpr std::string_view kAttention =
    "it is `attention`, the part between the projections: `{ op: attention, heads: 12, q_len: 128, "
    "head_dim: 64 }`";
constexpr std::string_view kRope =
    "it is `rope`, with the halves of a head as pairs: `{ op: rope, heads: 32, seq: 512, head_dim: "
    "128 }`";
constexpr std::string_view kIndexSelect =
    "slices along one axis by their indices are `gather`: `{ op: gather, shape: [1000, 64], axis: "
    "0, indices: 128 }`";
constexpr std::string_view kNarrow =
    "torch.narrow, or a part of a tensor, is `slice`: `{ op: slice, shape: [128, 2304], begin: "
    "768, "
    "size: 768 }`";
constexpr std::string_view kCrossEntropy =
    "cross-entropy is `loss`: `{ op: loss, function: softmax_cross_entropy, batch: 64, classes: "
    "1000 }`";
constexpr std::string_view kSgd =
    "a step of SGD is `optimizer`: `{ op: optimizer, function: sgd, elements: 1000000 }`";
constexpr std::string_view kAdam =
    "a step of Adam is `optimizer`: `{ op: optimizer, function: adam, elements: 1000000 }`";
constexpr std::string_view kAdamW =
    "a step of AdamW is `optimizer`: `{ op: optimizer, function: adamw, elements: 1000000 }`";
constexpr std::string_view kLayoutChange =
    "a change of the memory layout is `reorder`: `{ op: reorder, shape: [1, 64, 56, 56], from: "
    "nhwc, to: nchw }`";
constexpr std::string_view kGelu =
    "nn.GELU() is `gelu_erf`; with approximate='tanh' it is `gelu_tanh`";
constexpr std::string_view kRelu6 = "ReLU6 is `clip`, whose default is 0 to 6";
constexpr std::string_view kHardtanh =
    "Hardtanh is `clip` with `alpha: -1` and `beta: 1` (as a post-op: `clip-1_1`)";
constexpr std::string_view kClamp = "a clamp is `clip` from `alpha` to `beta`";
constexpr std::string_view kAverage =
    "an average is `avg_include_pad` (PyTorch's default) or `avg_exclude_pad` "
    "(count_include_pad=False)";
constexpr std::string_view kBackward =
    "a backward pass is `backward_data` (gradient of the input) or `backward_weights`";
constexpr std::string_view kKernelSize =
    "the kernel's sizes are `t` (depth), `r` (height), `s` (width)";
constexpr std::string_view kFloat8 = "an 8-bit float is `f8_e4m3` or `f8_e5m2`";

// clang-format off
constexpr std::array kWords = {
    // Operators
    ForeignWord{"linear", "gemm", kLinear},
    ForeignWord{"dense", "gemm", kLinear},
    ForeignWord{"fc", "gemm", kLinear},
    ForeignWord{"fullyconnected", "gemm", kLinear},
    ForeignWord{"innerproduct", "gemm", kLinear},
    ForeignWord{"matmul", "gemm", kMatmul},
    ForeignWord{"mm", "gemm", kMatmul},
    ForeignWord{"sgemm", "gemm", kMatmul},
    ForeignWord{"bmm", "gemm", kBatchedMatmul},
    ForeignWord{"addmm", "gemm", kAddedProduct},
    ForeignWord{"conv1d", "conv", kConv1d},
    ForeignWord{"conv2d", "conv", kConv2d},
    ForeignWord{"conv3d", "conv", kConv3d},
    ForeignWord{"convolution", "conv", kConv2d},
    ForeignWord{"convtranspose2d", "conv", kTransposed},
    ForeignWord{"convtranspose", "conv", kTransposed},
    ForeignWord{"deconv", "conv", kTransposed},
    ForeignWord{"deconvolution", "conv", kTransposed},
    ForeignWord{"depthwiseconv2d", "conv", kDepthwise},
    ForeignWord{"depthwise", "conv", kDepthwise},
    ForeignWord{"dwconv", "conv", kDepthwise},
    ForeignWord{"maxpool1d", "pool", kMaxPool1d},
    ForeignWord{"maxpool2d", "pool", kMaxPool2d},
    ForeignWord{"maxpool3d", "pool", kMaxPool3d},
    ForeignWord{"maxpool", "pool", kMaxPool2d},
    ForeignWord{"avgpool1d", "pool", kAveragePool1d},
    ForeignWord{"avgpool2d", "pool", kAveragePool2d},
    ForeignWord{"avgpool3d", "pool", kAveragePool3d},
    ForeignWord{"avgpool", "pool", kAveragePool2d},
    ForeignWord{"averagepool", "pool", kAveragePool2d},
    ForeignWord{"pooling", "pool", kMaxPool2d},
    ForeignWord{"adaptiveavgpool2d", "pool", kGlobalPool},
    ForeignWord{"globalavgpool", "pool", kGlobalPool},
    ForeignWord{"globalaveragepool", "pool", kGlobalPool},
    ForeignWord{"batchnorm1d", "batch_norm", kBatchNorm1d},
    ForeignWord{"batchnorm2d", "batch_norm", kBatchNorm2d},
    ForeignWord{"batchnorm3d", "batch_norm", kBatchNorm3d},
    ForeignWord{"batchnorm", "batch_norm", kBatchNorm2d},
    ForeignWord{"bn", "batch_norm", kBatchNorm2d},
    ForeignWord{"layernorm", "layer_norm", kLayerNorm},
    ForeignWord{"layernormalization", "layer_norm", kLayerNorm},
    ForeignWord{"selfattention", "attention", kAttention},
    ForeignWord{"multiheadattention", "attention", kAttention},
    ForeignWord{"mha", "attention", kAttention},
    ForeignWord{"flashattention", "attention", kAttention},
    ForeignWord{"scaleddotproductattention", "attention", kAttention},
    ForeignWord{"sdpa", "attention", kAttention},
    ForeignWord{"rotaryembedding", "rope", kRope},
    ForeignWord{"rotarypositionembedding", "rope", kRope},
    ForeignWord{"indexselect", "gather", kIndexSelect},
    ForeignWord{"narrow", "slice", kNarrow},
    ForeignWord{"crossentropy", "loss", kCrossEntropy},
    ForeignWord{"crossentropyloss", "loss", kCrossEntropy},
    ForeignWord{"sgd", "optimizer", kSgd},
    ForeignWord{"adam", "optimizer", kAdam},
    ForeignWord{"adamw", "optimizer", kAdamW},
    ForeignWord{"contiguous", "reorder", kLayoutChange},
    ForeignWord{"permute", "reorder", kLayoutChange},
    ForeignWord{"eltwise", kPointwise},
    ForeignWord{"elementwise", kPointwise},
    // Functions of pointwise and pool, and post-ops
    ForeignWord{"gelu", "gelu_erf", kGelu},
    ForeignWord{"silu", "swish"},
    ForeignWord{"logistic", "sigmoid"},
    ForeignWord{"leakyrelu", "leaky_relu"},
    ForeignWord{"relu6", "clip", kRelu6},
    ForeignWord{"hardtanh", "clip", kHardtanh},
    ForeignWord{"clamp", "clip", kClamp},
    ForeignWord{"subtract", "sub"},
    ForeignWord{"multiply", "mul"},
    ForeignWord{"divide", "div"},
    ForeignWord{"maximum", "max"},
    ForeignWord{"minimum", "min"},
    ForeignWord{"maxpool", "max"},
    ForeignWord{"avg", "avg_include_pad", kAverage},
    ForeignWord{"average", "avg_include_pad", kAverage},
    ForeignWord{"mean", "avg_include_pad", kAverage},
    ForeignWord{"avgpool", "avg_include_pad", kAverage},
    // Data types
    ForeignWord{"float", "f32"},
    ForeignWord{"float32", "f32"},
    ForeignWord{"fp32", "f32"},
    ForeignWord{"single", "f32"},
    ForeignWord{"float64", "f64"},
    ForeignWord{"fp64", "f64"},
    ForeignWord{"double", "f64"},
    ForeignWord{"float16", "f16"},
    ForeignWord{"fp16", "f16"},
    ForeignWord{"half", "f16"},
    ForeignWord{"bfloat16", "bf16"},
    ForeignWord{"bfloat", "bf16"},
    ForeignWord{"int32", "s32"},
    ForeignWord{"i32", "s32"},
    ForeignWord{"qint32", "s32"},
    ForeignWord{"int8", "s8"},
    ForeignWord{"i8", "s8"},
    ForeignWord{"qint8", "s8"},
    ForeignWord{"char", "s8"},
    ForeignWord{"uint8", "u8"},
    ForeignWord{"quint8", "u8"},
    ForeignWord{"byte", "u8"},
    ForeignWord{"fp8", "f8_e4m3", kFloat8},
    ForeignWord{"f8", "f8_e4m3", kFloat8},
    ForeignWord{"float8", "f8_e4m3", kFloat8},
    ForeignWord{"float8e4m3", "f8_e4m3"},
    ForeignWord{"float8e4m3fn", "f8_e4m3"},
    ForeignWord{"float8e5m2", "f8_e5m2"},
    // Devices, directions and other settings
    ForeignWord{"gpu", "cuda"},
    ForeignWord{"nvidia", "cuda"},
    ForeignWord{"cuda:0", "cuda"},
    ForeignWord{"host", "cpu"},
    ForeignWord{"fwd", "forward"},
    ForeignWord{"fprop", "forward"},
    ForeignWord{"inference", "forward"},
    ForeignWord{"backward", "backward_data", kBackward},
    ForeignWord{"bwd", "backward_data", kBackward},
    ForeignWord{"training", "backward_data", kBackward},
    ForeignWord{"dgrad", "backward_data"},
    ForeignWord{"wgrad", "backward_weights"},
    ForeignWord{"eval", "inference"},
    ForeignWord{"train", "training"},
    ForeignWord{"channelslast", "nhwc"},
    ForeignWord{"channelsfirst", "nchw"},
    ForeignWord{"contiguousformat", "nchw"},
    ForeignWord{"tensorfloat32", "tf32"},
    ForeignWord{"fastaccum", "fast_accumulation"},
    ForeignWord{"usefastaccum", "fast_accumulation"},
    ForeignWord{"warm", "hot"},
    ForeignWord{"mkldnn", "onednn"},
    ForeignWord{"dnnl", "onednn"},
    // Keys
    ForeignWord{"infeatures", "k"},
    ForeignWord{"outfeatures", "n"},
    ForeignWord{"inchannels", "c"},
    ForeignWord{"outchannels", "k"},
    ForeignWord{"numfeatures", "c"},
    ForeignWord{"channels", "c"},
    ForeignWord{"groups", "g"},
    ForeignWord{"height", "h"},
    ForeignWord{"width", "w"},
    ForeignWord{"kernelsize", "window"},
    ForeignWord{"kernelsize", "r", kKernelSize},
    ForeignWord{"kernel", "window"},
    ForeignWord{"kernel", "r", kKernelSize},
    ForeignWord{"padding", "pad"},
    ForeignWord{"outputpadding", "output_pad"},
    ForeignWord{"transposeb", "trans_b"},
    ForeignWord{"transposea", "trans_a"},
    ForeignWord{"batchsize", "batch"},
    ForeignWord{"batchsize", "n"},
    ForeignWord{"batch", "n"},
    ForeignWord{"eps", "epsilon"},
    ForeignWord{"dim", "axis"},
    ForeignWord{"dims", "shape"},
    ForeignWord{"size", "shape"},
    ForeignWord{"datatype", "dtype"},
    ForeignWord{"numthreads", "threads"},
    ForeignWord{"activation", "post_ops", "an activation is a post-op: `post_ops: [relu]`"},
};
// clang-format on

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// "torch.nn.MaxPool2d" and "max_pool2d" become "maxpool2d".
std::string normal_form(std::string_view written) {
  std::string text = lower_case(written);
  for (const std::string_view module : kModules) {
    if (!text.starts_with(module)) continue;
    text.erase(0, module.size());
    break;
  }
  std::erase_if(text, [](char c) { return c == '_' || c == '-'; });
  return text;
}

const ForeignWord* find_word(std::string_view normal, std::span<const std::string_view> names) {
  const auto* word = std::ranges::find_if(kWords, [&](const ForeignWord& row) {
    return row.written == normal && contains(names, row.name);
  });
  return word == kWords.end() ? nullptr : word;
}

// Returns a sentence with a case of `pointwise` that computes the function.
std::string pointwise_hint(std::string_view function, std::string_view note) {
  const bool is_unary = find_unary_function(function) != nullptr;
  return fmt::format(
      "`{0}` is a function of `pointwise`: `{{ op: pointwise, function: {0}, {1} }}`{2}{3}",
      function, is_unary ? "shape: [64, 256]" : "a: [64, 256], b: [64, 256]",
      note.empty() ? "" : "; ", note);
}

}  // namespace

std::span<const ForeignWord> foreign_words() { return kWords; }

const ForeignWord* find_foreign_word(std::string_view written,
                                     std::span<const std::string_view> candidates) {
  return find_word(normal_form(written), candidates);
}

std::optional<std::string> foreign_word_hint(std::string_view written,
                                             std::span<const std::string_view> candidates) {
  const std::string normal = normal_form(written);
  if (const ForeignWord* word = find_word(normal, candidates)) {
    return word->hint.empty() ? fmt::format("did you mean `{}`?", word->name)
                              : std::string(word->hint);
  }
  if (!contains(candidates, kPointwise)) return std::nullopt;
  const auto functions = pointwise_function_names();
  if (const ForeignWord* word = find_word(normal, functions)) {
    return pointwise_hint(word->name, word->hint);
  }
  for (const std::string_view function : functions) {
    if (normal_form(function) == normal) return pointwise_hint(function, {});
  }
  for (const std::string_view function : math_function_names()) {
    if (normal_form(function) != normal || !contains(candidates, kMath)) continue;
    return fmt::format("`{0}` is a function of `math`: `{{ op: math, function: {0}, {1} }}`",
                       function, "shape: [64, 256]");
  }
  return std::nullopt;
}

std::string expected_word(std::string_view written, std::span<const std::string_view> candidates) {
  if (auto hint = foreign_word_hint(written, candidates)) return *std::move(hint);
  return expectation(written, candidates);
}

}  // namespace bench::ops
