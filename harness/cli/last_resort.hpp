// SPDX-License-Identifier: Apache-2.0
// Turns an uncaught exception into a message and a defined exit status. No function of this program
// throws on purpose, but allocating memory can fail.
#pragma once

#include <functional>
#include <iosfwd>

namespace bench {

// Runs `program` and returns its exit status. After an exception, writes a message to `err` and
// returns 3; records written before remain. Some exceptions cannot be caught: those of another
// thread, or of a destructor that needs memory. They end the process with status 3 and the message
// on standard error.
int with_last_resort(std::ostream& err, const std::function<int()>& program);

}  // namespace bench
