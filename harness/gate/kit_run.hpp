// SPDX-License-Identifier: Apache-2.0
// Profiles one case once more on one side, for the kit.
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
  ops::MetLayouts met{};  // input layouts of a layer in its network
  std::uint64_t seed = 1;
  Outcome outcome = Outcome::ok;  // the candidate's; a failed case is profiled from its first run
  std::string label;
  std::int64_t pid = 1;  // process id of the side in the trace
  // Time per iteration, if known: short iterations allow more of them.
  std::optional<Nanoseconds> iteration{};
};

// Returns what the side ran until it ended, even if it failed. Returns an error if no worker starts
// or no temporary folder can be created.
Result<KitSide> profile_side(const WorkerFactory& start, const HelloRequest& hello,
                             const std::function<bool()>& interrupted, const KitRequest& request,
                             Env& env);

}  // namespace bench
