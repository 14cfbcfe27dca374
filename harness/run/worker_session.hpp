// SPDX-License-Identifier: Apache-2.0
// One worker of a run: starts it on first use, replaces it after a failure, sends requests to it,
// and sums up the work of all workers.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/result/record.hpp"
#include "harness/run/worker_link.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace bench {

// Why a request has no answer of the requested type.
struct RequestFailure {
  enum class Cause { interruption, failure, backend_error, another_answer };
  Cause cause;
  Outcome outcome;  // outcome of the current case; not meaningful for an interruption
  std::string reason;

  bool worker_is_gone() const { return cause == Cause::interruption || cause == Cause::failure; }
};

class WorkerSession {
 public:
  WorkerSession(WorkerFactory factory, HelloRequest hello, std::function<bool()> interrupted,
                Clock& clock);

  // Ensures that a worker for `threads` is running. Returns an error if it cannot be started, or if
  // the run is interrupted during the start.
  Status ensure(std::optional<int> threads);
  bool is_interrupted() const { return interrupted_ && interrupted_(); }
  const HelloReply& greeting() const { return greeting_; }  // handshake of the last worker started

  template <class Answer>
  Result<Answer, RequestFailure> ask(const Request& request, Nanoseconds limit) {
    Result<Reply, WorkerFailure> reply = call(request, limit);
    if (!reply) return unanswered(std::move(reply).error());
    if (auto* wanted = std::get_if<Answer>(&*reply)) return std::move(*wanted);
    return unanswered(std::move(*reply));
  }
  // Time between the last request and its reply: an upper limit for every duration in the reply.
  Nanoseconds last_call() const { return last_call_; }
  void finish();

  // Sum over all finished workers.
  Accounting accounting() const;

 private:
  Result<Reply, WorkerFailure> call(const Request& request, Nanoseconds limit);
  RequestFailure unanswered(WorkerFailure failure) const;
  static RequestFailure unanswered(Reply reply);

  WorkerFactory factory_;
  HelloRequest hello_;
  std::function<bool()> interrupted_;
  Clock& clock_;
  std::unique_ptr<WorkerLink> worker_;
  HelloReply greeting_;
  Nanoseconds last_call_{0};
  WorkerTimes spent_;  // times of the current worker: its own report, and its start
  Accounting total_;
};

// Adds the facts of the worker's handshake to a run's environment: its library, and the arena over
// which cold caches rotate.
void add_library(const HelloReply& worker, EnvironmentRecord& environment);

}  // namespace bench
