// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/gate_sides.hpp"

#include "harness/cli/plan_arguments.hpp"
#include "harness/run/gate_parts.hpp"

#include <utility>

namespace bench {
namespace {

Error at_option(Error error, const char* option) {
  error.where = error.where.empty() ? option : std::string(option) + " " + error.where;
  return error;
}

}  // namespace

Result<GateSides> gate_sides(const Arguments& arguments, Clock& clock,
                             const std::function<bool()>& interrupted) {
  const GateArguments& gate = arguments.gate;
  GateSides sides;
  auto candidate = find_side(gate.candidate.value_or(own_path()), gate.candidate_environment, clock,
                             interrupted);
  if (!candidate.ok()) return at_option(candidate.error(), "--cand");
  sides.candidate = std::move(*candidate);
  if (!gate.base && gate.base_environment.empty()) return sides;
  auto base = find_side(gate.base.value_or(own_path()), gate.base_environment, clock, interrupted);
  if (!base.ok()) return at_option(base.error(), "--base");
  sides.base = std::move(*base);
  return sides;
}

}  // namespace bench
