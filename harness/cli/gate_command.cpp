// SPDX-License-Identifier: Apache-2.0
// A gate: the candidate's run, then whatever its decision still wants, then kits and reports.
#include "base/file.hpp"
#include "base/printable.hpp"
#include "base/version.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/console_options.hpp"
#include "harness/cli/failure.hpp"
#include "harness/cli/gate_sides.hpp"
#include "harness/cli/interrupt.hpp"
#include "harness/cli/plan_arguments.hpp"
#include "harness/cli/progress.hpp"
#include "harness/gate/kit_run.hpp"
#include "harness/gate/sides.hpp"
#include "harness/judge/stage_one.hpp"
#include "harness/report/gate_report.hpp"
#include "harness/result/result_text.hpp"
#include "harness/run/case_facts.hpp"
#include "harness/run/file_sink.hpp"
#include "harness/store/file_name.hpp"
#include "harness/store/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <ostream>
#include <system_error>
#include <utility>

namespace bench {
namespace {

// For what stage 1 leaves undecided, where --budget does not say otherwise.
constexpr Nanoseconds kDuetBudget = std::chrono::minutes(10);
constexpr const char* kGateFile = "gate.jsonl";
// Of a case in stage 1 where duets follow.
constexpr Nanoseconds kGlanceTime = std::chrono::milliseconds(20);
constexpr std::string_view kGpuDevice = "cuda";

// Its files are replaced only with --force, one by one: other files of the folder stay.
Result<FileSink> open_gate(const std::string& folder, const Arguments& arguments) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) return Error{fmt::format("cannot make the folder: {}", code.message()), folder, ""};
  // Evidence is read back and kept; a FIFO would wait for a reader that nobody can interrupt.
  const std::string evidence = folder + "/" + kGateFile;
  if (std::filesystem::exists(evidence, code) &&
      !std::filesystem::is_regular_file(evidence, code)) {
    return Error{"is not a regular file", evidence, "choose another folder with --out"};
  }
  const Existing existing = arguments.force ? Existing::replace : Existing::refuse;
  for (const GateFormat& format : gate_formats())  // rather now than after the measuring
    BENCH_RETURN_IF_ERROR(check_output(fmt::format("{}/{}", folder, format.file), existing));
  BENCH_ASSIGN_OR_RETURN(RecordFile file, RecordFile::create(evidence, existing));
  return FileSink(std::move(file), "");
}

ExitRules exit_rules(const Arguments& arguments) {
  ExitRules rules;
  if (arguments.gate.strict) rules.undecided = ExitRules::Undecided::strict;
  if (arguments.gate.require_baseline) rules.baseline = ExitRules::Baseline::required;
  if (arguments.gate.allow_incomparable) rules.incomparable = ExitRules::Incomparable::allowed;
  return rules;
}

Status write_reports(const GateFile& gate, const KitPaths& kits, const std::string& folder,
                     const Arguments& arguments) {
  for (const GateFormat& format : gate_formats()) {
    BENCH_RETURN_IF_ERROR(write_file(fmt::format("{}/{}", folder, format.file),
                                     format.write(gate, kits),
                                     arguments.force ? Existing::replace : Existing::refuse));
  }
  return Done{};
}

void print(const GateFile& gate, const KitPaths& kits, const Arguments& arguments, Env& env) {
  if (arguments.output == Output::json) {
    *env.out << gate_json(gate, kits);
    return;
  }
  if (env.variable("GITHUB_ACTIONS") == "true") *env.out << gate_annotations(gate, kits);
  *env.out << gate_console(gate, kits, console_options(env));
}

// Where a base is given, every case has duets, which judge its time better than runs of the store
// do and cost no more (docs/decisions/0020). Stage 1 then asks what they do not: whether the case
// can be computed, whether its result is right, and what it is made of.
Plan glance_at(Plan plan) {
  for (Case& spec : plan.cases) {
    spec.measure.processes = 1;
    spec.measure.min_iterations = 1;
    spec.measure.max_time = std::min(spec.measure.max_time, kGlanceTime);
    spec.warmup.iterations = std::min<std::int64_t>(spec.warmup.iterations, 1);
    spec.warmup.time = std::min(spec.warmup.time, kGlanceTime);
  }
  return plan;
}

class GateRun {
 public:
  GateRun(const Arguments& arguments, Plan plan, GateSides sides, std::string run_id,
          std::string folder, InterruptWatch& watch, Env& env)
      : arguments_(arguments),
        plan_(std::move(plan)),
        folder_(std::move(folder)),
        watch_(watch),
        env_(env),
        started_(env.clock->now()) {
    gate_.program = arguments.program;
    gate_.facts.run_id = std::move(run_id);
    gate_.facts.candidate = std::move(sides.candidate);
    gate_.facts.base = std::move(sides.base);
  }

  Result<ExitStatus> execute(FileSink& sink) {
    auto progress = make_progress(arguments_.verbosity, env_);
    GateSpent spent;
    Nanoseconds begun = started_;
    const auto since_then = [&] {
      const Nanoseconds begin = std::exchange(begun, env_.clock->now());
      return begun - begin;
    };
    BENCH_RETURN_IF_ERROR(stage_one(sink, *progress));
    spent.stage_one = since_then();
    GateParts parts = parts_of(sink, *progress);
    const GateTask task{&plan_, gate_.facts.run_id, arguments_.seed.value_or(1), budget_left()};
    GateMeasurer measurer(task, parts, *env_.clock);
    BENCH_RETURN_IF_ERROR(stage_two(sink, parts, measurer, *progress));
    spent.measuring = since_then();
    spent.samples = measurer.spent_on_samples();
    BENCH_RETURN_IF_ERROR(make_kits(sink, parts, measurer, *progress));
    spent.kits = since_then();
    gate_.spent = spent;
    progress.reset();
    return report();
  }

 private:
  Status stage_one(FileSink& sink, RunObserver& progress);
  void add_cases(const Report& report);
  Status look_up(const Report& report);
  GateParts parts_of(FileSink& sink, RunObserver& progress);
  std::optional<Nanoseconds> budget_left() const;
  Status stage_two(FileSink& sink, const GateParts& parts, GateMeasurer& measurer,
                   RunObserver& progress);
  Status make_kits(FileSink& sink, const GateParts& parts, GateMeasurer& measurer,
                   RunObserver& progress);
  Result<Kit> kit_of(const Judgement& judgement, const Case& spec, const GateParts& parts,
                     ops::MetLayouts met);
  std::optional<KitSide> stored_side(const Judgement& judgement) const;
  void ask_base(const GateParts& parts, RunObserver& progress);
  Result<ExitStatus> report();

  const Arguments& arguments_;
  Plan plan_;
  std::string folder_;
  InterruptWatch& watch_;
  Env& env_;
  Nanoseconds started_;
  GateFile gate_;
  QuietLevels levels_;  // of the store and of stage 1
  KitPaths kits_;
};

Status GateRun::stage_one(FileSink& sink, RunObserver& progress) {
  RunOptions options;
  options.worker_program = gate_.facts.candidate.program;
  options.worker_environment = gate_.facts.candidate.environment;
  options.seed = arguments_.seed.value_or(options.seed);
  options.budget = arguments_.budget;
  options.run_id = gate_.facts.run_id;
  options.tool_version = gate_.facts.candidate.tool_version;
  options.tool_commit = gate_.facts.candidate.commit;
  options.arguments = arguments_.command_line;
  if (arguments_.require_gpu) options.required_device = kGpuDevice;
  options.store = arguments_.baseline.value_or(std::string(kDefaultStore));
  options.interrupted = [this] { return watch_.seen(); };
  std::optional<Plan> glance;
  if (gate_.facts.base) glance = glance_at(plan_);
  BENCH_ASSIGN_OR_RETURN(const RunSummary summary,
                         execute_plan(glance ? *glance : plan_, options, sink, progress, env_));
  BENCH_ASSIGN_OR_RETURN(const Report report, parse_report(sink.text(), sink.path()));
  add_cases(report);
  gate_.evidence.stopped = summary.stopped_by;
  gate_.evidence.settings = plan_.gate.value_or(GateSettings{});
  gate_.facts.config_name = plan_.name;
  gate_.facts.config_files = plan_.files;
  gate_.facts.plugins = plan_.plugins;
  if (!report.runs.empty()) {
    gate_.facts.machine_class = report.runs.back().environment.machine_class;
    gate_.facts.candidate.libraries = report.runs.back().environment.libraries;
  }
  return look_up(report);
}

// One per case of the plan, in its order: after Ctrl-C the report lacks those that were not
// reached.
void GateRun::add_cases(const Report& report) {
  for (const CaseRecord& record : report.cases) {
    if (record.quiet) levels_.know(record.quiet->threads, record.quiet->level);
  }
  std::map<std::string, CaseEvidence> reported;
  for (CaseEvidence& entry : bench::stage_one(report)) {
    const std::string id = entry.id;
    reported.emplace(id, std::move(entry));
  }
  for (const Case& spec : plan_.cases) {
    CaseEvidence& entry = gate_.evidence.cases.emplace_back();
    if (auto found = reported.extract(spec.id)) {
      entry = std::move(found.mapped());
    } else {
      entry.id = spec.id;
      entry.source = case_facts(spec).source;
      entry.is_unmeasured = true;
    }
    const bool is_missing = entry.outcome == Outcome::skipped && !entry.is_unmeasured;
    if (arguments_.require_gpu && is_missing && spec.key.device == kGpuDevice) {
      entry.outcome = Outcome::failed;
      entry.reason = fmt::format("--require gpu: {}", entry.reason.value_or(""));
    }
  }
}

Status GateRun::look_up(const Report& report) {
  GateEvidence& evidence = gate_.evidence;
  const BaselineStore store(arguments_.baseline.value_or(std::string(kDefaultStore)));
  StoredSuite stored;
  if (const auto foreign = store.foreign_content(); foreign && !arguments_.baseline) {
    print_line(*env_.err, "bench gate: " + foreign->message());
  } else if (arguments_.baseline || store.list().ok()) {
    gate_.facts.store = store.folder();
    BENCH_ASSIGN_OR_RETURN(stored, add_stored(report, store, evidence.cases));
    for (const std::string& problem : stored.problems)
      print_line(*env_.err, fmt::format("bench gate: {}", problem));
  }
  evidence.moved = machine_moved(report.canaries, stored.canaries, evidence.policy.canary_limit);
  evidence.changes = std::move(stored.changes);
  evidence.configuration_is_stored = stored.holds_configuration;
  evidence.store_problems = std::move(stored.problems);
  // A part of the configuration misses the rest of it on purpose.
  const bool whole = arguments_.filters.empty() && arguments_.devices.empty() &&
                     !arguments_.shard && !arguments_.gate.allow_removed;
  if (whole) evidence.removed = std::move(stored.removed);
  return Done{};
}

// A base that cannot be put beside the candidate costs the comparison, never the run.
void GateRun::ask_base(const GateParts& parts, RunObserver& progress) {
  const auto greeting = exchange_greeting(parts.start_base, parts.hello, parts.interrupted);
  const Status speaks = greeting.ok() ? check_protocol(*greeting, parts.hello) : Status(Done{});
  if (greeting.ok() && speaks.ok()) {
    gate_.facts.base->libraries[greeting->library.name] = greeting->library.version;
    gate_.evidence.changes = changes_between(library_facts(gate_.facts.base->libraries),
                                             library_facts(gate_.facts.candidate.libraries));
    return;
  }
  if (watch_.seen()) return;  // it was not the base's fault
  // A base of another release cannot be compared with; one that answers nothing has died.
  const Outcome outcome = greeting.ok() ? Outcome::unsupported : Outcome::failed;
  const Error& why = greeting.ok() ? speaks.error() : greeting.error();
  progress.message("the base cannot be measured: " + why.message());
  for (CaseEvidence& entry : gate_.evidence.cases) {
    entry.failure = SideFailure{SideFailure::Side::base, outcome, why.message()};
  }
}

GateParts GateRun::parts_of(FileSink& sink, RunObserver& progress) {
  GateParts parts = real_gate_parts(gate_.facts.candidate, gate_.facts.base, plan_, env_);
  parts.interrupted = [this] { return watch_.seen(); };
  parts.append = [&sink](std::string_view line) { return sink.append_line(std::string(line)); };
  parts.progress = duet_progress(progress);
  parts.levels = levels_;
  return parts;
}

std::optional<Nanoseconds> GateRun::budget_left() const {
  if (!arguments_.budget) return kDuetBudget;
  return *arguments_.budget - (env_.clock->now() - started_);
}

Status GateRun::stage_two(FileSink& sink, const GateParts& parts, GateMeasurer& measurer,
                          RunObserver& progress) {
  GateEvidence& evidence = gate_.evidence;
  if (gate_.facts.base) {
    evidence.mode = GateEvidence::Mode::paired;
    ask_base(parts, progress);
  }
  BENCH_RETURN_IF_ERROR(sink.append_line(gate_line(gate_.facts, evidence)));
  for (const CaseEvidence& entry : evidence.cases) {
    if (!entry.stored) continue;
    BENCH_RETURN_IF_ERROR(
        sink.append_line(stored_line(gate_.facts.run_id, entry.id, *entry.stored)));
  }
  BENCH_ASSIGN_OR_RETURN(Decision decision, measurer.settle(evidence));
  gate_.judgements = std::move(decision.judgements);
  for (const Judgement& judgement : gate_.judgements) {
    BENCH_RETURN_IF_ERROR(sink.append_line(verdict_line(gate_.facts.run_id, judgement)));
  }
  gate_.conclusion = conclude(evidence, gate_.judgements, exit_rules(arguments_));
  return sink.append_line(gate_end_line(gate_.facts.run_id, evidence.stopped));
}

Status GateRun::make_kits(FileSink& sink, const GateParts& parts, GateMeasurer& measurer,
                          RunObserver& progress) {
  std::map<std::string, const Case*> specs;
  for (const Case& spec : plan_.cases) specs.emplace(spec.id, &spec);
  for (const Judgement* judgement : reading_order(gate_.judgements)) {
    const auto spec = specs.find(judgement->id);
    const bool wanted = arguments_.gate.kits_for_all || needs_kit(judgement->verdict);
    if (!wanted || spec == specs.end() || watch_.seen()) continue;
    progress.message("profiling " + judgement->id);
    BENCH_ASSIGN_OR_RETURN(ops::MetLayouts met, measurer.layouts_met_by(*spec->second));
    BENCH_ASSIGN_OR_RETURN(const Kit kit, kit_of(*judgement, *spec->second, parts, std::move(met)));
    const std::string folder = folder_ + "/" + store_name(judgement->id);
    BENCH_RETURN_IF_ERROR(write_kit(kit, folder, sink.text(),
                                    arguments_.force ? Existing::replace : Existing::refuse));
    kits_[judgement->id] = folder;
  }
  return Done{};
}

// A side that does not come up costs its half, with the reason.
Result<Kit> GateRun::kit_of(const Judgement& judgement, const Case& spec, const GateParts& parts,
                            ops::MetLayouts met) {
  Kit kit;
  kit.gate = &gate_;
  kit.judgement = &judgement;
  KitRequest request;
  request.spec = &spec;
  request.met = std::move(met);
  request.seed = arguments_.seed.value_or(request.seed);
  request.label = "base";
  request.iteration = judgement.candidate;
  const auto take = [&](std::optional<KitSide>& side, const WorkerFactory& start) {
    auto profiled = profile_side(start, parts.hello, parts.interrupted, request, env_);
    if (profiled.ok()) {
      side = std::move(*profiled);
    } else {
      kit.notes.push_back(
          fmt::format("no profile of the {}: {}", request.label, profiled.error().message()));
    }
  };
  // What failed is profiled so that all up to its failure is kept.
  const auto entry = std::ranges::find(gate_.evidence.cases, judgement.id, &CaseEvidence::id);
  const auto outcome_of = [&](SideFailure::Side side) {
    if (entry == gate_.evidence.cases.end()) return Outcome::ok;
    if (entry->failure && entry->failure->side == side) return entry->failure->outcome;
    return side == SideFailure::Side::candidate ? entry->outcome : Outcome::ok;
  };
  request.outcome = outcome_of(SideFailure::Side::base);
  if (gate_.facts.base) {
    take(kit.base, parts.start_base);
  } else {
    kit.base = stored_side(judgement);
    if (!kit.base) kit.notes.push_back("the store holds no profiled iteration of the case");
  }
  request.label = "candidate";
  request.pid = 2;
  request.outcome = outcome_of(SideFailure::Side::candidate);
  take(kit.candidate, parts.start_candidate);
  return kit;
}

std::optional<KitSide> GateRun::stored_side(const Judgement& judgement) const {
  if (!gate_.facts.store) return std::nullopt;
  const BaselineStore store(*gate_.facts.store);
  const auto history = store.read(BaselineStore::file_of(gate_.facts.machine_class, judgement.id));
  if (!history.ok()) return std::nullopt;
  const auto& records = history->records;
  const auto last =
      std::find_if(records.rbegin(), records.rend(),
                   [](const BaselineRecord& record) { return record.profile.has_value(); });
  if (last == records.rend()) return std::nullopt;
  const std::string commit = last->commit.empty() ? "no commit" : last->commit;
  return kit_side(fmt::format("stored, {}, {}", commit, last->time), 1, *last->profile,
                  judgement.id);
}

Result<ExitStatus> GateRun::report() {
  BENCH_RETURN_IF_ERROR(write_reports(gate_, kits_, folder_, arguments_));
  print(gate_, kits_, arguments_, env_);
  if (arguments_.verbosity == Verbosity::normal) print_line(*env_.err, "evidence: " + folder_);
  return gate_.conclusion.status;
}

// The same evidence by today's rules.
Result<ExitStatus> decide_again(const Arguments& arguments, Env& env) {
  BENCH_ASSIGN_OR_RETURN(const std::string text, read_result_text(*arguments.gate.from));
  BENCH_ASSIGN_OR_RETURN(GateFile gate, read_gate_file(text, *arguments.gate.from));
  gate.judgements = decide(gate.evidence).judgements;
  gate.program = arguments.program;
  gate.conclusion = conclude(gate.evidence, gate.judgements, exit_rules(arguments));
  if (arguments.out) BENCH_RETURN_IF_ERROR(write_reports(gate, {}, *arguments.out, arguments));
  print(gate, {}, arguments, env);
  return gate.conclusion.status;
}

}  // namespace

ExitStatus gate_command(const Arguments& arguments, Env& env) {
  if (arguments.gate.self_test) return selftest_command(arguments, env);
  if (arguments.gate.from) {
    const Result<ExitStatus> status = decide_again(arguments, env);
    return status.ok() ? *status : fail("gate", status.error(), ExitStatus::usage, env);
  }
  if (arguments.inputs.empty()) {
    return fail("gate",
                Error{"names no configuration", "", "for example bench gate configs/resnet.yaml"},
                ExitStatus::usage, env);
  }
  if (arguments.baseline) {
    const BaselineStore store(*arguments.baseline);
    if (const auto files = store.list(); !files.ok()) {
      return fail("gate", files.error(), ExitStatus::usage, env);
    }
    if (const auto foreign = store.foreign_content())
      return fail("gate", *foreign, ExitStatus::usage, env);
  }
  auto plan = plan_or_diagnose(arguments, env);
  if (!plan) return ExitStatus::usage;
  InterruptWatch watch;
  const auto interrupted = [&watch] { return watch.seen(); };
  auto sides = gate_sides(arguments, *env.clock, interrupted);
  if (!sides.ok()) return fail("gate", sides.error(), ExitStatus::usage, env);
  const std::string run_id = make_run_id(env);
  const std::string folder = arguments.out.value_or(fmt::format("gate-{}-{}", plan->name, run_id));
  auto sink = open_gate(folder, arguments);
  if (!sink.ok()) return fail("gate", sink.error(), ExitStatus::usage, env);
  GateRun run(arguments, std::move(*plan), std::move(*sides), run_id, folder, watch, env);
  const Result<ExitStatus> status = run.execute(*sink);
  return status.ok() ? *status : fail("gate", status.error(), ExitStatus::not_measured, env);
}

}  // namespace bench
