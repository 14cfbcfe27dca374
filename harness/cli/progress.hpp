// SPDX-License-Identifier: Apache-2.0
// Progress display and Ctrl-C handling of commands that take long.
#pragma once

#include "base/env.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/run/run.hpp"

#include <csignal>
#include <memory>
#include <string>

namespace bench {

// Returns an observer that shows the progress of a run: one line redrawn in place on a terminal,
// one line per finished case elsewhere, nothing if quiet. It writes only to env.err. `env` must
// outlive it.
std::unique_ptr<RunObserver> make_progress(Verbosity verbosity, Env& env);

// Shows one line until it is destroyed, if env.err is a terminal. Otherwise writes nothing.
class WaitingLine {
 public:
  WaitingLine(const std::string& text, Env& env);  // `env` must outlive this object
  ~WaitingLine();
  WaitingLine(const WaitingLine&) = delete;
  WaitingLine& operator=(const WaitingLine&) = delete;

 private:
  Env& env_;
};

// Lets a command poll for interruption (Ctrl-C). Blocks SIGINT, SIGTERM and SIGHUP for this thread
// until destruction, and reads them from a descriptor. A signal that this process inherited as
// ignored (`nohup`, background commands of a script) does not interrupt. Child processes must
// restore their own mask.
// Not for programs with other threads.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  // Returns whether one of the signals has arrived since construction.
  bool is_interrupted();

 private:
  sigset_t previous_;
  int descriptor_ = -1;
  bool was_interrupted_ = false;
};

}  // namespace bench
