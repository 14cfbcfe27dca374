// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/admission.hpp"

#include "base/text.hpp"
#include "harness/host/memory_shortage.hpp"

#include <fmt/format.h>

#include <utility>

namespace bench {

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
