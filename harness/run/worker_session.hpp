// SPDX-License-Identifier: Apache-2.0
// One worker of a run, started when first needed and replaced after its failure, and the sum of
// what all of them did.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/report/record.hpp"
#include "harness/run/worker_link.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace bench {

class WorkerSession {
 public:
  WorkerSession(WorkerFactory factory, HelloRequest hello, std::function<bool()> interrupted,
                Clock& clock);

  // A worker for `threads` is there afterwards. Error: it cannot be started, or the run was
  // interrupted meanwhile.
  Status ensure(std::optional<int> threads);
  const HelloReply& greeting() const { return greeting_; }  // of the last worker started

  // After a failure the worker is gone.
  Result<Reply, WorkerFailure> call(const Request& request, Nanoseconds limit);
  void finish();

  // Over all finished workers.
  Accounting accounting() const;

 private:
  WorkerFactory factory_;
  HelloRequest hello_;
  std::function<bool()> interrupted_;
  Clock& clock_;
  std::unique_ptr<WorkerLink> worker_;
  HelloReply greeting_;
  Spent spent_;  // of the present worker, by its own account, and its start
  Accounting total_;
};

// What the worker's greeting adds to a run's environment: its library, and the arena that cold
// caches rotate over.
void add_library(const HelloReply& worker, EnvironmentRecord& environment);

}  // namespace bench
