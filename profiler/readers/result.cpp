// SPDX-License-Identifier: Apache-2.0
// Reads the `activity` records of result files of `bench run`.
#include "profiler/readers/readers.hpp"

namespace bench {
namespace {

// Also accepts a file whose first record is incomplete or missing, if another record follows.
bool recognises_result(std::string_view head) {
  return names_schema(head, "bench.result") || head.starts_with("{\"record\":") ||
         head.find("\n{\"record\":") != std::string_view::npos;
}

Result<ReadReport> read_result(TextSource& source, ActivitySink& sink) {
  return read_json_lines("result", source, sink);
}

}  // namespace

const ActivityReader result_reader = {"result", "result file of `bench run`", recognises_result,
                                      read_result};

}  // namespace bench
