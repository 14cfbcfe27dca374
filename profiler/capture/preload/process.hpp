// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace bench::capture {

// Tells the reader whose child this process is, after fork without exec: it goes on with the
// parent's libraries, and the forking thread with its ranges. To be called before each record that
// is told with the help of earlier ones.
void note_fork();

// Bytes of this process in memory; 0 where the system does not tell.
std::size_t resident_bytes();

}  // namespace bench::capture
