// SPDX-License-Identifier: Apache-2.0
// The signal state that a process inherits from the program that started it: exec keeps the blocked
// and the ignored signals.
#pragma once

#include <csignal>

namespace bench {

// The inherited state of a process that has set its own. A program that this process runs on behalf
// of the user gets the inherited state back.
class InheritedSignals {
 public:
  // Unblocks all signals. Sets SIGCHLD to its default action if it is ignored, because the kernel
  // then discards how a child process ended. Other ignored signals stay ignored, as in a shell:
  // `nohup` ignores SIGHUP, and a script ignores SIGINT for its background commands.
  static InheritedSignals replace();

  // Restores the inherited state, in a child process before exec. Async-signal-safe.
  void restore() const;

 private:
  InheritedSignals() = default;
  sigset_t blocked_{};
  bool ignores_children_ = false;  // whether SIGCHLD was ignored
};

// Returns whether this process ignores the signal.
bool ignores_signal(int signal);

}  // namespace bench
