// SPDX-License-Identifier: Apache-2.0
#include "base/checked.hpp"
#include "ops/framework_row.hpp"
#include "ops/gemm/gemm.hpp"

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
  return equivalent("gemm", std::move(set), Fidelity::dense);
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
  auto product = make_product(1, element_count(source.first(source.size() - 1)), n, source.back(),
                              bias.empty() ? HasBias::no : HasBias::yes);
  if (product) product->request.parameters.set("trans_b", true);
  return with_elements(std::move(product), {source, weights, bias});
}

// The leading dimensions of operands, of which one may be broadcast to the other.
struct Batches {
  std::int64_t product, a, b;
};

std::optional<Batches> find_batches(Dims a, Dims b) {
  const std::size_t rank = std::max(a.size(), b.size());
  a.insert(a.begin(), rank - a.size(), 1);
  b.insert(b.begin(), rank - b.size(), 1);
  Dims product;
  for (std::size_t i = 0; i < rank; ++i) {
    if (a[i] != b[i] && a[i] != 1 && b[i] != 1) return std::nullopt;
    product.push_back(a[i] == 1 ? b[i] : a[i]);
  }
  const auto count = element_count(product);
  if (!count) return std::nullopt;
  // Other kinds of broadcasting have no case: nearest is one matrix per product.
  const std::int64_t a_count = shared_batch(product, a).value_or(*count);
  const std::int64_t b_count = shared_batch(product, b).value_or(*count);
  if (a_count != *count && b_count != *count) return Batches{*count, *count, *count};
  return Batches{*count, a_count, b_count};
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
    const auto leading = shape.first(shape.size() < kOperandRank ? 0 : shape.size() - kOperandRank);
    return Dims(leading.begin(), leading.end());
  };
  const auto batches = find_batches(leading_dims(a), leading_dims(b));
  if (!batches) return std::nullopt;
  auto product = make_product(batches->product, m, n, k, bias);
  if (!product) return std::nullopt;
  product->request.parameters.set("source_batch", batches->a);
  product->request.parameters.set("weights_batch", batches->b);
  // Both operands of a batch of products are activations.
  product->request.parameters.set("two_inputs", batches->b > 1);
  return product;
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
  const auto addend = tensor_shape(call, 0);
  auto product = with_elements(multiply(a, b, HasBias::yes), {addend, a, b});
  // The bias of a case is one value per column.
  if (product && addend.size() != 1) product->fidelity = Fidelity::work_only;
  return product;
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
