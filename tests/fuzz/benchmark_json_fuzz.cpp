// SPDX-License-Identifier: Apache-2.0
// Any bytes as a report of a benchmark: an error, or the same entries as a profile and as one side
// of a comparison.
#include "harness/judge/measurement.hpp"
#include "profiler/readers/benchmark_report.hpp"
#include "profiler/readers/readers.hpp"
#include "tests/fuzz/checking_sink.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

namespace {

using bench::fuzz::require;

class ExecutionSink final : public bench::fuzz::CheckingSink {
 public:
  bench::Status consume(const bench::Activity& activity) override {
    names.insert(activity.name);
    require(activity.start.count() >= 0 && activity.duration);
    return CheckingSink::consume(activity);
  }
  std::set<std::string> names;
};

// Every activity is an execution of a case with times.
void check_profile(const std::string& text, const bench::Measurement& measurement) {
  ExecutionSink sink;
  const auto source = bench::text_source_for_test("fuzz", text);
  const auto report = bench::benchmark_reader.read(*source, sink);
  require(report.ok() && report->activities == sink.consumed);
  for (const std::string& name : sink.names) {
    require(std::ranges::any_of(measurement.cases, [&](const bench::MeasuredCase& entry) {
      return entry.id == name && !entry.processes.empty();
    }));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const bench::BenchmarkFormat* const format = bench::find_benchmark_format(text);
  if (format == nullptr) return 0;
  const auto measurement = bench::measure_benchmarks(*format, text, "fuzz");
  if (!measurement.ok()) {
    require(!measurement.error().what.empty());
    return 0;
  }
  for (const bench::MeasuredCase& entry : measurement->cases) {
    require(!entry.id.empty());
    const auto time = bench::median_iteration(entry);
    require(!time || (std::isfinite(*time) && *time >= 0));
  }
  check_profile(text, *measurement);
  return 0;
}
