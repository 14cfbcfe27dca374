// SPDX-License-Identifier: Apache-2.0
#include "harness/run/admission.hpp"

#include "base/text.hpp"
#include "harness/run/instance.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace bench {

namespace {

constexpr Bytes kUncountable{std::numeric_limits<std::int64_t>::max()};

// Sizes near 2^63 must not wrap around: such a sum is the largest number instead.
Bytes saturated_sum(Bytes a, Bytes b) {
  Bytes sum{0};
  return __builtin_add_overflow(a.count, b.count, &sum.count) ? kUncountable : sum;
}

// All tensors without any padding: a lower bound of what a device must hold.
Bytes plain_size(std::span<const ops::Tensor> tensors) {
  Bytes sum{0};
  for (const ops::Tensor& tensor : tensors) sum = saturated_sum(sum, tensor.size());
  return sum;
}

// All tensors as doubles, in which the check computes what is right.
Bytes size_of_doubles(std::span<const ops::Tensor> tensors) {
  Bytes sum{0};
  for (const ops::Tensor& tensor : tensors) {
    Bytes doubles{0};
    if (__builtin_mul_overflow(tensor.elements(), sizeof(double), &doubles.count)) {
      return kUncountable;
    }
    sum = saturated_sum(sum, doubles);
  }
  return sum;
}

}  // namespace

RefusedReply refused(const ops::Refusal& refusal) {
  switch (refusal.kind) {
    case ops::Refusal::Kind::unsupported:
      return {Outcome::unsupported, refusal.reason};
    case ops::Refusal::Kind::skipped:
      return {Outcome::skipped, refusal.reason};
    case ops::Refusal::Kind::failed:
      break;
  }
  return {Outcome::failed, refusal.reason};
}

std::optional<std::string> memory_shortage(std::span<const ops::Tensor> tensors,
                                           std::optional<Bytes> available) {
  const Bytes plain = plain_size(tensors);
  const Bytes doubles = size_of_doubles(tensors);
  const Bytes needed = saturated_sum(saturated_sum(plain, plain), doubles);
  if (!available || needed <= *available) return std::nullopt;
  return fmt::format(
      "not enough memory: needs {} ({} for the tensors, {} for the library's layout of them, {} "
      "for the check, which uses doubles), {} available",
      format_bytes(needed), format_bytes(plain), format_bytes(plain), format_bytes(doubles),
      format_bytes(*available));
}

Result<Subject, RefusedReply> admit(const CaseKey& key, const PlannedNetwork* network,
                                    ops::Backend& backend, std::optional<Bytes> available,
                                    const ops::Catalogue& catalogue) {
  if (key.device != backend.device()) {
    return RefusedReply{Outcome::skipped, fmt::format("this worker serves the device {}, not {}",
                                                      backend.device(), key.device)};
  }
  if (key.backend != backend.name()) {
    return RefusedReply{Outcome::unsupported,
                        fmt::format("unknown backend `{}`: the device {} is served by {}",
                                    key.backend, key.device, backend.name())};
  }
  Result<Subject> subject = make_subject(key, network, catalogue);
  if (!subject) return RefusedReply{Outcome::failed, subject.error().message()};
  const std::span<const ops::Tensor> tensors = subject_tensors(*subject);
  if (auto shortage = memory_shortage(tensors, available)) {
    return RefusedReply{Outcome::skipped, *std::move(shortage)};
  }
  if (backend.memory() != nullptr) {
    const std::optional<Bytes> free = backend.memory()->available();
    const Bytes plain = plain_size(tensors);
    if (free && plain > *free) {
      return RefusedReply{
          Outcome::skipped,
          fmt::format("not enough memory on the device: the tensors need {}, {} available",
                      format_bytes(plain), format_bytes(*free))};
    }
  }
  return std::move(subject).value();
}

}  // namespace bench
