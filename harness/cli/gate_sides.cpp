// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/gate_options.hpp"
#include "harness/cli/plan_arguments.hpp"
#include "harness/gate/sides.hpp"
#include "harness/result/record.hpp"
#include "harness/wire/slowdown.hpp"

#include <map>
#include <string>
#include <utility>

namespace bench {
namespace {

// Puts the name of the option in front of the place of the error.
Error at_option(Error error, const char* option) {
  error.where = error.where.empty() ? option : std::string(option) + " " + error.where;
  return error;
}

using Environment = std::map<std::string, std::string>;

// Returns an error if the environment sets an invalid slowdown.
Status check_environment(const Environment& environment, const char* option) {
  const auto slowdown = environment.find(kSlowdownVariable);
  if (slowdown == environment.end()) return Done{};
  const Status status = check_slowdown(slowdown->second);
  return status ? status : Status(at_option(status.error(), option));
}

}  // namespace

Result<GateSides> find_gate_sides(const Arguments& arguments, const TimeLimit& limit,
                                  Clock& clock) {
  const GateArguments& gate = arguments.gate;
  BENCH_RETURN_IF_ERROR(check_environment(gate.candidate_environment, "--cand-env"));
  BENCH_RETURN_IF_ERROR(check_environment(gate.base_environment, "--base-env"));
  GateSides sides;
  auto candidate =
      find_side(gate.candidate.value_or(own_path()), gate.candidate_environment, limit, clock);
  if (!candidate.ok()) return at_option(candidate.error(), "--cand");
  sides.candidate = std::move(*candidate);
  const bool has_own_variables =
      !gate.base_environment.empty() || !gate.candidate_environment.empty();
  if (!gate.base && !has_own_variables) return sides;
  auto base = find_side(gate.base.value_or(own_path()), gate.base_environment, limit, clock);
  if (!base.ok()) return at_option(base.error(), "--base");
  sides.base = std::move(*base);
  return sides;
}

ExitStatus unusable_sides_status(const TimeLimit& limit) {
  return limit.stop_cause() ? ExitStatus::not_measured : ExitStatus::usage;
}

}  // namespace bench
