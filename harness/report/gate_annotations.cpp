// SPDX-License-Identifier: Apache-2.0
// Syntax: GitHub's "Workflow commands for GitHub Actions"; escapes as in actions/toolkit's
// packages/core/src/command.ts.
#include "base/printable.hpp"
#include "harness/report/gate_report.hpp"

#include <fmt/format.h>

#include <array>

namespace bench {
namespace {

// GitHub shows ten annotations of each level per step and drops the others silently. One of them is
// the conclusion.
constexpr std::size_t kMaxShown = 9;

struct AnnotationLevel {
  std::string_view command;
  std::string_view plural;
};
constexpr std::array<AnnotationLevel, 2> kLevels = {{{"error", "errors"}, {"warning", "warnings"}}};

// Returns the command, or an empty text if the case needs no annotation.
std::string_view annotation_command(const GateFile& gate, const CaseAssessment& judgement) {
  if (judgement.verdict == Verdict::regression || is_error(gate, judgement)) return "error";
  const bool is_undecided =
      judgement.verdict == Verdict::suspect || judgement.verdict == Verdict::inconclusive;
  return is_undecided ? "warning" : "";
}

std::string escaped(std::string_view text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) == std::string_view::npos) {
      result += c;
    } else {
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return escape_controls(result);  // a log viewer shows undecoded controls
}
std::string message(std::string_view text) { return escaped(text, "%\r\n"); }
std::string property(std::string_view text) { return escaped(text, "%\r\n:,"); }

std::string annotation(std::string_view command, const GateFile& gate,
                       const CaseAssessment& judgement, const KitPaths& kits) {
  const SourcePlace place = parse_source_place(judgement.source);
  std::string text = fmt::format("::{} ", command);
  if (!place.file.empty()) text += fmt::format("file={},", property(place.file));
  if (!place.file.empty() && place.line) text += fmt::format("line={},", *place.line);
  const std::string title = fmt::format("{} {}", to_string(judgement.verdict), judgement.id);
  return text + fmt::format(
                    "title={}::{}\n", property(title),
                    message(fmt::format("{}", fmt::join(case_lines(gate, judgement, kits), "\n"))));
}

}  // namespace

std::string gate_annotations(const GateFile& gate, const KitPaths& kits) {
  std::string summary = gate.conclusion.sentence;
  std::string annotations;
  const std::vector<const CaseAssessment*> order = reading_order(gate.judgements);
  for (const AnnotationLevel& level : kLevels) {
    std::size_t found = 0;
    for (const CaseAssessment* judgement : order) {
      if (annotation_command(gate, *judgement) != level.command) continue;
      if (++found <= kMaxShown) annotations += annotation(level.command, gate, *judgement, kits);
    }
    if (found > kMaxShown) {
      summary += fmt::format("; {} more {} are not shown here", found - kMaxShown, level.plural);
    }
  }
  const bool is_green = gate.conclusion.status == ExitStatus::success;
  return fmt::format("::{} title={}::{}\n{}", is_green ? "notice" : "error", property("bench gate"),
                     message(summary), annotations);
}

}  // namespace bench
