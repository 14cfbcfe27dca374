// SPDX-License-Identifier: Apache-2.0
#include "harness/run/machine_skip.hpp"

#include "harness/host/memory_shortage.hpp"
#include "harness/run/case_progress.hpp"

namespace bench {

std::optional<std::string> machine_skip_reason(const Case& spec, const Cores& cores,
                                               std::optional<Bytes> memory) {
  if (const auto placed = place_streams(worker_threads(spec.key), cores); !placed) {
    return placed.error().message();
  }
  return memory_shortage(case_tensors(spec), memory);
}

}  // namespace bench
