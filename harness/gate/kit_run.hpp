// SPDX-License-Identifier: Apache-2.0
// The profiler's half of a kit: one case once more, on one side, with the collectors on.
#pragma once

#include "base/env.hpp"
#include "harness/config/plan.hpp"
#include "harness/gate/kit.hpp"
#include "harness/run/worker_link.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace bench {

struct KitRequest {
  const Case* spec = nullptr;
  ops::MetLayouts met{};  // of a layer
  std::uint64_t seed = 1;
  Outcome outcome = Outcome::ok;  // of the candidate: what fails is watched from its first run on
  std::string label;
  std::int64_t pid = 1;  // of the side in the trace
  // Of the case, if known: the shorter it is, the more iterations are profiled.
  std::optional<Nanoseconds> iteration{};
};

// What the side ran until it ended, however it did. Error: no worker starts, or no folder for
// temporary files.
Result<KitSide> profile_side(const WorkerFactory& start, const HelloRequest& hello,
                             const std::function<bool()>& interrupted, const KitRequest& request,
                             Env& env);

}  // namespace bench
