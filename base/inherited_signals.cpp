// SPDX-License-Identifier: Apache-2.0
#include "base/inherited_signals.hpp"

namespace bench {

InheritedSignals InheritedSignals::replace() {
  InheritedSignals inherited;
  inherited.ignores_children_ = ignores_signal(SIGCHLD);
  if (inherited.ignores_children_) ::signal(SIGCHLD, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, &inherited.blocked_);
  return inherited;
}

void InheritedSignals::restore() const {
  if (ignores_children_) ::signal(SIGCHLD, SIG_IGN);
  ::sigprocmask(SIG_SETMASK, &blocked_, nullptr);
}

bool ignores_signal(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace bench
