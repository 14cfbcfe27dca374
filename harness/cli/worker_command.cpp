// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/command.hpp"
#include "harness/run/worker.hpp"
#include "harness/run/worker_channel.hpp"
#include "ops/kernel.hpp"

#include <ostream>
#include <unistd.h>

namespace bench {

ExitStatus worker_command(const Arguments& arguments, Env& env) {
  if (arguments.describe) {
    *env.out << describe(*ops::make_onednn_backend()) << '\n';
    return ExitStatus::success;
  }
  int in = STDIN_FILENO, out = STDOUT_FILENO;
  if (const auto path = env.variable(kChannelVariable)) {
    const auto channel = connect_channel(*path);
    if (!channel) {
      *env.err << "bench worker: " << channel.error().message() << '\n';
      return ExitStatus::not_measured;
    }
    in = out = *channel;
  }
  return static_cast<ExitStatus>(serve(in, out, ops::make_onednn_backend, *env.clock));
}

}  // namespace bench
