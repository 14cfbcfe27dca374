// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/command.hpp"
#include "harness/run/worker.hpp"
#include "ops/kernel.hpp"

#include <ostream>
#include <unistd.h>

namespace bench {

ExitStatus worker_command(const Arguments& arguments, Env& env) {
  if (arguments.describe) {
    *env.out << describe(*ops::make_onednn_backend()) << '\n';
    return ExitStatus::success;
  }
  return static_cast<ExitStatus>(
      serve(STDIN_FILENO, STDOUT_FILENO, ops::make_onednn_backend, *env.clock));
}

}  // namespace bench
