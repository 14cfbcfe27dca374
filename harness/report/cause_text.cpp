// SPDX-License-Identifier: Apache-2.0
#include "harness/report/cause_text.hpp"

#include "base/json_fields.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "harness/judge/evidence_fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace bench {
namespace {

// Maximum number of facts of a kind that a sentence names.
constexpr std::size_t kMaxNamedFacts = 2;

// Returns "onednn" for "library.onednn": the sentence has the word "library" already.
std::string_view short_name(std::string_view field) {
  constexpr std::array<std::string_view, 4> kPrefixes = {"library.", "measure.", "build.", "tool."};
  for (const std::string_view prefix : kPrefixes) {
    if (field.starts_with(prefix)) return field.substr(prefix.size());
  }
  return field;
}

// "library (onednn 3.1.0 -> 3.2.0)".
std::string describe_kind(const Cause& cause) {
  std::string facts;
  for (std::size_t i = 0; i < std::min(cause.changes.size(), kMaxNamedFacts); ++i) {
    const Change& change = cause.changes[i];
    facts +=
        fmt::format("{}{} {}", i == 0 ? "" : ", ", short_name(change.field), format_values(change));
  }
  if (cause.changes.size() > kMaxNamedFacts)
    facts += fmt::format(" and {} more", cause.changes.size() - kMaxNamedFacts);
  if (cause.uneventful > 0)
    facts += fmt::format("; it also changed {} without a change of times",
                         cause.uneventful == 1 ? "once" : pluralise(cause.uneventful, "time"));
  return facts.empty() ? std::string(to_string(cause.kind))
                       : fmt::format("{} ({})", to_string(cause.kind), facts);
}

// Returns the kinds with this standing: "library (onednn 3.1.0 -> 3.2.0), code (commit a -> b)".
std::string list_kinds(const CauseFinding& finding, CauseStanding standing) {
  std::vector<std::string> texts;
  for (const CauseKind kind : finding.kinds(standing))
    texts.push_back(describe_kind(finding.of(kind)));
  return fmt::format("{}", fmt::join(texts, ", "));
}

// Returns "; its implementation changed jit:a -> jit:b", and what the canary says.
std::string describe_signs(const CauseFinding& finding) {
  std::string text;
  for (const Change& change : finding.consequences)
    text += fmt::format("; with it: {} {}", change.field, format_values(change));
  const auto& canary = finding.context.canary;
  const bool is_notable = canary && std::abs(std::expm1(*canary)) >= kNotableCanary;
  if (is_notable)
    text += fmt::format("; the machine was {:.0f} % {}, by its canary",
                        std::abs(100 * std::expm1(*canary)), *canary > 0 ? "slower" : "faster");
  return text;
}

std::string describe_likely(const CauseFinding& finding) {
  if (finding.kinds(CauseStanding::differs).empty()) {
    return "likely cause: machine; the records contain no difference, and the change is beyond "
           "chance";
  }
  const std::string unseen = finding.of(CauseKind::machine).standing == CauseStanding::possible
                                 ? "; the machine may have changed unseen"
                                 : "";
  return fmt::format("likely cause: {}, the only difference that the records contain{}",
                     list_kinds(finding, CauseStanding::differs), unseen);
}

std::string describe_open(const CauseFinding& finding) {
  std::vector<std::string> parts;
  const std::string differs = list_kinds(finding, CauseStanding::differs);
  parts.push_back(differs.empty() ? "no recorded fact differs" : "these differ: " + differs);
  if (!finding.missing.empty())
    parts.push_back(fmt::format("the records do not contain {}", fmt::join(finding.missing, ", ")));
  const std::string possible = list_kinds(finding, CauseStanding::possible);
  if (!possible.empty()) parts.push_back("also possible: " + possible);
  return fmt::format("cause: undetermined: {}", fmt::join(parts, "; "));
}

std::string describe_certainty(const CauseFinding& finding) {
  switch (finding.certainty) {
    case CauseCertainty::shown:
      return fmt::format("cause: {}; both sides were measured together, and nothing else differs",
                         list_kinds(finding, CauseStanding::differs));
    case CauseCertainty::likely:
      return describe_likely(finding);
    case CauseCertainty::open:
      break;
  }
  return describe_open(finding);
}

// Returns the options for the variables in which the sides differ.
std::string variable_options(const Cause& library) {
  std::string options;
  for (const Change& change : library.changes) {
    if (!change.field.starts_with(kVariableDetail)) continue;
    const std::string name = change.field.substr(std::string_view(kVariableDetail).size());
    if (change.from) options += " --base-env " + shell_quoted(name + "=" + *change.from);
    if (change.to) options += " --cand-env " + shell_quoted(name + "=" + *change.to);
  }
  return options;
}

NextCommand next_of_apart(const CauseFinding& finding, const CauseMeasurement& measurement) {
  const std::string duet =
      fmt::format("{} duet {}", measurement.program, shell_quoted(measurement.id));
  const Cause& library = finding.of(CauseKind::library);
  const std::string variables = variable_options(library);
  const bool has_other_files = std::ranges::any_of(
      library.changes, [](const Change& change) { return change.field.starts_with("library."); });
  const bool has_other_program = finding.may_differ(CauseKind::code) ||
                                 finding.may_differ(CauseKind::compiler) ||
                                 library.standing == CauseStanding::unrecorded;
  if (has_other_program && measurement.old_program) {
    return {"measure the old program, which still exists, and this one together",
            fmt::format("{} --base {}{}", duet, shell_quoted(*measurement.old_program), variables)};
  }
  if (has_other_program || has_other_files) {
    if (!has_other_program)
      return {"measure both libraries together; PATH is the earlier one",
              fmt::format("{} --base-library PATH{}", duet, variables)};
    return {fmt::format("measure it together with a checkout of {}",
                        measurement.old_commit.empty() ? "the version before"
                                                       : "commit " + measurement.old_commit),
            fmt::format("{} --base CHECKOUT{}", duet, variables)};
  }
  if (!variables.empty()) return {"measure both values of the variable together", duet + variables};
  if (finding.certainty == CauseCertainty::likely && finding.kinds(CauseStanding::differs).empty())
    return {"what may disturb this machine", fmt::format("{} doctor", measurement.program)};
  const bool is_method = finding.of(CauseKind::method).standing == CauseStanding::differs;
  return {is_method ? "measure both sides again by one method, each with this command"
                    : "measure the case again, more often",
          fmt::format("{} run {} --set measure.processes=20", measurement.program,
                      shell_quoted(measurement.id))};
}

std::optional<NextCommand> next_of_together(const CauseFinding& finding,
                                            const CauseMeasurement& measurement) {
  const bool is_library = finding.may_differ(CauseKind::library);
  const bool is_program =
      finding.may_differ(CauseKind::code) || finding.may_differ(CauseKind::compiler);
  if (is_library && is_program && measurement.old_library) {
    return NextCommand{
        "measure the later program with both libraries",
        fmt::format("{} duet {} --base-library {}", measurement.program,
                    shell_quoted(measurement.id), shell_quoted(*measurement.old_library))};
  }
  const bool has_commits = !measurement.old_commit.empty() && !measurement.new_commit.empty() &&
                           !measurement.old_commit.ends_with("-dirty") &&
                           !measurement.new_commit.ends_with("-dirty");
  const bool is_code_alone = finding.certainty == CauseCertainty::shown &&
                             finding.may_differ(CauseKind::code) && has_commits;
  if (!is_code_alone) return std::nullopt;
  return NextCommand{
      "find the commit; docs/gate.md has the second command",
      fmt::format("git bisect start {} {}", measurement.new_commit, measurement.old_commit)};
}

}  // namespace

std::string describe_cause(const CauseFinding& finding) {
  return describe_certainty(finding) + describe_signs(finding);
}

std::string as_sentence(std::string clause) {
  if (!clause.empty() && clause[0] >= 'a' && clause[0] <= 'z')
    clause[0] = static_cast<char>(clause[0] - 'a' + 'A');
  return clause + '.';
}

std::optional<NextCommand> next_command(const CauseFinding& finding,
                                        const CauseMeasurement& measurement) {
  if (finding.context.timing == MoveContext::Timing::together)
    return next_of_together(finding, measurement);
  return next_of_apart(finding, measurement);
}

void CauseSummary::add(const std::optional<CauseFinding>& finding) {
  if (!finding) return;
  const std::string sentence = describe_cause(*finding);
  const auto known =
      std::ranges::find(counts_, sentence, &std::pair<std::string, std::size_t>::first);
  if (known != counts_.end()) {
    ++known->second;
  } else {
    counts_.emplace_back(sentence, 1);
  }
}

std::vector<std::string> CauseSummary::sentences() const {
  std::vector<std::pair<std::string, std::size_t>> sorted = counts_;
  std::ranges::stable_sort(sorted, std::greater(), &std::pair<std::string, std::size_t>::second);
  std::vector<std::string> texts;
  for (const auto& [sentence, count] : sorted)
    texts.push_back(sorted.size() == 1
                        ? sentence
                        : fmt::format("{}: {}", pluralise(count, "changed case"), sentence));
  return texts;
}

void write_cause(JsonWriter& writer, const std::optional<CauseFinding>& finding) {
  if (!finding) return;
  writer.object("cause", [&](JsonWriter& entry) {
    entry.required("certainty", finding->certainty);
    entry.required("sentence", describe_cause(*finding));
    entry.required_list("kinds", finding->causes, [](JsonWriter& kind, const Cause& cause) {
      BENCH_MEMBERS(kind, cause, kind, standing, (changes, kOptional),
                    (uneventful, "changed_without_effect"));
    });
    entry.optional("missing", finding->missing);
  });
}

}  // namespace bench
