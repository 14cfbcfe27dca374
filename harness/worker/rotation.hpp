// SPDX-License-Identifier: Apache-2.0
// The buffers over which a case's iterations rotate in each cache mode.
#pragma once

#include "base/result.hpp"
#include "harness/config/case_id.hpp"
#include "harness/worker/arena.hpp"
#include "harness/worker/sampling.hpp"
#include "ops/backend/kernel.hpp"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace bench {

// hot: the kernel's own buffers. cold_weights: the weights rotate over `distance` bytes (the whole
// arena if absent); the other buffers stay. cold: inputs and weights rotate over the arena's read
// region, outputs over its write region. If the arena cannot hold two sets of a case, the case uses
// its own buffers. The arena is in the same memory as these buffers. The result is described in
// `details`: "cold.sets", "cold.bytes", "cold.note", "arena.bytes", "arena.memory" (only for a
// device).
Result<std::unique_ptr<Rotation>> bind_rotation(ops::Kernel& kernel, std::span<void* const> own,
                                                CacheMode cache, std::optional<Bytes> distance,
                                                Arena* arena,
                                                std::map<std::string, std::string>& details);

}  // namespace bench
