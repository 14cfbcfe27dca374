// SPDX-License-Identifier: Apache-2.0
// Two short pieces of work that stand for cases: `bench doctor` measures with them how precisely
// runs can be compared on this machine.
#pragma once

#include "base/units.hpp"

#include <memory>
#include <optional>

namespace bench {

class ProbeWork {
 public:
  virtual ~ProbeWork() = default;
  // Multiplies and adds in registers on all threads.
  virtual void compute() = 0;
  // Computes a triad on all threads, over a part of a memory region that was not used for longest.
  virtual void stream() = 0;
};

// Returns the size of the region: 192 MiB, or more if the last-level cache (twice its size, up to 1
// GiB) or the number of threads needs it. A part has therefore left the caches when it is used
// again.
Bytes probe_memory(std::optional<Bytes> last_level_cache, int threads);

// Creates work that takes about 100 us on the threads of an OpenMP parallel region. `available`:
// memory that may be used; nullopt if unknown. Returns null if there is not enough memory.
std::unique_ptr<ProbeWork> make_probe_work(std::optional<Bytes> last_level_cache,
                                           std::optional<Bytes> available);

}  // namespace bench
