// SPDX-License-Identifier: Apache-2.0
#include "harness/run/admission.hpp"

#include "base/text.hpp"
#include "harness/run/instance.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace bench {

namespace {

// Of all tensors, saturated: a lower bound of what a device must hold.
Bytes plain_size(const Subject& subject) {
  std::int64_t bytes = 0;
  for (const ops::Tensor& tensor : subject_tensors(subject)) {
    if (__builtin_add_overflow(bytes, tensor.size().count, &bytes)) {
      return {std::numeric_limits<std::int64_t>::max()};
    }
  }
  return {bytes};
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
  const Bytes needed = memory_needed(*subject);
  if (available && needed > *available) {
    return RefusedReply{Outcome::skipped,
                        fmt::format("needs {} of memory, available are {}", format_bytes(needed),
                                    format_bytes(*available))};
  }
  if (backend.memory() != nullptr) {
    const std::optional<Bytes> free = backend.memory()->available();
    const Bytes plain = plain_size(*subject);
    if (free && plain > *free) {
      return RefusedReply{Outcome::skipped,
                          fmt::format("needs {} of memory on the device, available are {}",
                                      format_bytes(plain), format_bytes(*free))};
    }
  }
  return std::move(subject).value();
}

}  // namespace bench
