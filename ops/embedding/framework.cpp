// SPDX-License-Identifier: Apache-2.0
#include "ops/framework_row.hpp"

#include <array>
#include <optional>
#include <span>
#include <utility>

namespace bench::ops {
namespace {

using namespace framework;

// Indices have any number of dimensions.
std::optional<Equivalent> make_embedding(std::span<const std::int64_t> table,
                                         std::span<const std::int64_t> indices,
                                         Direction direction) {
  const auto count = element_count(indices);
  if (table.size() != 2 || indices.empty() || !count) return std::nullopt;
  ParameterSet set = default_parameters("embedding");
  set.set("rows", table[0]);
  set.set("dim", table[1]);
  set.set("indices", *count);
  auto result = equivalent("embedding", std::move(set), Fidelity::exact);
  if (result) result->request.direction = direction;
  return result;
}

// The arguments are the table and the indices.
std::optional<Equivalent> make_lookup(const FrameworkCall& call, const FrameworkRow&) {
  return make_embedding(tensor_shape(call, 0), tensor_shape(call, 1), Direction::forward);
}

// The arguments are the gradient and the indices; the result is the gradient of the table.
std::optional<Equivalent> make_dense_gradient(const FrameworkCall& call, const FrameworkRow&) {
  if (call.output == nullptr) return std::nullopt;
  return make_embedding(*call.output, tensor_shape(call, 1), Direction::backward_weights);
}

constexpr std::array kFrameworkRows = {
    FrameworkRow{"embedding", make_lookup},
    FrameworkRow{"embedding_dense_backward", make_dense_gradient},
};

}  // namespace

extern const FrameworkMapping embedding_framework;
const FrameworkMapping embedding_framework = {.op = "embedding", .rows = kFrameworkRows};

}  // namespace bench::ops
