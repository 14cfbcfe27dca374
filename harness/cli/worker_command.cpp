// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/command.hpp"
#include "harness/run/worker.hpp"
#include "ops/kernel.hpp"

#include <ostream>
#include <unistd.h>

namespace bench {

ExitStatus worker_command(const Arguments& arguments, Env& env) {
  const auto backend = ops::make_onednn_backend();
  if (arguments.describe) {
    *env.out << describe(*backend) << '\n';
    return ExitStatus::success;
  }
  return static_cast<ExitStatus>(serve(STDIN_FILENO, STDOUT_FILENO, *backend, *env.clock));
}

}  // namespace bench
