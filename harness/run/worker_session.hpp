// SPDX-License-Identifier: Apache-2.0
// WorkerSession manages the current worker of a run. It starts a worker if necessary, sends
// requests to it, and sums up the times of all workers.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/result/record.hpp"
#include "harness/run/worker_link.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace bench {

class WorkerSession {
 public:
  // `must_abort`: whether waiting for a worker must end, as after Ctrl-C or some time after the
  // budget (TimeLimit::must_abort()). May be empty.
  WorkerSession(WorkerFactory factory, HelloRequest hello, std::function<bool()> must_abort,
                Clock& clock);

  // Starts a worker with these threads if no worker is running. Returns an error if the worker
  // does not start, or if its start is aborted.
  Status ensure(const WorkerThreads& threads);
  bool must_abort() const { return must_abort_ && must_abort_(); }
  // Returns the handshake of the worker that was started last.
  const HelloReply& greeting() const { return greeting_; }
  // Returns the process of the running worker; nullopt if there is none.
  std::optional<pid_t> process_id() const { return worker_ ? worker_->process_id() : std::nullopt; }

  // Sends a request to the worker, which must be running. If the worker fails, it is finished.
  template <class Message>
  Result<typename Message::Answer, RequestFailure> ask(const Message& request, Nanoseconds limit) {
    return take_answer<Message>(call(request, limit));
  }
  // Ends the worker if one is running.
  void finish();

  // Returns the sums over all finished workers.
  Accounting accounting() const;

 private:
  Result<Reply, WorkerFailure> call(const Request& request, Nanoseconds limit);
  // Returns what is wrong with the times in a reply; empty if they can be true.
  std::string find_untrue_times(const ReplyMessage& reply) const;

  WorkerFactory factory_;
  HelloRequest hello_;
  std::function<bool()> must_abort_;
  Clock& clock_;
  std::unique_ptr<WorkerLink> worker_;
  HelloReply greeting_;
  Nanoseconds worker_started_{0};
  WorkerTimes times_;  // times of the current worker, as it reported them last
  Accounting total_;   // sums over finished workers, and the start of the current one
};

// Adds facts of a worker's handshake to a run's environment: its libraries, and the size of the
// arena whose data alternate for cold caches.
void add_library(const HelloReply& worker, EnvironmentRecord& environment);
// Adds the file of the running worker's program, if the system shows it.
void add_program(const WorkerSession& session, EnvironmentRecord& environment);

}  // namespace bench
