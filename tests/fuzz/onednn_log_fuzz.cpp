// SPDX-License-Identifier: Apache-2.0
// Any bytes as a log of oneDNN: gives what could be read, with work if it is understood, and counts
// of what could not be read. Every view of a decoded line is within the line.
#include "ops/verbose.hpp"
#include "profiler/onednn/verbose_line.hpp"
#include "profiler/readers/readers.hpp"
#include "tests/fuzz/checking_sink.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace {

using bench::fuzz::require;

class LogSink final : public bench::fuzz::CheckingWorkSink {
 public:
  bench::Status consume(const bench::Activity& activity) override {
    require(!activity.attributes.text(bench::Attribute::phase).empty());
    return CheckingWorkSink::consume(activity);
  }
};

bool is_within(std::string_view part, std::string_view text) {
  const std::less_equal<> before;
  return part.empty() || (before(text.data(), part.data()) &&
                          before(part.data() + part.size(), text.data() + text.size()));
}

void decode(std::string_view text) {
  bench::VerboseDecoder decoder;
  while (!text.empty()) {
    const bench::VerboseLine& line = decoder.decode(text);
    for (const std::string_view part :
         {line.format, line.interface, line.operation, line.cache, line.engine, line.primitive,
          line.implementation, line.propagation, line.memory_text, line.attributes, line.auxiliary,
          line.problem, line.component, line.message, line.location, line.text, line.rest}) {
      // MKL-DNN 0.x prints no engine; the decoder states it.
      require(is_within(part, text) || (part == "cpu" && line.marker == "mkldnn_verbose"));
    }
    for (const bench::MemoryDescriptor& descriptor : line.memory) {
      require(is_within(descriptor.argument, text) && is_within(descriptor.flags, text));
    }
    require(line.rest.size() < text.size());
    text = line.rest;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  decode(text);
  const auto source = bench::text_source_for_test("fuzz", text);
  LogSink sink;
  bench::WorkSink work_sink(bench::ops::make_work_provider(), sink);
  static_cast<void>(bench::onednn_reader.recognises(source->head()));
  const auto report = bench::onednn_reader.read(*source, work_sink);
  if (!report.ok()) {
    require(!report.error().message().empty());
    return 0;
  }
  require(report->activities == sink.consumed);
  require(report->notes.size() <= bench::kMaxNotes);
  require(report->malformed + report->unknown == 0 || !report->notes.empty());
  return 0;
}
