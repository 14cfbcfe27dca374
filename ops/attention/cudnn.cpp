// SPDX-License-Identifier: Apache-2.0
// Attention as a graph of cuDNN. cuDNN recognises this graph as a whole and computes it in one
// kernel, which keeps the scores on the chip. It does so only for graphs of the form of NVIDIA's
// cudnn-frontend 1.x: also the logarithm of the sums must be there, which only training needs.
#include "ops/attention/attention.hpp"
#include "ops/cuda/cudnn/cudnn_entry.hpp"
#include "ops/cuda/cudnn/graph_builder.hpp"
#include "ops/cuda/kernels/native_forms.hpp"

#include <fmt/format.h>

#include <algorithm>
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
    std::size_t scores = add_scores(query, add_transposed(1));
    if (lengths_) scores = hide_padding(scores);
    const std::size_t weights = add_softmax(mask(scores));
    GraphBuilder::MatrixSizes sizes;
    if (lengths_) sizes = {.rows = lengths_->queries, .inner = lengths_->keys};
    builder_.matmul(weights, value, add_tensor(3), sizes);
    return builder_.finish();
  }

  // With P for the weights, S for the scores and ' for a transposition:
  //   diff_value = P' * diff_destination
  //   diff_scores = P * (diff_destination * value' - sums of diff_destination * destination)
  //   diff_key = diff_scores' * query,  diff_query = diff_scores * key
  Result<OperationGraph, BackendError> build_gradient() {
    const std::size_t query = add_tensor(0), keys = add_transposed(1), values = add_transposed(2);
    const std::size_t destination = add_tensor(3), log_sum = add_rows(4), diff = add_tensor(5);
    const std::size_t sums = add_sums(diff, destination);
    const std::size_t scores = add_scores(query, keys);
    const std::size_t logarithms = apply("logarithms", {CUDNN_POINTWISE_SUB}, scores, log_sum);
    const std::size_t weights =
        apply("weights", {CUDNN_POINTWISE_EXP}, mask(logarithms), std::nullopt);
    add_key_product(weights, diff, 8);
    const std::size_t products = add_intermediate("diff_products", DataType::f32, score_dims());
    builder_.matmul(diff, values, products, {});
    std::size_t diff_scores = apply("differences", {CUDNN_POINTWISE_SUB}, products, sums);
    diff_scores = apply("diff_scores", {CUDNN_POINTWISE_MUL}, diff_scores, weights);
    diff_scores = apply("scaled diff_scores", {CUDNN_POINTWISE_MUL}, diff_scores, scale_);
    add_key_product(diff_scores, query, 7);
    add_query_gradient(diff_scores, keys);
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
  std::size_t add_transposed(std::size_t number) {
    TensorForm form = tensor_form(problem_, number, problem_.tensors[number].dims, Layout::nchw);
    std::swap(form.dims[kQueryAxis], form.dims[kKeyAxis]);
    std::swap(form.strides[kQueryAxis], form.strides[kKeyAxis]);
    return builder_.tensor(form);
  }
  // Adds a tensor with one number for each query.
  std::size_t add_rows(std::size_t number) {
    return builder_.tensor(tensor_form(problem_, number, row_dims(), Layout::nchw));
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
  std::vector<std::int64_t> row_dims() const {
    return {set_.count("batch"), set_.count("heads"), set_.count("q_len"), 1};
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
    scale_ = add_number("scale", DataType::f32, scale);
    return apply("scores", {CUDNN_POINTWISE_MUL}, products, scale_);
  }
  std::size_t mask(std::size_t scores) {
    if (is_masked()) scores = hide_later_keys(scores);
    return has_window() ? hide_earlier_keys(scores) : scores;
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
    const std::vector<std::int64_t> rows = row_dims();
    const std::size_t largest = add_intermediate("largest", DataType::f32, rows);
    builder_.reduction(CUDNN_REDUCE_TENSOR_MAX, scores, largest);
    const std::size_t differences = apply("differences", {CUDNN_POINTWISE_SUB}, scores, largest);
    const std::size_t powers = apply("powers", {CUDNN_POINTWISE_EXP}, differences, std::nullopt);
    const std::size_t sums = add_intermediate("sums", DataType::f32, rows);
    builder_.reduction(CUDNN_REDUCE_TENSOR_ADD, powers, sums);
    const std::size_t logarithms = add_intermediate("logarithms", DataType::f32, rows);
    builder_.pointwise({CUDNN_POINTWISE_LOG}, sums, std::nullopt, logarithms);
    const bool is_training = problem_.output_count() > 1;
    const std::size_t log_sum =
        is_training ? add_rows(4) : add_intermediate("log_sum", DataType::f32, rows);
    builder_.pointwise({CUDNN_POINTWISE_ADD}, largest, logarithms, log_sum);
    return apply("weights", {CUDNN_POINTWISE_DIV}, powers, sums, problem_.dtype);
  }

  // Adds the sum of a product of two tensors over the elements of each query's head.
  std::size_t add_sums(std::size_t diff, std::size_t destination) {
    const std::size_t products =
        add_intermediate("products of destinations", DataType::f32, problem_.tensors[0].dims);
    builder_.pointwise({CUDNN_POINTWISE_MUL}, diff, destination, products);
    const std::size_t sums = add_intermediate("sums of destinations", DataType::f32, row_dims());
    builder_.reduction(CUDNN_REDUCE_TENSOR_ADD, products, sums);
    const std::size_t kept = builder_.scratch("kept sums", DataType::f32, row_dims(),
                                              dense_strides(row_dims(), Layout::nchw));
    // The factor of dropout, which keeps all.
    builder_.pointwise({CUDNN_POINTWISE_MUL}, sums, add_number("one", DataType::f32, 1), kept);
    return kept;
  }
  // Adds tensor `result` = the transposed scores times a tensor of queries, and over the heads that
  // share keys its sum.
  void add_key_product(std::size_t scores, std::size_t queries, std::size_t result) {
    std::vector<std::int64_t> dims = score_dims();
    std::vector<std::int64_t> strides = dense_strides(dims, Layout::nchw);
    std::swap(dims[kQueryAxis], dims[kKeyAxis]);
    std::swap(strides[kQueryAxis], strides[kKeyAxis]);
    const std::size_t transposed =
        builder_.intermediate("transposed scores", problem_.dtype, dims, strides);
    builder_.reshape(scores, transposed);
    const std::size_t sum = add_tensor(result);
    if (set_.count("heads") == set_.count("kv_heads")) {
      return builder_.matmul(transposed, queries, sum, {});
    }
    std::vector<std::int64_t> of_heads = problem_.tensors[result].dims;
    of_heads[1] = set_.count("heads");
    const std::size_t all = add_intermediate("all heads", problem_.dtype, std::move(of_heads));
    builder_.matmul(transposed, queries, all, {});
    builder_.reduction(CUDNN_REDUCE_TENSOR_ADD, all, sum);
  }
  // cuDNN adds up the gradients of the queries in memory, in f32.
  void add_query_gradient(std::size_t diff_scores, std::size_t transposed_keys) {
    const std::size_t keys =
        add_intermediate("keys again", problem_.dtype, problem_.tensors[1].dims);
    builder_.reshape(transposed_keys, keys);
    const std::vector<std::int64_t>& dims = problem_.tensors[0].dims;
    const std::size_t sums = builder_.scratch("sums of diff_query", DataType::f32, dims,
                                              dense_strides(dims, Layout::nchw));
    builder_.matmul(diff_scores, keys, sums, {});
    builder_.pointwise({CUDNN_POINTWISE_IDENTITY}, sums, std::nullopt, add_tensor(6));
  }

  GraphBuilder builder_;
  const Problem& problem_;
  const ParameterSet& set_;
  std::optional<Lengths> lengths_;
  std::size_t scale_ = 0;
};

// NVIDIA names faults of attention in 9.10.0 and 9.10.1, and of its gradients with an odd number of
// keys up to 9.15. Before 9.10, infinity does not hide.
Result<OperationGraph, BackendError> attention_graph(const CudnnTarget& target,
                                                     const Problem& problem) {
  const bool is_forward = problem.direction == Direction::forward;
  const std::size_t first_version = is_forward ? 91002 : 91600;
  if (target.api->get_version() < first_version) {
    return unsupported(fmt::format("{} cuDNN {} or newer, this is {}",
                                   is_forward ? "attention needs" : "gradients of attention need",
                                   is_forward ? "9.10.2" : "9.16.0", format_version(*target.api)));
  }
  AttentionGraph graph(target, problem);
  return is_forward ? graph.build() : graph.build_gradient();
}

// The tensors are plain. The form of the keys only renames their dimensions.
std::optional<PackedTensor> pack_attention(const Problem& problem, std::size_t tensor,
                                           const TensorForm& /*form*/) {
  return PackedTensor{make_arrangement(problem.tensors[tensor].dims, MemoryLayout::plain), "plain"};
}

bool is_not_half(const Problem& problem) {
  return problem.dtype != DataType::f16 && problem.dtype != DataType::bf16;
}
bool has_uneven_heads(const Problem& problem) {
  constexpr std::int64_t kUnit = 8;
  return problem.parameters.count("head_dim") % kUnit != 0;
}
template <UnmatchedAttention kKind>
bool has_unmatched(const Problem& problem) {
  return find_unmatched_attention(problem) == kKind;
}
template <std::int64_t kLimit>
bool is_gradient_of_heads_above(const Problem& problem) {
  return problem.direction != Direction::forward && problem.parameters.count("head_dim") > kLimit;
}

constexpr CudnnGap kGaps[] = {
    {is_not_half, "cuDNN's attention computes f16 and bf16 only"},
    {has_uneven_heads, "cuDNN's attention needs a `head_dim` that is a multiple of 8"},
    {has_unmatched<UnmatchedAttention::queries>,
     "cuDNN's attention does not define the result of a query without keys"},
    {has_unmatched<UnmatchedAttention::gradient_keys>,
     "cuDNN does not define the gradients of keys that no query attends to"},
    {has_unmatched<UnmatchedAttention::gradient_pair>,
     "cuDNN has no gradients of attention for one query and one key"},
    {is_gradient_of_heads_above<kMaxGradientHeadOnHopper>,
     "cuDNN's gradients of attention need a `head_dim` of at most 256"},
    {is_in_nhwc, "bench builds cuDNN's attention for plain tensors; leave `layout: nhwc` out"},
};
constexpr ComputeCapability kAmpere = {8, 0}, kHopper = {9, 0}, kBlackwell = {10, 0};
constexpr std::string_view kLargeHeads =
    "except for compute capability 9.0, cuDNN's gradients of attention need a `head_dim` of at "
    "most 128";
constexpr CudnnGap kExpectedGaps[] = {
    {always, "cuDNN's attention needs compute capability 8.0", kAmpere},
    {is_gradient_of_heads_above<kMaxGradientHead>, kLargeHeads, kHopper},
    {is_gradient_of_heads_above<kMaxGradientHead>, kLargeHeads, std::nullopt, kBlackwell},
};

}  // namespace

extern const CudnnEntry attention_cudnn;
const CudnnEntry attention_cudnn = {.op = "attention",
                                    .graph = attention_graph,
                                    .gaps = kGaps,
                                    .expected_gaps = kExpectedGaps,
                                    .pack = pack_attention};

}  // namespace bench::ops::cuda
