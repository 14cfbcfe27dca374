// SPDX-License-Identifier: Apache-2.0
// What happens to an exception that nobody caught: a message and a defined exit status, not an
// abort. No function of this program throws on purpose; memory that is not there does.
#pragma once

#include <functional>
#include <iosfwd>

namespace bench {

// Runs `program` and returns its exit status. After an exception: 3, with a message to `err`, and
// what was recorded until then stays, since all destructors have run.
int with_last_resort(std::ostream& err, const std::function<int()>& program);

}  // namespace bench
