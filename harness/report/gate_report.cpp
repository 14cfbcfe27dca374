// SPDX-License-Identifier: Apache-2.0
#include "harness/report/gate_report.hpp"

#include "base/quote.hpp"
#include "base/text.hpp"
#include "harness/judge/gate_cause.hpp"
#include "harness/report/cause_text.hpp"
#include "harness/report/comparison_text.hpp"
#include "harness/result/report.hpp"
#include "harness/store/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <system_error>

namespace bench {
namespace {

// Returns " --base PROGRAM --base-env X=Y". `program` is nullopt if the option has its default.
std::string side_options(std::string_view option, const std::optional<std::string>& program,
                         const GateSide& side) {
  std::string text = program ? fmt::format(" --{} {}", option, shell_quoted(*program)) : "";
  for (const auto& [name, value] : side.environment) {
    text += fmt::format(" --{}-env {}", option, shell_quoted(name + "=" + value));
  }
  return text;
}

std::string format_seconds(Nanoseconds time) {
  return fmt::format("{:.1f} s", std::chrono::duration<double>(time).count());
}

// Returns "time: 9.1 s for the candidate's run of 61 cases, 98.0 s for 366 duets (52 % of it
// warm-up and samples)".
std::string format_times_spent(const GateFile& gate) {
  const GateSpent& spent = *gate.spent;
  std::size_t duets = 0, windows = 0;
  for (const CaseEvidence& entry : gate.evidence.cases) {
    duets += entry.duets.size();
    windows += entry.windows.size();
  }
  std::string text =
      fmt::format("time: {} for the candidate's run of {}", format_seconds(spent.stage_one),
                  pluralise(gate.evidence.cases.size(), "case"));
  if (duets + windows > 0) {
    text += fmt::format(", {} for {} {}", format_seconds(spent.measuring), duets + windows,
                        duets > 0 ? "duets" : "repeat runs");
    if (spent.measuring > Nanoseconds(0)) {
      text += fmt::format(" ({:.0f} % of it warm-up and samples)",
                          100 * static_cast<double>(spent.samples.count()) /
                              static_cast<double>(spent.measuring.count()));
    }
  }
  // A shorter time would read 0.0 s.
  constexpr Nanoseconds kMinShown = std::chrono::milliseconds(50);
  if (spent.kits >= kMinShown) text += fmt::format(", {} for kits", format_seconds(spent.kits));
  return text;
}

// Returns "12 minutes", "5 hours", "9 days".
std::string format_age(std::chrono::seconds age) {
  using Days = std::chrono::duration<std::int64_t, std::ratio<86400>>;
  const auto whole = [&]<class Unit>(Unit unit) {
    return static_cast<std::size_t>(std::chrono::duration_cast<Unit>(age) / unit);
  };
  if (age >= Days(2)) return pluralise(whole(Days(1)), "day");
  if (age >= std::chrono::hours(2)) return pluralise(whole(std::chrono::hours(1)), "hour");
  return pluralise(whole(std::chrono::minutes(1)), "minute");
}

// Returns the command that shows whether the gate works on this machine. It takes about 30 s.
std::string proof_command(const GateFile& gate) {
  const bool is_default = gate.facts.store.value_or(std::string(kDefaultStore)) == kDefaultStore;
  return fmt::format("`{} selftest --budget 30s{}`", gate.program,
                     is_default ? "" : " --baseline " + shell_quoted(*gate.facts.store));
}

// Returns what the last self-test says about the gate. Empty for files of older versions.
std::string format_proof(const GateFile& gate) {
  if (gate.facts.time.empty()) return "";
  constexpr std::string_view kNotAlive = "this gate was not shown alive on this machine";
  if (!gate.facts.proof) {
    return fmt::format("{}: no self-test is stored; run {}", kNotAlive, proof_command(gate));
  }
  const ProofOfLife& proof = *gate.facts.proof;
  if (const std::string problem = find_proof_problem(proof); !problem.empty()) {
    return fmt::format("{}: the self-test of {} failed, {}; run {}", kNotAlive, proof.time, problem,
                       proof_command(gate));
  }
  const auto age = proof_age(proof, gate.facts.time);
  if (!age || *age > kMaxProofAge) {
    return fmt::format(
        "{} lately: the last self-test is {}; run {}", kNotAlive,
        age ? "of " + format_age(*age) + " ago" : "later than this gate, at " + proof.time,
        proof_command(gate));
  }
  return fmt::format(
      "shown alive {} ago: {:.1f} % of unchanged suites of 100 cases fail here, and {:+.0f} % is "
      "the smallest slowdown found in {:.0f} % of slower cases or more",
      format_age(*age),
      100 * static_cast<double>(proof.red_suites) / static_cast<double>(proof.suites),
      100 * smallest_found_slowdown(proof).value_or(0), 100 * kMinPower);
}

}  // namespace

std::optional<std::string> format_interrupted_rounds(const GateEvidence& evidence) {
  std::size_t uninterrupted = 0, rounds = 0;
  for (const CaseEvidence& entry : evidence.cases) {
    for (const Duet& duet : entry.duets) {
      if (!has_canaries(duet)) continue;
      uninterrupted += find_uninterrupted_rounds(duet).size();
      rounds += duet.base.size();
    }
  }
  if (rounds == 0) return std::nullopt;
  return fmt::format(
      "other programs interrupted {:.0f} % of the rounds; if possible, only the others count",
      100 * static_cast<double>(rounds - uninterrupted) / static_cast<double>(rounds));
}

std::vector<std::string> side_lines(const GateFile& gate) {
  std::vector<std::string> lines;
  if (!gate.conclusion.advice.empty()) {
    lines.push_back(fmt::format("exit status {}: {}", static_cast<int>(gate.conclusion.status),
                                gate.conclusion.advice));
  }
  lines.push_back(format_side("candidate", gate.facts.candidate));
  if (gate.facts.base) {
    lines.push_back(format_side("base", *gate.facts.base));
  } else {
    lines.push_back(
        fmt::format("no base: the store {} shows only large regressions; use --base BENCH to "
                    "measure both sides together and detect effects of {:g} %",
                    gate.facts.store.value_or("(none)"), 100 * gate.evidence.settings.detect));
  }
  if (std::string proof = format_proof(gate); !proof.empty()) lines.push_back(std::move(proof));
  return lines;
}

std::vector<Note> gate_notes(const GateFile& gate) {
  std::vector<Note> notes;
  CauseSummary causes;
  for (const CaseAssessment& judgement : gate.judgements)
    causes.add(find_gate_cause(gate, judgement));
  for (std::string& cause : causes.sentences())
    notes.push_back({NoteTopic::answer, std::move(cause)});
  if (const auto& problems = gate.evidence.store_problems; !problems.empty()) {
    notes.push_back({NoteTopic::validity,
                     fmt::format("the store has {}, the first: {}",
                                 pluralise(problems.size(), "malformed line"), problems.front())});
  }
  if (auto beside = beside_sentence(gate.facts.beside); !beside.empty())
    notes.push_back({NoteTopic::validity, std::move(beside)});
  if (auto share = format_interrupted_rounds(gate.evidence))
    notes.push_back({NoteTopic::certainty, *std::move(share)});
  if (!gate.evidence.changes.empty()) {
    notes.push_back({NoteTopic::validity, "changed: " + format_changes(gate.evidence.changes)});
  }
  if (gate.spent) notes.push_back({NoteTopic::other, format_times_spent(gate)});
  return notes;
}

std::vector<std::string> context_lines(const GateFile& gate) {
  std::vector<std::string> lines = side_lines(gate);
  for (Note& note : gate_notes(gate)) lines.push_back(std::move(note.text));
  return lines;
}

std::vector<const CaseAssessment*> reading_order(const std::vector<CaseAssessment>& judgements) {
  std::vector<const CaseAssessment*> order;
  for (const CaseAssessment& judgement : judgements) order.push_back(&judgement);
  std::stable_sort(order.begin(), order.end(),
                   [](const CaseAssessment* a, const CaseAssessment* b) {
                     if (a->verdict != b->verdict) return a->verdict < b->verdict;
                     const bool is_improved = a->verdict == Verdict::improved;
                     const double first = a->effect.value_or(is_improved ? 0 : -1);
                     const double second = b->effect.value_or(is_improved ? 0 : -1);
                     return is_improved ? first < second : first > second;
                   });
  return order;
}

std::string format_signed_effect(const CaseAssessment& judgement) {
  if (!judgement.effect) return "";
  std::string text = fmt::format("{:+.1f}%", 100 * *judgement.effect);
  if (judgement.low && judgement.high) {
    text += fmt::format(" [{:+.1f}%, {:+.1f}%]", 100 * *judgement.low, 100 * *judgement.high);
  }
  return text;
}

std::string describe_effect(const CaseAssessment& judgement) {
  if (!judgement.effect) return "";
  const auto ratio = [](const std::optional<double>& effect) {
    return effect ? std::optional(1 + *effect) : std::nullopt;
  };
  const std::optional<double> low = ratio(judgement.low), high = ratio(judgement.high);
  const bool has_direction =
      judgement.verdict == Verdict::regression || judgement.verdict == Verdict::improved;
  return format_effect(1 + *judgement.effect, low, high,
                       has_direction ? EffectDirection::certain : effect_direction(low, high));
}

std::string format_duets(const CaseAssessment& judgement) {
  if (judgement.course == CaseAssessment::Course::screened_out) return "none";
  if (judgement.duets == 0) return "";
  if (judgement.confirmations == 0) return std::to_string(judgement.duets);
  return fmt::format("{}+{}", judgement.duets, judgement.confirmations);
}

std::string_view reference_name(const CaseAssessment& judgement) {
  return judgement.against ? to_string(*judgement.against) : "";
}

bool is_error(const GateFile& gate, const CaseAssessment& judgement) {
  if (judgement.verdict == Verdict::error || judgement.cut_short) return true;
  const ExitStatus status = gate.conclusion.status;
  const bool is_red = status == ExitStatus::nothing_comparable || status == ExitStatus::undecided;
  return is_red && count_coverage(gate.judgements).judged == 0;
}

std::string format_side(std::string_view role, const GateSide& side) {
  std::string text = fmt::format("{}: bench {}", role, side.tool_version);
  if (!side.commit.empty()) text += fmt::format(" (commit {})", side.commit);
  const auto add_file = [&](std::string_view preposition, std::string_view name) {
    const auto file = std::ranges::find(side.loaded, name, &LoadedFile::name);
    if (file == side.loaded.end()) return;
    text += fmt::format(" {} {}", preposition, file->path);
    if (!file->detail.empty()) text += fmt::format(" ({})", file->detail);
  };
  add_file("at", kProgramFile);
  for (const auto& [name, version] : side.libraries) {
    text += fmt::format(", {} {}", name, version);
    add_file("from", name);
  }
  std::string_view separator = " with ";
  for (const auto& [name, value] : side.environment) {
    text += fmt::format("{}{}={}", separator, name, value);
    separator = " ";
  }
  return text;
}

namespace {

// Returns the options for the sides of `bench duet`. The candidate is by default this program. So
// is the base if a side has variables of its own.
std::string duet_options(const GateFile& gate) {
  const GateSide& base = *gate.facts.base;
  const GateSide& candidate = gate.facts.candidate;
  const auto named = [&](const GateSide& side) {
    return side.program == gate.program_path ? std::nullopt : std::optional(side.program);
  };
  const bool has_variables = !base.environment.empty() || !candidate.environment.empty();
  return side_options("base", has_variables ? named(base) : base.program, base) +
         side_options("cand", named(candidate), candidate);
}

// Returns the command that measures the candidate of a gate without a base as the gate did, and
// compares it with the same store.
std::string run_reproduction(const GateFile& gate, const CaseAssessment& judgement,
                             const std::string& plugins) {
  const GateSide& candidate = gate.facts.candidate;
  std::map<std::string, std::string> variables = candidate.environment;
  variables.insert(gate.facts.inherited.begin(), gate.facts.inherited.end());
  const std::string program =
      candidate.program == gate.program_path ? gate.program : shell_quoted(candidate.program);
  const std::string store =
      gate.facts.store ? " --baseline " + shell_quoted(*gate.facts.store) : "";
  return fmt::format("{}{} run {}{}{}", shell_variables(variables), program,
                     shell_quoted(judgement.id), plugins, store);
}

}  // namespace

std::string reproduction(const GateFile& gate, const CaseAssessment& judgement) {
  std::string plugins;
  for (const std::string& plugin : gate.facts.plugins) {
    plugins += " --plugin " + shell_quoted(plugin);
  }
  if (!gate.facts.base) return run_reproduction(gate, judgement, plugins);
  return fmt::format("{}{} duet {}{}{}", shell_variables(gate.facts.inherited), gate.program,
                     shell_quoted(judgement.id), plugins, duet_options(gate));
}

std::optional<NextCommand> find_cause_command(const GateFile& gate, const CaseAssessment& judgement,
                                              const CauseFinding& cause) {
  CauseMeasurement measurement;
  measurement.program = gate.program;
  measurement.id = judgement.id;
  measurement.new_commit = gate.facts.candidate.commit;
  if (gate.facts.base) {
    measurement.old_commit = gate.facts.base->commit;
    for (const LoadedFile& file : gate.facts.base->loaded) {
      const bool is_library = file.name != kProgramFile && file.name != kGpuPluginFile;
      if (is_library && !measurement.old_library) measurement.old_library = file.path;
    }
  } else {
    const auto entry = std::ranges::find_if(
        gate.evidence.cases, [&](const CaseEvidence& c) { return c.id() == judgement.id; });
    if (entry != gate.evidence.cases.end() && entry->stored)
      measurement.old_commit = entry->stored->commit;
  }
  return next_command(cause, measurement);
}

std::vector<std::string> case_lines(const GateFile& gate, const CaseAssessment& judgement,
                                    const KitPaths& kits) {
  std::vector<std::string> lines;
  const auto add = [&lines](std::string_view label, const std::string& text) {
    if (!text.empty()) lines.push_back(fmt::format("{}{}", label, text));
  };
  add("", describe_effect(judgement));
  add("", judgement.reason);
  if (judgement.adjusted_p) add("p (BH) ", fmt::format("{:.2g}", *judgement.adjusted_p));
  if (judgement.base) {
    add("", fmt::format("{} {}", reference_name(judgement), format_time(*judgement.base)));
  }
  if (judgement.candidate) add("candidate ", format_time(*judgement.candidate));
  add("duets ", format_duets(judgement));
  if (judgement.detectable) {
    add("minimum detectable effect ", fmt::format("{:.1f}%", 100 * *judgement.detectable));
  }
  add("changed: ", format_changes(judgement.changes));
  if (const auto cause = find_gate_cause(gate, judgement)) {
    add("", describe_cause(*cause));
    if (const auto next = find_cause_command(gate, judgement, *cause))
      add(next->announcement + ": ", next->command);
  }
  add("configured at ", judgement.source);
  if (const auto kit = kits.find(judgement.id); kit != kits.end()) add("kit: ", kit->second);
  add("measure it again: ", reproduction(gate, judgement));
  return lines;
}

ConfigLocation parse_config_location(std::string_view source) {
  const std::size_t colon = source.rfind(':');
  if (colon == std::string_view::npos) return {std::string(source), std::nullopt};
  int line = 0;
  const std::string_view digits = source.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), line);
  if (error != std::errc() || end != digits.data() + digits.size() || line < 1) {
    return {std::string(source), std::nullopt};
  }
  return {std::string(source.substr(0, colon)), line};
}

}  // namespace bench
