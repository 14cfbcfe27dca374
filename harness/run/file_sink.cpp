// SPDX-License-Identifier: Apache-2.0
#include "harness/run/file_sink.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <unistd.h>

namespace bench {

std::string make_run_id(Env& env) {
  return content_hash(fmt::format("{}/{}/{}", env.utc_now(), env.clock->now().count(), getpid()))
      .substr(0, 12);
}

}  // namespace bench
