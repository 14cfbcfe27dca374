// SPDX-License-Identifier: Apache-2.0
#include "ops/framework_row.hpp"

#include <array>
#include <optional>
#include <utility>

namespace bench::ops {
namespace {

using namespace framework;

std::optional<Equivalent> make_softmax(const FrameworkCall& call, const FrameworkRow&) {
  const auto shape = tensor_shape(call, 0);
  if (shape.empty()) return std::nullopt;
  ParameterSet set = default_parameters("softmax");
  set.set("shape", Dims(shape.begin(), shape.end()));
  set.set("axis", static_cast<std::int64_t>(shape.size() - 1));  // every axis costs the same
  return equivalent("softmax", std::move(set));
}

constexpr std::array kFrameworkRows = {
    FrameworkRow{"softmax", make_softmax},
    FrameworkRow{"_softmax", make_softmax},
};

}  // namespace

extern const FrameworkMapping softmax_framework;
const FrameworkMapping softmax_framework = {.op = "softmax", .rows = kFrameworkRows};

}  // namespace bench::ops
