// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"
#include "base/text.hpp"
#include "harness/cli/command.hpp"
#include "profiler/reader.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <ostream>

namespace bench {

ExitStatus fail(std::string_view command, const Error& error, ExitStatus status, Env& env) {
  print_line(*env.err, fmt::format("bench {}: {}", command, error.message()));
  return status;
}

void report_losses(std::string_view command, const ReadReport& report, Verbosity verbosity,
                   std::ostream& err) {
  const auto print_count = [&](std::int64_t count, std::string_view one, std::string_view several) {
    if (count <= 0) return;
    print_line(err, fmt::format("bench {}: {}", command, pluralise(count, one, several)));
  };
  if (report.library_errors > 0) {
    const auto& lines = report.library_error_lines;
    const bool are_all = static_cast<std::int64_t>(lines.size()) == report.library_errors;
    print_line(err, fmt::format("bench {}: {} of oneDNN ({} {}{})", command,
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
  for (const std::string& note : report.notes) print_line(err, "  " + note);
}

void report_statements(std::string_view command, const std::vector<std::string>& statements,
                       Verbosity verbosity, Env& env) {
  if (verbosity != Verbosity::normal) return;
  for (const std::string& statement : statements)
    print_line(*env.err, fmt::format("bench {}: {}", command, statement));
}

}  // namespace bench
