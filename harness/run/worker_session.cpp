// SPDX-License-Identifier: Apache-2.0
#include "harness/run/worker_session.hpp"

#include <string>
#include <utility>
#include <variant>

namespace bench {
namespace {

// Adds the time of a failed call to the times of its worker, which can no longer report them. The
// kind of request selects the field.
void add_failed_call(const Request& request, Nanoseconds time, WorkerTimes& times) {
  if (std::holds_alternative<RoundRequest>(request)) {
    times.timed += time;
  } else if (std::holds_alternative<WarmUpRequest>(request)) {
    times.warmup += time;
  } else if (std::holds_alternative<ProfileRequest>(request)) {
    times.profile += time;
  } else {
    times.setup += time;
  }
}

}  // namespace

WorkerSession::WorkerSession(WorkerFactory factory, HelloRequest hello,
                             std::function<bool()> interrupted, Clock& clock)
    : factory_(std::move(factory)),
      hello_(hello),
      interrupted_(std::move(interrupted)),
      clock_(clock) {}

Status WorkerSession::ensure(std::optional<int> threads) {
  if (worker_) return Done{};
  const Nanoseconds start = clock_.now();
  BENCH_ASSIGN_OR_RETURN(worker_, factory_(threads));
  Result<HelloReply> greeting = handshake(*worker_, hello_, interrupted_);
  total_.setup += clock_.now() - start;
  if (!greeting) {
    finish();
    return std::move(greeting).error();
  }
  greeting_ = std::move(*greeting);
  return Done{};
}

Result<Reply, WorkerFailure> WorkerSession::call(const Request& request, Nanoseconds limit) {
  const Nanoseconds start = clock_.now();
  auto reply = worker_->call(request, limit, interrupted_);
  last_call_ = clock_.now() - start;
  if (!reply) {
    add_failed_call(request, last_call_, times_);
    finish();
    return std::move(reply).error();
  }
  times_ = reply->spent;
  return std::move(reply->reply);
}

// Ctrl-C sends a signal to the whole process group, which may end the worker before this process
// handles its own signal. Such an end counts as an interruption, not as a crash of the case.
RequestFailure WorkerSession::make_failure(WorkerFailure failure) const {
  using Cause = RequestFailure::Cause;
  using Kind = WorkerFailure::Kind;
  if (failure.kind == Kind::crashed && is_interrupted())
    failure = {Kind::interrupted, "interrupted"};
  const bool was_interrupted = failure.kind == Kind::interrupted;
  return {was_interrupted ? Cause::interruption : Cause::failure, to_outcome(failure),
          std::move(failure.reason)};
}

RequestFailure WorkerSession::make_failure(Reply reply) {
  using Cause = RequestFailure::Cause;
  if (auto* error = std::get_if<ErrorReply>(&reply)) {
    return {Cause::backend_error, error->outcome, std::move(error->reason)};
  }
  return {Cause::unexpected_reply, Outcome::failed, "the worker sent an unexpected kind of answer"};
}

void WorkerSession::finish() {
  if (!worker_) return;
  total_.wall += worker_->finish();
  worker_.reset();
  const WorkerTimes times = std::exchange(times_, {});
  total_.timed += times.timed;
  total_.warmup += times.warmup;
  total_.setup += times.setup;
  total_.check += times.check;
  total_.profile += times.profile;
}

Accounting WorkerSession::accounting() const {
  Accounting result = total_;
  result.idle =
      result.wall - result.timed - result.warmup - result.setup - result.check - result.profile;
  return result;
}

void add_library(const HelloReply& worker, EnvironmentRecord& environment) {
  if (worker.library.name.empty()) return;
  const std::string prefix = "library." + worker.library.name;
  environment.libraries[worker.library.name] = worker.library.version;
  environment.details[prefix + ".path"] = worker.library.path;
  environment.details[prefix + ".detail"] = worker.library.detail;
  environment.details["arena.bytes"] = std::to_string(worker.arena.count);
  for (const ops::LibraryInfo& plugin : worker.plugins) {
    environment.libraries[plugin.name] = plugin.version;
    environment.details["library." + plugin.name + ".path"] = plugin.path;
  }
}

}  // namespace bench
