// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"
#include "harness/cli/gate_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace bench {

ExitStatus bisect_status(std::string_view command, ExitStatus status, Env& env) {
  if (status == ExitStatus::success || status == ExitStatus::regression) return status;
  print_line(*env.err,
             fmt::format("bench {}: this commit was not decided (exit status {} without --bisect), "
                         "so `git bisect run` skips it",
                         command, static_cast<int>(status)));
  return kSkippedCommit;
}

bool asks_for_bisect(int argc, const char* const* argv) {
  return std::any_of(argv, argv + argc,
                     [](const char* word) { return std::string_view(word) == "--bisect"; });
}

}  // namespace bench
