// SPDX-License-Identifier: Apache-2.0
#include "harness/run/probe.hpp"

#include "harness/run/case_step.hpp"
#include "harness/run/coordinator.hpp"
#include "harness/run/process.hpp"
#include "harness/run/worker.hpp"
#include "harness/run/worker_link.hpp"
#include "harness/run/worker_session.hpp"

#include <fmt/format.h>

#include <ostream>
#include <utility>

namespace bench {
namespace {

PreparedCase refused(Outcome outcome, std::string reason) {
  return {{}, std::nullopt, RefusedReply{outcome, std::move(reason)}};
}

}  // namespace

Result<PreparedCase> probe_case(const Case& spec, const ProbeOptions& options, Env& env) {
  const SystemRoot root{};
  if (const auto missing = missing_device(spec.key.device, root)) {
    return refused(Outcome::skipped, *missing);
  }
  const WorkerProgram program{options.worker_program, options.worker_environment, allowed_cores()};
  if (const auto placed = place_threads(spec.key.threads, program.cores); !placed) {
    return refused(Outcome::skipped, placed.error().message());
  }
  const HelloRequest hello{kProtocolVersion, spec.reuse_distance.value_or(Bytes{0}),
                           read_cpu(root).last_level};
  const auto passed_on =
      options.passed_on ? options.passed_on : [&env](const std::string& text) { *env.err << text; };
  WorkerSession session(
      [&](std::optional<int> threads) {
        return start_process_link(program, threads, *env.clock, passed_on);
      },
      hello, options.interrupted, *env.clock);
  BENCH_RETURN_IF_ERROR(session.ensure(spec.key.threads));
  PreparedCase result;
  result.library = session.greeting().library;
  StepRequest request{&spec};
  request.extent = StepRequest::Extent::prepare_only;
  request.check = CheckKind::none;
  StepResult step = run_step(session, request, *env.clock);
  session.finish();
  if (step.course == StepResult::Course::abandoned) return Error{"interrupted", spec.id, ""};
  result.prepared = std::move(step.prepared);
  result.refused = std::move(step.ended);
  return result;
}

Result<std::string> describe_worker(const std::string& worker_program, Env& env) {
  const WorkerProgram program{worker_program, {}, allowed_cores()};
  BENCH_ASSIGN_OR_RETURN(auto environment, environment_of(program, std::nullopt));
  BENCH_ASSIGN_OR_RETURN(
      ChildProcess process,
      ChildProcess::start({worker_program, {"worker", "--describe"}, std::move(environment), {}}));
  process.close_input();
  std::string document;
  const auto wait = process.read_line(document, kDescribeLimit, nullptr, *env.clock);
  if (wait == ChildProcess::Wait::deadline) {
    return Error{
        fmt::format("no description within {} s",
                    std::chrono::duration_cast<std::chrono::seconds>(kDescribeLimit).count()),
        worker_program, ""};
  }
  const ProcessEnd end = process.finish(std::chrono::seconds(1), *env.clock);
  if (end.exit_status != 0 || document.empty()) {
    return Error{"no description: the worker ended with " + end.text() +
                     (process.standard_error().empty() ? "" : ": " + process.standard_error()),
                 worker_program, ""};
  }
  return document;
}

}  // namespace bench
