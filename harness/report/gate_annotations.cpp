// SPDX-License-Identifier: Apache-2.0
// Annotations of a gate in the syntax of GitHub's "Workflow commands for GitHub Actions". The
// escapes are those of packages/core/src/command.ts in actions/toolkit.
#include "base/printable.hpp"
#include "base/text.hpp"
#include "harness/report/gate_report.hpp"

#include <fmt/format.h>

#include <array>

namespace bench {
namespace {

// Maximum number of cases per level. GitHub shows ten annotations of each level per step and drops
// the others silently. One of the ten is the conclusion.
constexpr std::size_t kMaxAnnotations = 9;

// The commands of the levels; each is also the noun for an annotation of its level.
constexpr std::array<std::string_view, 2> kLevels = {"error", "warning"};

// Returns "error" or "warning", or an empty text if the case needs no annotation.
std::string_view annotation_command(const GateFile& gate, const CaseAssessment& judgement) {
  if (judgement.verdict == Verdict::regression || is_error(gate, judgement)) return "error";
  const bool is_undecided =
      judgement.verdict == Verdict::suspect || judgement.verdict == Verdict::inconclusive;
  return is_undecided ? "warning" : "";
}

// Replaces each character that occurs in `special` by its code: "%0A" for a line feed.
std::string percent_encode(std::string_view text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) == std::string_view::npos) {
      result += c;
    } else {
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return escape_controls(result);  // makes the other control characters visible in a log
}
std::string encode_message(std::string_view text) { return percent_encode(text, "%\r\n"); }
std::string encode_property(std::string_view text) { return percent_encode(text, "%\r\n:,"); }

std::string format_annotation(std::string_view command, const GateFile& gate,
                              const CaseAssessment& judgement, const KitPaths& kits) {
  const ConfigLocation location = parse_config_location(judgement.source);
  std::string text = fmt::format("::{} ", command);
  if (!location.file.empty()) text += fmt::format("file={},", encode_property(location.file));
  if (!location.file.empty() && location.line) text += fmt::format("line={},", *location.line);
  const std::string title = fmt::format("{} {}", to_string(judgement.verdict), judgement.id);
  return text + fmt::format("title={}::{}\n", encode_property(title),
                            encode_message(fmt::format(
                                "{}", fmt::join(case_lines(gate, judgement, kits), "\n"))));
}

}  // namespace

std::string gate_annotations(const GateFile& gate, const KitPaths& kits) {
  std::string summary = gate.conclusion.sentence;
  std::string annotations;
  const std::vector<const CaseAssessment*> order = reading_order(gate.judgements);
  for (const std::string_view level : kLevels) {
    std::size_t matching = 0;
    for (const CaseAssessment* judgement : order) {
      if (annotation_command(gate, *judgement) != level) continue;
      if (++matching <= kMaxAnnotations)
        annotations += format_annotation(level, gate, *judgement, kits);
    }
    if (matching > kMaxAnnotations) {
      summary += fmt::format("; {} not shown here",
                             pluralise(matching - kMaxAnnotations, fmt::format("more {} is", level),
                                       fmt::format("more {}s are", level)));
    }
  }
  const bool is_green = gate.conclusion.status == ExitStatus::success;
  return fmt::format("::{} title={}::{}\n{}", is_green ? "notice" : "error",
                     encode_property("bench gate"), encode_message(summary), annotations);
}

}  // namespace bench
