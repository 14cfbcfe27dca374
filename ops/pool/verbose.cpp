// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose.hpp"

#include "ops/operator.hpp"
#include "ops/pool/pool.hpp"
#include "ops/verbose_text.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace bench::ops {

extern const Operator pool_operator;

namespace {

constexpr std::array<std::string_view, 2> kPrimitives = {"pooling", "pooling_v2"};

struct VerboseRow {
  std::string_view algorithm;
  std::string_view function;
};
constexpr std::array<VerboseRow, 3> kVerboseAlgorithms = {{
    {"pooling_max", kPoolMax},
    {"pooling_avg_include_padding", kPoolIncludePad},
    {"pooling_avg_exclude_padding", kPoolExcludePad},
}};

std::optional<VerboseProblem> parse_request(const VerbosePrimitive& primitive) {
  const auto direction = parse_direction(primitive.propagation);
  const auto words = ProblemWords::parse(primitive.problem);
  const auto* row = std::ranges::find(
      kVerboseAlgorithms, auxiliary_value(primitive.auxiliary, "alg"), &VerboseRow::algorithm);
  if (!direction || !words || row == kVerboseAlgorithms.end()) return std::nullopt;
  const auto n = words->find("mb");
  const auto c = words->find("ic");
  const MemoryDescriptor* source = primitive.find("src");
  const auto axes =
      parse_axes(*words, Sweep::convolution, source == nullptr ? std::nullopt : source->rank());
  if (!n || !c || !axes) return std::nullopt;
  ParameterSet set(pool_operator.parameters);
  set.set("function", std::string(row->function));
  set.set("n", *n);
  set.set("c", *c);
  set_axes(set, *axes);
  std::vector<std::int64_t> window;
  for (const SpatialAxis& axis : *axes) {
    if (axis.dilation != 1 && axis.kernel != 1) return std::nullopt;
    window.push_back(axis.kernel);
  }
  set.set("window", std::move(window));
  return VerboseProblem{.request = {.direction = *direction, .parameters = std::move(set)}};
}

}  // namespace

extern const VerboseMapping pool_verbose;
const VerboseMapping pool_verbose = {
    .op = "pool", .primitives = kPrimitives, .request = parse_request};

}  // namespace bench::ops
