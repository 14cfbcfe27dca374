// SPDX-License-Identifier: Apache-2.0
#include "base/output_width.hpp"
#include "base/printable.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "harness/cli/command.hpp"
#include "profiler/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace bench {

ExitStatus fail(std::string_view command, const Error& error, ExitStatus status, Env& env) {
  // The next step may end with a list, one line per entry.
  const std::size_t list = std::min(error.next.find('\n'), error.next.size());
  const Error sentence{error.what, error.where, error.next.substr(0, list)};
  print_sentence(env, fmt::format("bench {}: {}", command, sentence.message()));
  std::string entries = printable_lines(error.next.substr(std::min(list + 1, error.next.size())));
  if (const auto width = message_width(env))
    entries = fold_lines(entries, static_cast<std::size_t>(*width));
  print_lines(*env.err, entries.empty() || entries.ends_with('\n') ? entries : entries + '\n');
  return status;
}

void report_losses(std::string_view command, const ReadReport& report, Verbosity verbosity,
                   Env& env) {
  const auto print_count = [&](std::int64_t count, std::string_view one, std::string_view several) {
    if (count <= 0) return;
    print_sentence(env, fmt::format("bench {}: {}", command, pluralise(count, one, several)));
  };
  if (report.library_errors > 0) {
    const auto& lines = report.library_error_lines;
    const bool are_all = static_cast<std::int64_t>(lines.size()) == report.library_errors;
    print_sentence(env, fmt::format("bench {}: {} of oneDNN ({} {}{})", command,
                                    pluralise(report.library_errors, "error"),
                                    lines.size() == 1 ? "line" : "lines", fmt::join(lines, ", "),
                                    are_all ? "" : ", ..."));
  }
  print_count(report.malformed, "line could not be read", "lines could not be read");
  constexpr std::string_view kUnknownKind = "records or fields of an unknown kind";
  print_count(report.unknown, kUnknownKind, kUnknownKind);
  if (verbosity == Verbosity::normal) {
    print_count(report.ignored, "line skipped: not profile data",
                "lines skipped: not profile data");
  }
  for (const std::string& note : report.notes) print_sentence(env, "  " + note);
}

void report_statements(std::string_view command, const std::vector<std::string>& statements,
                       Verbosity verbosity, Env& env) {
  if (verbosity != Verbosity::normal) return;
  for (const std::string& statement : statements)
    print_sentence(env, fmt::format("bench {}: {}", command, statement));
}

}  // namespace bench
