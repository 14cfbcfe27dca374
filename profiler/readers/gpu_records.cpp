// SPDX-License-Identifier: Apache-2.0
// Reads the records of a GPU tracer and joins them into activities.
#include "profiler/gpu/gpu_record_lines.hpp"
#include "profiler/gpu/join.hpp"
#include "profiler/readers/readers.hpp"

#include <fmt/format.h>

namespace bench {
namespace {

bool recognises_gpu_records(std::string_view head) {
  return head.starts_with(R"({"record":"session","schema":"bench.gpu_records/)");
}

Result<ReadReport> read_gpu_records(TextSource& source, ActivitySink& sink) {
  std::string text;
  TextSource::Line line;
  ReadReport report;
  while (source.next(line)) {
    text += line.text;
    text += '\n';
    report.lines = line.number;
  }
  BENCH_RETURN_IF_ERROR(source.status());
  BENCH_ASSIGN_OR_RETURN(const GpuSession session, read_gpu_session(text, source.name()));
  const GpuJoin join = join_gpu_session(session);
  for (const Activity& activity : join.activities) BENCH_RETURN_IF_ERROR(sink.consume(activity));
  report.format = "gpu_records";
  report.activities = static_cast<std::int64_t>(join.activities.size());
  report.facts["tracer"] = session.tracer;
  report.facts["pid"] = fmt::format("{}", session.pid);
  for (const std::string& reason : join.void_reasons) {
    report.note(fmt::format("{}: the pass is void: {}", source.name(), reason));
  }
  for (const std::string& note : join.notes) {
    report.note(fmt::format("{}: {}", source.name(), note));
  }
  return report;
}

}  // namespace

const ActivityReader gpu_records_reader = {
    .name = "gpu_records",
    .help = "records of a GPU tracer (bench.gpu_records/1)",
    .recognises = recognises_gpu_records,
    .read = read_gpu_records,
};

}  // namespace bench
