// SPDX-License-Identifier: Apache-2.0
#include "base/checked.hpp"
#include "ops/description.hpp"
#include "ops/gemm/gemm.hpp"
#include "ops/grouped_gemm/grouped_gemm.hpp"
#include "ops/model.hpp"
#include "ops/operator.hpp"
#include "ops/tensor_core/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

namespace bench::ops {
namespace {

using enum ParameterKind;

constexpr Parameter kParameters[] = {
    {"groups", "", shape, kRequired,
     "rows of each group of the source; leave out groups without rows"},
    {"n", "n", count, kRequired, "columns of weights and destination"},
    {"k", "k", count, kRequired, "columns of source, rows of each group's weights"},
    {"trans_b", "tb", flag, "false", "weights are stored as n x k"},
    {"bias", "bias", flag, "false", "adds one value per column, each group its own"},
};
constexpr Quantity kQuantities[] = {
    {"M", "sum(groups)", Quantity::Shown::no},
    {"N", "n", Quantity::Shown::no},
    {"K", "k", Quantity::Shown::no},
    {"macs", "M*N*K"},
    {"flops", "2*M*N*K", Quantity::Shown::yes, "not bias or backward_data"},
    {"flops", "2*M*N*K + M*N", Quantity::Shown::yes, "bias and not backward_data"},
};
constexpr std::string_view kSourceSizes = "[sum(groups), k]";
constexpr std::string_view kWeightsSizes = "[rank(groups), trans_b ? [n, k] : [k, n]]";
constexpr std::string_view kBiasSizes = "[rank(groups), n]";
constexpr std::string_view kDestinationSizes = "[sum(groups), n]";
// In the order of a gemm's tensors, so that those of a group's product have the same numbers.
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, kSourceSizes, ElementType::source, "not backward_data"},
    {"diff_destination", TensorRole::input, kDestinationSizes, ElementType::source, "not forward"},
    {"weights", TensorRole::weights, kWeightsSizes, ElementType::weights, "not backward_weights"},
    {"bias", TensorRole::weights, kBiasSizes, ElementType::statistic, "forward and bias"},
    {"destination", TensorRole::output, kDestinationSizes, ElementType::destination, "forward"},
    {"diff_source", TensorRole::output, kSourceSizes, ElementType::destination, "backward_data"},
    {"diff_weights", TensorRole::output, kWeightsSizes, ElementType::destination,
     "backward_weights"},
    {"diff_bias", TensorRole::output, kBiasSizes, ElementType::statistic,
     "backward_weights and bias"},
};
constexpr Direction kDirections[] = {Direction::forward, Direction::backward_data,
                                     Direction::backward_weights};
constexpr std::string_view kExamples[] = {"5x16x3-n32k64", "16x16-n32k64+tb+bias"};

// Returns the values of part `index` of a tensor that the tensors of `products` form.
std::span<const double> part_values(std::span<const Problem> products, std::size_t index,
                                    std::size_t tensor, std::span<const double> values) {
  std::size_t first = 0;
  for (const Problem& earlier : products.first(index)) {
    first += static_cast<std::size_t>(earlier.tensors[tensor].elements());
  }
  return values.subspan(first,
                        static_cast<std::size_t>(products[index].tensors[tensor].elements()));
}

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs, std::size_t output,
                              std::span<const std::int64_t> positions) {
  const std::vector<Problem> products = group_products(problem);
  std::vector<double> result(positions.empty()
                                 ? static_cast<std::size_t>(problem.output(output).elements())
                                 : positions.size());
  std::int64_t first = 0;  // element of the output
  for (std::size_t group = 0; group < products.size(); ++group) {
    const std::int64_t end = first + products[group].output(output).elements();
    std::vector<std::int64_t> own;    // positions within the group's output
    std::vector<std::size_t> places;  // where their values belong
    for (std::size_t i = 0; i < positions.size(); ++i) {
      if (positions[i] < first || positions[i] >= end) continue;
      own.push_back(positions[i] - first);
      places.push_back(i);
    }
    if (positions.empty() || !own.empty()) {
      std::vector<std::vector<double>> operands;
      for (std::size_t tensor = 0; tensor < inputs.size(); ++tensor) {
        const auto values = part_values(products, group, tensor, inputs[tensor]);
        operands.emplace_back(values.begin(), values.end());
      }
      const std::vector<double> values = reference_gemm(products[group], operands, output, own);
      for (std::size_t i = 0; i < values.size(); ++i) {
        result[positions.empty() ? static_cast<std::size_t>(first) + i : places[i]] = values[i];
      }
    }
    first = end;
  }
  return result;
}

// Returns the product of the group with the most rows.
Problem largest_product(const Problem& problem) {
  const Dims& groups = problem.parameters.numbers("groups");
  const auto largest = static_cast<std::size_t>(std::ranges::max_element(groups) - groups.begin());
  return group_products(problem)[largest];
}

// A gradient of weights has as many terms as its group has rows.
Tolerance tolerance(const Problem& problem) { return gemm_tolerance(largest_product(problem)); }

// In a network, `groups` are proportions: the rows of the input are shared out in their ratio, so
// that the groups grow with the batch. The sizes of other groups are left as they are; the check of
// the layer's input refuses them.
Status infer_grouped_gemm(ParameterSet& set, std::span<const Dims> inputs) {
  const Dims& dims = inputs[0];
  if (dims.size() != 2) {
    return Error{.what = fmt::format("the input {} has {} dimensions, a matrix has two",
                                     join_dims(dims), dims.size()),
                 .where = "inputs",
                 .next = "a `reshape` gives the input the sizes of a matrix"};
  }
  BENCH_RETURN_IF_ERROR(put_inferred(set, "k", dims[1]));
  if (!set.has("groups")) return Done{};
  Dims groups = set.numbers("groups");
  Checked total = 0;
  for (const std::int64_t rows : groups) total += rows;
  const std::int64_t proportions = total.value().value_or(0);
  if (proportions < 1 || dims[0] % proportions != 0) return Done{};
  for (std::int64_t& rows : groups) rows *= dims[0] / proportions;
  set.set("groups", std::move(groups));
  return Done{};
}

// The rules about tensor cores judge the product of the largest group.
ProblemFacts facts(const Problem& problem, const Platform& platform) {
  return gemm_facts(largest_product(problem), platform);
}

}  // namespace

std::vector<Problem> group_products(const Problem& problem) {
  const ParameterSet& parameters = problem.parameters;
  std::vector<Problem> products;
  for (const std::int64_t rows : parameters.numbers("groups")) {
    ParameterSet set(gemm_operator.parameters);
    set.set("m", rows);
    for (const std::string_view name : {"n", "k", "trans_b", "bias"}) {
      set.set(name, parameters.value(name));
    }
    auto product = make_problem({.op = &gemm_operator,
                                 .direction = problem.direction,
                                 .dtype = problem.dtype,
                                 .layout = problem.layout,
                                 .math = problem.math,
                                 .parameters = std::move(set)});
    assert(product.ok() && "a group of a valid problem is a valid product");
    for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
      product->tensors[i].role = problem.tensors[i].role;
    }
    products.push_back(std::move(product).value());
  }
  return products;
}

const Operator grouped_gemm_operator =
    describe({.name = "grouped_gemm",
              .help = "matrix product whose rows belong to groups with weights of their own "
                      "(mixture of experts)",
              .parameters = kParameters,
              .quantities = kQuantities,
              .tensors = kTensors,
              .where = "k",
              .directions = kDirections},
             {.reference = reference,
              .tolerance = tolerance,
              .inference = {one_input, infer_grouped_gemm},
              .product = {.facts = facts},
              .examples = kExamples,
              .cuda = kOnCublas});

}  // namespace bench::ops
