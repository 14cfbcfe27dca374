// SPDX-License-Identifier: Apache-2.0
// The gradients of attention (ops/attention/op.cpp has the formulas).
#include "ops/attention/attention.hpp"
#include "ops/model.hpp"

#include <cmath>
#include <unordered_map>

namespace bench::ops {
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
