// SPDX-License-Identifier: Apache-2.0
// Any bytes as a trace of Kineto: gives the activities that could be read, in order of their starts
// except for those that wait for others, and counts of what could not be read.
#include "ops/verbose.hpp"
#include "profiler/activity_json.hpp"
#include "profiler/readers/readers.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

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
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto source = bench::text_source_for_test("fuzz", text);
  CheckingSink sink;
  bench::WorkSink work_sink(bench::ops::make_work_provider(), sink);
  static_cast<void>(bench::kineto_reader.recognises(source->head()));
  const auto report = bench::kineto_reader.read(*source, work_sink);
  require(report.ok());
  require(report->activities == sink.consumed);
  require(report->notes.size() <= bench::kMaxNotes);
  require(report->malformed + report->unknown == 0 || !report->notes.empty());
  return 0;
}
