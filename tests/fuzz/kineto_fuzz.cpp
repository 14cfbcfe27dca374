// SPDX-License-Identifier: Apache-2.0
// Any bytes as a trace of Kineto: gives the activities that could be read, in order of their starts
// except for those that wait for others, and counts of what could not be read.
#include "ops/verbose.hpp"
#include "profiler/readers/readers.hpp"
#include "tests/fuzz/checking_sink.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

using bench::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto source = bench::text_source_for_test("fuzz", text);
  bench::fuzz::CheckingWorkSink sink;
  bench::WorkSink work_sink(bench::ops::make_work_provider(), sink);
  static_cast<void>(bench::kineto_reader.recognises(source->head()));
  const auto report = bench::kineto_reader.read(*source, work_sink);
  require(report.ok());
  require(report->activities == sink.consumed);
  require(report->notes.size() <= bench::kMaxNotes);
  require(report->malformed + report->unknown == 0 || !report->notes.empty());
  return 0;
}
