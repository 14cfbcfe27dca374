// SPDX-License-Identifier: Apache-2.0
// table: one row per action
#include "base/lines.hpp"
#include "base/nearest_name.hpp"
#include "base/quote.hpp"
#include "harness/cli/baseline_actions.hpp"
#include "harness/cli/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <string_view>
#include <utility>

namespace bench {
namespace {

enum class Operands { none, needed };
enum class Reason { optional, needed };
enum class DryRun { unknown, possible };

struct Action {
  std::string_view name;
  Operands operands;
  std::string_view operand;  // name of the operands in messages; empty if there are none
  Reason reason;
  DryRun dry_run;
  Result<ExitStatus> (*run)(const Arguments& arguments, Env& env);
};
constexpr std::array kActions = {
    Action{"save", Operands::needed, "RESULT...", Reason::needed, DryRun::unknown, save_baselines},
    Action{"accept", Operands::needed, "RESULT...", Reason::needed, DryRun::unknown,
           accept_baselines},
    Action{"list", Operands::none, "", Reason::optional, DryRun::unknown, list_baselines},
    Action{"show", Operands::needed, "CASE...", Reason::optional, DryRun::unknown, show_baselines},
    Action{"prune", Operands::none, "", Reason::optional, DryRun::unknown, prune_baselines},
    Action{"remove", Operands::needed, "RUN...", Reason::optional, DryRun::possible,
           remove_baselines},
    Action{"adopt", Operands::needed, "CLASS", Reason::optional, DryRun::possible, adopt_baselines},
    Action{"verify", Operands::none, "", Reason::optional, DryRun::unknown, verify_baselines},
};

constexpr auto kActionNames = [] {
  std::array<std::string_view, kActions.size()> names;
  std::ranges::transform(kActions, names.begin(), &Action::name);
  return names;
}();

Result<const Action*> find_action(const std::string& name) {
  const auto* const found = std::ranges::find(kActions, name, &Action::name);
  if (found != kActions.end()) return found;
  return Error{fmt::format("unknown action {}", quote(name)), "", expectation(name, kActionNames)};
}

Status check_action(const Action& action, const Arguments& arguments) {
  const bool has_operands = !arguments.inputs.empty();
  if (action.operands == Operands::needed && !has_operands)
    return Error{fmt::format("`{}` needs {}", action.name, action.operand), "",
                 "`bench baseline --help` shows examples"};
  if (action.operands == Operands::none && has_operands)
    return Error{
        fmt::format("`{}` does not accept {}", action.name, quote(arguments.inputs.front())), "",
        "--filter GLOB chooses cases, --baseline DIR the store"};
  if (action.reason == Reason::needed && is_blank(arguments.reason))
    return Error{fmt::format("`{}` needs --reason TEXT", action.name), "",
                 "state why these times are correct: --reason 'nightly run of main', --reason "
                 "'slower by design: checks its input (#123)'"};
  if (action.dry_run == DryRun::unknown && arguments.dry_run)
    return Error{fmt::format("cannot be used with `{}`", action.name), "--dry-run",
                 "it is for `remove` and `adopt`"};
  if (arguments.anchor && is_blank(*arguments.anchor))
    return Error{"is empty", "--anchor", "for example --anchor release-1.4"};
  return Done{};
}

Result<ExitStatus> run_action(Arguments arguments, Env& env) {
  const std::string name = arguments.inputs.front();
  arguments.inputs.erase(arguments.inputs.begin());
  BENCH_ASSIGN_OR_RETURN(const Action* action, find_action(name));
  BENCH_RETURN_IF_ERROR(check_action(*action, arguments));
  return action->run(arguments, env);
}

}  // namespace

std::span<const std::string_view> baseline_action_names() { return kActionNames; }

BaselineStore make_store(const Arguments& arguments) {
  return BaselineStore(store_folder(arguments.baseline));
}

std::string format_store_option(const Arguments& arguments) {
  return arguments.baseline ? " --baseline " + shell_quoted(*arguments.baseline) : "";
}

Result<IdSelection> IdSelection::compile(const std::vector<std::string>& filters) {
  IdSelection selection;
  for (const std::string& filter : filters) {
    auto pattern = IdPattern::compile(filter);
    if (!pattern.ok())
      return Error{pattern.error().what, "--filter " + filter, pattern.error().next};
    selection.patterns_.push_back(*std::move(pattern));
  }
  return selection;
}

bool IdSelection::has(const std::string& id) const {
  return patterns_.empty() || std::ranges::any_of(patterns_, [&](const IdPattern& pattern) {
           return pattern.matches(id);
         });
}

ExitStatus baseline_command(const Arguments& arguments, Env& env) {
  const Result<ExitStatus> status = run_action(arguments, env);
  if (status.ok()) return *status;
  return fail("baseline", status.error(), ExitStatus::usage, env);
}

}  // namespace bench
