// SPDX-License-Identifier: Apache-2.0
// Any bytes as each of the tables that other profilers print: PyProf's two, and the traces of
// nvprof and Nsight Systems. Gives the activities that could be read, and counts of what could not
// be read.
#include "profiler/readers/readers.hpp"
#include "tests/fuzz/checking_sink.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

using bench::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const bench::ActivityReader* reader : {&bench::pyprof_reader, &bench::pyprof_dict_reader,
                                              &bench::nvprof_reader, &bench::nsys_reader}) {
    const auto source = bench::text_source_for_test("fuzz", text);
    bench::fuzz::CheckingWorkSink sink;
    static_cast<void>(reader->recognises(source->head()));
    const auto report = reader->read(*source, sink);
    require(report.ok());
    require(report->activities == sink.consumed);
    require(report->notes.size() <= bench::kMaxNotes);
    require(report->malformed + report->unknown == 0 || !report->notes.empty());
  }
  return 0;
}
