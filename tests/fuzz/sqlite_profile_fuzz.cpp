// SPDX-License-Identifier: Apache-2.0
// Any bytes after the header of an SQLite file, as a profile of nsys or nvprof: an error, or
// activities that are valid and counts of the rows that could not be read.
#include "ops/framework_operator.hpp"
#include "profiler/readers/readers.hpp"
#include "profiler/readers/sqlite_file.hpp"
#include "tests/fuzz/checking_sink.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using bench::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  text.replace(0, std::min(text.size(), bench::kSqliteMagic.size()), bench::kSqliteMagic);
  const auto source = bench::text_source_for_test("fuzz", text);
  source->set_work_factory(
      [](std::string_view) { return bench::ops::make_framework_work_provider({}); });
  bench::fuzz::CheckingWorkSink sink;
  const bool is_of_nvprof = bench::nvprof_sqlite_reader.recognises(source->head());
  const bench::ActivityReader& reader =
      is_of_nvprof ? bench::nvprof_sqlite_reader : bench::nsys_sqlite_reader;
  const auto report = reader.read(*source, sink);
  if (!report.ok()) {
    require(!report.error().what.empty() && !report.error().where.empty());
    return 0;
  }
  require(report->activities == sink.consumed);
  require(report->notes.size() <= bench::kMaxNotes);
  require(report->malformed == 0 || !report->notes.empty());
  return 0;
}
