// SPDX-License-Identifier: Apache-2.0
// table: one row per operator of ONNX
// Operators that stand for several: attention, and those of com.microsoft.
#include "harness/import/onnx_network.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace bench::onnx {
namespace {

using Fused = Result<std::vector<Value>>;
using ops::Dims;

Error cannot_fuse(std::string what) { return {std::move(what), "", ""}; }

Result<Value> fused_input(const NodeView& view, std::size_t index) {
  const Value* value = view.input(index);
  if (value == nullptr) return cannot_fuse("an input is missing or unknown");
  return *value;
}

bool is_given(const NodeView& view, std::size_t index) {
  return index < view.node.inputs.size() && !view.node.inputs[index].empty();
}

// [batch, rows, heads*size] as [batch, heads, rows, size].
Result<Value> split_heads(NetworkBuilder& builder, const Value& value, std::int64_t heads) {
  if (value.dims.size() == 4) return value;
  if (value.dims.size() != 3 || heads < 1 || value.dims[2] % heads != 0)
    return cannot_fuse("its heads do not divide the hidden size");
  const Dims seen = {value.dims[0], value.dims[1], heads, value.dims[2] / heads};
  return builder.add_permutation(with_dims(value, seen), {0, 2, 1, 3});
}

Result<Value> join_heads(NetworkBuilder& builder, const Value& value) {
  const Dims dims = {value.dims[0], value.dims[2], value.dims[1] * value.dims[3]};
  BENCH_ASSIGN_OR_RETURN(Value rows, builder.add_permutation(value, {0, 2, 1, 3}));
  return with_dims(std::move(rows), dims);
}

// What attention adds to the scores: nothing, or a tensor.
struct Heads {
  Value query, key, value;  // [batch, heads, rows, size]
  bool is_causal = false;
  std::optional<Value> addend = std::nullopt;
};

// With a mask the scores are computed one by one, as the operator attention has none.
Result<Value> add_masked_attention(NetworkBuilder& builder, const Heads& heads) {
  if (heads.is_causal) return cannot_fuse("attention that is causal has no other mask");
  if (heads.query.dims[1] != heads.key.dims[1])
    return cannot_fuse("attention whose heads share keys has no mask");
  BENCH_ASSIGN_OR_RETURN(Value scores,
                         add_product(builder, heads.query, heads.key, Transposed::right, nullptr));
  const double factor = 1 / std::sqrt(static_cast<double>(heads.query.dims[3]));
  BENCH_ASSIGN_OR_RETURN(scores,
                         builder.add_unary("scale", scores, {{"alpha", as_written(factor)}}));
  BENCH_ASSIGN_OR_RETURN(scores, builder.add_binary("add", scores, *heads.addend));
  BENCH_ASSIGN_OR_RETURN(scores, builder.add("softmax", {}, {scores}));
  return add_product(builder, scores, heads.value, Transposed::neither, nullptr);
}

Result<Value> add_attention(NetworkBuilder& builder, const Heads& heads) {
  if (heads.addend) return add_masked_attention(builder, heads);
  LayerParameters parameters;
  if (heads.is_causal) parameters.emplace_back("causal", true);
  return builder.add("attention", parameters, {heads.query, heads.key, heads.value});
}

// The operator Attention of the default domain, from opset 23 on.
Fused lower_attention(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value query, fused_input(view, 0));
  BENCH_ASSIGN_OR_RETURN(const Value key, fused_input(view, 1));
  BENCH_ASSIGN_OR_RETURN(const Value value, fused_input(view, 2));
  if (is_given(view, 4)) return cannot_fuse("its cache is an input; export without one");
  if (view.real("softcap", 0) != 0) return cannot_fuse("attention has no softcap");
  if (view.node.outputs.size() > 3 && !view.node.outputs[3].empty())
    return cannot_fuse("its products of queries and keys are results");
  Heads heads{.query = {}, .key = {}, .value = {}};
  heads.is_causal = view.integer("is_causal", 0) != 0;
  if (is_given(view, 3)) {
    BENCH_ASSIGN_OR_RETURN(heads.addend, fused_input(view, 3));
    if (!is_floating(heads.addend->type)) return cannot_fuse("its mask is not added but chosen");
  }
  BENCH_ASSIGN_OR_RETURN(heads.query, split_heads(builder, query, view.integer("q_num_heads", 1)));
  const std::int64_t shared = view.integer("kv_num_heads", 1);
  BENCH_ASSIGN_OR_RETURN(heads.key, split_heads(builder, key, shared));
  BENCH_ASSIGN_OR_RETURN(heads.value, split_heads(builder, value, shared));
  BENCH_ASSIGN_OR_RETURN(Value result, add_attention(builder, heads));
  if (query.dims.size() == 3) {
    BENCH_ASSIGN_OR_RETURN(result, join_heads(builder, result));
  }
  return std::vector<Value>{std::move(result), heads.key, heads.value};
}

// MultiHeadAttention of com.microsoft: query, key, value, bias, key_padding_mask, attention_bias.
Fused lower_multi_head_attention(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value query, fused_input(view, 0));
  BENCH_ASSIGN_OR_RETURN(const Value key, fused_input(view, 1));
  BENCH_ASSIGN_OR_RETURN(const Value value, fused_input(view, 2));
  if (is_given(view, 3)) return cannot_fuse("its biases are those of earlier products");
  if (is_given(view, 4)) return cannot_fuse("its mask names keys; attention has no mask");
  if (is_given(view, 6)) return cannot_fuse("its cache is an input; export without one");
  const std::int64_t count = view.integer("num_heads", 1);
  Heads heads{.query = {}, .key = {}, .value = {}};
  heads.is_causal = view.integer("unidirectional", 0) != 0;
  if (is_given(view, 5)) {
    BENCH_ASSIGN_OR_RETURN(heads.addend, fused_input(view, 5));
  }
  BENCH_ASSIGN_OR_RETURN(heads.query, split_heads(builder, query, count));
  BENCH_ASSIGN_OR_RETURN(heads.key, split_heads(builder, key, count));
  BENCH_ASSIGN_OR_RETURN(heads.value, split_heads(builder, value, count));
  BENCH_ASSIGN_OR_RETURN(Value result, add_attention(builder, heads));
  BENCH_ASSIGN_OR_RETURN(result, join_heads(builder, result));
  return std::vector<Value>{std::move(result), heads.key, heads.value};
}

// The part `number` of three of the last dimension.
Result<Value> third_of(NetworkBuilder& builder, const Value& value, std::int64_t number) {
  const std::int64_t size = value.dims.back() / 3;
  LayerParameters parameters;
  if (number != 0) parameters.emplace_back("begin", number * size);
  parameters.emplace_back("size", size);
  return builder.add("slice", parameters, {value});
}

// Attention of com.microsoft: input, weights, bias, mask_index, past, attention_bias.
Fused lower_fused_attention(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value input, fused_input(view, 0));
  BENCH_ASSIGN_OR_RETURN(const Value weights, fused_input(view, 1));
  if (is_given(view, 3)) return cannot_fuse("its mask names keys; attention has no mask");
  if (is_given(view, 4)) return cannot_fuse("its cache is an input; export without one");
  if (view.attribute("qkv_hidden_sizes") != nullptr)
    return cannot_fuse("queries, keys and values have different sizes");
  const bool fits = input.dims.size() == 3 && weights.dims.size() == 2 && weights.is_constant() &&
                    weights.dims[1] % 3 == 0;
  if (!fits) return cannot_fuse("its weights are not those of three products");
  BENCH_ASSIGN_OR_RETURN(const Value all,
                         add_product(builder, input, weights, Transposed::neither, view.input(2)));
  Heads heads{.query = {}, .key = {}, .value = {}};
  heads.is_causal = view.integer("unidirectional", 0) != 0;
  if (is_given(view, 5)) {
    BENCH_ASSIGN_OR_RETURN(heads.addend, fused_input(view, 5));
  }
  const std::int64_t count = view.integer("num_heads", 1);
  const std::array<Value*, 3> parts = {&heads.query, &heads.key, &heads.value};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    BENCH_ASSIGN_OR_RETURN(const Value part, third_of(builder, all, static_cast<std::int64_t>(i)));
    BENCH_ASSIGN_OR_RETURN(*parts[i], split_heads(builder, part, count));
  }
  BENCH_ASSIGN_OR_RETURN(Value result, add_attention(builder, heads));
  BENCH_ASSIGN_OR_RETURN(result, join_heads(builder, result));
  return std::vector<Value>{std::move(result)};
}

// Adds `skip` and a bias, then normalises. Its fourth result is the sum.
Fused lower_skip_norm(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value input, fused_input(view, 0));
  BENCH_ASSIGN_OR_RETURN(const Value skip, fused_input(view, 1));
  const bool is_rms = view.node.op == "SkipSimplifiedLayerNormalization";
  const std::size_t bias = is_rms ? 3 : 4;
  BENCH_ASSIGN_OR_RETURN(Value sum, builder.add_binary("add", input, skip));
  if (is_given(view, bias)) {
    BENCH_ASSIGN_OR_RETURN(const Value addend, fused_input(view, bias));
    BENCH_ASSIGN_OR_RETURN(sum, builder.add_binary("add", sum, addend));
  }
  LayerParameters parameters = {{"epsilon", as_written(view.real("epsilon", 1e-12))}};
  if (!is_rms && !is_given(view, 3)) parameters.emplace_back("shift", false);
  BENCH_ASSIGN_OR_RETURN(const Value result,
                         builder.add(is_rms ? "rms_norm" : "layer_norm", parameters, {sum}));
  return std::vector<Value>{result, make_constant(kFloat, {1}, std::nullopt),
                            make_constant(kFloat, {1}, std::nullopt), sum};
}

// Rotates pairs of elements; the tables of angles are parameters.
Fused lower_rope(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value input, fused_input(view, 0));
  if (view.integer("rotary_embedding_dim", 0) != 0)
    return cannot_fuse("it rotates a part of each head");
  std::int64_t count = view.integer("num_heads", 0);
  if (input.dims.size() == 3 && count == 0) return cannot_fuse("the number of heads is missing");
  BENCH_ASSIGN_OR_RETURN(const Value heads, split_heads(builder, input, count));
  BENCH_ASSIGN_OR_RETURN(Value result, builder.add("rope", {}, {heads}));
  if (input.dims.size() == 3) {
    BENCH_ASSIGN_OR_RETURN(result, join_heads(builder, result));
  }
  return std::vector<Value>{std::move(result)};
}

constexpr std::array kFused = {
    LoweringRow{"", "Attention", lower_attention},
    LoweringRow{"", "RotaryEmbedding", lower_rope},
    LoweringRow{"com.microsoft", "RotaryEmbedding", lower_rope},
    LoweringRow{"com.microsoft", "Attention", lower_fused_attention},
    LoweringRow{"com.microsoft", "MultiHeadAttention", lower_multi_head_attention},
    LoweringRow{"com.microsoft", "SkipLayerNormalization", lower_skip_norm},
    LoweringRow{"com.microsoft", "SkipSimplifiedLayerNormalization", lower_skip_norm},
};

}  // namespace

std::span<const LoweringRow> fused_rows() { return kFused; }

}  // namespace bench::onnx
