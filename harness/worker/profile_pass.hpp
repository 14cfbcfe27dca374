// SPDX-License-Identifier: Apache-2.0
// The profile pass over one case, in a worker that times nothing. It creates the case again with
// all collectors on, warms it up without them, and records a window of its iterations. The timing
// pass has checked the result in another process and is independent of this one.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/wire/messages.hpp"
#include "ops/backend/kernel.hpp"
#include "profiler/onednn/verbose_line.hpp"

#include <cstdint>
#include <optional>

namespace bench {

struct ProfilePassWorld {
  ops::Backend& backend;
  Clock& clock;
  std::optional<Bytes> available;  // available memory, if known
  Bytes arena;                     // for cold caches
  VerboseDecoder& decoder;         // belongs to this process
  const ops::Catalogue& catalogue = ops::built_in_catalogue();
};

// Captures standard output during the pass if the library prints. Whether it succeeds or fails, the
// spool contains what happened.
Result<ProfiledReply, RefusedReply> run_profile_pass(const ProfilePassWorld& world,
                                                     const ProfileRequest& request);

}  // namespace bench
