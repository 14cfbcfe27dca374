// SPDX-License-Identifier: Apache-2.0
// The coordinator's end of a connection to a worker: each call gives one reply or one failure. The
// worker is a process or, in tests, within this process.
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

// Starts a worker program for a single line of output.

struct DocumentRequest {
  std::string worker_program;                             // run as `PROGRAM worker ARGUMENT...`
  std::vector<std::string> arguments;                     // {"--describe"}
  std::map<std::string, std::string> worker_environment;  // overrides
  Nanoseconds limit{0};
};

// Returns the first line that it writes to standard output. Returns an error if it does not start,
// writes nothing within the limit, or ends with a status other than 0. The reason includes its
// standard error. A worker that answers but does not end within a second is killed; its answer
// counts.
Result<std::string> worker_document(const DocumentRequest& request, Env& env);

struct WorkerFailure {
  enum class Kind { crashed, timed_out, failed, interrupted };
  Kind kind;
  std::string reason;
};

// The outcome of the case during which the worker failed so.
Outcome to_outcome(const WorkerFailure& failure);

class WorkerLink {
 public:
  virtual ~WorkerLink() = default;
  // After a failure the worker has ended, and only finish() may be called.
  virtual Result<ReplyMessage, WorkerFailure> call(const Request& request, Nanoseconds limit,
                                                   const std::function<bool()>& interrupted) = 0;
  // Ends the worker, by force if necessary. Returns its lifetime from start to end.
  virtual Nanoseconds finish() = 0;
};

// Starts a worker for this number of threads (nullopt: all). Returns an error if it does not start;
// no case is to blame for that.
using WorkerFactory = std::function<Result<std::unique_ptr<WorkerLink>>(std::optional<int>)>;

struct WorkerProgram {
  std::string program;                             // run as `PROGRAM worker [--plugin FILE]...`
  std::map<std::string, std::string> environment;  // overrides
  Cores cores;                                     // that the worker may use
  // A shell command under which the worker runs: "nsys profile -o x". It may print, and it may take
  // long to start and to end.
  std::optional<std::string> under = {};
  std::vector<std::string> plugins = {};  // that the worker loads
};

// Returns "; its last error line: ..." with the last line that a worker wrote to standard error;
// empty if there is none.
std::string format_last_error_line(const std::string& text);

// Starts processes. A worker's standard error is forwarded to `on_error_output` as it comes.
Result<std::unique_ptr<WorkerLink>> start_process_link(
    const WorkerProgram& program, std::optional<int> threads, Clock& clock,
    std::function<void(const std::string&)> on_error_output);

// Handshake: sends hello and checks the protocol. If the worker is unusable, the error states the
// reason.
Result<HelloReply> handshake(WorkerLink& worker, const HelloRequest& hello,
                             const std::function<bool()>& interrupted);

// The two halves of the handshake.
Result<HelloReply> request_hello(WorkerLink& worker, const HelloRequest& hello,
                                 const std::function<bool()>& interrupted);
Status check_protocol(const HelloReply& greeting, const HelloRequest& hello);

// Returns the environment for such a worker. Returns an error if there are too few processors.
Result<std::map<std::string, std::string>> make_environment(const WorkerProgram& program,
                                                            std::optional<int> threads);

}  // namespace bench
