// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose.hpp"

#include "ops/description.hpp"
#include "ops/verbose_text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace bench::ops {

extern const Operator reduction_operator;

namespace {

constexpr std::array<std::string_view, 1> kPrimitives = {"reduction"};

// The norms have a power `p:`, and an epsilon `eps:` that the operator does not have.
struct AlgorithmRow {
  std::string_view algorithm, power, function;
};
constexpr std::array<AlgorithmRow, 7> kAlgorithms = {{{"reduction_sum", "", "sum"},
                                                      {"reduction_mean", "", "mean"},
                                                      {"reduction_max", "", "max"},
                                                      {"reduction_min", "", "min"},
                                                      {"reduction_mul", "", "prod"},
                                                      {"reduction_norm_lp_sum", "1", "l1"},
                                                      {"reduction_norm_lp_sum", "2", "l2"}}};

// The sizes of source and destination: "2x64:2x1". Each reduced axis has the size 1 in the
// destination. If it has this size in the source too, it changes nothing.
std::optional<VerboseProblem> parse_request(const VerbosePrimitive& primitive) {
  const std::string_view algorithm = auxiliary_value(primitive.auxiliary, "alg");
  const std::string_view power = auxiliary_value(primitive.auxiliary, "p");
  const auto row = std::ranges::find_if(kAlgorithms, [&](const AlgorithmRow& candidate) {
    return candidate.algorithm == algorithm &&
           (candidate.power.empty() || candidate.power == power);
  });
  const auto shapes = parse_dims_list(primitive.problem);
  if (row == kAlgorithms.end() || !shapes || shapes->size() != 2) return std::nullopt;
  const Dims& source = (*shapes)[0];
  const Dims& destination = (*shapes)[1];
  if (source.size() != destination.size()) return std::nullopt;
  Dims axes;
  for (std::size_t axis = 0; axis < source.size(); ++axis) {
    if (source[axis] == destination[axis]) continue;
    if (destination[axis] != 1) return std::nullopt;
    axes.push_back(static_cast<std::int64_t>(axis));
  }
  if (axes.empty()) {
    const auto single = std::ranges::find(source, 1);
    if (single == source.end()) return std::nullopt;  // a copy
    axes.push_back(single - source.begin());
  }
  ParameterSet set(reduction_operator.parameters);
  set.set("function", std::string(row->function));
  set.set("shape", source);
  set.set("axis", std::move(axes));
  return VerboseProblem{.request = {.parameters = std::move(set)}};
}

}  // namespace

extern const VerboseMapping reduction_verbose;
const VerboseMapping reduction_verbose = {
    .op = "reduction", .primitives = kPrimitives, .request = parse_request};

}  // namespace bench::ops
