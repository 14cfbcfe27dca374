// SPDX-License-Identifier: Apache-2.0
// Time that passes only when a test advances it.
#pragma once

#include "base/env.hpp"

namespace bench::test {

class FakeClock final : public Clock {
 public:
  Nanoseconds now() override { return time_; }
  void advance(Nanoseconds time) { time_ += time; }

 private:
  Nanoseconds time_{0};
};

}  // namespace bench::test
