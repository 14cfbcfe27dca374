// SPDX-License-Identifier: Apache-2.0
// The operator sort, along the last axis. sort: all elements ascending; topk: the k largest,
// descending; both with their positions. argmax and argmin: only the position. Of equal elements,
// the first one precedes. The gradient of the source has that of each result at its position.
#include "ops/description.hpp"
#include "ops/model.hpp"
#include "ops/sort/sort.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

namespace bench::ops {
namespace {

constexpr std::string_view kFunctions[] = {"sort", "topk", "argmax", "argmin"};
constexpr Parameter kParameters[] = {
    {"function", "", ParameterKind::word, kRequired,
     "sort: ascending; topk: the k largest, descending; argmax, argmin: the position", 1,
     kFunctions},
    {"shape", "", ParameterKind::shape, kRequired, "sizes of the tensor"},
    {.name = "k",
     .token = "k",
     .kind = ParameterKind::count,
     .fallback = "optional",
     .help = "topk: results per line, required"},
};
constexpr Direction kDirections[] = {Direction::forward, Direction::backward_data};
constexpr Requirement kRequirements[] = {
    {"rank(shape) == 0 or shape[-1] <= 2147483647", "shape",
     "the last size is {shape[-1]}, indices (s32) name 2147483647 at most"},
    {"forward or function == 'sort' or function == 'topk'", "function",
     "`{function}` has no gradient", "use `forward`"},
};

std::optional<std::int64_t> count_kept(const ParameterSet& set) { return kept_per_line(set); }

// Comparisons per line: of each element with the extreme one so far; of each with the smallest that
// is kept; of a sort by merging.
std::optional<std::int64_t> count_comparisons(const ParameterSet& set) {
  const std::int64_t size = set.numbers("shape").back();
  const std::int64_t kept = kept_per_line(set);
  const std::string& function = set.word("function");
  if (function.starts_with("arg")) return size - 1;
  const auto levels =
      static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(kept - 1)));
  const auto sorted = static_cast<__int128>(kept) * levels + (function == "topk" ? size : 0);
  if (sorted > INT64_MAX) return std::nullopt;
  return static_cast<std::int64_t>(sorted);
}

constexpr auto kHidden = Quantity::Shown::no;
constexpr Quantity kQuantities[] = {
    {"lines", "prod(shape[:rank(shape) - 1])", kHidden},
    {"kept", "results per line", kHidden, "", count_kept},
    {"comparisons", "comparisons per line", kHidden, "", count_comparisons},
    {"flops", "lines*{comparisons}", Quantity::Shown::yes, "forward"},
    // Each gradient is added to its element.
    {"flops", "lines*kept", Quantity::Shown::yes, "backward_data"},
};
constexpr auto kOfCase = ElementType::of_case;
constexpr std::string_view kResults = "[shape[:rank(shape) - 1], kept]";
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "shape", kOfCase, "forward"},
    {"indices", TensorRole::input, kResults, ElementType::index, "backward_data", {}, "shape[-1]"},
    {"diff_destination", TensorRole::input, kResults, kOfCase, "backward_data"},
    {"destination", TensorRole::output, kResults, kOfCase,
     "forward and (function == 'sort' or function == 'topk')"},
    {"positions", TensorRole::output, kResults, ElementType::s32, "forward"},
    {"diff_source", TensorRole::output, "shape", kOfCase, "backward_data"},
};
constexpr std::string_view kExamples[] = {"sort-4x33", "topk-3x1000-k5", "topk-2x3x40-k40",
                                          "argmax-4x33", "argmin-64"};

Status check(const ParameterSet& given) {
  if (!given.has("function") || !given.has("shape") || given.numbers("shape").empty()) {
    return Done{};
  }
  const bool is_topk = given.word("function") == "topk";
  if (!is_topk && given.has("k")) {
    return Error{"only `topk` has `k`", "k", "leave `k` out"};
  }
  if (is_topk && !given.has("k")) return Error{"`k` is missing", "k", "write `k: 10`"};
  const std::int64_t size = given.numbers("shape").back();
  if (!is_topk || given.count("k") <= size) return Done{};
  return Error{"`k` is larger than the last size of `shape`", "k", "use a smaller `k`"};
}

// Returns the positions of a line's results, in order.
std::vector<std::size_t> order_line(std::span<const double> line, const ParameterSet& set) {
  std::vector<std::size_t> order(line.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const bool is_ascending = sorts_ascending(set);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return is_ascending ? line[a] < line[b] : line[a] > line[b];
  });
  order.resize(static_cast<std::size_t>(kept_per_line(set)));
  return order;
}

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs, std::size_t output,
                              std::span<const std::int64_t> positions) {
  const ParameterSet& set = problem.parameters;
  const auto size = static_cast<std::size_t>(set.numbers("shape").back());
  const auto kept = static_cast<std::size_t>(kept_per_line(set));
  std::vector<double> results;
  if (problem.direction == Direction::forward) {
    const bool has_values = !set.word("function").starts_with("arg");
    for (std::size_t first = 0; first < inputs[0].size(); first += size) {
      const auto line = std::span(inputs[0]).subspan(first, size);
      for (const std::size_t i : order_line(line, set)) {
        results.push_back(has_values && output == 0 ? line[i] : static_cast<double>(i));
      }
    }
  } else {
    results.resize(inputs[0].size() / kept * size);
    for (std::size_t i = 0; i < inputs[0].size(); ++i) {
      results[i / kept * size + static_cast<std::size_t>(inputs[0][i])] += inputs[1][i];
    }
  }
  return evaluate(static_cast<std::int64_t>(results.size()), positions, [&](std::int64_t position) {
    return results[static_cast<std::size_t>(position)];
  });
}

// Indices of a gradient may repeat at the limits of lines, so that two values are added.
Tolerance tolerance(const Problem& problem) {
  if (problem.direction == Direction::forward) return {};
  return rounding_tolerance(problem.dtype, 8, 0);
}

}  // namespace

std::int64_t kept_per_line(const ParameterSet& complete) {
  const std::string& function = complete.word("function");
  if (function == "topk") return complete.count("k");
  return function == "sort" ? complete.numbers("shape").back() : 1;
}

bool sorts_ascending(const ParameterSet& complete) {
  const std::string& function = complete.word("function");
  return function == "sort" || function == "argmin";
}

extern const Operator sort_operator;
const Operator sort_operator =
    describe({.name = "sort",
              .help = "elements in order along the last axis: all, the k largest, or a position",
              .parameters = kParameters,
              .requirements = kRequirements,
              .quantities = kQuantities,
              .tensors = kTensors,
              .where = "shape",
              .directions = kDirections,
              .data_types = DataTypes::floating,
              .check = check},
             {.reference = reference,
              .tolerance = tolerance,
              .product = {.rule = "op-sort", .sentence = "comparisons: nothing is multiplied"},
              .examples = kExamples,
              .cpu = kOnNative,
              .cuda = kOnCudnn});

}  // namespace bench::ops
