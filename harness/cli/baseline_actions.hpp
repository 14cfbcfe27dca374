// SPDX-License-Identifier: Apache-2.0
// The actions of `bench baseline`, and functions that they share with `bench history`.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/config/selection.hpp"
#include "harness/result/record.hpp"
#include "harness/store/store.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// One function per action; arguments.inputs contains its operands without the action's name.
Result<ExitStatus> save_baselines(const Arguments& arguments, Env& env);
Result<ExitStatus> accept_baselines(const Arguments& arguments, Env& env);
Result<ExitStatus> list_baselines(const Arguments& arguments, Env& env);
Result<ExitStatus> show_baselines(const Arguments& arguments, Env& env);
Result<ExitStatus> prune_baselines(const Arguments& arguments, Env& env);
Result<ExitStatus> verify_baselines(const Arguments& arguments, Env& env);

// Values of the first operand of `bench baseline`: "save", "accept", ...
std::span<const std::string_view> baseline_action_names();

// Returns the store of --baseline, or the default store.
BaselineStore make_store(const Arguments& arguments);

// The cases that --filter selects; all cases without a filter.
class IdSelection {
 public:
  // Returns an error if a filter is not a valid pattern.
  static Result<IdSelection> compile(const std::vector<std::string>& filters);
  bool has(const std::string& id) const;

 private:
  std::vector<IdPattern> patterns_;
};

}  // namespace bench
