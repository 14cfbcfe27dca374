// SPDX-License-Identifier: Apache-2.0
// Where `bench history` takes its series from: the store in git, or a database. All that follows,
// judge and texts, is the same for both.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/store/baseline_file.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace bench {

struct SourceHistories {
  std::map<std::string, std::vector<BaselineHistory>> classes;  // by machine class
  std::vector<std::string> problems;                            // what was not read, and why
};

class HistorySource {
 public:
  // Opens the database of --db, or the store of --baseline.
  static Result<std::unique_ptr<HistorySource>> open(const Arguments& arguments);
  virtual ~HistorySource() = default;

  // Reads the histories that are judged together. The store reads all: the number of tests, which
  // decides what is significant, does not depend on the selection. A database, which may be too
  // large for that, reads those that --filter and the operands select.
  virtual Result<SourceHistories> read() = 0;
  virtual std::string name() const = 0;  // in messages
  // How to list all series, and how to store runs: "`bench baseline save`".
  virtual std::string list_command() const = 0;
  virtual std::string show_command() const = 0;
  virtual std::string save_command() const = 0;
  // The option that chooses this source, for commands: " --db URL", or empty.
  virtual std::string option() const = 0;
};

// `--save` and `--list` of a database.
Result<ExitStatus> save_history(const Arguments& arguments, Env& env);
Result<ExitStatus> list_history(const Arguments& arguments, Env& env);

}  // namespace bench
