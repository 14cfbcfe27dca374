// SPDX-License-Identifier: Apache-2.0
// The operator attention, scaled dot product attention (Vaswani et al., arXiv 1706.03762):
//   destination = softmax(query*key^T / sqrt(head_dim)) * value      for each head of each sequence
// heads/kv_heads neighbouring heads share keys and values (Ainslie et al., arXiv 2305.13245).
// causal: a query attends to the keys up to its own position. The last query has the position of
// the last key, as in a KV cache. window: a query attends only to the last `window` of these keys.
// A query without keys has the result 0. backward_data: the gradients of query, key and value, from
// the results of the forward pass: the destination, and the logarithm of each query's sum of
// exponentials (Dao et al., arXiv 2205.14135), which the forward pass of training also writes. It
// is 0 for a query without keys, which no gradient reads.
#include "base/checked.hpp"
#include "base/random.hpp"
#include "ops/attention/attention.hpp"
#include "ops/description.hpp"
#include "ops/normalisation.hpp"
#include "ops/tensor_core/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bench::ops {
namespace {

constexpr Parameter kParameters[] = {
    {.name = "mode",
     .token = "",
     .kind = ParameterKind::word,
     .fallback = "inference",
     .help = "training: also writes the logarithm of each query's sum of exponentials",
     .words = kNormModes},
    {"batch", "b", ParameterKind::count, "1", "sequences"},
    {"heads", "h", ParameterKind::count, kRequired, "heads of each sequence"},
    {"kv_heads", "g", ParameterKind::count, "heads", "heads of keys and values; divides `heads`"},
    {"q_len", "q", ParameterKind::count, kRequired, "queries of each sequence; 1 when decoding"},
    {"kv_len", "k", ParameterKind::count, "q_len", "keys of each sequence"},
    {"head_dim", "d", ParameterKind::count, kRequired, "elements of a head"},
    {"window", "w", ParameterKind::count, "kv_len", "keys that a causal query attends to at most"},
    {"lengths", "l", ParameterKind::shape, kOptional,
     "keys of each sequence, if they are not all `kv_len`"},
    {"causal", "causal", ParameterKind::flag, "false",
     "a query attends to the keys up to its position; the last query is at the last key"},
};
constexpr Direction kDirections[] = {Direction::forward, Direction::backward_data};
constexpr Requirement kRequirements[] = {
    {"heads/kv_heads*kv_heads == heads", "kv_heads",
     "`kv_heads` is {kv_heads}, which does not divide {heads} heads"},
    {"causal or window == kv_len", "window",
     "`window` is {window}, but the attention is not causal", "set `causal: true`"},
    {"rank(lengths) == 0 or rank(lengths) == batch", "lengths",
     "`lengths` has {rank(lengths)} lengths, `batch` is {batch}"},
    {"rank(lengths) == 0 ? 1 : max(lengths) <= kv_len", "lengths",
     "`lengths` has the length {max(lengths)}, longer than the {kv_len} keys of `kv_len`"},
};

// Calls count(length) for each sequence; returns the sum.
template <class Function>
std::optional<std::int64_t> sum_over_sequences(const ParameterSet& set, Function count) {
  if (!set.has("lengths"))
    return (Checked(set.count("batch")) * count(set.count("kv_len"))).value();
  Checked sum = 0;
  for (const std::int64_t length : set.numbers("lengths")) sum += count(length);
  return sum.value();
}

// Sum of min(n, window) over n from 1 to `last`.
Checked sum_of_windows(std::int64_t last, std::int64_t window) {
  const std::int64_t growing = std::min(last, window);
  // One of the two factors is even.
  const Checked triangle = growing % 2 == 0 ? Checked(growing / 2) * (growing + 1)
                                            : Checked(growing) * (growing / 2 + 1);
  return triangle + Checked(last - growing) * window;
}

std::optional<std::int64_t> count_causal_pairs(const ParameterSet& set) {
  const std::int64_t queries = set.count("q_len");
  const std::int64_t window = set.count("window");
  return sum_over_sequences(set, [&](std::int64_t length) {
    const std::int64_t skipped = std::max<std::int64_t>(0, length - queries);
    return sum_of_windows(length, window) - sum_of_windows(skipped, window);
  });
}

// The keys that any query attends to.
std::optional<std::int64_t> count_keys(const ParameterSet& set) {
  const std::int64_t queries = set.count("q_len");
  const std::int64_t window = set.count("window");
  const bool causal = set.flag("causal");
  return sum_over_sequences(set, [&](std::int64_t length) {
    const std::int64_t hidden =
        causal && window < length - queries + 1 ? length - queries + 1 - window : 0;
    return Checked(length - hidden);
  });
}

constexpr auto kShown = Quantity::Shown::yes;
constexpr auto kHidden = Quantity::Shown::no;
constexpr Quantity kQuantities[] = {
    // Pairs of a query and a key that it attends to, of one head.
    {"pairs", "batch*q_len*kv_len", kShown, "not causal and rank(lengths) == 0"},
    {"pairs", "q_len*sum(lengths)", kShown, "not causal and rank(lengths) > 0"},
    {"pairs", "{batch} * sum over i < {q_len} of clamp(i + {kv_len} - {q_len} + 1, 0, {window})",
     kShown, "causal and rank(lengths) == 0", count_causal_pairs},
    {"pairs", "sum over l in {lengths}, i < {q_len} of clamp(i + l - {q_len} + 1, 0, {window})",
     kShown, "causal and rank(lengths) > 0", count_causal_pairs},
    {"keys", "keys that a query attends to", kHidden, "", count_keys},
    // The products of query and key, and of weight and value.
    {"macs", "2*heads*head_dim*pairs", kShown, "forward"},
    // The score again, its gradient, and one product for each of the three results.
    {"macs", "5*heads*head_dim*pairs", kShown, "backward_data"},
    {"flops", "2*macs"},
    {"sfu_ops", "heads*pairs", kShown, "backward_data or mode == 'inference'"},
    // The logarithm of each query.
    {"sfu_ops", "heads*(pairs + batch*q_len)", kShown, "forward and mode == 'training'"},
};
constexpr std::string_view kKeySizes = "[batch, kv_heads, kv_len, head_dim]";
constexpr std::string_view kQuerySizes = "[batch, heads, q_len, head_dim]";
constexpr std::string_view kTouchedKeys = "kv_heads*head_dim*keys";
constexpr auto kOfCase = ElementType::of_case;
constexpr TensorRow kTensors[] = {
    {"query", TensorRole::input, kQuerySizes},
    {"key", TensorRole::input, kKeySizes, kOfCase, "", kTouchedKeys},
    {"value", TensorRole::input, kKeySizes, kOfCase, "", kTouchedKeys},
    {"destination", TensorRole::input, kQuerySizes, kOfCase, "backward_data"},
    {"log_sum", TensorRole::input, "[batch, heads, q_len]", ElementType::statistic,
     "backward_data"},
    {"diff_destination", TensorRole::input, kQuerySizes, kOfCase, "backward_data"},
    {"destination", TensorRole::output, kQuerySizes, kOfCase, "forward"},
    {"log_sum", TensorRole::output, "[batch, heads, q_len]", ElementType::statistic,
     "forward and mode == 'training'"},
    {"diff_query", TensorRole::output, kQuerySizes, kOfCase, "backward_data"},
    {"diff_key", TensorRole::output, kKeySizes, kOfCase, "backward_data"},
    {"diff_value", TensorRole::output, kKeySizes, kOfCase, "backward_data"},
};
constexpr std::string_view kExamples[] = {"h4q24d16", "b2h4g2q5k40d20+causal",
                                          "b2h6g1q1k50d32l20x50+causal", "h2q30d24w7+causal",
                                          "training-h4g2q24k30d16+causal"};

// A query's sum of exponentials is near the number of keys, so that weights are as in training.
std::optional<std::vector<double>> fill(const Problem& problem, std::size_t tensor,
                                        std::uint64_t stream) {
  const Tensor& description = problem.tensors[tensor];
  if (description.name != "log_sum") return std::nullopt;
  const double keys = static_cast<double>(problem.parameters.count("kv_len"));
  std::vector<double> values(static_cast<std::size_t>(description.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    // A multiple of 2^-7 is exact in all types.
    values[i] = std::round(std::log(keys) * 0x1p7) * 0x1p-7 +
                static_cast<double>(mix(stream + i) >> 57) * 0x1p-7;
  }
  return values;
}

}  // namespace

extern const Operator attention_operator;
const Operator attention_operator = describe(
    {.name = "attention",
     .help = "scaled dot product attention: averages of values, weighted by the softmax of "
             "products of queries and keys",
     .parameters = kParameters,
     .requirements = kRequirements,
     .quantities = kQuantities,
     .tensors = kTensors,
     .where = "q_len",
     .directions = kDirections,
     .data_types = DataTypes::floating},
    {.reference = attention_reference,
     .tolerance = attention_tolerance,
     .filling = {.values = fill},
     .product = {.facts = attention_facts},
     .examples = kExamples,
     .cpu = kOnNative,
     .cuda = kOnCudnn});

// The facts about attention that the rules about tensor cores evaluate.
namespace {

ProductSize attention_size(const Problem& problem) {
  if (find_unmatched_attention(problem)) return ProductSize::unmatched;
  const std::int64_t size = problem.parameters.count("head_dim");
  if (problem.direction == Direction::forward || size <= kMaxGradientHead)
    return ProductSize::regular;
  return size > kMaxGradientHeadOnHopper ? ProductSize::huge_heads : ProductSize::large_heads;
}

}  // namespace

ProblemFacts attention_facts(const Problem& problem, const Platform& platform) {
  ProblemFacts result = common_facts(problem, platform, TensorCoreLibrary::attention);
  TensorCoreFacts& facts = result.facts;
  const std::int64_t size = problem.parameters.count("head_dim");
  const std::int64_t element = info(problem.dtype).bytes;
  const bool is_nhwc = problem.layout == Layout::nhwc;
  facts.layout = is_nhwc ? OperandLayout::nhwc : OperandLayout::nchw;
  tensor_core_detail(result, TensorCorePart::layout_ok) = is_nhwc ? "nhwc" : "plain";
  facts.alignment = row_alignment(size * element);
  tensor_core_detail(result, TensorCorePart::alignment_grade) = fmt::format("head_dim = {}", size);
  check_tensor_core_multiple(result, "head_dim", size, element);
  if (!result.unaligned.empty()) facts.size_alignment = SizeAlignment::unaligned;
  facts.size = attention_size(problem);
  tensor_core_detail(result, TensorCorePart::min_dims_ok) =
      fmt::format("q_len = {}, kv_len = {}, head_dim = {}", problem.parameters.count("q_len"),
                  problem.parameters.count("kv_len"), size);
  return result;
}

}  // namespace bench::ops
