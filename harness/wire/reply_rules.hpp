// SPDX-License-Identifier: Apache-2.0
// Rules of replies beyond the types of their fields. Private to this folder.
#pragma once

#include "harness/wire/messages.hpp"

#include <string>

namespace bench {

// Returns the first rule that the values of a reply violate; empty if there is none.
std::string find_contradiction(const Reply& reply);

// Returns why the reply cannot answer the request, to which it arrived after the time `elapsed`;
// empty if it can.
std::string find_mismatch(const Request& request, const Reply& reply, Nanoseconds elapsed);

}  // namespace bench
