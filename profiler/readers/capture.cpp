// SPDX-License-Identifier: Apache-2.0
// Reads the temporary file (spool) that a killed `bench profile` leaves, together with the GPU
// sessions next to it.
#include "profiler/capture/gpu_rows.hpp"
#include "profiler/capture/gpu_spool.hpp"
#include "profiler/capture/sample_spool.hpp"
#include "profiler/capture/spool_format.hpp"
#include "profiler/capture/spool_reader.hpp"
#include "profiler/nvtx/gpu_launches.hpp"
#include "profiler/readers/readers.hpp"

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bench {
namespace {

bool recognises_capture(std::string_view head) {
  const std::string_view first = head.substr(0, head.find('\n'));
  // Result files also contain `process` records, with a run id.
  return first.starts_with(R"({"record":"process","pid":)") ||
         first.starts_with(R"({"record":"verbose","pid":)");
}

// Returns an empty list if the text does not come from a file, or if no session is next to it.
Result<std::vector<GpuSpoolFile>> sessions_beside(const std::string& name, GpuLaunches& launches) {
  std::error_code code;
  const auto path = std::filesystem::absolute(name, code);
  if (code) return std::vector<GpuSpoolFile>();
  const auto found = find_gpu_spools(path.string());
  if (!found.ok()) return std::vector<GpuSpoolFile>();
  return scan_gpu_spools(*found, launches);
}

// Returns nullopt if there is no readable file of samples next to the spool.
std::optional<SampleSpool> samples_beside(const std::string& name) {
  std::error_code code;
  const auto path = std::filesystem::absolute(name + capture::kSampleSpoolSuffix, code);
  if (code || !std::filesystem::is_regular_file(path, code)) return std::nullopt;
  const auto source = open_text(path.string());
  if (!source.ok()) return std::nullopt;
  auto samples = SampleSpool::read(**source, {});
  return samples.ok() ? std::optional(std::move(*samples)) : std::nullopt;
}

Result<ReadReport> read_capture(TextSource& source, ActivitySink& sink) {
  const std::set<RecordGroup> all = {RecordGroup::operators, RecordGroup::api, RecordGroup::memory,
                                     RecordGroup::device};
  SpoolOptions options;
  GpuLaunches launches(options.window);
  BENCH_ASSIGN_OR_RETURN(const auto sessions, sessions_beside(source.name(), launches));
  if (!sessions.empty()) options.launches = &launches;
  std::optional<SampleSpool> samples = samples_beside(source.name());
  if (samples) options.samples = &*samples;
  BENCH_ASSIGN_OR_RETURN(SpoolReport report, read_spool(source, sink, options));
  launches.finish();
  BENCH_ASSIGN_OR_RETURN(const GpuRowsReport rows,
                         add_gpu_rows(sessions, launches, report.facts, all, sink));
  report.read.activities += rows.activities;
  for (const std::string& error : rows.untraced_reasons)
    report.read.note("no device rows: " + error);
  for (const std::string& note : rows.notes) report.read.note(note);
  return std::move(report.read);
}

}  // namespace

const ActivityReader capture_reader = {
    .name = "capture",
    .help = "the temporary file of a killed `bench profile`, `FILE.spool`",
    .recognises = recognises_capture,
    .read = read_capture,
};

}  // namespace bench
