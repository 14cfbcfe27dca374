// SPDX-License-Identifier: Apache-2.0
// Makes Ctrl-C something to poll: SIGINT, SIGTERM and SIGHUP are blocked and read from a
// descriptor.
#pragma once

#include <csignal>

namespace bench {

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
