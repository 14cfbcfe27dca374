// SPDX-License-Identifier: Apache-2.0
// What happens to an exception that nobody caught: a message and a defined exit status, not an
// abort. No function of this program throws on purpose; memory that is not there does.
#pragma once

#include <functional>
#include <iosfwd>

namespace bench {

// Runs `program` and returns its exit status. After an exception: 3, with a message to `err`; what
// was recorded until then stays. An exception that cannot be caught (of a thread, of a destructor
// that needs memory) ends the process with the same status, the message on standard error.
int with_last_resort(std::ostream& err, const std::function<int()>& program);

}  // namespace bench
