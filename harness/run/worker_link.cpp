// SPDX-License-Identifier: Apache-2.0
#include "harness/run/worker_link.hpp"

#include "base/file.hpp"
#include "base/lines.hpp"
#include "base/printable.hpp"
#include "harness/host/channel.hpp"
#include "harness/host/placement.hpp"
#include "harness/host/process.hpp"
#include "harness/wire/messages.hpp"
#include "harness/wire/worker_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <variant>

namespace bench {

namespace {

// Time that a worker may take from writing its document to its exit.
constexpr Nanoseconds kDocumentEndLimit = std::chrono::seconds(1);
// Time limit of the handshake: enough to link and initialise the library on a busy machine.
constexpr Nanoseconds kStartLimit = std::chrono::seconds(30);
// Time limit for the answer which oneDNN a program loads.
constexpr Nanoseconds kLibraryLimit = std::chrono::seconds(5);

// With this variable, the loader looks for all functions of a program before it starts.
constexpr const char* kBindNowVariable = "LD_BIND_NOW";

// How a worker was started.
struct WorkerStart {
  std::string program;
  std::map<std::string, std::string> environment;  // the complete environment
};

std::optional<ops::LibraryInfo> find_onednn(const WorkerStart& start,
                                            const std::function<bool()>& interrupted,
                                            Clock& clock) {
  // Otherwise a library that lacks functions would end the process before it answers.
  std::map<std::string, std::string> environment = start.environment;
  environment.erase(kBindNowVariable);
  auto process = ChildProcess::start(
      {start.program, {"worker", "--probe", std::string(kOnednnProbe)}, environment, {}});
  if (!process) return std::nullopt;
  process->close_input();
  std::string line;
  const auto wait = process->read_line(line, kLibraryLimit, interrupted, clock);
  if (wait != ChildProcess::Wait::ready) return std::nullopt;  // its destructor kills the process
  process->finish(kDocumentEndLimit, clock);
  auto document = parse_worker_document(line);
  if (!document || document->devices.empty()) return std::nullopt;
  std::optional<ops::LibraryInfo> library = std::move(document->devices.front().library);
  if (!library) return std::nullopt;
  library->path = resolve_path(library->path);
  return library;
}

// Returns what to do if the loader found no function of oneDNN; empty for other lines.
std::string explain_loader_error(std::string_view line, const WorkerStart& start,
                                 const std::function<bool()>& interrupted, Clock& clock) {
  const bool is_missing = line.find("undefined symbol: dnnl_") != std::string_view::npos ||
                          line.find("undefined symbol: _ZN4dnnl") != std::string_view::npos;
  if (!is_missing) return "";
  const auto library = find_onednn(start, interrupted, clock);
  const std::string name =
      library ? fmt::format(" {} ({})", library->version, library->path) : std::string();
  return fmt::format(
      "; this bench needs functions that the loaded oneDNN{} lacks: build bench against the older "
      "oneDNN",
      name);
}

// Returns "; its last error line: ..." with the last line that a worker wrote to standard error;
// empty if there is none. If oneDNN lacks a function of this program, adds which oneDNN it is and
// what to do. Skips empty lines at the end. The last other line often explains the failure: the
// loader, the library or the runtime wrote it.
std::string format_last_error_line(const std::string& text, const WorkerStart& start,
                                   const std::function<bool()>& interrupted, Clock& clock) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return "";
  const std::size_t newline = text.rfind('\n', end);
  const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
  const std::string line = text.substr(begin, end + 1 - begin);
  return "; its last error line: " + line + explain_loader_error(line, start, interrupted, clock);
}

}  // namespace

Result<std::string> read_worker_document(const DocumentRequest& request, Env& env) {
  const WorkerProgram program{request.worker_program, request.worker_environment, allowed_cores()};
  BENCH_ASSIGN_OR_RETURN(auto environment, make_environment(program, {}));
  ProcessRequest start{request.worker_program, {"worker"}, environment, {}};
  start.arguments.insert(start.arguments.end(), request.arguments.begin(), request.arguments.end());
  BENCH_ASSIGN_OR_RETURN(ChildProcess process, ChildProcess::start(start));
  process.close_input();
  std::string document;
  const auto wait = process.read_line(document, request.limit, request.interrupted, *env.clock);
  if (wait == ChildProcess::Wait::interrupted) return Error{"interrupted", "", ""};
  if (wait == ChildProcess::Wait::deadline) {
    return Error{
        fmt::format("no answer within {} s",
                    std::chrono::duration_cast<std::chrono::seconds>(request.limit).count()),
        request.worker_program, ""};
  }
  const ProcessEnd end = process.finish(kDocumentEndLimit, *env.clock);
  // On a busy machine, a worker may take so long to free its libraries that finish() kills it. Its
  // document is complete nevertheless.
  const bool has_document = wait == ChildProcess::Wait::ready && !document.empty();
  if (!has_document || (end.exit_status != 0 && end.signal != SIGKILL)) {
    return Error{fmt::format("no answer: the worker ended with {}{}", end.text(),
                             format_last_error_line(process.standard_error(),
                                                    {request.worker_program, environment},
                                                    request.interrupted, *env.clock)),
                 request.worker_program, ""};
  }
  return document;
}

std::optional<Error> find_missing_functions(const std::string& worker_program, Env& env) {
  const auto document = read_worker_document({worker_program,
                                              {"--probe", std::string(kOnednnProbe)},
                                              {{kBindNowVariable, "1"}},
                                              kStartLimit},
                                             env);
  return document.ok() ? std::nullopt : std::optional(document.error());
}

namespace {

// Time that a worker may take to exit after `quit` or after it closed its output. It suffices to
// free a gigabyte.
constexpr Nanoseconds kWorkerEndLimit = std::chrono::seconds(1);
// Time that a profiler may take to load and instrument the worker, and to write its report at the
// end.
constexpr Nanoseconds kProfilerLimit = std::chrono::minutes(10);

// The lines that oneDNN prints, since version 3.3 also unasked if it fails. If the user has not
// asked for them, they are not forwarded: the reason of the failure reaches the user as an outcome.
class LibraryLines {
 public:
  explicit LibraryLines(const std::map<std::string, std::string>& environment)
      : are_wanted_(std::ranges::any_of(
            kVariables, [&](const char* name) { return environment.contains(name); })) {}

  // Returns the text without the library's lines. Keeps a line whose end is missing for later.
  std::string remove_from(std::string text) {
    if (are_wanted_) return text;
    text.insert(0, std::exchange(incomplete_, {}));
    const std::size_t end = text.rfind('\n') + 1;  // 0 if there is none
    incomplete_ = text.substr(end);
    text.resize(end);
    std::string kept;
    for (const NumberedLine& line : Lines(text)) {
      if (!is_library_line(line.text)) kept.append(line.text) += '\n';
    }
    return kept;
  }
  // Returns the kept line after the end of the output.
  std::string take_rest() {
    std::string rest = std::exchange(incomplete_, {});
    return is_library_line(rest) ? "" : rest;
  }

 private:
  static constexpr std::array<const char*, 3> kVariables = {"ONEDNN_VERBOSE", "DNNL_VERBOSE",
                                                            "MKLDNN_VERBOSE"};
  static bool is_library_line(std::string_view line) {
    constexpr std::array<std::string_view, 2> kBeginnings = {"onednn_verbose,", "dnnl_verbose,"};
    return std::ranges::any_of(kBeginnings,
                               [&](std::string_view begin) { return line.starts_with(begin); });
  }

  bool are_wanted_;
  std::string incomplete_;
};

class ProcessLink final : public WorkerLink {
 public:
  ProcessLink(ChildProcess process, WorkerStart start, LibraryLines library_lines, Clock& clock,
              Nanoseconds started, Nanoseconds grace_period,
              std::function<void(const std::string&)> on_error_output)
      : process_(std::move(process)),
        start_(std::move(start)),
        library_lines_(std::move(library_lines)),
        clock_(clock),
        started_(started),
        grace_period_(grace_period),
        on_error_output_(std::move(on_error_output)) {}

  ~ProcessLink() override { ProcessLink::finish(); }

  Result<ReplyMessage, WorkerFailure> call(const Request& request, Nanoseconds limit,
                                           const std::function<bool()>& interrupted) override {
    // The next line would otherwise count as the answer to this request.
    if (process_.has_unread_output()) {
      end(Nanoseconds(0));
      return WorkerFailure{WorkerFailure::Kind::failed,
                           fmt::format("the worker had sent more than one answer to a request "
                                       "before the request for {}",
                                       duty(request).activity)};
    }
    const Nanoseconds start = clock_.now();
    using Wait = ChildProcess::Wait;
    std::string line;
    Wait wait = process_.write(encode(request) + "\n", limit, interrupted, clock_);
    if (wait == Wait::ready || wait == Wait::closed) {
      wait = process_.read_line(line, limit - (clock_.now() - start), interrupted, clock_);
    }
    forward_error_output();
    if (wait != Wait::ready) return end_and_explain(request, wait, limit, line, interrupted);
    Result<ReplyMessage> reply = decode_reply(line, request, clock_.now() - start);
    if (reply) return std::move(reply).value();
    end(Nanoseconds(0));
    return WorkerFailure{WorkerFailure::Kind::failed,
                         fmt::format("the worker's answer while {} is {}", duty(request).activity,
                                     reply.error().message())};
  }

  Nanoseconds finish() override {
    if (!lifetime_) {
      process_.write(encode(Request(QuitRequest{})) + "\n", Nanoseconds(0), nullptr, clock_);
      process_.close_input();
      end(grace_period_);
    }
    return *lifetime_;
  }

  std::optional<pid_t> process_id() const override { return process_.pid(); }

 private:
  WorkerFailure end_and_explain(const Request& request, ChildProcess::Wait wait, Nanoseconds limit,
                                const std::string& incomplete_line,
                                const std::function<bool()>& interrupted) {
    using Kind = WorkerFailure::Kind;
    if (wait == ChildProcess::Wait::interrupted) {
      end(Nanoseconds(0));
      return {Kind::interrupted, "interrupted"};
    }
    if (wait == ChildProcess::Wait::deadline) {
      end(Nanoseconds(0));
      return {Kind::timed_out,
              fmt::format("no answer within {} ms while {}",
                          std::chrono::duration_cast<std::chrono::milliseconds>(limit).count(),
                          duty(request).activity)};
    }
    const ProcessEnd process_end = end(grace_period_);
    const std::string half_line = incomplete_line.empty() ? "" : ", leaving half a line of output";
    return {process_end.signal ? Kind::crashed : Kind::failed,
            fmt::format(
                "the worker ended with {} while {}{}{}", process_end.text(), duty(request).activity,
                half_line,
                format_last_error_line(process_.standard_error(), start_, interrupted, clock_))};
  }

  ProcessEnd end(Nanoseconds grace_period) {
    const ProcessEnd process_end = process_.finish(grace_period, clock_);
    lifetime_ = clock_.now() - started_;
    forward_error_output();
    forward(library_lines_.take_rest());
    return process_end;
  }

  void forward_error_output() {
    forward(library_lines_.remove_from(process_.take_standard_error()));
  }
  void forward(const std::string& text) {
    if (!text.empty() && on_error_output_) on_error_output_(text);
  }

  ChildProcess process_;
  WorkerStart start_;
  LibraryLines library_lines_;
  Clock& clock_;
  Nanoseconds started_;
  Nanoseconds grace_period_;  // time limit for the worker's exit after `quit` or closed output
  std::function<void(const std::string&)> on_error_output_;
  std::optional<Nanoseconds> lifetime_;  // set after the worker's end
};

}  // namespace

Outcome to_outcome(const WorkerFailure& failure) {
  switch (failure.kind) {
    case WorkerFailure::Kind::crashed:
      return Outcome::crashed;
    case WorkerFailure::Kind::timed_out:
      return Outcome::timed_out;
    case WorkerFailure::Kind::failed:
    case WorkerFailure::Kind::interrupted:
      break;
  }
  return Outcome::failed;
}

RequestFailure make_failure(WorkerFailure failure) {
  using Cause = RequestFailure::Cause;
  const bool was_aborted = failure.kind == WorkerFailure::Kind::interrupted;
  return {was_aborted ? Cause::aborted : Cause::failure, to_outcome(failure),
          std::move(failure.reason)};
}

RequestFailure make_failure(Reply reply) {
  using Cause = RequestFailure::Cause;
  if (auto* error = std::get_if<ErrorReply>(&reply)) {
    return {Cause::backend_error, error->outcome, std::move(error->reason),
            std::move(error->implementation), std::move(error->details)};
  }
  return {Cause::unexpected_reply, Outcome::failed, "the worker sent an unexpected kind of answer"};
}

Result<std::map<std::string, std::string>> make_environment(const WorkerProgram& program,
                                                            const WorkerThreads& threads) {
  BENCH_ASSIGN_OR_RETURN(const StreamProcessors streams, place_streams(threads, program.cores));
  std::map<std::string, std::string> environment =
      worker_environment(inherited_environment(), streams, program.environment);
  environment[kCoordinatorVariable] = std::to_string(getpid());
  return environment;
}

std::optional<ops::LibraryInfo> find_loaded_onednn(const WorkerProgram& program,
                                                   const std::function<bool()>& interrupted,
                                                   Clock& clock) {
  auto environment = make_environment(program, {});
  if (!environment) return std::nullopt;
  return find_onednn({program.program, std::move(*environment)}, interrupted, clock);
}

namespace {

std::vector<std::string> worker_arguments(const WorkerProgram& program) {
  std::vector<std::string> arguments = {"worker"};
  for (const std::string& plugin : program.plugins) {
    arguments.push_back("--plugin");
    arguments.push_back(plugin);
  }
  return arguments;
}

// Starts the worker under the command of `--under`. A shell splits the command into words.
Result<ChildProcess> start_under(const WorkerProgram& program,
                                 std::map<std::string, std::string> environment,
                                 std::vector<int> processors, Clock& clock) {
  BENCH_ASSIGN_OR_RETURN(ChannelListener listener, ChannelListener::create());
  const WorkerStart start{program.program, environment};
  environment[kChannelVariable] = listener.path();
  environment.erase(kCoordinatorVariable);  // its parent is not the coordinator
  std::vector<std::string> arguments = {"-c", fmt::format("exec {} \"$@\"", *program.under),
                                        "bench", program.program};
  for (std::string& argument : worker_arguments(program)) arguments.push_back(std::move(argument));
  BENCH_ASSIGN_OR_RETURN(
      ChildProcess process,
      ChildProcess::start({"/bin/sh", std::move(arguments), std::move(environment),
                           std::move(processors), ProcessRequest::Output::joined}));
  const auto wait = process.wait_for_channel(listener, kProfilerLimit, program.interrupted, clock);
  if (wait == ChildProcess::Wait::ready) return process;
  if (wait == ChildProcess::Wait::interrupted) {
    process.kill();
    return Error{"interrupted", "", ""};
  }
  const ProcessEnd end = process.finish(kWorkerEndLimit, clock);
  return Error{fmt::format("the command did not start a worker: {}{}", end.text(),
                           format_last_error_line(process.standard_error(), start,
                                                  program.interrupted, clock)),
               fmt::format("--under '{}'", *program.under),
               "the command must start the program that is appended to it"};
}

}  // namespace

Result<std::unique_ptr<WorkerLink>> start_process_link(
    const WorkerProgram& program, const WorkerThreads& threads, Clock& clock,
    std::function<void(const std::string&)> on_error_output) {
  BENCH_ASSIGN_OR_RETURN(std::vector<int> processors, place_threads(threads.count, program.cores));
  BENCH_ASSIGN_OR_RETURN(auto environment, make_environment(program, threads));
  const Nanoseconds started = clock.now();
  LibraryLines library_lines(environment);
  WorkerStart start{program.program, environment};
  auto process =
      program.under
          ? start_under(program, std::move(environment), std::move(processors), clock)
          : ChildProcess::start({program.program, worker_arguments(program), std::move(environment),
                                 std::move(processors), ProcessRequest::Output::own,
                                 ProcessRequest::Addresses::fixed});
  if (!process) return std::move(process).error();
  return std::unique_ptr<WorkerLink>(new ProcessLink(
      std::move(*process), std::move(start), std::move(library_lines), clock, started,
      program.under ? kProfilerLimit : kWorkerEndLimit, std::move(on_error_output)));
}

WorkerFactory process_workers(WorkerProgram program, Env& env,
                              std::function<void(const std::string&)> on_error_output) {
  if (!on_error_output)
    on_error_output = [&env](const std::string& text) { print_lines(*env.err, text); };
  return [program = std::move(program), &clock = *env.clock,
          on_error_output = std::move(on_error_output)](const WorkerThreads& threads) {
    return start_process_link(program, threads, clock, on_error_output);
  };
}

Result<HelloReply> handshake(WorkerLink& worker, const HelloRequest& hello,
                             const std::function<bool()>& interrupted) {
  BENCH_ASSIGN_OR_RETURN(HelloReply greeting, request_hello(worker, hello, interrupted));
  BENCH_RETURN_IF_ERROR(check_protocol(greeting, hello));
  return greeting;
}

Result<HelloReply> request_hello(WorkerLink& worker, const HelloRequest& hello,
                                 const std::function<bool()>& interrupted) {
  auto greeting = worker.ask(hello, kStartLimit, interrupted);
  if (greeting) return *std::move(greeting);
  const RequestFailure& failure = greeting.error();
  return Error{
      (failure.worker_is_gone() ? "no worker: " : "worker handshake failed: ") + failure.reason, "",
      ""};
}

Status check_protocol(const HelloReply& greeting, const HelloRequest& hello) {
  if (greeting.protocol == hello.protocol) return Done{};
  return Error{
      fmt::format("no worker: it speaks version {} of the worker protocol, this program version {}",
                  greeting.protocol, hello.protocol),
      "", "use a worker program of the same release"};
}

}  // namespace bench
