// SPDX-License-Identifier: Apache-2.0
#include "base/checked.hpp"
#include "ops/framework_row.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>

namespace bench::ops {
namespace {

using namespace framework;

constexpr std::size_t kOperandRank = 2;

enum class HasBias { no, yes };

std::optional<Equivalent> make_product(std::optional<std::int64_t> batch,
                                       std::optional<std::int64_t> m, std::int64_t n,
                                       std::int64_t k, HasBias bias) {
  if (!batch || !m) return std::nullopt;
  ParameterSet set = default_parameters("gemm");
  set.set("batch", *batch);
  set.set("m", *m);
  set.set("n", n);
  set.set("k", k);
  set.set("bias", bias == HasBias::yes);
  return equivalent("gemm", std::move(set));
}

// Sets the element count of the call: that of all tensors that it reads, and of its result.
std::optional<Equivalent> with_elements(
    std::optional<Equivalent> product,
    std::initializer_list<std::span<const std::int64_t>> read_shapes) {
  if (!product) return std::nullopt;
  const ParameterSet& set = product->request.parameters;
  Checked elements = Checked(set.count("batch")) * set.count("m") * set.count("n");
  for (const auto shape : read_shapes) {
    if (shape.empty()) continue;  // an optional tensor that is missing
    const auto count = element_count(shape);
    if (!count) return std::nullopt;
    elements += *count;
  }
  product->elements = elements.value();
  return product->elements ? product : std::nullopt;
}

// Source [..., k] with weights [n, k] or [k].
std::optional<Equivalent> make_linear(const FrameworkCall& call, const FrameworkRow&) {
  const auto source = tensor_shape(call, 0);
  const auto weights = tensor_shape(call, 1);
  if (source.empty() || weights.empty() || weights.size() > kOperandRank ||
      source.back() != weights.back()) {
    return std::nullopt;
  }
  const std::int64_t n = weights.size() == kOperandRank ? weights[0] : 1;
  const auto bias = tensor_shape(call, 2);
  return with_elements(make_product(1, element_count(source.first(source.size() - 1)), n,
                                    source.back(), bias.empty() ? HasBias::no : HasBias::yes),
                       {source, weights, bias});
}

// Returns the product of the leading dimensions after broadcasting.
std::optional<std::int64_t> broadcast_count(std::span<const std::int64_t> a,
                                            std::span<const std::int64_t> b) {
  Checked count = 1;
  for (std::size_t i = 1; i <= std::max(a.size(), b.size()); ++i) {
    const std::int64_t left = i <= a.size() ? a[a.size() - i] : 1;
    const std::int64_t right = i <= b.size() ? b[b.size() - i] : 1;
    if (left != right && left != 1 && right != 1) return std::nullopt;
    count *= left == 1 ? right : left;
  }
  return count.value();
}

// Multiplies as matmul does: a vector is a row on the left and a column on the right.
std::optional<Equivalent> multiply(std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                                   HasBias bias) {
  if (a.empty() || b.empty()) return std::nullopt;
  const bool a_is_vector = a.size() == 1;
  const bool b_is_vector = b.size() == 1;
  const std::int64_t m = a_is_vector ? 1 : a[a.size() - kOperandRank];
  const std::int64_t k = a.back();
  const std::int64_t n = b_is_vector ? 1 : b.back();
  if (k != (b_is_vector ? b.back() : b[b.size() - kOperandRank])) return std::nullopt;
  const auto leading_dims = [](std::span<const std::int64_t> shape) {
    return shape.first(shape.size() < kOperandRank ? 0 : shape.size() - kOperandRank);
  };
  return make_product(broadcast_count(leading_dims(a), leading_dims(b)), m, n, k, bias);
}

std::optional<Equivalent> make_matrix_product(const FrameworkCall& call, const FrameworkRow&) {
  const auto a = tensor_shape(call, 0);
  const auto b = tensor_shape(call, 1);
  return with_elements(multiply(a, b, HasBias::no), {a, b});
}

// The addend is the first argument; each element of the result takes one addition.
std::optional<Equivalent> make_added_product(const FrameworkCall& call, const FrameworkRow&) {
  const auto a = tensor_shape(call, 1);
  const auto b = tensor_shape(call, 2);
  return with_elements(multiply(a, b, HasBias::yes), {tensor_shape(call, 0), a, b});
}

constexpr std::array kFrameworkRows = {
    FrameworkRow{"linear", make_linear},         FrameworkRow{"mm", make_matrix_product},
    FrameworkRow{"bmm", make_matrix_product},    FrameworkRow{"matmul", make_matrix_product},
    FrameworkRow{"mv", make_matrix_product},     FrameworkRow{"dot", make_matrix_product},
    FrameworkRow{"addmm", make_added_product},   FrameworkRow{"addmv", make_added_product},
    FrameworkRow{"baddbmm", make_added_product},
};

}  // namespace

extern const FrameworkMapping gemm_framework;
const FrameworkMapping gemm_framework = {.op = "gemm", .rows = kFrameworkRows};

}  // namespace bench::ops
