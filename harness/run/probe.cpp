// SPDX-License-Identifier: Apache-2.0
#include "harness/run/probe.hpp"

#include "base/lines.hpp"
#include "harness/host/environment.hpp"
#include "harness/host/placement.hpp"
#include "harness/run/case_step.hpp"
#include "harness/run/devices.hpp"
#include "harness/run/worker_link.hpp"
#include "harness/run/worker_session.hpp"
#include "harness/wire/messages.hpp"
#include "profiler/onednn/verbose_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bench {

namespace {

PreparedCase make_refused_case(Outcome outcome, std::string reason) {
  return {{}, std::nullopt, ErrorReply{outcome, std::move(reason)}};
}

}  // namespace

Result<PreparedCase> probe_case(const Case& spec, const ProbeOptions& options, Env& env) {
  const SystemRoot root{};
  Devices devices([&] {
    return ask_cuda(options.worker_program, options.worker_environment,
                    ops::cuda::ProbeExtent::devices, env);
  });
  if (const auto missing = devices.unavailable_reason(spec.key)) {
    return make_refused_case(Outcome::skipped, *missing);
  }
  const WorkerProgram program{
      options.worker_program, options.worker_environment, allowed_cores(), {}, options.plugins};
  if (const auto placed = place_streams(worker_threads(spec.key), program.cores); !placed) {
    return make_refused_case(Outcome::skipped, placed.error().message());
  }
  const HelloRequest hello{kProtocolVersion, spec.reuse_distance.value_or(Bytes{0}),
                           read_cpu(root).last_level};
  WorkerSession session(process_workers(program, env, options.on_error_output), hello,
                        options.interrupted, *env.clock);
  BENCH_RETURN_IF_ERROR(session.ensure(worker_threads(spec.key)));
  PreparedCase result;
  result.library = session.greeting().library;
  StepRequest request{&spec};
  request.extent = StepRequest::Extent::prepare_only;
  request.check = options.check;
  StepResult step = run_step(session, request, *env.clock);
  session.finish();
  if (step.completion == StepResult::Completion::aborted) return Error{"interrupted", spec.id, ""};
  result.prepared = std::move(step.prepared);
  if (result.prepared && !result.prepared->libraries.empty()) {
    result.library = result.prepared->libraries.front();
  }
  result.refused = std::move(step.failure);
  return result;
}

Result<WorkerDocument> describe_worker(const std::string& worker_program, Env& env,
                                       const std::vector<std::string>& plugins,
                                       const std::vector<std::string>& backends) {
  std::vector<std::string> arguments = {"--describe"};
  arguments.insert(arguments.end(), backends.begin(), backends.end());
  for (const std::string& plugin : plugins) arguments.insert(arguments.end(), {"--plugin", plugin});
  BENCH_ASSIGN_OR_RETURN(
      const std::string text,
      read_worker_document({worker_program, std::move(arguments), {}, kDescribeLimit}, env));
  return parse_worker_document(text);
}

std::vector<DispatchReason> parse_dispatch_reasons(std::string_view text) {
  std::vector<DispatchReason> reasons;
  VerboseDecoder decoder;
  for (const NumberedLine& printed : Lines(text)) {
    for (std::string_view rest = printed.text; !rest.empty();) {
      const VerboseLine& line = decoder.decode(rest);
      rest = line.rest;
      if (line.kind != VerboseKind::dispatch) continue;
      DispatchReason reason{std::string(line.primitive.empty() ? line.component : line.primitive),
                            std::string(line.implementation), std::string(line.message),
                            std::string(line.location)};
      if (std::ranges::find(reasons, reason) == reasons.end()) reasons.push_back(std::move(reason));
    }
  }
  return reasons;
}

Result<std::vector<DispatchReason>> dispatch_reasons(const Case& spec, ProbeOptions options,
                                                     Env& env) {
  std::string printed;
  options.on_error_output = [&](const std::string& text) { printed += text; };
  options.worker_environment["ONEDNN_VERBOSE"] = "dispatch";
  BENCH_ASSIGN_OR_RETURN(const PreparedCase prepared, probe_case(spec, options, env));
  static_cast<void>(prepared);  // the library also prints reasons if the case is refused
  return parse_dispatch_reasons(printed);
}

}  // namespace bench
