// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "base/text.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/console_options.hpp"
#include "harness/cli/gate_options.hpp"
#include "harness/cli/plan_arguments.hpp"
#include "harness/cli/progress.hpp"
#include "harness/cli/turn.hpp"
#include "harness/gate/sides.hpp"
#include "harness/host/placement.hpp"
#include "harness/host/process.hpp"
#include "harness/judge/equal_sides.hpp"
#include "harness/report/comparison_text.hpp"
#include "harness/report/duet_text.hpp"
#include "harness/report/format.hpp"
#include "harness/report/gate_report.hpp"
#include "harness/result/report.hpp"
#include "harness/run/case_progress.hpp"
#include "harness/run/file_sink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace bench {
namespace {

constexpr int kDefaultDuets = 20;

// Returns evidence for the plan's cases, without measurements. Its policy measures exactly the
// requested number of duets per case, without confirmations.
GateEvidence make_evidence(const Plan& plan, const Arguments& arguments) {
  GateEvidence evidence;
  evidence.mode = GateEvidence::Mode::paired;
  evidence.policy.first_duets = arguments.gate.duets.value_or(kDefaultDuets);
  evidence.policy.last_duets = evidence.policy.first_duets;
  evidence.policy.last_confirmations = 0;
  evidence.settings = plan.gate.value_or(GateSettings{});
  for (const Case& spec : plan.cases) {
    CaseRecord record = case_facts(spec);
    MeasuredCase& candidate = evidence.cases.emplace_back().candidate;
    candidate.id = std::move(record.id);
    candidate.source = std::move(record.source);
    describe_machine({}, candidate);
  }
  return evidence;
}

// A duet is the instrument for small effects, so a percentage has two decimals. The sentence calls
// a side slower only if the bounds of the effect agree on the direction.
std::string format_duet_effect(const CaseAssessment& judgement) {
  const double ratio = 1 + *judgement.effect;
  const bool is_factor = std::max(ratio, 1 / ratio) >= kMinFactor;
  const bool is_certain =
      (judgement.low && *judgement.low > 0) || (judgement.high && *judgement.high < 0);
  const std::string basis =
      fmt::format("over {} duets (p = {:.2g})\n", judgement.duets, judgement.p.value_or(1));
  if (!is_certain) {
    return fmt::format("no difference is certain: candidate {:+.2f} % against base {}",
                       100 * *judgement.effect, basis);
  }
  const std::string effect = is_factor ? format_effect(ratio, {}, {}, EffectDirection::certain)
                                       : fmt::format("{:.2f} % {}", std::abs(100 * (ratio - 1)),
                                                     ratio < 1 ? "faster" : "slower");
  return fmt::format("candidate is {} than base {}", effect, basis);
}

// Returns the sentences on how certain the effect is.
std::vector<Note> duet_notes(const GateFile& gate) {
  const CaseAssessment& judgement = gate.judgements.front();
  std::vector<Note> notes;
  // The reason of an undecided case repeats the minimum detectable effect, which has its own note.
  const bool is_repeated = judgement.detectable && !judgement.pending;
  if (!judgement.reason.empty() && !is_repeated)
    notes.push_back({NoteTopic::validity, judgement.reason});
  if (judgement.low && judgement.high) {
    notes.push_back(
        {NoteTopic::quality,
         fmt::format("at least {:+.2f} %, at most {:+.2f} %, each with an error of {:g} %",
                     100 * *judgement.low, 100 * *judgement.high,
                     100 * gate.evidence.policy.bound_error)});
  }
  if (judgement.detectable) {
    notes.push_back({NoteTopic::certainty, fmt::format("minimum detectable effect: {:.2f} %",
                                                       100 * *judgement.detectable)});
  }
  if (auto beside = beside_sentence(gate.facts.beside); !beside.empty())
    notes.push_back({NoteTopic::validity, std::move(beside)});
  if (auto share = format_interrupted_rounds(gate.evidence))
    notes.push_back({NoteTopic::other, *std::move(share)});
  return notes;
}

std::string format_duet_result(const GateFile& gate, NoteExtent extent) {
  const CaseAssessment& judgement = gate.judgements.front();
  const std::string sides =
      fmt::format("  {}\n  {}\n  {}\n", judgement.id, format_side("base", *gate.facts.base),
                  format_side("candidate", gate.facts.candidate));
  if (!judgement.effect || judgement.duets == 0) {
    return fmt::format("nothing could be compared: {}\n{}", judgement.reason, sides);
  }
  std::string text = format_duet_effect(judgement);
  if (const auto equal = describe_equal_sides(gate)) text += "  " + *equal + "\n";
  text += sides;
  text += fmt::format("  medians: base {}, candidate {}\n", format_time(*judgement.base),
                      format_time(*judgement.candidate));
  const std::string changes = format_changes(judgement.changes);
  if (!changes.empty()) text += "  changed: " + changes + "\n";
  return text + format_notes(duet_notes(gate), {extent, ""}, kUnlimitedWidth, "  ");
}

std::string format_duets_result(const GateFile& gate, const Arguments& arguments, Env& env) {
  if (gate.evidence.cases.size() == 1)
    return format_console_lines(format_duet_result(gate, arguments.notes), env);
  return format_changed_cases(gate, console_options(env));
}

class DuetRunner {
 public:
  DuetRunner(const Arguments& arguments, const Plan& plan, GateSides sides, const TimeLimit& limit,
             InterruptWatch& watch, Env& env)
      : arguments_(arguments), plan_(plan), limit_(limit), watch_(watch), env_(env) {
    gate_.program = arguments.program;
    gate_.program_path = own_path();
    gate_.facts.run_id = make_run_id(env);
    gate_.facts.config_name = plan.name;
    gate_.facts.candidate = std::move(sides.candidate);
    gate_.facts.base = std::move(sides.base);
    gate_.facts.inherited = inherited_variables(inherited_environment());
    gate_.evidence = make_evidence(plan, arguments);
  }

  Result<ExitStatus> execute(const MachineTurn& turn) {
    GateParts parts = real_gate_parts(gate_.facts.candidate, gate_.facts.base, plan_, env_);
    parts.interrupted = [this] { return watch_.is_interrupted(); };
    std::optional<RecordFile> file;
    if (arguments_.out) {
      BENCH_ASSIGN_OR_RETURN(
          file, RecordFile::create(*arguments_.out,
                                   arguments_.force ? Existing::replace : Existing::refuse));
    }
    parts.append = [&](std::string_view line) {
      return file ? file->append(line) : Status(Done{});
    };
    auto progress = make_progress(arguments_.verbosity, env_);
    parts.progress = duet_progress(*progress);
    const GateTask task{&plan_, gate_.facts.run_id, arguments_.seed.value_or(1),
                        limit_.remaining()};
    GateMeasurer measurer(task, parts, *env_.clock);
    BENCH_ASSIGN_OR_RETURN(Decision decision, measurer.settle(gate_.evidence));
    progress.reset();
    gate_.judgements = std::move(decision.judgements);
    gate_.facts.beside = turn.all();
    gate_.conclusion = conclude(gate_, {});
    *env_.out << (arguments_.output == Output::json ? gate_json(gate_, {})
                                                    : format_duets_result(gate_, arguments_, env_));
    return status();
  }

 private:
  // Returns whether all requested duets were measured. With fewer duets, the effect is shown, but
  // the command does not succeed. Of several cases, those that a side skips or does not support
  // need no duets.
  bool is_complete() const {
    bool has_duets = false;
    for (std::size_t i = 0; i < gate_.evidence.cases.size(); ++i) {
      const auto& failure = gate_.evidence.cases[i].failure;
      const bool is_left_out = failure && (failure->outcome == Outcome::skipped ||
                                           failure->outcome == Outcome::unsupported);
      if (is_left_out) continue;
      if (failure || gate_.judgements[i].duets < gate_.evidence.policy.first_duets) return false;
      has_duets = true;
    }
    return has_duets;
  }

  // Returns the exit status. Only a bisection needs a verdict; otherwise the command succeeds with
  // any effect.
  ExitStatus status() const {
    if (!is_complete()) return ExitStatus::not_measured;
    if (!arguments_.gate.bisect) return ExitStatus::success;
    if (count(gate_.judgements, Verdict::regression) > 0) return ExitStatus::regression;
    const std::size_t good =
        count(gate_.judgements, Verdict::pass) + count(gate_.judgements, Verdict::improved);
    return good == gate_.judgements.size() ? ExitStatus::success : ExitStatus::undecided;
  }

  const Arguments& arguments_;
  const Plan& plan_;
  const TimeLimit& limit_;
  InterruptWatch& watch_;
  Env& env_;
  GateFile gate_;
};

ExitStatus execute_duet(const Arguments& arguments, Env& env) {
  const auto plan = plan_or_diagnose(arguments, env);
  if (!plan) return ExitStatus::usage;
  if (plan->cases.empty()) {
    return fail("duet",
                Error{"selects no case", arguments.inputs.front(),
                      "give the id of a case; `bench list` shows all ids"},
                ExitStatus::usage, env);
  }
  InterruptWatch watch;
  const auto interrupted = [&watch] { return watch.is_interrupted(); };
  const TimeLimit limit(arguments.budget, interrupted, *env.clock);
  auto sides = find_gate_sides(arguments, *plan, limit, env);
  if (!sides.ok()) return fail("duet", sides.error(), unusable_sides_status(limit), env);
  if (!sides->base) {
    return fail("duet",
                Error{"there is no second side to compare with", "",
                      "name the other side with --base BENCH, its library with --base-library or "
                      "--cand-library PATH, or set a variable with --base-env or --cand-env "
                      "NAME=VALUE"},
                ExitStatus::usage, env);
  }
  if (const Status taken = inspect_sides(*sides, *plan, interrupted, env); !taken) {
    return fail("duet", taken.error(), ExitStatus::usage, env);
  }
  if (sides->base_failure) {
    return fail("duet", Error{sides->base_failure->reason, "--base", ""}, ExitStatus::not_measured,
                env);
  }
  DuetRunner runner(arguments, *plan, std::move(*sides), limit, watch, env);
  const auto turn = take_turn(arguments, limit.remaining(), interrupted, env);
  if (!turn.ok()) return fail("duet", turn.error(), kNoTurn, env);
  const Result<ExitStatus> status = runner.execute(*turn);
  return status.ok() ? *status : fail("duet", status.error(), ExitStatus::not_measured, env);
}

}  // namespace

ExitStatus duet_command(const Arguments& arguments, Env& env) {
  const ExitStatus status = execute_duet(arguments, env);
  return arguments.gate.bisect ? bisect_status("duet", status, env) : status;
}

}  // namespace bench
