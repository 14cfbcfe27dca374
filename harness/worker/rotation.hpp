// SPDX-License-Identifier: Apache-2.0
// The buffers that a case's iterations cycle through in each cache mode.
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

// hot: the kernel's own buffers. cold_weights: weights rotate over `distance` bytes (all of the
// arena where absent), the rest stays. cold: inputs and weights rotate over the arena's read
// region, outputs over its write region. A case of which the arena does not hold two sets uses its
// own buffers. The arena is in the same memory as these. What was done is put into `details`:
// "cold.sets", "cold.bytes", "cold.note", "arena.bytes", "arena.memory" (of a device alone).
Result<std::unique_ptr<Rotation>> bind_rotation(ops::Kernel& kernel, std::span<void* const> own,
                                                CacheMode cache, std::optional<Bytes> distance,
                                                Arena* arena,
                                                std::map<std::string, std::string>& details);

}  // namespace bench
