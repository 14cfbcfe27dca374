// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/profile_merge.hpp"

#include "ops/framework_operator.hpp"
#include "ops/tensor_core/architecture.hpp"
#include "profiler/analysis/coverage.hpp"
#include "profiler/analysis/sample_times.hpp"
#include "profiler/capture/code_names.hpp"
#include "profiler/capture/gpu_spool.hpp"
#include "profiler/capture/record_cost.hpp"
#include "profiler/capture/sample_spool.hpp"
#include "profiler/capture/source_lines.hpp"
#include "profiler/capture/spool_format.hpp"
#include "profiler/capture/symbols.hpp"
#include "profiler/nvtx/gpu_launches.hpp"
#include "profiler/rank.hpp"
#include "profiler/reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace bench {
namespace {

namespace fs = std::filesystem;

// Discards activities. The first pass uses it, because it reads only the metadata for the header.
class DiscardingSink final : public ActivitySink {
 public:
  Status consume(const Activity&) override { return Done{}; }
};

// Forwards activities of the requested groups and counts them. The only counters of a spool are
// memory samples. The times of the processes are always recorded, since all shares refer to them;
// samples have an option of their own. add_gpu_rows() selects the activities of GPUs.
class GroupSink final : public ActivitySink {
 public:
  GroupSink(const std::set<RecordGroup>& groups, ActivitySink& next)
      : groups_(groups), next_(next) {}
  Status consume(const Activity& activity) override {
    const bool is_sample = activity.kind == ActivityKind::counter;
    const RecordGroup group = is_sample ? RecordGroup::memory : record_group(activity.kind);
    const bool is_process = activity.kind == ActivityKind::process;
    const bool is_chosen = is_process || activity.kind == ActivityKind::sample;
    if (!is_chosen && !groups_.contains(group)) return Done{};
    ++(is_process ? processes_ : forwarded_);
    return next_.consume(activity);
  }
  std::int64_t forwarded() const { return forwarded_; }  // without the times of the processes
  std::int64_t processes() const { return processes_; }

 private:
  const std::set<RecordGroup>& groups_;
  ActivitySink& next_;
  std::int64_t forwarded_ = 0;
  std::int64_t processes_ = 0;
};

using Ranks = std::map<std::int64_t, std::int64_t>;  // key: process

// Adds the rank of its process to each activity.
class RankSink final : public ActivitySink {
 public:
  RankSink(const Ranks& ranks, ActivitySink& next) : ranks_(ranks), next_(next) {}
  Status consume(const Activity& activity) override {
    const auto rank = ranks_.find(activity.track.pid);
    if (rank == ranks_.end()) return next_.consume(activity);
    copy_ = activity;
    copy_.attributes.set(Attribute::rank, rank->second);
    return next_.consume(copy_);
  }

 private:
  const Ranks& ranks_;
  ActivitySink& next_;
  Activity copy_;
};

// Returns the ranks that the activities have to state. Empty if the header states the rank of all
// processes. If the profiled program started ranks, removes that of the header, which is then that
// of their launcher.
Ranks choose_ranks(Ranks ranks, ProfileHeader& header) {
  const auto common = header.details.find(kRankDetail);
  const auto is_common = [&](const auto& entry) {
    return common != header.details.end() && std::to_string(entry.second) == common->second;
  };
  if (std::ranges::all_of(ranks, is_common)) return {};
  header.details.erase(kRankDetail);
  header.details.erase(kRankVariableDetail);
  return ranks;
}

// Returns the samples of the system; nullopt if it took none.
Result<std::optional<SampleSpool>> read_samples(const CaptureFiles& files, const NvtxFacts& facts) {
  std::error_code ignored;
  const std::string path = files.spool + capture::kSampleSpoolSuffix;
  if (!fs::is_regular_file(path, ignored)) return std::optional<SampleSpool>();
  BENCH_ASSIGN_OR_RETURN(const auto source, open_text(path));
  BENCH_ASSIGN_OR_RETURN(SampleSpool samples, SampleSpool::read(*source, facts.own_threads));
  return std::optional(std::move(samples));
}

// First pass: reads the metadata of the spool.
Result<SpoolReport> read_facts(const std::string& spool) {
  BENCH_ASSIGN_OR_RETURN(auto source, open_text(spool));
  DiscardingSink sink;
  return read_spool(*source, sink, {});
}

// Returns the platform for the tensor-core rules. Returns nullopt if there is no device, if the
// devices differ in compute capability, or if the rules do not cover it.
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

// Names of code, from files of this machine. What it refers to must outlive it.
CodeLookup make_code_lookup(FrameNames& names, FramePlaces& places, CodeTables& tables) {
  return {
      .frame_name = [&names](std::string_view frame) { return names.name(frame); },
      .frame_place = [&places](std::string_view frame) { return places.place(frame); },
      .function_begin = [&names](
                            std::string_view path,
                            std::uint64_t address) { return names.function_begin(path, address); },
      .file_address = [&names](std::string_view path,
                               std::uint64_t offset) { return names.file_address(path, offset); },
      .generated_name = [&tables](
                            std::int64_t pid,
                            std::uint64_t address) { return tables.generated_name(pid, address); },
      .kernel_name = [&tables](std::uint64_t address) { return tables.kernel_name(address); }};
}

// Returns the options of the second pass. `facts` come from the first pass, because the spool
// contains them after the records that they explain.
SpoolOptions make_spool_options(const CaptureSettings& settings, NvtxFacts facts, CodeLookup code,
                                const std::optional<ops::Platform>& platform) {
  SpoolOptions options;
  options.code = std::move(code);
  options.window = settings.window;
  options.sample_rate = settings.sample_rate;
  options.program = settings.program_times;
  options.compute_work = ops::make_framework_work_provider(platform);
  options.facts = std::move(facts);
  return options;
}

// Facts that are 0 are left out.
void set_count(std::string_view fact, std::int64_t count, ProfileHeader& header) {
  if (count > 0) header.details[std::string(fact)] = fmt::format("{}", count);
}

std::string format_groups(const std::set<RecordGroup>& groups) {
  std::vector<std::string_view> names;
  for (const RecordGroup group : groups) names.push_back(to_string(group));
  return fmt::format("{}", fmt::join(names, ","));
}

// Adds to the header what an audit of the profile needs and its records cannot say: what was lost,
// and what it cost the program to write its records.
void describe_recording(const SpoolReport& recorded, const CaptureFiles& files,
                        const CaptureSettings& settings, ProfileHeader& header) {
  const auto set = [&](std::string_view fact, std::string text) {
    header.details[std::string(fact)] = std::move(text);
  };
  set(kEndFact, "profile_end");
  if (settings.kinds != ProfileSwitches().groups) set(kKindsFact, format_groups(settings.kinds));
  set_count(kMalformedFact, recorded.read.malformed, header);
  set_count(kUnknownFact, recorded.read.unknown, header);
  set_count(kLostSamplesFact, recorded.sampling.lost, header);
  const std::int64_t lines = recorded.read.lines;
  if (settings.clock == nullptr || !settings.program_times || lines == 0) return;
  std::error_code code;
  const auto bytes = fs::file_size(files.spool, code);
  if (code) return;
  const auto cost = measure_record_cost(
      files.spool + ".calibration",
      static_cast<std::size_t>(bytes) / static_cast<std::size_t>(lines), *settings.clock);
  if (!cost) return;  // without it, the audit says that the cost is unknown
  set_count(kRecordCountFact, lines, header);
  set_count(kRecordCostFact, cost->each.count(), header);
  set_count(kRecordedWallFact,
            (settings.program_times->end - settings.program_times->start).count(), header);
  set(kCostMethodFact, cost->method);
}

// Adds to the header the name of the first GPU, which tracer recorded the GPU activities, how many
// were lost, and which errors occurred.
void describe_sessions(const std::vector<GpuSpoolFile>& sessions, ProfileHeader& header) {
  std::int64_t dropped = 0, killed = 0;
  std::set<std::string> faults;
  for (const GpuSpoolFile& session : sessions) {
    if (session.traced()) header.details["gpu.tracer"] = session.head.tracer;
    for (const GpuDevice& device : session.devices) {
      if (!device.name.empty()) header.details.emplace("gpu.name", device.name);
    }
    dropped += session.head.dropped;
    killed += session.traced() && !session.ended ? 1 : 0;
    faults.insert(session.head.faults.begin(), session.head.faults.end());
  }
  set_count(kKilledFact, killed, header);
  if (dropped > 0) header.details["gpu.dropped"] = fmt::format("{}", dropped);
  if (!faults.empty()) header.details["gpu.faults"] = fmt::format("{}", fmt::join(faults, "; "));
}

// Second pass: writes the activities of the spool and of the GPU sessions next to it to the open
// profile. read_spool() stores window states in `launches` that point to the window of `options`,
// so do not query `launches` after this function.
Result<CaptureOutcome> fill_profile(ActivitySink& file, const CaptureFiles& files,
                                    const std::vector<GpuSpoolFile>& sessions,
                                    GpuLaunches& launches, SpoolOptions options,
                                    const CaptureSettings& settings) {
  BENCH_ASSIGN_OR_RETURN(auto source, open_text(files.spool));
  if (!sessions.empty()) options.launches = &launches;
  SampleTimes samples(&file);
  CoverageSink coverage(&samples);
  GroupSink selected(settings.kinds, coverage);
  CaptureOutcome outcome;
  BENCH_ASSIGN_OR_RETURN(outcome.spool, read_spool(*source, selected, options));
  launches.finish();
  BENCH_ASSIGN_OR_RETURN(
      outcome.gpu, add_gpu_rows(sessions, launches, outcome.spool.facts, settings.kinds, coverage));
  outcome.recorded = selected.forwarded() + outcome.gpu.activities;
  outcome.activities = outcome.recorded + selected.processes();
  outcome.coverage = coverage.coverage(StartTimes::recorded);
  outcome.samples = describe_samples(samples);
  return outcome;
}

// Returns whether the program could not write all of its records.
bool lacks_records(const std::string& spool) {
  std::error_code code;
  const auto mode = fs::status(spool, code).permissions();
  return !code && (mode & fs::perms{capture::kLossMode}) != fs::perms::none;
}

// Returns the spool and the GPU spools next to it, as far as they are regular files.
std::vector<std::string> list_spools(const CaptureFiles& files) {
  std::vector<std::string> paths = {files.spool, files.spool + capture::kSampleSpoolSuffix};
  if (const auto sessions = find_gpu_spools(files.spool); sessions.ok())
    paths.insert(paths.end(), sessions->begin(), sessions->end());
  std::error_code ignored;
  std::erase_if(paths, [&](const std::string& path) {
    return !fs::is_regular_file(fs::symlink_status(path, ignored));
  });
  return paths;
}

}  // namespace

std::optional<std::string> find_leftover_spool(const CaptureFiles& files) {
  const std::vector<std::string> spools = list_spools(files);
  return spools.empty() ? std::nullopt : std::optional(spools.front());
}

void remove_spools(const CaptureFiles& files) {
  std::error_code ignored;
  for (const std::string& path : list_spools(files)) fs::remove(path, ignored);
}

Result<CaptureOutcome> merge_capture(const CaptureFiles& files, Existing existing,
                                     ProfileHeader header, const CaptureSettings& settings) {
  BENCH_ASSIGN_OR_RETURN(SpoolReport first_pass, read_facts(files.spool));
  BENCH_ASSIGN_OR_RETURN(const auto paths, find_gpu_spools(files.spool));
  GpuLaunches launches(settings.window);
  BENCH_ASSIGN_OR_RETURN(const auto sessions, scan_gpu_spools(paths, launches));
  BENCH_ASSIGN_OR_RETURN(auto samples, read_samples(files, first_pass.facts));
  header.details.merge(first_pass.read.facts);
  const Ranks ranks = choose_ranks(std::move(first_pass.ranks), header);
  describe_sessions(sessions, header);
  describe_recording(first_pass, files, settings, header);
  const bool is_incomplete = lacks_records(files.spool);
  if (is_incomplete) header.details["incomplete"] = "records could not be written";
  BENCH_ASSIGN_OR_RETURN(auto file, ActivityFile::create(files.profile, existing, header));
  FrameNames names;
  FramePlaces places;
  CodeTables tables(settings.started);
  SpoolOptions options =
      make_spool_options(settings, std::move(first_pass.facts),
                         make_code_lookup(names, places, tables), find_platform(sessions));
  if (samples) options.samples = &*samples;
  RankSink ranked(ranks, *file);
  auto outcome = fill_profile(ranked, files, sessions, launches, std::move(options), settings);
  if (outcome.ok()) {
    if (Status finished = file->finish({}); !finished.ok()) outcome = std::move(finished).error();
  }
  if (!outcome.ok()) {
    file->remove();
    return outcome;
  }
  outcome->is_incomplete = is_incomplete;
  remove_spools(files);
  return outcome;
}

}  // namespace bench
