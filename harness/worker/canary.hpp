// SPDX-License-Identifier: Apache-2.0
// The canaries: four fixed pieces of work that know no operator and no library. When their times
// change within a run, or from one run to the next, it is the machine that changed: its clock, its
// memory, its neighbours. A worker of one thread takes them; a round takes some 60 ms.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "base/units.hpp"
#include "harness/result/record.hpp"

#include <cstddef>
#include <optional>

namespace bench {

// Of each piece; the median is its time. Many and short: one that is interrupted is one of many.
inline constexpr std::size_t kCanaryRepetitions = 15;

// What the triads run over: three times 64 MiB, or twice the last level of the caches where that is
// more, up to 512 MiB: no core fills a larger cache alone. The work is the same on every machine,
// 3 x 4 MiB a repetition, each on lines that nobody used since all of it was written once.
Bytes canary_memory(std::optional<Bytes> last_level_cache);

// Error: the memory of this machine does not suffice (`available`: what may be taken; absent when
// unknown).
Result<Canaries> measure_canaries(Clock& clock, std::optional<Bytes> last_level_cache,
                                  std::optional<Bytes> available);

}  // namespace bench
