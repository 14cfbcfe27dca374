// SPDX-License-Identifier: Apache-2.0
#include "base/env.hpp"
#include "harness/cli/parse.hpp"

int main(int argc, char** argv) {
  bench::MonotonicClock clock;
  bench::Env env = bench::real_env(clock);
  return bench::bench_main(argc, argv, env);
}
