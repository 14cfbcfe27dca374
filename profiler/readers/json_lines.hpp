// SPDX-License-Identifier: Apache-2.0
// Shared by the readers of result files and profiles. Both are JSON lines with `activity` records.
#pragma once

#include "profiler/reader.hpp"

#include <string_view>

namespace bench {

// Returns whether the head contains a schema "FAMILY/..." such as "bench.result" or
// "bench.profile".
bool names_schema(std::string_view head, std::string_view family);

// Forwards every activity to `sink`. Takes facts from other records. Counts and notes incomplete,
// binary and foreign lines. Returns an error if the schema version is not supported or the sink
// fails.
Result<ReadReport> read_json_lines(std::string_view format, TextSource& source, ActivitySink& sink);

}  // namespace bench
