// SPDX-License-Identifier: Apache-2.0
#include "harness/host/memory_shortage.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <limits>

namespace bench {
namespace {

constexpr Bytes kMaxSize{std::numeric_limits<std::int64_t>::max()};

// Returns the sum, or kMaxSize if the sum would overflow.
Bytes add_saturated(Bytes a, Bytes b) {
  Bytes sum{0};
  return __builtin_add_overflow(a.count, b.count, &sum.count) ? kMaxSize : sum;
}

// Returns the size of all tensors as doubles. The check computes the expected values in doubles.
Bytes compute_size_as_doubles(std::span<const ops::Tensor> tensors) {
  Bytes sum{0};
  for (const ops::Tensor& tensor : tensors) {
    Bytes doubles{0};
    if (__builtin_mul_overflow(tensor.elements(), sizeof(double), &doubles.count)) {
      return kMaxSize;
    }
    sum = add_saturated(sum, doubles);
  }
  return sum;
}

}  // namespace

Bytes plain_size(std::span<const ops::Tensor> tensors) {
  Bytes sum{0};
  for (const ops::Tensor& tensor : tensors) sum = add_saturated(sum, tensor.size());
  return sum;
}

std::optional<std::string> memory_shortage(std::span<const ops::Tensor> tensors,
                                           std::optional<Bytes> available) {
  const Bytes plain = plain_size(tensors);
  const Bytes doubles = compute_size_as_doubles(tensors);
  const Bytes needed = add_saturated(add_saturated(plain, plain), doubles);
  if (!available || needed <= *available) return std::nullopt;
  return fmt::format(
      "not enough memory: needs {} ({} for the tensors, {} for the library's layout of them, {} "
      "for the check, which uses doubles), {} available",
      format_bytes(needed), format_bytes(plain), format_bytes(plain), format_bytes(doubles),
      format_bytes(*available));
}

}  // namespace bench
