// SPDX-License-Identifier: Apache-2.0
// Rule 5 of the architecture for one instance: selects the check for a subject and returns its
// verdict.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/wire/messages.hpp"
#include "harness/worker/instance.hpp"
#include "harness/worker/subject.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace bench {

struct Verified {
  std::string text;  // "full, 200704 elements, worst 0.12 of tolerance"
  OutputSample output;
};

struct CheckRequest {
  CheckKind kind = CheckKind::reference;
  OutputSample expected;  // with CheckKind::expected
  std::uint64_t seed = 1;
  std::optional<Bytes> available;  // available memory
};

// Checks the outputs that `instance` computed from `values`. Refuses with wrong_result and the
// position, or with failed if the check itself was impossible.
Result<Verified, RefusedReply> verify(ops::Backend& backend, const Subject& subject,
                                      Instance& instance, const InputValues& values,
                                      const CheckRequest& request, Clock& clock);

}  // namespace bench
