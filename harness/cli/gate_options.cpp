// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/gate_options.hpp"

#include "base/printable.hpp"
#include "harness/cli/plan_arguments.hpp"
#include "harness/gate/sides.hpp"
#include "harness/result/record.hpp"
#include "harness/wire/slowdown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

namespace bench {

ExitStatus bisect_status(std::string_view command, ExitStatus status, Env& env) {
  if (status == ExitStatus::success || status == ExitStatus::regression) return status;
  print_sentence(
      env, fmt::format("bench {}: this commit was not decided (exit status {} without --bisect), "
                       "so `git bisect run` skips it",
                       command, static_cast<int>(status)));
  return kSkippedCommit;
}

bool asks_for_bisect(int argc, const char* const* argv) {
  return std::any_of(argv, argv + argc,
                     [](const char* word) { return std::string_view(word) == "--bisect"; });
}

namespace {

using Environment = std::map<std::string, std::string>;

// Returns an error if the environment sets an invalid slowdown.
Status check_environment(const Environment& environment, const char* option) {
  const auto slowdown = environment.find(kSlowdownVariable);
  if (slowdown == environment.end()) return Done{};
  const Status status = check_slowdown(slowdown->second);
  return status ? status : Status(at_option(status.error(), option));
}

// Finds the library of a side and adds its variables to those of the side. `option`: the name of
// its option; `env_option`: that of the side's variables.
Result<std::optional<SideLibrary>> add_side_library(const std::optional<std::string>& path,
                                                    const Plan& plan, const Env& env,
                                                    const char* option, const char* env_option,
                                                    Environment& environment) {
  if (!path) return std::optional<SideLibrary>();
  auto library = find_side_library(*path, plan, env.variable);
  if (!library.ok()) return at_option(library.error(), option);
  for (const auto& [name, value] : library->variables) {
    if (environment.emplace(name, value).second) continue;
    return Error{fmt::format("sets {}, and so does {}", name, env_option),
                 fmt::format("{} {}", option, *path), "omit one of them"};
  }
  return std::optional(*std::move(library));
}

}  // namespace

Result<GateSides> find_gate_sides(const Arguments& arguments, const Plan& plan,
                                  const TimeLimit& limit, Env& env) {
  const GateArguments& gate = arguments.gate;
  BENCH_RETURN_IF_ERROR(check_environment(gate.candidate_environment, "--cand-env"));
  BENCH_RETURN_IF_ERROR(check_environment(gate.base_environment, "--base-env"));
  GateSides sides;
  Environment candidate_environment = gate.candidate_environment;
  Environment base_environment = gate.base_environment;
  BENCH_ASSIGN_OR_RETURN(sides.candidate_library,
                         add_side_library(gate.candidate_library, plan, env, "--cand-library",
                                          "--cand-env", candidate_environment));
  BENCH_ASSIGN_OR_RETURN(sides.base_library,
                         add_side_library(gate.base_library, plan, env, "--base-library",
                                          "--base-env", base_environment));
  Clock& clock = *env.clock;
  auto candidate =
      find_side(gate.candidate.value_or(own_path()), candidate_environment, limit, clock);
  if (!candidate.ok()) return at_option(candidate.error(), "--cand");
  sides.candidate = std::move(*candidate);
  const bool has_own_variables = !base_environment.empty() || !candidate_environment.empty();
  if (!gate.base && !has_own_variables) return sides;
  auto base = find_side(gate.base.value_or(own_path()), base_environment, limit, clock);
  if (!base.ok()) return at_option(base.error(), "--base");
  sides.base = std::move(*base);
  return sides;
}

ExitStatus unusable_sides_status(const TimeLimit& limit) {
  return limit.stop_cause() ? ExitStatus::not_measured : ExitStatus::usage;
}

}  // namespace bench
