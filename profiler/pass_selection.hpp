// SPDX-License-Identifier: Apache-2.0
// Which activities of result files count. Files may be concatenated, so one run may be there twice,
// and a case may have profiling passes of several runs. A reader counts each activity once, and of
// each case only the pass that counts, as a Report does with its records (docs/result_file.md).
#pragma once

#include "base/result.hpp"

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace bench {

// The run whose pass counts, by case: that of the last `ok` pass, or of the last pass.
using PassChoice = std::map<std::string, std::string, std::less<>>;
// Reads only the `profile_pass` records of result files. Skips other formats, standard input ("-")
// and pipes, which can be read only once. Returns an error if a file cannot be read.
Result<PassChoice> choose_passes(std::span<const std::string> paths);

class PassSelection {
 public:
  // Activities of a case in `choice` count only if they are of this run.
  void choose(PassChoice choice) { choice_ = std::move(choice); }
  // Returns whether an activity of this run and case counts. The case is empty outside of cases.
  bool counts(const std::string& run_id, const std::string& case_id) const;
  // All activities of this run and case were read: what follows repeats them. Ignored without a run
  // id.
  void finish(const std::string& run_id, const std::string& case_id);

 private:
  PassChoice choice_;
  std::set<std::pair<std::string, std::string>> finished_;
};

}  // namespace bench
