// SPDX-License-Identifier: Apache-2.0
// The spool that a killed `bench profile` leaves behind.
#include "profiler/capture/spool_reader.hpp"
#include "profiler/readers/readers.hpp"

namespace bench {
namespace {

bool recognises(std::string_view head) {
  const std::string_view first = head.substr(0, head.find('\n'));
  // Result files have records `process` too, of a run.
  return first.starts_with(R"({"record":"process","pid":)") ||
         first.starts_with(R"({"record":"verbose","pid":)");
}

Result<ReadReport> read(TextSource& source, ActivitySink& sink) {
  BENCH_ASSIGN_OR_RETURN(SpoolReport report, read_spool(source, sink, {}));
  return std::move(report.read);
}

}  // namespace

const ActivityReader capture_reader = {
    .name = "capture",
    .help = "the spool of a `bench profile` that was killed",
    .recognises = recognises,
    .read = read,
};

}  // namespace bench
