// SPDX-License-Identifier: Apache-2.0
// The coordinator's side of the connection to a worker. Each call returns one reply or one failure.
// The worker is a process or, in tests, an object in this process.
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
#include <utility>
#include <variant>
#include <vector>

namespace bench {

// A request for a document: one line of output of a worker program that is started only for it.
struct DocumentRequest {
  std::string worker_program;                             // run as `PROGRAM worker ARGUMENT...`
  std::vector<std::string> arguments;                     // {"--describe"}
  std::map<std::string, std::string> worker_environment;  // overrides inherited variables
  Nanoseconds limit{0};                                   // maximum time until the line is complete
  std::function<bool()> interrupted = {};  // whether to stop waiting for the line; may be empty
};

// Starts the worker program and returns the first line of its standard output. Returns an error if
// it does not start, writes nothing within the limit, is interrupted, or ends with a status other
// than 0. The error quotes the last line of standard error. Kills a worker that does not end within
// a second after its line; the line is valid nevertheless.
Result<std::string> read_worker_document(const DocumentRequest& request, Env& env);

struct WorkerFailure {
  enum class Kind { crashed, timed_out, failed, interrupted };
  Kind kind;
  std::string reason;
};

// Returns the outcome of the case during which the worker failed.
Outcome to_outcome(const WorkerFailure& failure);

// Why a request has no answer.
struct RequestFailure {
  enum class Cause { aborted, failure, backend_error, unexpected_reply };
  Cause cause;
  Outcome outcome;  // outcome of the current case; not meaningful if aborted
  std::string reason;
  // The kernel that the worker named, with its details; empty if there is none.
  std::string implementation = {};
  std::map<std::string, std::string> details = {};

  bool worker_is_gone() const { return cause == Cause::aborted || cause == Cause::failure; }
};
RequestFailure make_failure(WorkerFailure failure);
RequestFailure make_failure(Reply reply);
// Returns the answer to a request of this type.
template <class Message>
Result<typename Message::Answer, RequestFailure> take_answer(Result<Reply, WorkerFailure> reply) {
  if (!reply) return make_failure(std::move(reply).error());
  if (auto* answer = std::get_if<typename Message::Answer>(&*reply)) return std::move(*answer);
  return make_failure(std::move(*reply));
}

class WorkerLink {
 public:
  virtual ~WorkerLink() = default;
  // Sends a request and waits for the reply, which answers the request (decode_reply()). Anything
  // that the worker sends before the request is a failure. After a failure, the worker has ended,
  // and the caller may only call finish().
  virtual Result<ReplyMessage, WorkerFailure> call(const Request& request, Nanoseconds limit,
                                                   const std::function<bool()>& interrupted) = 0;
  // The same for a request whose type is known, without the times in the reply.
  template <class Message>
  Result<typename Message::Answer, RequestFailure> ask(const Message& request, Nanoseconds limit,
                                                       const std::function<bool()>& interrupted) {
    auto reply = call(request, limit, interrupted);
    if (!reply) return make_failure(std::move(reply).error());
    return take_answer<Message>(std::move(reply->reply));
  }
  // Ends the worker, by force if necessary. Returns its lifetime from start to end.
  virtual Nanoseconds finish() = 0;
  // Returns the worker's process; nullopt if it has none of its own.
  virtual std::optional<pid_t> process_id() const { return std::nullopt; }
};

// Starts a worker with these threads. Returns an error if the worker does not start. Such an error
// does not depend on a case.
using WorkerFactory = std::function<Result<std::unique_ptr<WorkerLink>>(const WorkerThreads&)>;

struct WorkerProgram {
  std::string program;                             // run as `PROGRAM worker [--plugin FILE]...`
  std::map<std::string, std::string> environment;  // overrides inherited variables
  Cores cores;                                     // processors that the worker may use
  // A shell command under which the worker runs: "nsys profile -o x". The command may print, and it
  // may take minutes to start and to end.
  std::optional<std::string> under = {};
  std::vector<std::string> plugins = {};  // plugins that the worker loads
  // Whether to stop waiting for the command of `under` to start the worker; may be empty.
  std::function<bool()> interrupted = {};
};

// Returns name, version and path of the oneDNN that a worker of this program loads. The path has no
// symbolic links. It also works if that oneDNN lacks functions that the worker needs. Returns
// nullopt if the program does not answer, for example because it is an older bench.
std::optional<ops::LibraryInfo> find_loaded_onednn(const WorkerProgram& program,
                                                   const std::function<bool()>& interrupted,
                                                   Clock& clock);

// Asks a worker whether the oneDNN that it loads has all functions of the program. Returns an error
// that names the library if it lacks one: this process, too, would end at the first call of it.
std::optional<Error> find_missing_functions(const std::string& worker_program, Env& env);

// Starts a worker process. Each call() and finish() passes the worker's new standard error output
// to `on_error_output`, without oneDNN's own lines ("onednn_verbose,...") unless a variable of the
// worker requests them.
Result<std::unique_ptr<WorkerLink>> start_process_link(
    const WorkerProgram& program, const WorkerThreads& threads, Clock& clock,
    std::function<void(const std::string&)> on_error_output);

// Returns a factory of such processes. If `on_error_output` is empty, this program's standard error
// receives the output. `env` must outlive the factory.
WorkerFactory process_workers(WorkerProgram program, Env& env,
                              std::function<void(const std::string&)> on_error_output = {});

// Sends `hello` to the worker and checks the version of its protocol. Returns an error that states
// the reason if the worker is not usable.
Result<HelloReply> handshake(WorkerLink& worker, const HelloRequest& hello,
                             const std::function<bool()>& interrupted);

// The two steps of handshake().
Result<HelloReply> request_hello(WorkerLink& worker, const HelloRequest& hello,
                                 const std::function<bool()>& interrupted);
Status check_protocol(const HelloReply& greeting, const HelloRequest& hello);

// Returns the environment variables of a worker with these threads. Returns an error if there are
// too few processors.
Result<std::map<std::string, std::string>> make_environment(const WorkerProgram& program,
                                                            const WorkerThreads& threads);

}  // namespace bench
