// SPDX-License-Identifier: Apache-2.0
// Turns what a backend throws into the answer to a request, so that it fails one case and not the
// worker.
#pragma once

#include "harness/wire/messages.hpp"

#include <exception>
#include <string_view>

namespace bench {

// Returns the answer to a request during which `exception` was thrown: the case is skipped if
// memory was missing, and has failed otherwise. `place`: what was done ("prepare").
ErrorReply thrown_reply(std::string_view place, const std::exception& exception);

}  // namespace bench
