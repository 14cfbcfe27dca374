// SPDX-License-Identifier: Apache-2.0
// Ctrl-C as something to ask for, not to be surprised by: SIGINT, SIGTERM and SIGHUP are blocked
// and read from a descriptor.
#pragma once

#include <csignal>

namespace bench {

// Blocks the signals for this thread while it lives (children must restore their own mask). Not for
// use beside other threads.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  // True from the first signal on.
  bool seen();

 private:
  sigset_t previous_;
  int descriptor_ = -1;
  bool seen_ = false;
};

}  // namespace bench
