// SPDX-License-Identifier: Apache-2.0
#include "harness/run/profile_phase.hpp"

#include "base/folder.hpp"
#include "harness/run/case_step.hpp"
#include "harness/wire/worker_limits.hpp"
#include "profiler/activity_json.hpp"
#include "profiler/analysis/announcements.hpp"
#include "profiler/export/chrome_trace.hpp"
#include "profiler/reader.hpp"
#include "profiler/text_source.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace bench {
namespace {

ProfileSwitches get_switches(const ProfileContext& context) {
  return context.options.profile.value_or(ProfileSwitches());
}

std::map<std::string, std::string> switch_values(const ProfileSwitches& switches) {
  std::map<std::string, std::string> values;
  for (const SwitchRow& row : switch_rows()) {
    if (row.worker_value != nullptr) values.emplace(row.name, row.worker_value(switches));
  }
  return values;
}

ProfileRequest make_profile_request(const ProfileContext& context, const ProfileJob& job,
                                    const std::string& spool) {
  const Case& spec = *job.spec;
  ProfileRequest request;
  request.prepare = prepare_request(spec, context.options.seed, job.input_layouts);
  request.prepare.check = job.check;
  request.prepare.choices = job.choices;
  request.switches = switch_values(get_switches(context));
  request.spool = spool;
  request.run_id = context.options.run_id;
  if (spec.network) request.scope = {spec.network->definition.name};
  request.warmup_iterations = spec.warmup.iterations;
  request.warmup_time = spec.warmup.time;
  if (job.reason == ProfileReason::failed) {
    // Repeats what the measurement did before the failure: the check, and as many iterations.
    request.announce = true;
    request.prepare.check = CheckKind::reference;
    const std::int64_t iterations = spec.warmup.iterations + spec.measure.min_iterations;
    request.switches["iterations"] = fmt::format("0-{}", iterations);
  }
  return request;
}

// The audit of a profile needs to know what was not to be recorded.
void add_kinds(const ProfileRequest& request, ProfilePassRecord& record) {
  const std::string& kinds = request.switches.at("kinds");
  if (kinds != switch_values(ProfileSwitches()).at("kinds"))
    record.details[std::string(kKindsFact)] = kinds;
}

ProfilePassRecord make_pass_record(const ProfiledReply& reply) {
  ProfilePassRecord record;
  record.iterations = reply.iterations;
  record.profiled = reply.profiled;
  record.unprofiled = reply.unprofiled;
  record.unread = reply.malformed + reply.unknown;
  record.wall = reply.wall;
  record.attributed = reply.attributed;
  record.unattributed = reply.unattributed;
  record.details = reply.details;
  // Reports show the activities of an invalid trace, but do not use them for results.
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

// Runs the pass in the session's worker. Returns nullopt after an interruption.
std::optional<ProfilePassRecord> call_worker(const ProfileContext& context, const ProfileJob& job,
                                             const ProfileRequest& request) {
  const Case& spec = *job.spec;
  const Nanoseconds target = kWarmupTimeFactor * spec.warmup.time;
  // One request does what a measurement asks for in three: prepare, warm up, execute. Each of these
  // may take the whole timeout. A pass that locates a failure keeps to one, since it may wait for
  // what never returns.
  const int parts = job.reason == ProfileReason::failed ? 1 : 3;
  const auto reply = context.session.ask(request, target + parts * spec.measure.timeout);
  if (reply) {
    ProfilePassRecord record = make_pass_record(*reply);
    add_kinds(request, record);
    return record;
  }
  if (reply.error().cause == RequestFailure::Cause::aborted) return std::nullopt;
  return make_pass_record(reply.error().outcome, reply.error().reason);
}

// Appends the activities in the spool file to the result file and to `trace`, unless it is null.
// Returns their number. Skips an incomplete last line, which a killed worker may leave. The result
// file has an announced activity twice if it ended; readers merge the two.
Result<std::int64_t> forward_activities(const ProfileContext& context, const std::string& spool,
                                        ActivitySink* trace) {
  auto text = open_text(spool);
  if (!text) return std::int64_t{0};  // the worker did not create the file
  ActivityLineParser parser;
  TextSource::Line line;
  std::optional<BeginRecordMerger> merger;
  if (trace != nullptr) merger.emplace(*trace);
  std::int64_t count = 0;
  while ((*text)->next(line)) {
    if (parser.parse(line.text).kind != LineKind::activity) continue;
    BENCH_RETURN_IF_ERROR(context.sink.append_activity(line.text));
    if (merger) BENCH_RETURN_IF_ERROR(merger->consume(parser.activity()));
    ++count;
  }
  BENCH_RETURN_IF_ERROR((*text)->status());
  if (merger) BENCH_RETURN_IF_ERROR(merger->finish());
  return count;
}

Result<std::unique_ptr<ChromeTrace>> open_trace(const ProfileContext& context,
                                                const ProfileJob& job) {
  const std::string& folder = *context.options.trace_failures;
  BENCH_RETURN_IF_ERROR(create_folder(folder));
  TraceOptions options;
  options.title = job.spec->id;
  options.metadata = {{"case", job.spec->id}, {"tool_version", context.options.tool_version}};
  return ChromeTrace::create(failure_trace_path(folder, job.spec->id), Existing::replace, options);
}

}  // namespace

std::string failure_trace_path(const std::string& folder, const std::string& id) {
  return fmt::format("{}/{}.json", folder, file_stem(id));
}

bool records_activities(const ProfileContext& context, ProfileReason reason) {
  if (reason == ProfileReason::failed) return true;
  const ProfileSwitches switches = get_switches(context);
  return switches.groups.size() > (switches.records(RecordGroup::counters) ? 1U : 0U);
}

Result<std::optional<UnrecordedPass>> record_case(const ProfileContext& context,
                                                  const ProfileJob& job) {
  BENCH_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::create("profile"));
  const std::string spool = folder.file("activities.jsonl");
  UnrecordedPass pass{job.spec, make_profile_request(context, job, spool), {}};
  if (records_activities(context, job.reason)) {
    auto record = call_worker(context, job, pass.request);
    if (!record) return std::optional<UnrecordedPass>();
    pass.record = *std::move(record);
  }
  std::unique_ptr<ChromeTrace> trace;
  if (job.reason == ProfileReason::failed && context.options.trace_failures) {
    BENCH_ASSIGN_OR_RETURN(trace, open_trace(context, job));
  }
  // Counted here, since a worker that failed states no number.
  BENCH_ASSIGN_OR_RETURN(pass.record.activities, forward_activities(context, spool, trace.get()));
  if (trace) BENCH_RETURN_IF_ERROR(trace->finish());
  pass.record.run_id = context.options.run_id;
  pass.record.id = job.spec->id;
  return std::optional(std::move(pass));
}

bool needs_counters(const ProfileContext& context, const UnrecordedPass& pass) {
  const bool is_failed_case = pass.request.announce;
  return !is_failed_case && get_switches(context).records(RecordGroup::counters) &&
         pass.record.outcome == Outcome::ok;
}

void read_case_counters(const ProfileContext& context, UnrecordedPass& pass) {
  const Case& spec = *pass.spec;
  ProfilePassRecord& record = pass.record;
  const auto set_unavailable = [&](const std::string& reason) {
    record.details["counters"] = fmt::format("n/a: {}", reason);
  };
  if (Status started = context.session.ensure(worker_threads(spec.key)); !started) {
    return set_unavailable(started.error().message());
  }
  // One request prepares and checks the kernel, then executes it.
  auto reply = context.session.ask(counters_request(pass.request), 2 * spec.measure.timeout);
  if (reply) {
    // Details from counters replace those that the trace inferred from names of kernels.
    reply->details.merge(record.details);
    record.details = std::move(reply->details);
    return;
  }
  const RequestFailure& failure = reply.error();
  set_unavailable(failure.reason);
  if (failure.cause == RequestFailure::Cause::aborted) return;
  record.outcome = failure.outcome;
  record.reason = fmt::format("counters: {}", failure.reason);
  context.session.finish();  // an error of a device may affect later cases in this process
}

Result<std::optional<ProfilePassRecord>> profile_case(const ProfileContext& context,
                                                      const ProfileJob& job) {
  BENCH_ASSIGN_OR_RETURN(std::optional<UnrecordedPass> pass, record_case(context, job));
  if (!pass) return std::optional<ProfilePassRecord>();
  BENCH_RETURN_IF_ERROR(context.sink.append(pass->record));
  return std::optional(std::move(pass->record));
}

}  // namespace bench
