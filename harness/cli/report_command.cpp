// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "base/nearest_name.hpp"
#include "base/printable.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/console_options.hpp"
#include "harness/cli/failure.hpp"
#include "harness/report/format.hpp"
#include "harness/result/report.hpp"
#include "harness/result/result_text.hpp"

#include <fmt/format.h>

#include <ostream>

namespace bench {
namespace {

// Reads all files as one text: shards and resumed runs are merged by concatenation.
Result<std::string> read_all(const std::vector<std::string>& paths) {
  std::string all;
  for (const std::string& path : paths) {
    const std::size_t begin = all.size();
    BENCH_RETURN_IF_ERROR(append_result_text(path, {}, all));
    if (all.find_first_not_of(" \t\r\n", begin) == std::string::npos) {
      return Error{"is empty", path, "name a file that `bench run` wrote"};
    }
    if (!all.empty() && all.back() != '\n') all += '\n';
  }
  return all;
}

Result<const ReportFormat*> choose_report_format(const Arguments& arguments) {
  const std::string name = arguments.format.value_or(arguments.out ? "" : "text");
  std::vector<std::string_view> names;
  for (const ReportFormat& format : report_formats()) {
    names.push_back(format.name);
    const bool by_suffix =
        name.empty() && !format.suffix.empty() && arguments.out->ends_with(format.suffix);
    if (by_suffix || format.name == name) return &format;
  }
  if (name.empty()) {
    return Error{fmt::format("the suffix of `{}` is not that of a known format", *arguments.out),
                 "", "add --format NAME"};
  }
  return Error{fmt::format("unknown format `{}`", name), "", expectation(name, names)};
}

Status write_report(const Arguments& arguments, Env& env) {
  BENCH_ASSIGN_OR_RETURN(const ReportFormat* format, choose_report_format(arguments));
  BENCH_ASSIGN_OR_RETURN(const std::string text, read_all(arguments.inputs));
  const std::string name = arguments.inputs.size() == 1 ? arguments.inputs[0] : "(all files)";
  BENCH_ASSIGN_OR_RETURN(const Report report, parse_report(text, name));
  for (const std::string& warning : report.warnings)
    print_line(*env.err, fmt::format("bench report: {}", warning));
  // A file gets a width that fits a mail or a log.
  const ConsoleOptions console = arguments.out ? ConsoleOptions{} : console_options(env);
  const std::string output = format->write(report, console);
  if (arguments.out) {
    return write_file(*arguments.out, output,
                      arguments.force ? Existing::replace : Existing::refuse);
  }
  *env.out << output;
  return Done{};
}

}  // namespace

ExitStatus report_command(const Arguments& arguments, Env& env) {
  const Status status = write_report(arguments, env);
  if (status.ok()) return ExitStatus::success;
  return fail("report", status.error(), ExitStatus::usage, env);
}

}  // namespace bench
