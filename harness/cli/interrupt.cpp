// SPDX-License-Identifier: Apache-2.0
#include "base/inherited_signals.hpp"
#include "harness/cli/progress.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

namespace bench {

InterruptWatch::InterruptWatch() {
  sigset_t signals;
  sigemptyset(&signals);
  // The descriptor would also report blocked signals that are ignored.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (!ignores_signal(signal)) sigaddset(&signals, signal);
  }
  sigprocmask(SIG_BLOCK, &signals, &previous_);
  descriptor_ = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
}

InterruptWatch::~InterruptWatch() {
  if (descriptor_ >= 0) close(descriptor_);
  sigprocmask(SIG_SETMASK, &previous_, nullptr);
}

bool InterruptWatch::is_interrupted() {
  signalfd_siginfo info;
  while (descriptor_ >= 0 &&
         read(descriptor_, &info, sizeof info) == static_cast<ssize_t>(sizeof info))
    was_interrupted_ = true;
  return was_interrupted_;
}

}  // namespace bench
