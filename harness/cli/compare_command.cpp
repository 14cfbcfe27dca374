// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "base/nearest_name.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/result_limit.hpp"
#include "harness/gate/comparison.hpp"

#include <fmt/format.h>

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace bench {
namespace {

Result<Measurement> read_side(const std::string& path) {
  BENCH_ASSIGN_OR_RETURN(const std::string text, read_file(path, kLargestResult));
  return read_measurement(text, path);
}

Result<const ComparisonFormat*> choose_format(const Arguments& arguments) {
  const std::string name =
      arguments.format.value_or(arguments.output == Output::json ? "json" : "text");
  std::vector<std::string_view> names;
  for (const ComparisonFormat& format : comparison_formats()) {
    names.push_back(format.name);
    if (format.name == name) return &format;
  }
  return Error{fmt::format("unknown format `{}`", name), "--format", expectation(name, names)};
}

Result<ExitStatus> compare_files(const Arguments& arguments, Env& env) {
  BENCH_ASSIGN_OR_RETURN(const ComparisonFormat* format, choose_format(arguments));
  BENCH_ASSIGN_OR_RETURN(const Measurement base, read_side(arguments.inputs[0]));
  BENCH_ASSIGN_OR_RETURN(const Measurement candidate, read_side(arguments.inputs[1]));
  const Comparison comparison = compare(base, candidate, {});
  if (arguments.verbosity == Verbosity::normal) {
    for (const std::string& warning : comparison.warnings) {
      *env.err << "bench compare: " << warning << '\n';
    }
  }
  const std::string text = format->write(comparison);
  if (arguments.out) {
    BENCH_RETURN_IF_ERROR(
        write_file(*arguments.out, text, arguments.force ? Existing::replace : Existing::refuse));
  } else {
    *env.out << text;
  }
  const bool regressed = comparison.count(CaseVerdict::slower) > 0;
  return arguments.fail_on_regression && regressed ? ExitStatus::regression : ExitStatus::success;
}

}  // namespace

ExitStatus compare_command(const Arguments& arguments, Env& env) {
  const Result<ExitStatus> status = compare_files(arguments, env);
  if (status.ok()) return *status;
  *env.err << "bench compare: " << status.error().message() << '\n';
  return ExitStatus::usage;
}

}  // namespace bench
