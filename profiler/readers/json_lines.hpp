// SPDX-License-Identifier: Apache-2.0
// What the readers of result files and profiles share: both are JSON lines with `activity` records.
#pragma once

#include "profiler/reader.hpp"

#include <string_view>

namespace bench {

// Whether the head names a schema "FAMILY/...": "bench.result", "bench.profile".
bool names_schema(std::string_view head, std::string_view family);

// Hands every activity to `sink`; records of other kinds give facts. Torn, binary and foreign lines
// are counted and noted. Error: a version of the schema that is unknown here, or the sink's.
Result<ReadReport> read_json_lines(std::string_view format, TextSource& source, ActivitySink& sink);

}  // namespace bench
