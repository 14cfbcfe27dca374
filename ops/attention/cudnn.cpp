// SPDX-License-Identifier: Apache-2.0
// Attention as a graph of cuDNN. cuDNN recognises this graph as a whole and computes it in one
// kernel, which keeps the scores on the chip. It does so only for graphs of the form of NVIDIA's
// cudnn-frontend 1.x: also the logarithm of the sums, which is not needed, must be there.
#include "ops/attention/attention.hpp"
#include "ops/cuda/cudnn/cudnn_entry.hpp"
#include "ops/cuda/cudnn/graph_builder.hpp"
#include "ops/cuda/kernels/native_forms.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace bench::ops::cuda {
namespace {

constexpr std::size_t kRank = 4;
constexpr std::int64_t kQueryAxis = 2, kKeyAxis = 3;

// Adds the operations to a graph. Scores have one row for each query and one column for each key.
class AttentionGraph {
 public:
  AttentionGraph(const CudnnTarget& target, const Problem& problem)
      : builder_(target), problem_(problem), set_(problem.parameters) {}

  Result<OperationGraph, BackendError> build() {
    const std::size_t query = add_tensor(0), value = add_tensor(2);
    add_lengths();
    std::size_t scores = add_scores(query, add_transposed_keys());
    if (lengths_) scores = hide_padding(scores);
    if (is_masked()) scores = hide_later_keys(scores);
    if (has_window()) scores = hide_earlier_keys(scores);
    const std::size_t weights = add_softmax(scores);
    GraphBuilder::MatrixSizes sizes;
    if (lengths_) sizes = {.rows = lengths_->queries, .inner = lengths_->keys};
    builder_.matmul(weights, value, add_tensor(3), sizes);
    return builder_.finish();
  }

 private:
  // Tensors with the number of queries and of keys of each sequence.
  struct Lengths {
    std::size_t queries, keys;
  };

  // Without a mask, a single query attends to all keys of its sequence.
  bool is_masked() const { return set_.flag("causal") && set_.count("q_len") > 1; }
  bool has_window() const { return set_.count("window") < set_.count("kv_len"); }

  std::size_t add_tensor(std::size_t number) {
    return builder_.tensor(
        tensor_form(problem_, number, problem_.tensors[number].dims, Layout::nchw));
  }
  std::size_t add_transposed_keys() {
    TensorForm form = tensor_form(problem_, 1, problem_.tensors[1].dims, Layout::nchw);
    std::swap(form.dims[kQueryAxis], form.dims[kKeyAxis]);
    std::swap(form.strides[kQueryAxis], form.strides[kKeyAxis]);
    return builder_.tensor(form);
  }
  void add_lengths() {
    if (!set_.has("lengths")) return;
    const TensorForm form{
        "lengths", 0, DataType::s32, {set_.count("batch"), 1, 1, 1}, {1, 1, 1, 1}};
    const std::vector<std::int64_t>& numbers = set_.numbers("lengths");
    const std::vector<double> keys(numbers.begin(), numbers.end());
    const std::vector<double> queries(numbers.size(), static_cast<double>(set_.count("q_len")));
    lengths_ = Lengths{builder_.constant(form, queries), builder_.constant(form, keys)};
  }

  std::vector<std::int64_t> score_dims() const {
    return {set_.count("batch"), set_.count("heads"), set_.count("q_len"), set_.count("kv_len")};
  }
  std::size_t add_intermediate(std::string name, DataType dtype, std::vector<std::int64_t> dims) {
    std::vector<std::int64_t> strides = dense_strides(dims, Layout::nchw);
    return builder_.intermediate(std::move(name), dtype, std::move(dims), std::move(strides));
  }
  // Adds the result of a function of scores.
  std::size_t apply(std::string name, const GraphBuilder::Pointwise& function, std::size_t x,
                    std::optional<std::size_t> other, DataType dtype = DataType::f32) {
    const std::size_t y = add_intermediate(std::move(name), dtype, score_dims());
    builder_.pointwise(function, x, other, y);
    return y;
  }
  std::size_t add_condition(std::string name, cudnnPointwiseMode_t comparison, std::size_t x,
                            std::size_t other) {
    std::vector<std::int64_t> dims = score_dims();
    std::vector<std::int64_t> strides = dense_strides(dims, Layout::nchw);
    const std::size_t y = builder_.condition(std::move(name), std::move(dims), std::move(strides));
    builder_.pointwise({comparison}, x, other, y);
    return y;
  }
  std::size_t add_number(std::string name, DataType dtype, double value) {
    return builder_.number(std::move(name), dtype, value, kRank);
  }
  // Adds the index of each score in one dimension.
  std::size_t add_index(std::string name, std::size_t scores, std::int64_t axis, DataType compute) {
    return apply(std::move(name),
                 {.mode = CUDNN_POINTWISE_GEN_INDEX, .compute = compute, .axis = axis}, scores,
                 std::nullopt, DataType::s32);
  }
  // Adds the sum or difference of an index and a number of each sequence.
  std::size_t shift(std::string name, cudnnPointwiseMode_t mode, std::size_t index,
                    std::size_t distance, DataType dtype = DataType::s32) {
    return apply(std::move(name), {.mode = mode, .compute = dtype, .axis = kKeyAxis}, index,
                 distance, dtype);
  }
  std::size_t keep_where(std::string name, std::size_t condition, std::size_t scores) {
    const std::size_t hidden =
        add_number("minus infinity", DataType::f32, -std::numeric_limits<double>::infinity());
    const std::size_t y = add_intermediate(std::move(name), DataType::f32, score_dims());
    builder_.select(condition, scores, hidden, y);
    return y;
  }

  std::size_t add_scores(std::size_t query, std::size_t keys) {
    const std::size_t products = add_intermediate("products", DataType::f32, score_dims());
    GraphBuilder::MatrixSizes sizes;
    if (lengths_) sizes = {.rows = lengths_->queries, .columns = lengths_->keys};
    builder_.matmul(query, keys, products, sizes);
    const double scale = 1 / std::sqrt(static_cast<double>(set_.count("head_dim")));
    return apply("scores", {CUDNN_POINTWISE_MUL}, products,
                 add_number("scale", DataType::f32, scale));
  }
  // Hides the keys from a sequence's length on.
  std::size_t hide_padding(std::size_t scores) {
    const std::size_t row = add_index("row", scores, kQueryAxis, DataType::s32);
    const std::size_t column = add_index("column", scores, kKeyAxis, DataType::s32);
    const std::size_t has_row =
        add_condition("row exists", CUDNN_POINTWISE_CMP_LT, row, lengths_->queries);
    const std::size_t has_column =
        add_condition("column exists", CUDNN_POINTWISE_CMP_LT, column, lengths_->keys);
    const std::size_t exists =
        add_condition("exists", CUDNN_POINTWISE_LOGICAL_AND, has_row, has_column);
    return keep_where("existing scores", exists, scores);
  }
  // Keeps the scores of keys up to the query's position: row + keys - queries >= column.
  std::size_t hide_later_keys(std::size_t scores) {
    std::size_t position = add_index("row", scores, kQueryAxis, DataType::f32);
    const std::size_t column = add_index("column", scores, kKeyAxis, DataType::f32);
    if (const auto ends = find_ends()) {
      position = shift("row + keys", CUDNN_POINTWISE_ADD, position, ends->keys);
      position = shift("position", CUDNN_POINTWISE_SUB, position, ends->queries);
    }
    const std::size_t is_visible =
        add_condition("not later", CUDNN_POINTWISE_CMP_GE, position, column);
    return keep_where("causal scores", is_visible, scores);
  }
  // Keeps the last `window` of them: column + window - keys + queries > row.
  std::size_t hide_earlier_keys(std::size_t scores) {
    const std::size_t row = add_index("row", scores, kQueryAxis, DataType::f32);
    std::size_t limit = add_index("column", scores, kKeyAxis, DataType::f32);
    const auto window = static_cast<double>(set_.count("window"));
    if (lengths_) {
      limit = shift("column + window", CUDNN_POINTWISE_ADD, limit,
                    add_number("window", DataType::s32, window));
      limit = shift("column + window - keys", CUDNN_POINTWISE_SUB, limit, lengths_->keys);
      limit = shift("limit", CUDNN_POINTWISE_ADD, limit, lengths_->queries);
    } else {
      const auto queries = static_cast<double>(set_.count("q_len"));
      const auto keys = static_cast<double>(set_.count("kv_len"));
      limit = shift("limit", CUDNN_POINTWISE_ADD, limit,
                    add_number("distance", DataType::f32, window - keys + queries), DataType::f32);
    }
    const std::size_t is_visible =
        add_condition("in the window", CUDNN_POINTWISE_CMP_GT, limit, row);
    return keep_where("scores of the window", is_visible, scores);
  }
  // Returns the numbers of queries and keys if the last query may not be in the last row.
  std::optional<Lengths> find_ends() {
    if (lengths_) return lengths_;
    const std::int64_t queries = set_.count("q_len"), keys = set_.count("kv_len");
    if (queries == keys) return std::nullopt;
    const std::size_t keys_number = add_number("keys", DataType::s32, static_cast<double>(keys));
    return Lengths{add_number("queries", DataType::s32, static_cast<double>(queries)), keys_number};
  }
  std::size_t add_softmax(std::size_t scores) {
    const std::vector<std::int64_t> rows = {set_.count("batch"), set_.count("heads"),
                                            set_.count("q_len"), 1};
    const std::size_t largest = add_intermediate("largest", DataType::f32, rows);
    builder_.reduction(CUDNN_REDUCE_TENSOR_MAX, scores, largest);
    const std::size_t differences = apply("differences", {CUDNN_POINTWISE_SUB}, scores, largest);
    const std::size_t powers = apply("powers", {CUDNN_POINTWISE_EXP}, differences, std::nullopt);
    const std::size_t sums = add_intermediate("sums", DataType::f32, rows);
    builder_.reduction(CUDNN_REDUCE_TENSOR_ADD, powers, sums);
    const std::size_t logarithms = add_intermediate("logarithms", DataType::f32, rows);
    builder_.pointwise({CUDNN_POINTWISE_LOG}, sums, std::nullopt, logarithms);
    const std::size_t log_sum = add_intermediate("log_sum", DataType::f32, rows);
    builder_.pointwise({CUDNN_POINTWISE_ADD}, largest, logarithms, log_sum);
    return apply("weights", {CUDNN_POINTWISE_DIV}, powers, sums, problem_.dtype);
  }

  GraphBuilder builder_;
  const Problem& problem_;
  const ParameterSet& set_;
  std::optional<Lengths> lengths_;
};

Result<OperationGraph, BackendError> attention_graph(const CudnnTarget& target,
                                                     const Problem& problem) {
  // NVIDIA names faults of attention in 9.10.0 and 9.10.1. Before 9.10, infinity does not hide.
  constexpr std::size_t kFirstVersion = 91002;
  if (target.api->get_version() < kFirstVersion) {
    return unsupported(fmt::format("attention needs cuDNN 9.10.2 or newer, this is {}",
                                   format_version(*target.api)));
  }
  return AttentionGraph(target, problem).build();
}

// The tensors are plain. The form of the keys only renames their dimensions.
std::optional<PackedTensor> pack_attention(const Problem& problem, std::size_t tensor,
                                           const TensorForm& /*form*/) {
  return PackedTensor{make_arrangement(problem.tensors[tensor].dims, MemoryLayout::plain), "plain"};
}

bool is_gradient(const Problem& problem) { return problem.direction != Direction::forward; }
bool is_not_half(const Problem& problem) {
  return problem.dtype != DataType::f16 && problem.dtype != DataType::bf16;
}
bool has_uneven_heads(const Problem& problem) {
  constexpr std::int64_t kUnit = 8;
  return problem.parameters.count("head_dim") % kUnit != 0;
}
bool has_queries_without_keys(const Problem& problem) {
  return fewest_attention_keys(problem.parameters) < 1;
}

constexpr CudnnGap kGaps[] = {
    {is_gradient, "bench builds no cuDNN graph for the gradients of attention"},
    {is_not_half, "cuDNN's attention computes f16 and bf16 only"},
    {has_uneven_heads, "cuDNN's attention needs a `head_dim` that is a multiple of 8"},
    {has_queries_without_keys,
     "cuDNN's attention does not define the result of a query without keys"},
    {is_in_nhwc, "bench builds cuDNN's attention for plain tensors; leave `layout: nhwc` out"},
};
constexpr ComputeCapability kAmpere = {8, 0};
constexpr CudnnGap kExpectedGaps[] = {
    {always, "cuDNN's attention needs compute capability 8.0", kAmpere}};

}  // namespace

extern const CudnnEntry attention_cudnn;
const CudnnEntry attention_cudnn = {.op = "attention",
                                    .graph = attention_graph,
                                    .gaps = kGaps,
                                    .expected_gaps = kExpectedGaps,
                                    .pack = pack_attention};

}  // namespace bench::ops::cuda
