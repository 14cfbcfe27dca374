// SPDX-License-Identifier: Apache-2.0
// Any bytes after the header of an SQLite file, as a profile of nsys or nvprof: an error, or
// activities that are valid and counts of the rows that could not be read.
#include "ops/framework_operator.hpp"
#include "profiler/activity_json.hpp"
#include "profiler/readers/readers.hpp"
#include "profiler/readers/sqlite_file.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

void require(bool condition) {
  if (!condition) __builtin_trap();
}

class CheckingSink final : public bench::ActivitySink {
 public:
  bench::Status consume(const bench::Activity& activity) override {
    ++consumed;
    require(!activity.duration || activity.duration->count() >= 0);
    require(activity.start.count() >= 0);
    for (const auto attribute : {bench::Attribute::flops, bench::Attribute::bytes}) {
      require(activity.attributes.integer(attribute).value_or(0) >= 0);
    }
    line_.clear();
    bench::append_json(activity, "", line_);
    require(parser_.parse(line_).kind == bench::LineKind::activity);
    return bench::Done{};
  }
  std::int64_t consumed = 0;

 private:
  std::string line_;
  bench::ActivityLineParser parser_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  text.replace(0, std::min(text.size(), bench::kSqliteMagic.size()), bench::kSqliteMagic);
  const auto source = bench::text_source_for_test("fuzz", text);
  source->set_work_factory(
      [](std::string_view) { return bench::ops::make_framework_work_provider({}); });
  CheckingSink sink;
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
