// SPDX-License-Identifier: Apache-2.0
// `bench gate`: reads the options, opens the files and writes the reports. run_gate() measures and
// decides.
#include "base/file.hpp"
#include "base/folder.hpp"
#include "base/printable.hpp"
#include "base/quote.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/console_options.hpp"
#include "harness/cli/gate_options.hpp"
#include "harness/cli/plan_arguments.hpp"
#include "harness/cli/progress.hpp"
#include "harness/cli/turn.hpp"
#include "harness/gate/gate_run.hpp"
#include "harness/judge/equal_sides.hpp"
#include "harness/report/format.hpp"
#include "harness/report/gate_report.hpp"
#include "harness/result/result_text.hpp"
#include "harness/run/file_sink.hpp"
#include "harness/run/time_limit.hpp"
#include "harness/store/store.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <ostream>
#include <system_error>
#include <utility>

namespace bench {
namespace {

constexpr const char* kGateFile = "gate.jsonl";

// Creates the folder of a gate's files, if it is missing.
Status create_gate_folder(const std::string& folder) {
  Status created = create_folder(folder);
  if (created) return created;
  Error error = std::move(created).error();
  error.next = "choose another folder with --out";
  return error;
}

// Creates the folder and the evidence file of a gate. Existing files of a gate are replaced only
// with --force; other files in the folder stay.
Result<FileSink> open_gate(const std::string& folder, const Arguments& arguments) {
  BENCH_RETURN_IF_ERROR(create_gate_folder(folder));
  std::error_code code;
  // The evidence must be a regular file, because it is read again. Opening a FIFO would wait for a
  // reader and could not be interrupted.
  const std::string evidence = folder + "/" + kGateFile;
  if (std::filesystem::exists(evidence, code) &&
      !std::filesystem::is_regular_file(evidence, code)) {
    return Error{"is not a regular file", evidence, "choose another folder with --out"};
  }
  const Existing existing = arguments.force ? Existing::replace : Existing::refuse;
  for (const GateFormat& format : gate_formats())  // checks before measuring, not after
    BENCH_RETURN_IF_ERROR(check_output(fmt::format("{}/{}", folder, format.file), existing));
  BENCH_ASSIGN_OR_RETURN(RecordFile file, RecordFile::create(evidence, existing));
  return FileSink(std::move(file));
}

// `evidence`: the file of the gate.
ExitRules exit_rules(const Arguments& arguments, const std::string& evidence) {
  ExitRules rules;
  rules.save_command = format_save_command(arguments.program, evidence, arguments.baseline);
  // A commit of a bisection is good only if every case was compared and decided.
  const bool bisect = arguments.gate.bisect;
  if (arguments.gate.strict || bisect) rules.undecided = ExitRules::Undecided::strict;
  // A commit that changes nothing in the program is good, so --bisect accepts equal sides.
  if (arguments.gate.strict) rules.equal_sides = ExitRules::EqualSides::refused;
  if (arguments.gate.require_baseline || bisect) rules.baseline = ExitRules::Baseline::required;
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

// `evidence`: the file of the gate.
void print_gate(const GateFile& gate, const KitPaths& kits, const std::string& evidence,
                const Arguments& arguments, Env& env) {
  if (arguments.output == Output::json) {
    *env.out << gate_json(gate, kits);
    return;
  }
  if (env.variable("GITHUB_ACTIONS") == "true") *env.out << gate_annotations(gate, kits);
  ConsoleOptions console = console_options(env);
  console.notes = {arguments.notes,
                   fmt::format("{} report {}", arguments.program, shell_quoted(evidence))};
  *env.out << gate_console(gate, kits, console);
}

// Returns `part` if options select or exempt cases, because other stored cases are then missing on
// purpose.
GateRequest::Extent to_extent(const Arguments& arguments) {
  const bool is_whole = arguments.filters.empty() && arguments.devices.empty() &&
                        !arguments.shard && !arguments.gate.allow_removed;
  return is_whole ? GateRequest::Extent::whole : GateRequest::Extent::part;
}

GateRequest make_gate_request(const Arguments& arguments, Plan plan, GateSides sides,
                              std::string run_id, std::string folder) {
  GateRequest request{std::move(plan),   std::move(sides),  std::move(run_id),
                      std::move(folder), arguments.program, arguments.command_line};
  request.program_path = own_path();
  request.seed = arguments.seed;
  if (arguments.require_gpu) request.required_device = "cuda";
  request.store = arguments.baseline;
  request.extent = to_extent(arguments);
  if (arguments.gate.kits_for_all) request.kits = GateRequest::Kits::of_all;
  request.rules = exit_rules(arguments, request.folder + "/" + kGateFile);
  if (arguments.force) request.existing = Existing::replace;
  return request;
}

Result<ExitStatus> measure_and_report(GateRequest request, FileSink& file,
                                      const Arguments& arguments, Env& env) {
  request.warn = [&env](const std::string& problem) {
    print_sentence(env, "bench gate: " + problem);
  };
  auto progress = make_progress(arguments.verbosity, env);
  BENCH_ASSIGN_OR_RETURN(const GateOutcome outcome, run_gate(request, file, *progress, env));
  progress.reset();  // clears the progress line before results are printed
  BENCH_RETURN_IF_ERROR(write_reports(outcome.gate, outcome.kits, request.folder, arguments));
  print_gate(outcome.gate, outcome.kits, request.folder + "/" + kGateFile, arguments, env);
  if (arguments.verbosity == Verbosity::normal) print_line(*env.err, "evidence: " + request.folder);
  return outcome.gate.conclusion.status;
}

// Judges the evidence of --from again by the current rules.
Result<ExitStatus> decide_again(const Arguments& arguments, Env& env) {
  BENCH_ASSIGN_OR_RETURN(const std::string text, read_result_text(*arguments.gate.from));
  BENCH_ASSIGN_OR_RETURN(GateFile gate, read_gate_file(text, *arguments.gate.from));
  gate.judgements = decide(gate.evidence).judgements;
  gate.program = arguments.program;
  gate.program_path = own_path();
  gate.conclusion = conclude(gate, exit_rules(arguments, *arguments.gate.from));
  if (arguments.out) {
    BENCH_RETURN_IF_ERROR(create_gate_folder(*arguments.out));
    BENCH_RETURN_IF_ERROR(write_reports(gate, {}, *arguments.out, arguments));
  }
  print_gate(gate, {}, *arguments.gate.from, arguments, env);
  return gate.conclusion.status;
}

ExitStatus execute_gate(const Arguments& arguments, Env& env) {
  if (arguments.gate.self_test) return selftest_command(arguments, env);
  if (arguments.gate.from) {
    const Result<ExitStatus> status = decide_again(arguments, env);
    return status.ok() ? *status : fail("gate", status.error(), ExitStatus::usage, env);
  }
  if (arguments.inputs.empty()) {
    return fail(
        "gate",
        Error{"no configuration is given", "", "for example bench gate configs/resnet.yaml"},
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
  const auto interrupted = [&watch] { return watch.is_interrupted(); };
  const TimeLimit limit(arguments.budget, interrupted, *env.clock);
  auto sides = find_gate_sides(arguments, *plan, limit, env);
  if (!sides.ok()) return fail("gate", sides.error(), unusable_sides_status(limit), env);
  const auto must_abort = [&limit] { return limit.must_abort(); };
  if (const Status taken = inspect_sides(*sides, *plan, must_abort, env); !taken)
    return fail("gate", taken.error(), ExitStatus::usage, env);
  const std::string run_id = make_run_id(env);
  const std::string folder =
      arguments.out.value_or(fmt::format("gate-{}-{}", file_stem(plan->name), run_id));
  auto sink = open_gate(folder, arguments);
  if (!sink.ok()) return fail("gate", sink.error(), ExitStatus::usage, env);
  GateRequest request =
      make_gate_request(arguments, std::move(*plan), std::move(*sides), run_id, folder);
  request.interrupted = interrupted;
  request.budget = limit.remaining();  // waiting for others does not count
  const auto turn = take_turn(arguments, request.budget, interrupted, env);
  if (!turn.ok()) return fail("gate", turn.error(), kNoTurn, env);
  request.beside = turn->beside();
  request.joined = [&turn] { return turn->joined(); };
  const Result<ExitStatus> status = measure_and_report(std::move(request), *sink, arguments, env);
  return status.ok() ? *status : fail("gate", status.error(), ExitStatus::not_measured, env);
}

}  // namespace

ExitStatus gate_command(const Arguments& arguments, Env& env) {
  const ExitStatus status = execute_gate(arguments, env);
  return arguments.gate.bisect ? bisect_status("gate", status, env) : status;
}

}  // namespace bench
