// SPDX-License-Identifier: Apache-2.0
#include "harness/run/worker_document.hpp"

#include "harness/host/placement.hpp"
#include "harness/host/process.hpp"
#include "harness/run/worker_link.hpp"

#include <fmt/format.h>

#include <utility>

namespace bench {

Result<std::string> worker_document(const DocumentRequest& request, Env& env) {
  const WorkerProgram program{request.worker_program, request.worker_environment, allowed_cores()};
  BENCH_ASSIGN_OR_RETURN(auto environment, environment_of(program, std::nullopt));
  ProcessRequest start{request.worker_program, {"worker"}, std::move(environment), {}};
  start.arguments.insert(start.arguments.end(), request.arguments.begin(), request.arguments.end());
  BENCH_ASSIGN_OR_RETURN(ChildProcess process, ChildProcess::start(start));
  process.close_input();
  std::string document;
  const auto wait = process.read_line(document, request.limit, nullptr, *env.clock);
  if (wait == ChildProcess::Wait::deadline) {
    return Error{
        fmt::format("no answer within {} s",
                    std::chrono::duration_cast<std::chrono::seconds>(request.limit).count()),
        request.worker_program, ""};
  }
  const ProcessEnd end = process.finish(std::chrono::seconds(1), *env.clock);
  if (end.exit_status != 0 || document.empty()) {
    return Error{fmt::format("no answer: the worker ended with {}{}", end.text(),
                             last_words(process.standard_error())),
                 request.worker_program, ""};
  }
  return document;
}

}  // namespace bench
