// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/command.hpp"
#include "harness/cli/read_losses.hpp"
#include "ops/verbose.hpp"
#include "profiler/analysis/query.hpp"

#include <fmt/format.h>

#include <csignal>
#include <ostream>
#include <poll.h>
#include <unistd.h>

namespace bench {
namespace {

Result<AnalysisOptions> options_of(const Arguments& arguments) {
  AnalysisOptions options = arguments.analysis;
  options.devices = arguments.devices;
  options.format = arguments.format;
  if (arguments.output == Output::json) {
    if (options.format && *options.format != "json") {
      return Error{fmt::format("--json and --format {} contradict each other", *options.format), "",
                   "leave one of them out"};
    }
    options.format = "json";
  }
  BENCH_RETURN_IF_ERROR(check_options(options));
  return options;
}

AnalysisTarget target_of(Env& env) {
  AnalysisTarget target;
  target.out = env.out;
  if (env.out_is_terminal) {
    constexpr int kUsual = 80;
    target.terminal_width = env.terminal_width.value_or(kUsual);
  }
  // Not /tmp, which may be memory.
  target.folder = env.variable("TMPDIR").value_or("/var/tmp");
  return target;
}

// The reader of our output went away: `bench analyze FILE | head`.
bool output_closed() {
  pollfd descriptor{STDOUT_FILENO, POLLOUT, 0};
  return poll(&descriptor, 1, 0) == 1 && (descriptor.revents & POLLERR) != 0;
}

Status analyze_file(const Arguments& arguments, Env& env) {
  BENCH_ASSIGN_OR_RETURN(const AnalysisOptions options, options_of(arguments));
  BENCH_ASSIGN_OR_RETURN(const auto source, open_text(arguments.inputs.front()));
  BENCH_ASSIGN_OR_RETURN(const AnalysisOutcome outcome,
                         analyze(*source, ops::make_work_of(), options, target_of(env)));
  env.out->flush();
  if (!env.out->good() && !output_closed()) {
    return Error{"cannot write", "(standard output)", ""};
  }
  report_losses("analyze", outcome.report, arguments.verbosity, *env.err);
  for (const std::string& remark : outcome.remarks) *env.err << "bench analyze: " << remark << '\n';
  return Done{};
}

}  // namespace

ExitStatus analyze_command(const Arguments& arguments, Env& env) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe ends the writing, not the program
  const Status status = analyze_file(arguments, env);
  if (status.ok()) return ExitStatus::success;
  *env.err << "bench analyze: " << status.error().message() << '\n';
  return ExitStatus::usage;
}

}  // namespace bench
