// SPDX-License-Identifier: Apache-2.0
#include "harness/run/profile_phase.hpp"

#include "base/characters.hpp"
#include "base/folder.hpp"
#include "base/text.hpp"
#include "harness/run/case_step.hpp"
#include "harness/wire/worker_limits.hpp"
#include "profiler/activity_json.hpp"
#include "profiler/analysis/announcements.hpp"
#include "profiler/export/chrome_trace.hpp"
#include "profiler/reader.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace bench {
namespace {

// File names stay readable, and below a file system's limit of 255 bytes.
constexpr std::size_t kMaxStem = 150;

ProfileSwitches make_switches(const ProfileWorld& world) {
  return world.options.profile.value_or(ProfileSwitches());
}

std::map<std::string, std::string> switch_values(const ProfileSwitches& switches) {
  std::string kinds;
  for (const RecordGroup group : switches.kinds) {
    if (group == RecordGroup::counters) continue;  // a separate pass
    kinds += kinds.empty() ? "" : ",";
    kinds += record_group_names()[static_cast<std::size_t>(group)];
  }
  const auto [first, last] = switches.iteration_window();
  return {{"kinds", kinds},
          {"iterations", fmt::format("{}-{}", first, last)},
          {"sample_rate", std::to_string(switches.sample_rate)}};
}

ProfileRequest make_profile_request(const ProfileWorld& world, const ProfileJob& job,
                                    const std::string& spool) {
  const Case& spec = *job.spec;
  ProfileRequest request;
  request.prepare = prepare_request(spec, world.options.seed, job.input_layouts);
  request.prepare.check = CheckKind::none;
  request.switches = switch_values(make_switches(world));
  request.spool = spool;
  request.run_id = world.options.run_id;
  if (spec.network) request.scope = {spec.network->definition.name};
  request.warmup_iterations = spec.warmup.iterations;
  request.warmup_time = spec.warmup.time;
  if (job.reason == ProfileReason::failed) {
    // Runs as the timing pass did before the failure: with the check, and as many iterations.
    request.announce = ProfileRequest::Announce::yes;
    request.prepare.check = CheckKind::reference;
    const std::int64_t iterations = spec.warmup.iterations + spec.measure.min_iterations;
    request.switches["iterations"] = fmt::format("0-{}", iterations);
  }
  return request;
}

ProfilePassRecord make_pass_record(const ProfiledReply& reply) {
  ProfilePassRecord record;
  record.iterations = reply.iterations;
  record.profiled = reply.profiled;
  record.unprofiled = reply.unprofiled;
  record.activities = reply.activities;
  record.unread = reply.malformed + reply.unknown;
  record.wall = reply.wall;
  record.attributed = reply.attributed;
  record.unattributed = reply.unattributed;
  record.details = reply.details;
  // Its rows are shown but not used for any result.
  if (const auto reason = record.details.extract(kTraceVoidDetail)) {
    record.outcome = Outcome::failed;
    record.reason = "the trace of the device is invalid: " + reason.mapped();
  }
  return record;
}

ProfilePassRecord make_pass_record(Outcome outcome, std::string reason) {
  ProfilePassRecord record;
  record.outcome = outcome;
  record.reason = std::move(reason);
  return record;
}

// Returns nullopt if interrupted.
std::optional<ProfilePassRecord> call_worker(const ProfileWorld& world, const ProfileJob& job,
                                             const ProfileRequest& request) {
  const Case& spec = *job.spec;
  const Nanoseconds target = kWarmupTimeFactor * spec.warmup.time;
  const auto reply = world.session.ask<ProfiledReply>(request, target + spec.measure.timeout);
  if (reply) return make_pass_record(*reply);
  if (reply.error().cause == RequestFailure::Cause::interruption) return std::nullopt;
  return make_pass_record(reply.error().outcome, reply.error().reason);
}

// Forwards the complete lines of the spool; a killed worker may leave half a line at the end. An
// announced activity that ended appears twice; readers pair the two.
Result<std::int64_t> hand_on(const ProfileWorld& world, const std::string& spool,
                             ActivitySink* trace) {
  auto text = open_text(spool);
  if (!text) return std::int64_t{0};  // the worker did not open it
  ActivityLineParser parser;
  TextSource::Line line;
  std::optional<BeginRecordMerger> paired;
  if (trace != nullptr) paired.emplace(*trace);
  std::int64_t count = 0;
  while ((*text)->next(line)) {
    if (parser.parse(line.text).kind != LineKind::activity) continue;
    BENCH_RETURN_IF_ERROR(world.sink.append_activity(line.text));
    if (paired) BENCH_RETURN_IF_ERROR(paired->consume(parser.activity()));
    ++count;
  }
  BENCH_RETURN_IF_ERROR((*text)->status());
  if (paired) BENCH_RETURN_IF_ERROR(paired->finish());
  return count;
}

Result<std::unique_ptr<ChromeTrace>> open_trace(const ProfileWorld& world, const ProfileJob& job) {
  const std::string& folder = *world.options.trace_failures;
  BENCH_RETURN_IF_ERROR(create_folder(folder));
  TraceOptions options;
  options.title = job.spec->id;
  options.metadata = {{"case", job.spec->id}, {"tool_version", world.options.tool_version}};
  return ChromeTrace::create(failure_trace_path(folder, job.spec->id), Existing::replace, options);
}

}  // namespace

std::string failure_trace_path(const std::string& folder, const std::string& id) {
  std::string stem;
  for (const char c : id) {
    stem += is_word(c) || c == '+' ? c : '-';
  }
  if (stem.size() > kMaxStem) stem = stem.substr(0, kMaxStem) + content_hash(id);
  return fmt::format("{}/{}.json", folder, stem);
}

bool records_activities(const ProfileWorld& world, ProfileReason reason) {
  if (reason == ProfileReason::failed) return true;
  const ProfileSwitches switches = make_switches(world);
  return switches.kinds.size() > (switches.records(RecordGroup::counters) ? 1U : 0U);
}

Result<std::optional<OpenPass>> trace_case(const ProfileWorld& world, const ProfileJob& job) {
  BENCH_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::create("profile"));
  const std::string spool = folder.file("activities.jsonl");
  OpenPass pass{job.spec, make_profile_request(world, job, spool), {}};
  if (records_activities(world, job.reason)) {
    auto record = call_worker(world, job, pass.request);
    if (!record) return std::optional<OpenPass>();
    pass.record = *std::move(record);
  }
  std::unique_ptr<ChromeTrace> trace;
  if (job.reason == ProfileReason::failed && world.options.trace_failures) {
    BENCH_ASSIGN_OR_RETURN(trace, open_trace(world, job));
  }
  BENCH_ASSIGN_OR_RETURN(pass.record.activities, hand_on(world, spool, trace.get()));
  if (trace) BENCH_RETURN_IF_ERROR(trace->finish());
  pass.record.run_id = world.options.run_id;
  pass.record.id = job.spec->id;
  return std::optional(std::move(pass));
}

bool counts_next(const ProfileWorld& world, const OpenPass& pass) {
  const bool is_failed_case = pass.request.announce == ProfileRequest::Announce::yes;
  return !is_failed_case && make_switches(world).records(RecordGroup::counters) &&
         pass.record.outcome == Outcome::ok;
}

void count_case(const ProfileWorld& world, OpenPass& pass) {
  const Case& spec = *pass.spec;
  ProfilePassRecord& record = pass.record;
  const auto unavailable = [&](const std::string& reason) {
    record.details["counters"] = fmt::format("n/a: {}", reason);
  };
  if (Status started = world.session.ensure(spec.key.threads); !started) {
    return unavailable(started.error().message());
  }
  auto reply =
      world.session.ask<ProfiledReply>(counters_request(pass.request), spec.measure.timeout);
  if (reply) {  // a counter overrides the evidence of a kernel's name
    reply->details.merge(record.details);
    record.details = std::move(reply->details);
    return;
  }
  const RequestFailure& why = reply.error();
  unavailable(why.reason);
  if (why.cause == RequestFailure::Cause::interruption) return;
  record.outcome = why.outcome;
  record.reason = fmt::format("counters: {}", why.reason);
  world.session.finish();  // confines an error of a device to its process
}

Result<std::optional<ProfilePassRecord>> profile_case(const ProfileWorld& world,
                                                      const ProfileJob& job) {
  BENCH_ASSIGN_OR_RETURN(std::optional<OpenPass> pass, trace_case(world, job));
  if (!pass) return std::optional<ProfilePassRecord>();
  BENCH_RETURN_IF_ERROR(world.sink.append(pass->record));
  return std::optional(std::move(pass->record));
}

}  // namespace bench
