// SPDX-License-Identifier: Apache-2.0
// The profile pass over one case, in a worker that times nothing: the case is made anew with all
// collectors on, warmed up without them, and a window of its iterations is recorded. The timing
// pass has checked its result in another process and knows nothing of this one.
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
  std::optional<Bytes> available;  // memory, where known
  Bytes arena;                     // for cold caches
  VerboseDecoder& decoder;         // of this process
  const ops::Catalogue& catalogue = ops::built_in_catalogue();
};

// Standard output is captured meanwhile where the library prints. On every way out what happened
// is in the spool.
Result<ProfiledReply, RefusedReply> run_profile_pass(const ProfilePassWorld& world,
                                                     const ProfileRequest& request);

}  // namespace bench
