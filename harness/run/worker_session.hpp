// SPDX-License-Identifier: Apache-2.0
// One worker of a run, started when first needed and replaced after its failure, what it is asked,
// and the sum of what all of them did.
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

// Why a request has no answer of the wanted type.
struct Unanswered {
  enum class Cause { interruption, failure, refusal, another_answer };
  Cause cause;
  Outcome outcome;  // of the case that was worked on; an interruption says nothing of it
  std::string reason;

  bool worker_is_gone() const { return cause == Cause::interruption || cause == Cause::failure; }
};

class WorkerSession {
 public:
  WorkerSession(WorkerFactory factory, HelloRequest hello, std::function<bool()> interrupted,
                Clock& clock);

  // A worker for `threads` is there afterwards. Error: it cannot be started, or the run was
  // interrupted meanwhile.
  Status ensure(std::optional<int> threads);
  bool is_interrupted() const { return interrupted_ && interrupted_(); }
  const HelloReply& greeting() const { return greeting_; }  // of the last worker started

  template <class Wanted>
  Result<Wanted, Unanswered> ask(const Request& request, Nanoseconds limit) {
    Result<Reply, WorkerFailure> reply = call(request, limit);
    if (!reply) return unanswered(std::move(reply).error());
    if (auto* wanted = std::get_if<Wanted>(&*reply)) return std::move(*wanted);
    return unanswered(std::move(*reply));
  }
  // Between the last request and its reply: nothing in the reply can have lasted longer.
  Nanoseconds last_call() const { return last_call_; }
  void finish();

  // Over all finished workers.
  Accounting accounting() const;

 private:
  Result<Reply, WorkerFailure> call(const Request& request, Nanoseconds limit);
  Unanswered unanswered(WorkerFailure failure) const;
  static Unanswered unanswered(Reply reply);

  WorkerFactory factory_;
  HelloRequest hello_;
  std::function<bool()> interrupted_;
  Clock& clock_;
  std::unique_ptr<WorkerLink> worker_;
  HelloReply greeting_;
  Nanoseconds last_call_{0};
  Spent spent_;  // of the present worker, by its own account, and its start
  Accounting total_;
};

// What the worker's greeting adds to a run's environment: its library, and the arena that cold
// caches rotate over.
void add_library(const HelloReply& worker, EnvironmentRecord& environment);

}  // namespace bench
