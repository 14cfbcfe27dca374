// SPDX-License-Identifier: Apache-2.0
// The actions of `bench baseline`, and functions that they share with `bench history`.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/config/selection.hpp"
#include "harness/result/record.hpp"
#include "harness/store/store.hpp"

#include <cstddef>
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
Result<ExitStatus> remove_baselines(const Arguments& arguments, Env& env);
Result<ExitStatus> adopt_baselines(const Arguments& arguments, Env& env);

// Values of the first operand of `bench baseline`: "save", "accept", ...
std::span<const std::string_view> baseline_action_names();

// Returns the store of --baseline, or the default store.
BaselineStore make_store(const Arguments& arguments);
// Returns what printed commands need to use that store: " --baseline DIR", or nothing.
std::string format_store_option(const Arguments& arguments);

// The cases that --filter selects; all cases without a filter.
class IdSelection {
 public:
  // Returns an error if a filter is not a valid pattern.
  static Result<IdSelection> compile(const std::vector<std::string>& filters);
  bool has(const std::string& id) const;

 private:
  std::vector<IdPattern> patterns_;
};

// The file of one case on one machine class, and its runs.
struct StoreEntry {
  StoreFile file;
  BaselineHistory history;
};

// The cases of the store that --filter selects, and the problems of all its files.
struct StoreContents {
  BaselineStore store;
  std::vector<StoreEntry> cases;
  std::vector<std::string> problems;
};
Result<StoreContents> read_store_contents(const Arguments& arguments);

// Prints problems of the store's files, unless --quiet forbids it.
void warn_of_problems(const std::vector<std::string>& problems, const Arguments& arguments,
                      Env& env);

// Returns the error of an operand that names no stored case, with the nearest one, or an example.
// `ids`: those of the store. `list_command` lists them.
Error unknown_stored_case(const std::vector<std::string_view>& ids, const std::string& written,
                          const std::string& folder,
                          std::string_view list_command = "bench baseline list");

}  // namespace bench
