// SPDX-License-Identifier: Apache-2.0
#include "base/env.hpp"
#include "base/inherited_signals.hpp"
#include "base/standard_streams.hpp"
#include "harness/cli/last_resort.hpp"
#include "harness/cli/parse.hpp"

#include <unistd.h>

int main(int argc, char** argv) {
  bench::open_standard_descriptors();
  bench::survive_failed_writes();
  const auto signals = bench::InheritedSignals::replace();
  bench::MonotonicClock clock;
  bench::CheckedStream out(STDOUT_FILENO);
  bench::Env env = bench::real_env(clock);
  env.out = &out;
  env.inherited_signals = &signals;
  const int status =
      bench::with_last_resort(*env.err, [&] { return bench::bench_main(argc, argv, env); });
  return bench::exit_status_after_output(status, out.finish(), env);
}
