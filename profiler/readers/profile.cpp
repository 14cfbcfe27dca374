// SPDX-License-Identifier: Apache-2.0
// Reads the profiles of `bench profile` and of the profiler's library.
#include "profiler/readers/readers.hpp"

namespace bench {
namespace {

bool recognises_profile(std::string_view head) { return names_schema(head, "bench.profile"); }

Result<ReadReport> read_profile(TextSource& source, ActivitySink& sink) {
  return read_json_lines("profile", source, sink);
}

}  // namespace

const ActivityReader profile_reader = {"profile", "profile of `bench profile`", recognises_profile,
                                       read_profile};

}  // namespace bench
