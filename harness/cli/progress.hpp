// SPDX-License-Identifier: Apache-2.0
// What commands that take long share: they show their progress, and Ctrl-C ends them in order.
#pragma once

#include "base/env.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/run/run.hpp"

#include <csignal>
#include <memory>
#include <string>

namespace bench {

// Shows the progress of a run: one line redrawn in place on a terminal, one line per finished case
// elsewhere, nothing if quiet. Writes only to env.err. `env` outlives it.
std::unique_ptr<RunObserver> make_progress(Verbosity verbosity, Env& env);

// Shows one line on a terminal of env.err until it is destroyed, and writes nothing elsewhere.
class WaitingLine {
 public:
  WaitingLine(const std::string& text, Env& env);  // `env` outlives it
  ~WaitingLine();
  WaitingLine(const WaitingLine&) = delete;
  WaitingLine& operator=(const WaitingLine&) = delete;

 private:
  Env& env_;
};

// Makes Ctrl-C something to poll: SIGINT, SIGTERM and SIGHUP are blocked and read from a
// descriptor.
// Blocks the signals for this thread while it lives; child processes must restore their own mask.
// Not for use with other threads.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  // Returns true from the first signal on.
  bool seen();

 private:
  sigset_t previous_;
  int descriptor_ = -1;
  bool seen_ = false;
};

}  // namespace bench
