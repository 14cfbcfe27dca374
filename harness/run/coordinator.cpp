// SPDX-License-Identifier: Apache-2.0
#include "harness/run/coordinator.hpp"

#include "base/text.hpp"
#include "harness/config/case_work.hpp"
#include "harness/host/memory_shortage.hpp"
#include "harness/host/system_files.hpp"
#include "harness/result/advice.hpp"
#include "harness/result/measured.hpp"
#include "harness/result/record.hpp"
#include "harness/result/roofline.hpp"
#include "harness/run/case_progress.hpp"
#include "harness/run/case_step.hpp"
#include "harness/run/ceilings_phase.hpp"
#include "harness/run/network_layouts.hpp"
#include "harness/run/profile_phase.hpp"
#include "harness/run/run_estimate.hpp"
#include "harness/run/schedule.hpp"
#include "harness/run/time_limit.hpp"
#include "harness/run/worker_session.hpp"
#include "harness/wire/messages.hpp"
#include "profiler/kernel_names/kernel_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench {
namespace {

std::vector<const ProcessRecord*> list_processes(std::span<const CaseProgress> cases) {
  std::vector<const ProcessRecord*> processes;
  for (const CaseProgress& progress : cases) {
    for (const ProcessRecord& process : progress.processes()) processes.push_back(&process);
  }
  return processes;
}

class Run {
 public:
  Run(const Plan& plan, const RunOptions& options, const CoordinatorParts& parts, RecordSink& sink,
      RunObserver& observer, Env& env);
  Result<RunSummary> execute();

 private:
  Status adopt_earlier();
  Status adopt_processes(const Report& earlier);
  void know_levels(const Report& earlier);
  void decide_without_worker();
  Status append_run_record();
  void add_library_digests(CaseRecord& record);
  Status measure();
  Status choose_ways(int process);
  Status learn_layouts(int process);
  Status measure_process(int process);
  Status measure_batch(const WorkerBatch& batch, int process, std::int64_t& remaining_steps);
  Status ensure_worker(const WorkerThreads& threads);
  Status calibrate();
  std::vector<CalibrationCase> find_doubtful_ceilings();
  Status settle_ceilings();
  StepRequest make_request(const CaseProgress& progress, int process);
  void take_prepared(CaseProgress& progress, StepResult& result);
  void take_failure(CaseProgress& progress, int process, const StepResult& result);
  Status step(CaseProgress& progress, int process, Nanoseconds deadline);
  Status append_decided();
  Status append_unfinished();
  Status profile();
  Status read_pass_counters(const ProfileContext& context, std::span<UnrecordedPass> passes);
  Status append_pass(UnrecordedPass& pass);
  const CaseRecord& next_record();
  Status append_case(CaseProgress& progress);
  std::optional<SpeedLevel> find_level(const CaseProgress& progress);
  Result<RunSummary> append_end_record();

  void check_limits();  // sets stop_cause_ if a limit is reached
  Nanoseconds estimate_remaining();

  const Plan& plan_;
  const RunOptions& options_;
  const CoordinatorParts& parts_;
  RecordSink& sink_;
  RunObserver& observer_;
  Env& env_;
  std::optional<Nanoseconds> budget_;
  TimeLimit limit_;
  WorkerSession session_;
  std::map<int, SpeedLevel> levels_;  // of speed, by number of threads
  RunCeilings ceilings_;
  std::optional<CaseRecord> next_record_;  // of cases_[appended_], without a roofline
  std::vector<CaseProgress> cases_;
  std::map<std::string, OutputSample> outputs_;  // outputs of first processes, by problem_id()
  NetworkLayouts layouts_;
  std::optional<std::string> capability_;  // compute capability of the GPU, such as "9.0"
  std::size_t appended_ = 0;               // number of cases whose record was appended
  std::optional<StopCause> stop_cause_;    // set if no further step may run
  Nanoseconds measuring_since_{0};         // start of the first process
  RunPace pace_;
  std::int64_t steps_done_ = 0, steps_total_ = 0;
  std::int64_t not_measured_ = 0;
  std::int64_t fewer_processes_ = 0;
  std::int64_t not_profiled_ = 0;
  bool any_failed_ = false;
  bool lacks_device_ = false;  // the required device is missing
  bool has_run_record_ = false;
  RunRecord run_record_;
  std::map<std::string, std::optional<std::string>> library_digests_;  // by path
};

Run::Run(const Plan& plan, const RunOptions& options, const CoordinatorParts& parts,
         RecordSink& sink, RunObserver& observer, Env& env)
    : plan_(plan),
      options_(options),
      parts_(parts),
      sink_(sink),
      observer_(observer),
      env_(env),
      budget_(options.budget ? options.budget : plan.budget),
      limit_(budget_, options.interrupted, *env.clock),
      session_(
          parts.start_worker,
          {kProtocolVersion, largest_reuse_distance(plan), parts.last_level_cache},
          [this] { return limit_.must_abort(); }, *env.clock),
      ceilings_(
          parts,
          [this](const WorkerThreads& threads) -> Result<bool> {
            BENCH_RETURN_IF_ERROR(ensure_worker(threads));
            return !stop_cause_;
          },
          session_, *env.clock),
      pace_(plan) {
  for (const auto& [threads, canary] : parts.levels)
    levels_.emplace(threads, SpeedLevel{canary, LevelSource::stored});
  cases_.reserve(plan.cases.size());
  for (const Case& spec : plan.cases) cases_.emplace_back(spec);
}

void Run::check_limits() {
  if (!stop_cause_) stop_cause_ = limit_.stop_cause();
}

Result<RunSummary> Run::execute() {
  BENCH_RETURN_IF_ERROR(adopt_earlier());
  decide_without_worker();
  BENCH_RETURN_IF_ERROR(measure());
  session_.finish();
  BENCH_RETURN_IF_ERROR(settle_ceilings());
  if (!has_run_record_) BENCH_RETURN_IF_ERROR(append_run_record());
  BENCH_RETURN_IF_ERROR(append_unfinished());
  BENCH_RETURN_IF_ERROR(profile());
  return append_end_record();
}

Status Run::adopt_earlier() {
  if (options_.resume == nullptr) return Done{};
  const Report& earlier = *options_.resume;
  for (const RunRecord& run : earlier.runs) {
    if (run.config_hash != plan_.hash) {
      return Error{fmt::format("cannot resume: the file has configuration {}, but this is {}",
                               run.config_hash, plan_.hash),
                   "", "resume with the same configuration, or start a new file"};
    }
  }
  BENCH_RETURN_IF_ERROR(adopt_processes(earlier));
  know_levels(earlier);
  return Done{};
}

// Adopts what the earlier runs measured. Processes of an unfinished case count only if they were
// measured in the environment of this run. It is known when a worker has greeted.
Status Run::adopt_processes(const Report& earlier) {
  std::set<std::string> finished;
  for (const CaseRecord& record : earlier.cases) {
    if (is_finished(record)) finished.insert(record.id);
  }
  const auto is_open = [&](const ProcessRecord& process) { return !finished.contains(process.id); };
  if (std::ranges::any_of(earlier.processes, is_open)) {
    BENCH_RETURN_IF_ERROR(ensure_worker({}));
    session_.finish();
  }
  std::vector<RunRecord> runs = earlier.runs;
  if (has_run_record_) runs.push_back(run_record_);
  const RunChains chains(runs);
  const std::size_t left_out = adopt(
      earlier,
      [&](const ProcessRecord& process) {
        return !has_run_record_ || chains.origin(process.run_id) == chains.origin(options_.run_id);
      },
      cases_);
  if (left_out == 0) return Done{};
  const auto difference = earlier.runs.empty()
                              ? std::optional<std::string>("their run record is missing")
                              : identity_difference(earlier.runs.back(), run_record_);
  observer_.message(fmt::format(
      "{} of unfinished cases {} measured in another environment ({}) and not used: {} measured "
      "again",
      pluralise(left_out, "process"), left_out == 1 ? "was" : "were",
      difference.value_or("a run between them was made in another one"),
      left_out == 1 ? "it is" : "they are"));
  return Done{};
}

// States times at the same levels as the resumed run.
void Run::know_levels(const Report& earlier) {
  std::map<std::string, int> threads;  // number of canary threads by case
  for (const ProcessRecord& process : earlier.processes) {
    if (process.canaries.threads) threads[process.id] = *process.canaries.threads;
  }
  std::set<std::string> elsewhere;  // runs on another class of machine, whose canaries differ
  for (const RunRecord& run : earlier.runs) {
    if (run.environment.machine_class != parts_.environment.machine_class)
      elsewhere.insert(run.run_id);
  }
  for (const CaseRecord& record : earlier.cases) {
    const auto found = threads.find(record.id);
    if (found != threads.end() && record.time && record.time->at &&
        !elsewhere.contains(record.run_id))
      levels_.insert_or_assign(found->second, *record.time->at);
  }
}

void Run::decide_without_worker() {
  for (CaseProgress& progress : cases_) {
    if (progress.has_earlier_outcome()) continue;
    auto reason = skip_reason(progress.spec(), parts_);
    // A probe of the devices that was aborted did not find out whether the case can run.
    if (reason && !limit_.must_abort()) progress.end(Outcome::skipped, *std::move(reason));
  }
}

Status Run::append_run_record() {
  has_run_record_ = true;
  RunRecord record;
  record.run_id = options_.run_id;
  if (options_.resume != nullptr && !options_.resume->runs.empty()) {
    record.resumes = options_.resume->runs.back().run_id;
  }
  record.tool_version = options_.tool_version;
  record.tool_commit = options_.tool_commit;
  record.started = env_.utc_now();
  record.config_name = plan_.name;
  record.config_files = plan_.files;
  record.config_hash = plan_.hash;
  record.seed = options_.seed;
  record.arguments = options_.arguments;
  record.shard = options_.shard;
  record.assignment = options_.assignment;
  record.under = options_.under;
  record.beside = options_.beside;
  record.environment = parts_.environment;
  record.environment.details[kMeasuringFact] = kMeasuringRules;
  add_library(session_.greeting(), record.environment);
  add_program(session_, record.environment);
  if (parts_.device_details) record.environment.details.merge(parts_.device_details());
  const auto capability = record.environment.details.find("gpu.compute_capability");
  if (capability != record.environment.details.end()) capability_ = capability->second;
  if (parts_.gpu_ceilings) ceilings_.set_gpu(parts_.gpu_ceilings(record.environment.details));
  run_record_ = record;
  return sink_.append(record);
}

Status Run::measure() {
  int processes = 0;
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    const CaseProgress& progress = cases_[i];
    std::int64_t needed = 0;
    for (int p = 0; p < progress.spec().measure.processes; ++p)
      needed += progress.needs_process(p) ? 1 : 0;
    pace_.expect(i, needed);
    steps_total_ += needed;
    processes = std::max(processes, progress.spec().measure.processes);
  }
  if (steps_total_ == 0) return Done{};
  BENCH_RETURN_IF_ERROR(calibrate());
  measuring_since_ = env_.clock->now();
  for (int process = 0; process < processes && !stop_cause_; ++process) {
    if (process > 0 && process == processes - 1) {
      const auto judged = appended_ == 0 ? RunCeilings::Judged::none : RunCeilings::Judged::some;
      BENCH_RETURN_IF_ERROR(ceilings_.calibrate_in_another_moment(measuring_since_, judged));
    }
    BENCH_RETURN_IF_ERROR(measure_process(process));
  }
  return Done{};
}

Status Run::measure_process(int process) {
  BENCH_RETURN_IF_ERROR(learn_layouts(process));  // the candidates of a layer depend on them
  BENCH_RETURN_IF_ERROR(choose_ways(process));
  std::vector<std::size_t> needed;
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    if (cases_[i].needs_process(process)) needed.push_back(i);
  }
  auto remaining_steps = static_cast<std::int64_t>(needed.size());
  for (const WorkerBatch& batch : schedule_process(plan_, needed, process, options_.seed)) {
    if (stop_cause_) break;
    BENCH_RETURN_IF_ERROR(measure_batch(batch, process, remaining_steps));
    session_.finish();
    BENCH_RETURN_IF_ERROR(settle_ceilings());
  }
  return Done{};
}

// Uses separate workers (chooses_by_measuring()). A case that has a choice keeps it.
Status Run::choose_ways(int process) {
  if (options_.under) return Done{};  // another tool observes the measuring processes only
  // A case for which no time is left here chooses in its first process.
  const std::optional<Nanoseconds> budget = limit_.remaining();
  const auto is_time_up = [&] { return budget && *limit_.remaining() < *budget / 2; };
  std::optional<std::pair<WorkerThreads, std::string>> running;  // threads and device
  for (CaseProgress& progress : cases_) {
    check_limits();
    if (is_time_up()) break;
    const bool is_settled = progress.has_facts() || !progress.choices().empty() ||
                            !chooses_by_measuring(progress.spec());
    if (is_settled || stop_cause_ || !progress.needs_process(process)) continue;
    const std::pair needed(worker_threads(progress.spec().key), progress.spec().key.device);
    if (running && *running != needed) session_.finish();
    running = needed;
    BENCH_RETURN_IF_ERROR(ensure_worker(needed.first));
    if (stop_cause_) return Done{};
    observer_.step(steps_done_, steps_total_, progress.spec().id, estimate_remaining());
    StepRequest request = make_request(progress, process);
    request.extent = StepRequest::Extent::prepare_only;
    StepResult result = run_step(session_, request, *env_.clock);
    if (result.completion == StepResult::Completion::aborted) check_limits();
    take_prepared(progress, result);
    if (result.failure) ++steps_done_;
    take_failure(progress, process, result);
  }
  if (running) session_.finish();
  return append_decided();
}

// Uses a separate worker, so that the measuring worker's library has no cached kernels when it
// times their creation.
Status Run::learn_layouts(int process) {
  for (const CaseProgress& progress : cases_) {
    const Case& spec = progress.spec();
    check_limits();
    if (layouts_.is_settled(spec) || stop_cause_ || !progress.needs_process(process)) continue;
    BENCH_RETURN_IF_ERROR(ensure_worker({}));
    if (stop_cause_) return Done{};
    layouts_.ask(session_, spec);
  }
  session_.finish();
  return Done{};
}

Status Run::measure_batch(const WorkerBatch& batch, int process, std::int64_t& remaining_steps) {
  for (const std::size_t i : batch.cases) {
    check_limits();
    if (stop_cause_) return Done{};
    // Divides the remaining budget equally between the remaining steps of this round of processes.
    // So the last case also has time for its first process.
    const std::optional<Nanoseconds> budget = limit_.remaining();
    const Nanoseconds deadline =
        budget ? env_.clock->now() + *budget / remaining_steps : Nanoseconds::max();
    --remaining_steps;
    BENCH_RETURN_IF_ERROR(ensure_worker(batch.threads));
    if (stop_cause_) return Done{};
    BENCH_RETURN_IF_ERROR(step(cases_[i], process, deadline));
    pace_.finish(i, cases_[i].remaining_processes());
  }
  return Done{};
}

// Starts a worker if none is running. Appends the run record after the first worker's handshake,
// which the record needs, and before all other records.
Status Run::ensure_worker(const WorkerThreads& threads) {
  Status status = session_.ensure(threads);
  check_limits();
  if (!status && !stop_cause_) {
    Error error = std::move(status).error();
    if (error.where.empty()) error.where = options_.worker_program;
    return error;
  }
  if (status && !has_run_record_) return append_run_record();
  return Done{};
}

Status Run::calibrate() {
  if (stop_cause_) return Done{};
  BENCH_ASSIGN_OR_RETURN(const std::string message, ceilings_.calibrate(limit_.remaining()));
  if (!message.empty()) observer_.message(message);
  return Done{};
}

// Calls RunCeilings::find_doubtful() with the next record.
std::vector<CalibrationCase> Run::find_doubtful_ceilings() {
  if (cases_[appended_].has_earlier_outcome()) return {};
  return ceilings_.find_doubtful(next_record());
}

// Measures again the ceilings that decided cases make doubtful, and appends their records. Call
// this while no worker runs, because those ceilings may need other numbers of threads.
Status Run::settle_ceilings() {
  BENCH_RETURN_IF_ERROR(append_decided());
  while (appended_ < cases_.size() && cases_[appended_].is_decided() && !stop_cause_) {
    const std::vector<CalibrationCase> cases = find_doubtful_ceilings();
    const std::string& id = cases_[appended_].spec().id;
    observer_.message(
        fmt::format("ceilings: {} is faster than they permit, so {} {} measured again", id,
                    cases.size(), cases.size() == 1 ? "is" : "are"));
    BENCH_RETURN_IF_ERROR(ceilings_.repeat(cases, next_record().device));
    BENCH_RETURN_IF_ERROR(append_decided());
  }
  return Done{};
}

StepRequest Run::make_request(const CaseProgress& progress, int process) {
  StepRequest request{&progress.spec(), process, options_.seed};
  const auto expected = outputs_.find(problem_id(progress.spec().key));
  if (expected != outputs_.end()) {
    request.check = CheckKind::expected;
    request.expected = &expected->second;
  }
  request.choices = progress.choices();
  request.input_layouts = layouts_.input_layouts(progress.spec());
  return request;
}

void Run::take_prepared(CaseProgress& progress, StepResult& result) {
  if (!result.prepared) return;
  if (auto lost = progress.learn(*result.prepared)) observer_.message(*lost);
  outputs_.emplace(problem_id(progress.spec().key), std::move(result.prepared->output));
}

void Run::take_failure(CaseProgress& progress, int process, const StepResult& result) {
  if (!result.failure) return;
  const int processes = progress.spec().measure.processes;
  for (int p = process + 1; p < processes; ++p) steps_done_ += progress.needs_process(p) ? 1 : 0;
  progress.end(*result.failure);
  // A device's error may affect everything in the worker process, so the other cases get a new one.
  const bool on_device = progress.spec().key.device != "cpu";
  if (on_device && result.failure->outcome == Outcome::failed) session_.finish();
}

Status Run::step(CaseProgress& progress, int process, Nanoseconds deadline) {
  observer_.step(steps_done_, steps_total_, progress.spec().id, estimate_remaining());
  ++steps_done_;
  StepRequest request = make_request(progress, process);
  request.deadline = deadline;
  if (options_.under) request.range = progress.spec().id;
  if (progress.is_measured(process)) request.extent = StepRequest::Extent::prepare_only;
  StepResult result = run_step(session_, request, *env_.clock);
  const bool is_aborted = result.completion == StepResult::Completion::aborted;
  if (is_aborted) check_limits();
  take_prepared(progress, result);
  take_failure(progress, process, result);
  if (result.record) {
    result.record->run_id = options_.run_id;
    if (progress.has_recorded(result.record->choices)) result.record->choices.clear();
    if (result.record->stop == StopReason::interrupted && stop_cause_ == StopCause::budget) {
      result.record->stop = StopReason::budget;
    }
    BENCH_RETURN_IF_ERROR(sink_.append(*result.record));
    progress.add(std::move(*result.record));
    // The aborted process is incomplete, although it was the last one of the case.
    if (is_aborted && progress.is_complete()) ++fewer_processes_;
  }
  return append_decided();
}

Nanoseconds Run::estimate_remaining() {
  const std::optional<Nanoseconds> budget = limit_.remaining();
  const Nanoseconds estimate = pace_.remaining(env_.clock->now() - measuring_since_);
  return budget ? std::min(*budget, estimate) : estimate;
}

// Appends the records of decided cases. Case records are in the order of the plan, so a case waits
// until all cases before it are decided, and until settle_ceilings() if its time makes ceilings
// doubtful.
Status Run::append_decided() {
  for (; appended_ < cases_.size() && cases_[appended_].is_decided(); ++appended_) {
    if (!stop_cause_ && !find_doubtful_ceilings().empty()) return Done{};
    BENCH_RETURN_IF_ERROR(append_case(cases_[appended_]));
  }
  return Done{};
}

Status Run::append_unfinished() {
  for (; appended_ < cases_.size(); ++appended_) {
    CaseProgress& progress = cases_[appended_];
    if (!progress.is_decided() && !progress.has_requested_processes()) ++fewer_processes_;
    if (!progress.is_decided() && !progress.has_samples()) {
      ++not_measured_;
      if (stop_cause_ != StopCause::budget) continue;
      progress.end(Outcome::skipped, fmt::format("{} ({}) before it was measured", kBudgetReason,
                                                 format_time(*budget_)));
    }
    BENCH_RETURN_IF_ERROR(append_case(progress));
  }
  return Done{};
}

// Runs the profiling passes, after all measurements, so that it does not disturb them.
Status Run::profile() {
  const ProfileContext context{session_, sink_, env_, options_};
  std::vector<UnrecordedPass> passes_with_counters;
  for (CaseProgress& progress : cases_) {
    const bool has_failed = progress.is_decided() && is_failure(progress.outcome());
    const bool is_ok = progress.is_decided() && progress.outcome() == Outcome::ok;
    if (!(options_.profile && is_ok) && !(options_.trace_failures && has_failed)) continue;
    check_limits();
    const Case& spec = progress.spec();
    const ProfileReason reason = has_failed ? ProfileReason::failed : ProfileReason::wanted;
    if (!stop_cause_ && records_activities(context, reason)) {
      observer_.phase("profiling " + spec.id);
      BENCH_RETURN_IF_ERROR(ensure_worker(worker_threads(spec.key)));
    }
    if (stop_cause_) {
      ++not_profiled_;
      continue;
    }
    BENCH_ASSIGN_OR_RETURN(
        std::optional<UnrecordedPass> pass,
        record_case(context,
                    {&spec, layouts_.input_layouts(spec), reason, progress.choices(),
                     progress.has_rejected_engines() ? CheckKind::reference : CheckKind::none}));
    session_.finish();  // the next case gets a separate worker with its own caches
    if (!pass) {
      ++not_profiled_;
    } else if (needs_counters(context, *pass)) {
      passes_with_counters.push_back(*std::move(pass));
    } else {
      BENCH_RETURN_IF_ERROR(append_pass(*pass));
    }
  }
  return read_pass_counters(context, passes_with_counters);
}

// Reads the hardware counters of the passes and appends their records. Counting needs no isolation,
// so consecutive cases with the same threads share a worker. This saves starting a
// process and its device for each of them.
Status Run::read_pass_counters(const ProfileContext& context, std::span<UnrecordedPass> passes) {
  const UnrecordedPass* previous = nullptr;
  for (UnrecordedPass& pass : passes) {
    if (previous != nullptr &&
        worker_threads(previous->spec->key) != worker_threads(pass.spec->key))
      session_.finish();
    previous = &pass;
    check_limits();
    if (stop_cause_) {
      pass.record.details["counters"] = "n/a: the run was stopped before they were read";
      if (!records_activities(context, ProfileReason::wanted)) ++not_profiled_;
    } else {
      observer_.phase("counting " + pass.spec->id);
      read_case_counters(context, pass);
    }
    BENCH_RETURN_IF_ERROR(append_pass(pass));
  }
  session_.finish();
  return Done{};
}

Status Run::append_pass(UnrecordedPass& pass) {
  const auto used = pass.record.details.find("tensor_cores");
  if (capability_ && used != pass.record.details.end()) {
    const auto missed = missed_tensor_cores(*pass.spec, *capability_, used->second);
    if (missed) pass.record.details[kTensorCoresMissed] = *missed;
  }
  any_failed_ = any_failed_ || is_failure(pass.record.outcome);
  return sink_.append(pass.record);
}

Status Run::append_case(CaseProgress& progress) {
  any_failed_ = any_failed_ || is_failure(progress.outcome());
  lacks_device_ = lacks_device_ || (progress.outcome() == Outcome::skipped &&
                                    progress.spec().key.device == options_.required_device);
  if (progress.has_earlier_outcome()) return Done{};
  CaseRecord record = next_record();
  next_record_.reset();
  const Outcome outcome = record.outcome;
  ceilings_.complete_roofline(record);
  if (record.outcome != outcome) {  // its time is impossible
    any_failed_ = true;
    progress.end(record.outcome, record.reason.value_or(""));
  }
  BENCH_RETURN_IF_ERROR(sink_.append(record));
  observer_.case_finished(record);
  return Done{};
}

// Returns the record of the first case that was not appended yet, without a roofline.
const CaseRecord& Run::next_record() {
  if (next_record_) return *next_record_;
  const CaseProgress& progress = cases_[appended_];
  CaseRecord record = progress.record(options_.run_id, find_level(progress));
  if (capability_) record.details.merge(tensor_core_details(progress.spec(), *capability_));
  add_library_digests(record);
  const auto engine = record.details.find("engine");
  if (capability_ && engine != record.details.end()) {
    const std::string used =
        format_verdict(engine_verdict(engine->second, progress.spec().key.dtype));
    const auto missed = missed_tensor_cores(progress.spec(), *capability_, used);
    if (missed) record.details[kTensorCoresMissed] = *missed;
  }
  return next_record_.emplace(std::move(record));
}

// Adds the digests of libraries that workers load for a case. Each file is read once per run.
void Run::add_library_digests(CaseRecord& record) {
  constexpr std::string_view kPath = ".path";
  std::map<std::string, std::string> digests;
  for (const auto& [name, path] : record.details) {
    if (!name.starts_with("library.") || !name.ends_with(kPath)) continue;
    const auto [known, is_new] = library_digests_.try_emplace(path);
    if (is_new) known->second = digest_file(path);
    if (!known->second) continue;
    digests[name.substr(0, name.size() - kPath.size()) + kDigestSuffix] = *known->second;
  }
  record.details.merge(digests);
}

// Returns the level of speed at which the run states times of cases with as many threads. Without a
// stored one, all processes so far determine it when the first of these cases ends, and it then
// holds for the whole run.
std::optional<SpeedLevel> Run::find_level(const CaseProgress& progress) {
  const std::vector<const ProcessRecord*> own = list_processes({&progress, 1});
  const std::optional<int> threads = canary_threads(own);
  if (!threads) return std::nullopt;
  if (const auto known = levels_.find(*threads); known != levels_.end()) return known->second;
  std::vector<const ProcessRecord*> processes = list_processes(cases_);
  std::erase_if(processes,
                [&](const ProcessRecord* process) { return process->canaries.threads != threads; });
  const std::optional<Nanoseconds> canary = choose_level(processes);
  if (!canary) return std::nullopt;
  return levels_.emplace(*threads, SpeedLevel{*canary, LevelSource::run}).first->second;
}

Result<RunSummary> Run::append_end_record() {
  RunSummary summary;
  summary.any_failed = any_failed_;
  summary.any_unmeasured = fewer_processes_ > 0 || lacks_device_;
  summary.stopped_by = stop_cause_;
  summary.cases = std::ssize(cases_);
  summary.fewer_processes = fewer_processes_;
  summary.not_profiled = not_profiled_;
  summary.end.run_id = options_.run_id;
  summary.end.finished = env_.utc_now();
  if (options_.joined) summary.end.beside = options_.joined();
  summary.end.interrupted = stop_cause_ == StopCause::interruption;
  summary.end.exit =
      static_cast<int>(summary.any_failed || summary.any_unmeasured ? ExitStatus::not_measured
                                                                    : ExitStatus::success);
  summary.end.not_measured = not_measured_;
  summary.end.accounting = session_.accounting();
  BENCH_RETURN_IF_ERROR(sink_.append(summary.end));
  return summary;
}

}  // namespace

std::optional<std::string> machine_skip_reason(const Case& spec, const Cores& cores,
                                               std::optional<Bytes> memory) {
  if (const auto placed = place_streams(worker_threads(spec.key), cores); !placed) {
    return placed.error().message();
  }
  return memory_shortage(case_tensors(spec), memory);
}

std::optional<std::string> skip_reason(const Case& spec, const CoordinatorParts& parts) {
  if (auto missing = parts.device_missing(spec.key)) return missing;
  return machine_skip_reason(spec, parts.cores, parts.memory);
}

Result<RunSummary> execute_plan_with(const Plan& plan, const RunOptions& options,
                                     const CoordinatorParts& parts, RecordSink& sink,
                                     RunObserver& observer, Env& env) {
  return Run(plan, options, parts, sink, observer, env).execute();
}

}  // namespace bench
