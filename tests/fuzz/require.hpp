// SPDX-License-Identifier: Apache-2.0
// Ends a fuzzer with a finding unless the condition holds.
#pragma once

namespace bench::fuzz {

inline void require(bool condition) {
  if (!condition) __builtin_trap();
}

}  // namespace bench::fuzz
