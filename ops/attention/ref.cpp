// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/attention.hpp"
#include "ops/model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace bench::ops {
namespace {

// The weights of a query's keys, which add up to 1, and the logarithm of the sum of the
// exponentials before the division; 0 without keys.
struct KeyWeights {
  std::vector<double> weights;
  double log_sum = 0;
};
KeyWeights weights_of(const AttentionQuery& at, ReferenceInputs inputs, std::size_t size) {
  KeyWeights result;
  std::vector<double>& weights = result.weights;
  double largest = -std::numeric_limits<double>::infinity();
  for (std::int64_t key = at.first_key; key < at.end_key; ++key) {
    const std::size_t begin = at.keys + static_cast<std::size_t>(key) * size;
    double product = 0;
    for (std::size_t d = 0; d < size; ++d)
      product += inputs[0][at.query + d] * inputs[1][begin + d];
    weights.push_back(product / std::sqrt(static_cast<double>(size)));
    largest = std::max(largest, weights.back());
  }
  double total = 0;
  for (double& weight : weights) {
    weight = std::exp(weight - largest);
    total += weight;
  }
  for (double& weight : weights) weight /= total;
  if (!weights.empty()) result.log_sum = largest + std::log(total);
  return result;
}

std::vector<double> attend(const AttentionQuery& at, ReferenceInputs inputs, std::size_t size) {
  const std::vector<double> weights = weights_of(at, inputs, size).weights;
  std::vector<double> result(size, 0.0);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::size_t begin = at.keys + (static_cast<std::size_t>(at.first_key) + i) * size;
    for (std::size_t d = 0; d < size; ++d) result[d] += weights[i] * inputs[2][begin + d];
  }
  return result;
}

// Libraries round the weights to a type of 16 bits for the second product, which is then an error
// of e/2 at most in each term, where e is the type's epsilon. The sum of the weights is 1 and
// values are at most 1, so a result is wrong by e/2 at most. Of n keys with weights of 1/n the
// errors are independent: their standard deviation is e/2 / sqrt(3) for a rounding times
// 1/sqrt(3) for a value, /sqrt(n) for the average: e/(6*sqrt(n)). Weights that differ, as those of
// random inputs do, make this 1.06 times as much. 2*e/sqrt(n) are 11 of them. The query with the
// fewest keys has the largest error.
//
// Gradients: log_sum is near the logarithm of all n keys (fill), so a weight is about 0.7/n and a
// gradient of a score about 0.35/n. Both are rounded. A gradient of a key or value is the sum of m
// of them times values of 1/sqrt(3): all queries of the heads that share the key. The errors of the
// roundings have a standard deviation of up to 0.12*e*sqrt(m)/n, and as much again if libraries
// round the sum of each head. 2*e*sqrt(m)/n are 11 of them. The sum of a query's gradient has n
// terms.
double weight_rounding(const Problem& problem) {
  constexpr std::int64_t kHalfBytes = 2;
  if (info(problem.dtype).bytes > kHalfBytes) return 0;
  const double epsilon = info(problem.dtype).epsilon;
  const ParameterSet& set = problem.parameters;
  if (problem.direction == Direction::forward) {
    const double keys = static_cast<double>(std::max<std::int64_t>(1, fewest_attention_keys(set)));
    return epsilon * std::min(0.5, 2 / std::sqrt(keys));
  }
  const double keys = static_cast<double>(set.count("kv_len"));
  const std::int64_t shared = set.count("heads") / set.count("kv_heads");
  const double queries = static_cast<double>(shared) * static_cast<double>(set.count("q_len"));
  return 2 * epsilon * std::sqrt(std::max(queries, keys)) / keys;
}

}  // namespace

AttentionQuery find_attention_query(const ParameterSet& set, std::int64_t row) {
  const std::int64_t heads = set.count("heads"), queries = set.count("q_len");
  const std::int64_t kv_heads = set.count("kv_heads"), kv_len = set.count("kv_len");
  const std::int64_t size = set.count("head_dim");
  const std::int64_t sequence = row / queries / heads;
  const std::int64_t kv_head = row / queries % heads / (heads / kv_heads);
  const std::int64_t length =
      set.has("lengths") ? set.numbers("lengths")[static_cast<std::size_t>(sequence)] : kv_len;
  AttentionQuery found{static_cast<std::size_t>(row * size),
                       static_cast<std::size_t>((sequence * kv_heads + kv_head) * kv_len * size), 0,
                       length};
  if (set.flag("causal")) {
    found.end_key = std::max<std::int64_t>(0, row % queries + length - queries + 1);
    found.first_key = std::max<std::int64_t>(0, found.end_key - set.count("window"));
  }
  return found;
}

std::int64_t fewest_attention_keys(const ParameterSet& set) {
  const std::int64_t length =
      set.has("lengths") ? std::ranges::min(set.numbers("lengths")) : set.count("kv_len");
  if (!set.flag("causal")) return length;
  return std::min(length - set.count("q_len") + 1, set.count("window"));
}

std::optional<UnmatchedAttention> find_unmatched_attention(const Problem& problem) {
  const ParameterSet& set = problem.parameters;
  if (fewest_attention_keys(set) < 1) return UnmatchedAttention::queries;
  if (problem.direction == Direction::forward) return std::nullopt;
  const std::int64_t keys = set.count("kv_len");
  const bool has_shorter = set.has("lengths") && std::ranges::min(set.numbers("lengths")) < keys;
  const bool has_older = set.flag("causal") && keys - set.count("q_len") + 1 > set.count("window");
  if (has_shorter || has_older) return UnmatchedAttention::gradient_keys;
  if (set.count("q_len") == 1 && keys == 1) return UnmatchedAttention::gradient_pair;
  return std::nullopt;
}

std::vector<double> attention_reference(const Problem& problem, ReferenceInputs inputs,
                                        std::size_t output,
                                        std::span<const std::int64_t> positions) {
  if (problem.direction == Direction::backward_data) {
    return attention_gradient_reference(problem, inputs, output, positions);
  }
  const std::int64_t size = problem.parameters.count("head_dim");
  const std::int64_t elements = problem.output(output).elements();
  if (output > 0) {
    return evaluate(elements, positions, [&](std::int64_t row) {
      return weights_of(find_attention_query(problem.parameters, row), inputs,
                        static_cast<std::size_t>(size))
          .log_sum;
    });
  }
  std::unordered_map<std::int64_t, std::vector<double>> rows;  // each is computed once
  return evaluate(elements, positions, [&](std::int64_t position) {
    const auto [row, is_new] = rows.try_emplace(position / size);
    if (is_new) {
      row->second = attend(find_attention_query(problem.parameters, position / size), inputs,
                           static_cast<std::size_t>(size));
    }
    return row->second[static_cast<std::size_t>(position % size)];
  });
}

// A result is an average of values of order 1, which may cancel; log_sum is a sum of a score and
// the logarithm of the number of keys at most. Roundings: those of an exponential (softmax), and of
// the sums over elements and keys, whose terms have random signs.
Tolerance attention_tolerance(const Problem& problem) {
  const ParameterSet& set = problem.parameters;
  double steps = 64 + 4 * std::sqrt(static_cast<double>(set.count("head_dim"))) +
                 4 * std::sqrt(static_cast<double>(set.count("kv_len")));
  if (problem.direction == Direction::backward_data) {
    const std::int64_t shared = set.count("heads") / set.count("kv_heads");
    steps += 4 * std::sqrt(static_cast<double>(shared) * static_cast<double>(set.count("q_len")));
  }
  const DataType arithmetic = problem.dtype == DataType::f64 ? DataType::f64 : DataType::f32;
  return {.absolute = rounding_tolerance(arithmetic, steps, 0).absolute +
                      smallest_positive(problem.dtype) + weight_rounding(problem),
          .relative = rounding_tolerance(problem.dtype, steps, 0).relative};
}

// The gradients of attention (ops/attention/op.cpp has the formulas).
namespace {

// Inputs of the gradients, in order.
constexpr std::size_t kQuery = 0, kKey = 1, kValue = 2, kDestination = 3, kLogSum = 4,
                      kDiffDestination = 5;

class AttentionGradients {
 public:
  AttentionGradients(const ParameterSet& set, ReferenceInputs inputs)
      : set_(set), inputs_(inputs), size_(static_cast<std::size_t>(set.count("head_dim"))) {}

  std::vector<double> of_query(std::int64_t row) const {
    const AttentionQuery query = find_attention_query(set_, row);
    std::vector<double> sum(size_, 0.0);
    for (std::int64_t key = query.first_key; key < query.end_key; ++key) {
      const std::size_t at = query.keys + static_cast<std::size_t>(key) * size_;
      const double slope = weigh(row, query.query, at).slope;
      for (std::size_t d = 0; d < size_; ++d) sum[d] += slope * inputs_[kKey][at + d];
    }
    return sum;
  }

  // `key`: the number of a key among those of all sequences and heads.
  struct OfKey {
    std::vector<double> key, value;
  };
  OfKey of_key(std::int64_t key) const {
    const std::int64_t queries = set_.count("q_len"), kv_len = set_.count("kv_len");
    // The queries of the heads that share a head of keys are neighbours.
    const std::int64_t shared = set_.count("heads") / set_.count("kv_heads") * queries;
    const std::size_t at = static_cast<std::size_t>(key) * size_;
    OfKey sums{std::vector<double>(size_, 0.0), std::vector<double>(size_, 0.0)};
    for (std::int64_t row = key / kv_len * shared; row < (key / kv_len + 1) * shared; ++row) {
      const AttentionQuery query = find_attention_query(set_, row);
      if (key % kv_len < query.first_key || key % kv_len >= query.end_key) continue;
      const Weighed weighed = weigh(row, query.query, at);
      for (std::size_t d = 0; d < size_; ++d) {
        sums.key[d] += weighed.slope * inputs_[kQuery][query.query + d];
        sums.value[d] += weighed.weight * inputs_[kDiffDestination][query.query + d];
      }
    }
    return sums;
  }

 private:
  struct Weighed {
    double weight, slope;
  };
  // `query`, `key`: positions of their first elements.
  Weighed weigh(std::int64_t row, std::size_t query, std::size_t key) const {
    double score = 0, by_value = 0, by_result = 0;
    for (std::size_t d = 0; d < size_; ++d) {
      const double diff = inputs_[kDiffDestination][query + d];
      score += inputs_[kQuery][query + d] * inputs_[kKey][key + d];
      by_value += diff * inputs_[kValue][key + d];
      by_result += diff * inputs_[kDestination][query + d];
    }
    const double scale = 1 / std::sqrt(static_cast<double>(size_));
    const double weight = std::exp(score * scale - inputs_[kLogSum][static_cast<std::size_t>(row)]);
    return {weight, weight * (by_value - by_result) * scale};
  }

  const ParameterSet& set_;
  ReferenceInputs inputs_;
  std::size_t size_;
};

}  // namespace

std::vector<double> attention_gradient_reference(const Problem& problem, ReferenceInputs inputs,
                                                 std::size_t output,
                                                 std::span<const std::int64_t> positions) {
  const std::int64_t size = problem.parameters.count("head_dim");
  const AttentionGradients gradients(problem.parameters, inputs);
  std::unordered_map<std::int64_t, std::vector<double>> rows;  // each is computed once
  const std::int64_t elements = problem.tensors[problem.input_count() + output].elements();
  return evaluate(elements, positions, [&](std::int64_t position) {
    const auto [row, is_new] = rows.try_emplace(position / size);
    if (is_new && output == 0) row->second = gradients.of_query(position / size);
    if (is_new && output == 1) row->second = gradients.of_key(position / size).key;
    if (is_new && output == 2) row->second = gradients.of_key(position / size).value;
    return row->second[static_cast<std::size_t>(position % size)];
  });
}

}  // namespace bench::ops
