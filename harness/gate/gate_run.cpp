// SPDX-License-Identifier: Apache-2.0
#include "harness/gate/gate_run.hpp"

#include "harness/gate/kit.hpp"
#include "harness/host/placement.hpp"
#include "harness/host/process.hpp"
#include "harness/judge/equal_sides.hpp"
#include "harness/judge/stage_one.hpp"
#include "harness/run/case_progress.hpp"
#include "harness/run/time_limit.hpp"
#include "harness/store/baseline_file.hpp"
#include "harness/store/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

namespace bench {
namespace {

// Time limit of stage 2 unless the request has a budget.
constexpr Nanoseconds kStageTwoBudget = std::chrono::minutes(10);
// A gate with a budget still profiles for kits a tenth of the budget after its end.
constexpr int kKitShare = 10;
// Limit of the warm-up and of the samples per case in stage 1 if duets follow.
constexpr Nanoseconds kShortStageTime = std::chrono::milliseconds(20);

// Returns the plan of stage 1 for a gate with a base. Every case then has duets, which measure time
// better than a comparison with stored runs and cost no more (docs/decisions/0020). So a short
// stage 1 is enough: it checks whether the candidate computes the case correctly, and finds its
// facts.
Plan shorten_stage_one(Plan plan) {
  for (Case& spec : plan.cases) {
    spec.measure.processes = 1;
    spec.measure.min_iterations = 1;
    spec.measure.max_time = std::min(spec.measure.max_time, kShortStageTime);
    spec.warmup.iterations = std::min<std::int64_t>(spec.warmup.iterations, 1);
    spec.warmup.time = std::min(spec.warmup.time, kShortStageTime);
  }
  return plan;
}

// Returns the versions, paths and details of the libraries that a side loaded.
std::map<std::string, std::string> loaded_facts(const GateSide& side) {
  std::map<std::string, std::string> facts = library_facts(side.libraries);
  for (const LoadedFile& file : side.loaded) {
    if (file.name == kProgramFile) continue;
    facts[fmt::format("library.{}.path", file.name)] = file.path;
    facts[fmt::format("library.{}.detail", file.name)] = file.detail;
  }
  return facts;
}

// Appends to the gate's file, and keeps its text for the kits.
class EvidenceSink final : public RecordSink {
 public:
  explicit EvidenceSink(FileSink& file) : file_(file) {}
  Status append(const Record& record) override {
    const std::string line = to_json_line(record);
    text_ += line + '\n';
    seal_.add(line);
    return file_.append(record, line);
  }
  // Appends a record of the gate with its digest.
  Status append_line(std::string_view record) {
    const std::string line = seal_.seal(record);
    text_ += line + '\n';
    return file_.append_line(line);
  }
  Status append_activity(std::string_view line) override {
    seal_.add(line);
    return file_.append_activity(line);
  }
  Report report() const { return file_.records().report(); }
  const std::string& text() const { return text_; }

 private:
  FileSink& file_;
  EvidenceSeal seal_;
  std::string text_;
};

class GateRun {
 public:
  GateRun(const GateRequest& request, Env& env)
      : request_(request),
        env_(env),
        started_(env.clock->now()),
        limit_(request.budget, request.interrupted, *env.clock) {
    outcome_.gate.program = request.program;
    outcome_.gate.program_path = request.program_path;
    outcome_.gate.facts.run_id = request.run_id;
    outcome_.gate.facts.time = env.utc_now();
    outcome_.gate.facts.candidate = request.sides.candidate;
    outcome_.gate.facts.base = request.sides.base;
    outcome_.gate.evidence.mode =
        request.sides.base ? GateEvidence::Mode::paired : GateEvidence::Mode::store_only;
    outcome_.gate.facts.inherited = inherited_variables(inherited_environment());
  }

  Result<GateOutcome> execute(EvidenceSink& sink, RunObserver& progress) {
    GateSpent spent;
    Nanoseconds phase_start = started_;
    const auto end_phase = [&] {  // returns the duration of the phase
      const Nanoseconds start = std::exchange(phase_start, env_.clock->now());
      return phase_start - start;
    };
    BENCH_RETURN_IF_ERROR(run_stage_one(sink, progress));
    spent.stage_one = end_phase();
    GateParts parts = make_parts(sink, progress);
    const GateTask task{&request_.plan, request_.run_id, request_.seed.value_or(1), budget_left()};
    GateMeasurer measurer(task, parts, *env_.clock);
    BENCH_RETURN_IF_ERROR(run_stage_two(sink, measurer, progress));
    spent.measuring = end_phase();
    spent.samples = measurer.spent_on_samples();
    BENCH_RETURN_IF_ERROR(make_kits(sink, parts, measurer, progress));
    spent.kits = end_phase();
    outcome_.gate.spent = spent;
    outcome_.gate.facts.beside = list_beside();
    return std::move(outcome_);
  }

 private:
  Status run_stage_one(EvidenceSink& sink, RunObserver& progress);
  void add_cases(const Report& report);
  void look_up_proof();
  Status look_up_store(const Report& report);
  GateParts make_parts(EvidenceSink& sink, RunObserver& progress);
  std::optional<Nanoseconds> budget_left() const;
  std::vector<std::string> list_beside() const;
  Nanoseconds kit_grace() const {
    return std::max(kBudgetGrace, request_.budget.value_or(Nanoseconds(0)) / kKitShare);
  }
  Status run_stage_two(EvidenceSink& sink, GateMeasurer& measurer, RunObserver& progress);
  Status make_kits(EvidenceSink& sink, const GateParts& parts, GateMeasurer& measurer,
                   RunObserver& progress);
  Result<Kit> make_kit(const CaseAssessment& judgement, const Case& spec, const GateParts& parts,
                       ops::InputLayouts input_layouts, const GateMeasurer& measurer);
  std::optional<KitSide> find_stored_side(const CaseAssessment& judgement) const;
  void add_inspection(RunObserver& progress);

  const GateRequest& request_;
  Env& env_;
  Nanoseconds started_;
  TimeLimit limit_;  // of stages 1 and 2
  GateOutcome outcome_;
};

Status GateRun::run_stage_one(EvidenceSink& sink, RunObserver& progress) {
  RunOptions options;
  options.worker_program = outcome_.gate.facts.candidate.program;
  options.worker_environment = outcome_.gate.facts.candidate.environment;
  options.seed = request_.seed.value_or(options.seed);
  options.budget = request_.budget;
  options.run_id = outcome_.gate.facts.run_id;
  options.tool_version = outcome_.gate.facts.candidate.tool_version;
  options.tool_commit = outcome_.gate.facts.candidate.commit;
  options.arguments = request_.command_line;
  options.required_device = request_.required_device;
  options.store = store_folder(request_.store);
  options.interrupted = request_.interrupted;
  options.beside = request_.beside;
  options.joined = request_.joined;
  std::optional<Plan> short_plan;
  if (outcome_.gate.facts.base) short_plan = shorten_stage_one(request_.plan);
  BENCH_ASSIGN_OR_RETURN(
      const RunSummary summary,
      execute_plan(short_plan ? *short_plan : request_.plan, options, sink, progress, env_));
  const Report report = sink.report();
  add_cases(report);
  outcome_.gate.evidence.stopped = summary.stopped_by;
  outcome_.gate.evidence.settings = request_.plan.gate.value_or(GateSettings{});
  outcome_.gate.facts.config_name = request_.plan.name;
  outcome_.gate.facts.config_files = request_.plan.files;
  outcome_.gate.facts.plugins = request_.plan.plugins;
  if (!report.runs.empty()) {
    outcome_.gate.facts.machine_class = report.runs.back().environment.machine_class;
    // Stage 1 also knows libraries that a worker loads for a case.
    std::map<std::string, std::string> libraries = report.runs.back().environment.libraries;
    libraries.merge(outcome_.gate.facts.candidate.libraries);
    outcome_.gate.facts.candidate.libraries = std::move(libraries);
  }
  look_up_proof();
  return look_up_store(report);
}

// A bad file is reported as any problem of the store; the reports then state no self-test.
void GateRun::look_up_proof() {
  GateFacts& facts = outcome_.gate.facts;
  auto proof = find_proof(store_folder(request_.store), facts.machine_class);
  if (proof.ok()) {
    facts.proof = *std::move(proof);
  } else {
    request_.warn(proof.error().message());
  }
}

// Adds one entry of evidence per case of the plan, in the plan's order. After Ctrl-C, the report
// lacks the cases that stage 1 did not reach.
void GateRun::add_cases(const Report& report) {
  std::map<std::string, CaseEvidence> reported;
  for (CaseEvidence& entry : collect_stage_one(report)) {
    const std::string id = entry.id();
    reported.emplace(id, std::move(entry));
  }
  for (const Case& spec : request_.plan.cases) {
    CaseEvidence& entry = outcome_.gate.evidence.cases.emplace_back();
    if (auto reported_case = reported.extract(spec.id)) {
      entry = std::move(reported_case.mapped());
    } else {
      entry.candidate.id = spec.id;
      entry.candidate.source = case_facts(spec).source;
      entry.is_unmeasured = true;
    }
    const bool is_missing = entry.candidate.outcome == Outcome::skipped && !entry.is_unmeasured;
    if (is_missing && spec.key.device == request_.required_device) {
      std::optional<std::string>& reason = entry.candidate.reason;
      entry.candidate.outcome = Outcome::failed;
      reason = fmt::format("--require gpu: {}", reason.value_or(""));
    }
  }
}

// Adds what the store has about the cases.
Status GateRun::look_up_store(const Report& report) {
  GateEvidence& evidence = outcome_.gate.evidence;
  const BaselineStore store(store_folder(request_.store));
  StoredSuite stored;
  if (const auto foreign = store.foreign_content(); foreign && !request_.store) {
    request_.warn(foreign->message());
  } else if (request_.store || store.list().ok()) {
    outcome_.gate.facts.store = store.folder();
    BENCH_ASSIGN_OR_RETURN(stored, add_stored(report, store, evidence.cases));
    for (const std::string& problem : stored.problems) request_.warn(problem);
  }
  evidence.changes = std::move(stored.changes);
  evidence.configuration_is_stored = stored.has_configuration;
  evidence.store_problems = std::move(stored.problems);
  // A plan with only some cases lacks the others on purpose.
  if (request_.extent == GateRequest::Extent::whole) evidence.removed = std::move(stored.removed);
  return Done{};
}

// If the base cannot be measured, each case records its failure, and the gate continues. Otherwise
// adds what differs between the libraries of both sides.
void GateRun::add_inspection(RunObserver& progress) {
  const std::optional<SideFailure>& failure = request_.sides.base_failure;
  if (!failure) {
    if (request_.sides.base->libraries.empty()) return;  // the inspection was aborted
    outcome_.gate.evidence.changes =
        changes_between(loaded_facts(*request_.sides.base), loaded_facts(request_.sides.candidate));
    return;
  }
  progress.message("the base cannot be measured: " + failure->reason);
  for (CaseEvidence& entry : outcome_.gate.evidence.cases) entry.failure = *failure;
}

GateParts GateRun::make_parts(EvidenceSink& sink, RunObserver& progress) {
  GateParts parts =
      real_gate_parts(outcome_.gate.facts.candidate, outcome_.gate.facts.base, request_.plan, env_);
  parts.interrupted = request_.interrupted;
  parts.append = [&sink](std::string_view line) { return sink.append_line(line); };
  parts.progress = duet_progress(progress);
  return parts;
}

std::optional<Nanoseconds> GateRun::budget_left() const {
  return request_.budget ? limit_.remaining() : kStageTwoBudget;
}

// Returns the other measurements that ran on this machine so far.
std::vector<std::string> GateRun::list_beside() const {
  std::vector<std::string> all = request_.beside;
  std::ranges::move(request_.joined(), std::back_inserter(all));
  return all;
}

Status GateRun::run_stage_two(EvidenceSink& sink, GateMeasurer& measurer, RunObserver& progress) {
  GateEvidence& evidence = outcome_.gate.evidence;
  // The record `gate` has those that are known now; the report has also those that join later.
  outcome_.gate.facts.beside = list_beside();
  if (evidence.mode == GateEvidence::Mode::paired) add_inspection(progress);
  BENCH_RETURN_IF_ERROR(sink.append_line(gate_line(outcome_.gate.facts, evidence)));
  for (const CaseEvidence& entry : evidence.cases) {
    if (!entry.stored) continue;
    BENCH_RETURN_IF_ERROR(
        sink.append_line(stored_line(outcome_.gate.facts.run_id, entry.id(), *entry.stored)));
  }
  BENCH_ASSIGN_OR_RETURN(Decision decision, measurer.settle(evidence));
  outcome_.gate.judgements = std::move(decision.judgements);
  for (const CaseAssessment& judgement : outcome_.gate.judgements) {
    BENCH_RETURN_IF_ERROR(sink.append_line(verdict_line(outcome_.gate.facts.run_id, judgement)));
  }
  outcome_.gate.conclusion = conclude(outcome_.gate, request_.rules);
  return sink.append_line(gate_end_line(outcome_.gate.facts.run_id, evidence.stopped));
}

Status GateRun::make_kits(EvidenceSink& sink, const GateParts& parts, GateMeasurer& measurer,
                          RunObserver& progress) {
  std::map<std::string, const Case*> specs;
  for (const Case& spec : request_.plan.cases) specs.emplace(spec.id, &spec);
  for (const CaseAssessment* judgement : reading_order(outcome_.gate.judgements)) {
    const auto spec = specs.find(judgement->id);
    const bool has_kit =
        request_.kits == GateRequest::Kits::of_all || needs_kit(judgement->verdict);
    if (!has_kit || spec == specs.end() || request_.interrupted()) continue;
    progress.phase("profiling " + judgement->id);
    // Without an answer of a worker, the kit's profiles use no layouts.
    const auto input_layouts = measurer.find_input_layouts(*spec->second);
    BENCH_ASSIGN_OR_RETURN(
        const Kit kit, make_kit(*judgement, *spec->second, parts,
                                input_layouts ? *input_layouts : ops::InputLayouts{}, measurer));
    const std::string folder = request_.folder + "/" + store_name(judgement->id);
    BENCH_RETURN_IF_ERROR(write_kit(kit, folder, sink.text(), request_.existing));
    outcome_.kits[judgement->id] = folder;
  }
  return Done{};
}

// Profiles both sides for the kit. If a side does not start, the kit lacks its half and states the
// reason.
Result<Kit> GateRun::make_kit(const CaseAssessment& judgement, const Case& spec,
                              const GateParts& parts, ops::InputLayouts input_layouts,
                              const GateMeasurer& measurer) {
  Kit kit;
  kit.gate = &outcome_.gate;
  kit.judgement = &judgement;
  KitRequest request;
  request.spec = &spec;
  request.input_layouts = std::move(input_layouts);
  request.seed = request_.seed.value_or(request.seed);
  request.label = "base";
  request.iteration_time = judgement.candidate;
  const auto must_end = [this] { return limit_.must_abort(kit_grace()); };
  const auto profile = [&](std::optional<KitSide>& side, const WorkerFactory& start) {
    auto profiled = profile_side(start, parts.hello, must_end, request, env_);
    if (profiled.ok()) {
      side = std::move(*profiled);
    } else {
      kit.notes.push_back(
          fmt::format("no profile of the {}: {}", request.label, profiled.error().message()));
    }
  };
  // The outcome makes profile_side() keep what a failed side ran until its failure.
  const auto entry =
      std::ranges::find(outcome_.gate.evidence.cases, judgement.id, &CaseEvidence::id);
  const auto find_outcome = [&](SideFailure::Side side) {
    if (entry == outcome_.gate.evidence.cases.end()) return Outcome::ok;
    if (entry->failure && entry->failure->side == side) return entry->failure->outcome;
    return side == SideFailure::Side::candidate ? entry->candidate.outcome : Outcome::ok;
  };
  request.outcome = find_outcome(SideFailure::Side::base);
  request.choices = measurer.choices(SideFailure::Side::base, judgement.id);
  if (outcome_.gate.facts.base) {
    profile(kit.base, parts.start_base);
  } else {
    kit.base = find_stored_side(judgement);
    if (!kit.base) kit.notes.push_back("the store holds no profiled iteration of the case");
  }
  request.label = "candidate";
  request.outcome = find_outcome(SideFailure::Side::candidate);
  request.choices = measurer.choices(SideFailure::Side::candidate, judgement.id);
  profile(kit.candidate, parts.start_candidate);
  return kit;
}

// Returns the last stored profile of the case; nullopt if there is none.
std::optional<KitSide> GateRun::find_stored_side(const CaseAssessment& judgement) const {
  if (!outcome_.gate.facts.store) return std::nullopt;
  const BaselineStore store(*outcome_.gate.facts.store);
  const auto history =
      store.read(BaselineStore::case_file(outcome_.gate.facts.machine_class, judgement.id));
  if (!history.ok()) return std::nullopt;
  const auto& records = history->records;
  const auto last =
      std::find_if(records.rbegin(), records.rend(),
                   [](const BaselineRecord& record) { return record.profile.has_value(); });
  if (last == records.rend()) return std::nullopt;
  const std::string commit = last->commit.empty() ? "no commit" : last->commit;
  return make_kit_side(fmt::format("stored, {}, {}", commit, last->time), *last->profile,
                       judgement.id);
}

}  // namespace

Result<GateOutcome> run_gate(const GateRequest& request, FileSink& file, RunObserver& progress,
                             Env& env) {
  EvidenceSink sink(file);
  return GateRun(request, env).execute(sink, progress);
}

}  // namespace bench
