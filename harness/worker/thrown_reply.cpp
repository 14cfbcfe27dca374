// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/thrown_reply.hpp"

#include <fmt/format.h>

#include <new>

namespace bench {

ErrorReply thrown_reply(std::string_view place, const std::exception& exception) {
  if (dynamic_cast<const std::bad_alloc*>(&exception) != nullptr)
    return {Outcome::skipped, "this machine does not have enough memory"};
  return failed_reply(fmt::format("{}: the backend threw `{}`; this is an error of the backend",
                                  place, exception.what()));
}

}  // namespace bench
