// SPDX-License-Identifier: Apache-2.0
// The coordinator's end of a worker: one call, one reply or one failure. Over a process, or within
// this one in tests.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/host/placement.hpp"
#include "harness/wire/messages.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bench {

struct WorkerFailure {
  enum class Kind { crashed, timed_out, failed, interrupted };
  Kind kind;
  std::string reason;
};

// What such a failure is to the case that was being worked on.
Outcome outcome_of(const WorkerFailure& failure);

class WorkerLink {
 public:
  virtual ~WorkerLink() = default;
  // After a failure the worker has ended and nothing may be called but finish().
  virtual Result<ReplyMessage, WorkerFailure> call(const Request& request, Nanoseconds limit,
                                                   const std::function<bool()>& interrupted) = 0;
  // Ends the worker, by force where it does not go. Returns its life from start to end.
  virtual Nanoseconds finish() = 0;
};

// Starts a worker for so many threads (absent: all). Error: it does not start, which is no case's
// fault.
using WorkerFactory = std::function<Result<std::unique_ptr<WorkerLink>>(std::optional<int>)>;

struct WorkerProgram {
  std::string program;                             // run as `PROGRAM worker [--plugin FILE]...`
  std::map<std::string, std::string> environment;  // overrides
  Cores cores;                                     // that may be used
  // A shell command below which the worker runs: "nsys profile -o x". It may print, take long to
  // start and to end.
  std::optional<std::string> under = {};
  std::vector<std::string> plugins = {};  // that it loads
};

// "; its last words: ...", the last line that a worker wrote to standard error; empty if there is
// none.
std::string last_words(const std::string& text);

// Starts processes. What a worker writes to standard error goes to `passed_on` as it comes.
Result<std::unique_ptr<WorkerLink>> start_process_link(
    const WorkerProgram& program, std::optional<int> threads, Clock& clock,
    std::function<void(const std::string&)> passed_on);

// Says hello and checks the protocol. Error: the worker is of no use, with the reason.
Result<HelloReply> greet(WorkerLink& worker, const HelloRequest& hello,
                         const std::function<bool()>& interrupted);

// The two halves of it.
Result<HelloReply> ask_greeting(WorkerLink& worker, const HelloRequest& hello,
                                const std::function<bool()>& interrupted);
Status check_protocol(const HelloReply& greeting, const HelloRequest& hello);

// The environment that such a worker gets. Error: too few processors.
Result<std::map<std::string, std::string>> environment_of(const WorkerProgram& program,
                                                          std::optional<int> threads);

}  // namespace bench
