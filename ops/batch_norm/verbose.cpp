// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose.hpp"

#include "ops/batch_norm/batch_norm.hpp"
#include "ops/operator.hpp"
#include "ops/verbose_text.hpp"

#include <array>
#include <string>
#include <utility>

namespace bench::ops {

extern const Operator batch_norm_operator;

namespace {

constexpr std::array<std::string_view, 1> kPrimitives = {"batch_normalization"};
constexpr std::array<std::string_view, 5> kWords = {"mb", "ic", "id", "ih", "iw"};

// With given statistics, scale and shift, and nothing fused: "GS" or "GCH", in 1.x the number 3.
bool is_inference(std::string_view flags) {
  return flags == "GS" || flags == "GCH" || flags == "3";
}

std::optional<VerboseProblem> request(const VerbosePrimitive& primitive) {
  if (direction_of(primitive.propagation) != Direction::forward) return std::nullopt;
  if (!is_inference(auxiliary_value(primitive.auxiliary, "flags"))) return std::nullopt;
  const auto words = ProblemWords::parse(primitive.problem);
  if (!words || !words->only(kWords)) return std::nullopt;
  const auto n = words->find("mb");
  const auto c = words->find("ic");
  if (!n || !c) return std::nullopt;
  ParameterSet set(batch_norm_operator.parameters);
  set.set("n", *n);
  set.set("c", *c);
  for (const auto& [name, word] : {std::pair("d", "id"), {"h", "ih"}, {"w", "iw"}}) {
    if (const auto size = words->find(word)) set.set(name, *size);
  }
  // Without a spatial dimension it is one of a single element.
  if (!words->find("iw")) set.set("w", std::int64_t{1});
  return VerboseProblem{.request = {.parameters = std::move(set)}};
}

}  // namespace

extern const VerboseMapping batch_norm_verbose;
const VerboseMapping batch_norm_verbose = {
    .op = "batch_norm", .primitives = kPrimitives, .request = request};

}  // namespace bench::ops
