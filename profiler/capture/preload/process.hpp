// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace bench::capture {

// After fork without exec, records the parent of this process. The child continues with the
// parent's libraries, and the forking thread with its ranges. Call this before each record that the
// reader interprets with the help of earlier ones.
void note_fork();

// Returns the resident bytes of this process, or 0 if the system does not report them.
std::size_t resident_bytes();

}  // namespace bench::capture
