// SPDX-License-Identifier: Apache-2.0
// --base, --cand and their environments.
#pragma once

#include "base/env.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/gate/evidence_file.hpp"

#include <functional>
#include <optional>

namespace bench {

struct GateSides {
  GateSide candidate;  // this program unless --cand names another
  // The program of --base, else this program if a side has variables of its own (--base-env,
  // --cand-env); else absent.
  std::optional<GateSide> base;
};
Result<GateSides> gate_sides(const Arguments& arguments, Clock& clock,
                             const std::function<bool()>& interrupted);

}  // namespace bench
