// SPDX-License-Identifier: Apache-2.0
#include "harness/run/worker_session.hpp"

#include <string>
#include <utility>
#include <variant>

namespace bench {
namespace {

// Charges a failed call's time by the kind of request: the worker can no longer report it.
void charge(const Request& request, Nanoseconds time, WorkerTimes& spent) {
  if (std::holds_alternative<RoundRequest>(request)) {
    spent.timed += time;
  } else if (std::holds_alternative<WarmUpRequest>(request)) {
    spent.warmup += time;
  } else if (std::holds_alternative<ProfileRequest>(request)) {
    spent.profile += time;
  } else {
    spent.setup += time;
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
    charge(request, last_call_, spent_);
    finish();
    return std::move(reply).error();
  }
  spent_ = reply->spent;
  return std::move(reply->reply);
}

// A signal to the whole process group may end the worker before this process handles its own. The
// case did not cause such a death.
RequestFailure WorkerSession::unanswered(WorkerFailure failure) const {
  using Cause = RequestFailure::Cause;
  using Kind = WorkerFailure::Kind;
  if (failure.kind == Kind::crashed && is_interrupted())
    failure = {Kind::interrupted, "interrupted"};
  const bool interrupted = failure.kind == Kind::interrupted;
  return {interrupted ? Cause::interruption : Cause::failure, to_outcome(failure),
          std::move(failure.reason)};
}

RequestFailure WorkerSession::unanswered(Reply reply) {
  using Cause = RequestFailure::Cause;
  if (auto* refused = std::get_if<ErrorReply>(&reply)) {
    return {Cause::backend_error, refused->outcome, std::move(refused->reason)};
  }
  return {Cause::another_answer, Outcome::failed, "the worker sent an unexpected kind of answer"};
}

void WorkerSession::finish() {
  if (!worker_) return;
  total_.wall += worker_->finish();
  worker_.reset();
  const WorkerTimes spent = std::exchange(spent_, {});
  total_.timed += spent.timed;
  total_.warmup += spent.warmup;
  total_.setup += spent.setup;
  total_.check += spent.check;
  total_.profile += spent.profile;
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
