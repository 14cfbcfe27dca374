// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/profile_merge.hpp"

#include "ops/framework_operator.hpp"
#include "ops/tensor_core/architecture.hpp"
#include "profiler/capture/gpu_spool.hpp"
#include "profiler/capture/spool_format.hpp"
#include "profiler/capture/symbols.hpp"
#include "profiler/nvtx/gpu_launches.hpp"
#include "profiler/reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace bench {
namespace {

namespace fs = std::filesystem;

// Discards activities; this pass reads only the metadata, which the header must contain.
class NoSink final : public ActivitySink {
 public:
  Status consume(const Activity&) override { return Done{}; }
};

// Passes the requested groups of activities. The join selects those of GPUs. The only counters of a
// spool are its samples of memory.
class GroupSink final : public ActivitySink {
 public:
  GroupSink(const std::set<RecordGroup>& groups, ActivitySink& next)
      : groups_(groups), next_(next) {}
  Status consume(const Activity& activity) override {
    const bool is_sample = activity.kind == ActivityKind::counter;
    const RecordGroup group = is_sample ? RecordGroup::memory : record_group(activity.kind);
    if (!groups_.contains(group)) return Done{};
    ++taken_;
    return next_.consume(activity);
  }
  std::int64_t taken() const { return taken_; }

 private:
  const std::set<RecordGroup>& groups_;
  ActivitySink& next_;
  std::int64_t taken_ = 0;
};

Result<SpoolReport> read_facts(const std::string& spool) {
  BENCH_ASSIGN_OR_RETURN(auto source, open_text(spool));
  NoSink sink;
  return read_spool(*source, sink, {});
}

// The platform for the tensor-core rules. Returns nullopt if there is no device, there are several
// kinds, or the rules do not know it.
std::optional<ops::Platform> find_platform(const std::vector<GpuSpoolFile>& sessions) {
  std::set<std::string> capabilities;
  for (const GpuSpoolFile& session : sessions) {
    for (const GpuDevice& device : session.devices) {
      capabilities.insert(
          fmt::format("{}.{}", device.limits.compute_major, device.limits.compute_minor));
    }
  }
  if (capabilities.size() != 1) return std::nullopt;
  const auto platform = ops::parse_platform(*capabilities.begin());
  return platform.ok() ? std::optional(*platform) : std::nullopt;
}

// A first pass reads what explains earlier records but comes after them.
SpoolOptions make_spool_options(const CaptureQuestion& question, NvtxFacts facts, FrameNames& names,
                                const std::optional<ops::Platform>& platform) {
  SpoolOptions options;
  options.frame_name = [&names](std::string_view frame) { return names.name(frame); };
  options.window = question.window;
  options.sample_rate = question.sample_rate;
  options.compute_work = ops::make_framework_work_provider(platform);
  options.facts = std::move(facts);
  return options;
}

// Records in the header who recorded GPU activities, and what was lost.
void describe_sessions(const std::vector<GpuSpoolFile>& sessions, ProfileHeader& header) {
  std::int64_t dropped = 0;
  std::set<std::string> faults;
  for (const GpuSpoolFile& session : sessions) {
    if (session.traced()) header.details["gpu.tracer"] = session.head.tracer;
    dropped += session.head.dropped;
    faults.insert(session.head.faults.begin(), session.head.faults.end());
  }
  if (dropped > 0) header.details["gpu.dropped"] = fmt::format("{}", dropped);
  if (!faults.empty()) header.details["gpu.faults"] = fmt::format("{}", fmt::join(faults, "; "));
}

// The second pass over the spool and the sessions next to it, into the open profile. `launches`
// refers to the window of `options`, which must outlive its use.
Result<CaptureOutcome> fill(ActivityFile& file, const CaptureFiles& files,
                            const std::vector<GpuSpoolFile>& sessions, GpuLaunches& launches,
                            SpoolOptions options, const CaptureQuestion& question) {
  BENCH_ASSIGN_OR_RETURN(auto source, open_text(files.spool));
  if (!sessions.empty()) options.launches = &launches;
  GroupSink wanted(question.kinds, file);
  CaptureOutcome outcome;
  BENCH_ASSIGN_OR_RETURN(outcome.spool, read_spool(*source, wanted, options));
  launches.finish();
  BENCH_ASSIGN_OR_RETURN(
      outcome.gpu, add_gpu_rows(sessions, launches, outcome.spool.facts, question.kinds, file));
  outcome.activities = wanted.taken() + outcome.gpu.activities;
  BENCH_RETURN_IF_ERROR(file.flush());
  return outcome;
}

// Returns whether the program could not write all of its records.
bool lacks_records(const std::string& spool) {
  std::error_code code;
  const auto mode = fs::status(spool, code).permissions();
  return !code && (mode & fs::perms{capture::kLossMode}) != fs::perms::none;
}

std::vector<std::string> list_spools(const CaptureFiles& files) {
  std::vector<std::string> found = {files.spool};
  if (const auto sessions = find_gpu_spools(files.spool); sessions.ok())
    found.insert(found.end(), sessions->begin(), sessions->end());
  std::error_code ignored;
  std::erase_if(found, [&](const std::string& path) {
    return !fs::is_regular_file(fs::symlink_status(path, ignored));
  });
  return found;
}

}  // namespace

std::optional<std::string> left_over_spool(const CaptureFiles& files) {
  const std::vector<std::string> left = list_spools(files);
  return left.empty() ? std::nullopt : std::optional(left.front());
}

void remove_spools(const CaptureFiles& files) {
  std::error_code ignored;
  for (const std::string& path : list_spools(files)) fs::remove(path, ignored);
}

Result<CaptureOutcome> merge_capture(const CaptureFiles& files, Existing existing,
                                     ProfileHeader header, const CaptureQuestion& question) {
  BENCH_ASSIGN_OR_RETURN(SpoolReport facts, read_facts(files.spool));
  BENCH_ASSIGN_OR_RETURN(const auto paths, find_gpu_spools(files.spool));
  GpuLaunches launches(question.window);
  BENCH_ASSIGN_OR_RETURN(const auto sessions, scan_gpu_spools(paths, launches));
  header.details.merge(facts.read.facts);
  describe_sessions(sessions, header);
  const bool is_incomplete = lacks_records(files.spool);
  if (is_incomplete) header.details["incomplete"] = "records could not be written";
  BENCH_ASSIGN_OR_RETURN(auto file, ActivityFile::create(files.profile, existing, header));
  FrameNames names;
  auto outcome =
      fill(*file, files, sessions, launches,
           make_spool_options(question, std::move(facts.facts), names, find_platform(sessions)),
           question);
  if (!outcome.ok()) {
    file->remove();
    return outcome;
  }
  outcome->is_incomplete = is_incomplete;
  remove_spools(files);
  return outcome;
}

}  // namespace bench
