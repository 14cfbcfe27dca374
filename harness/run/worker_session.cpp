// SPDX-License-Identifier: Apache-2.0
#include "harness/run/worker_session.hpp"

#include "base/text.hpp"
#include "harness/host/system_files.hpp"
#include "harness/result/measured.hpp"
#include "harness/wire/worker_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <variant>

namespace bench {
namespace {

// Returns the time that a worker reports for samples on the host's clock.
Nanoseconds host_time(const Reply& reply) {
  const auto* round = std::get_if<RoundReply>(&reply);
  if (round == nullptr || round->device.sample_method) return Nanoseconds(0);
  return std::accumulate(round->samples.begin(), round->samples.end(), Nanoseconds(0));
}

bool are_at_least(const WorkerTimes& times, const WorkerTimes& earlier) {
  return times.timed >= earlier.timed && times.warmup >= earlier.warmup &&
         times.setup >= earlier.setup && times.check >= earlier.check &&
         times.profile >= earlier.profile;
}

Nanoseconds sum_of(const WorkerTimes& times) {
  return times.timed + times.warmup + times.setup + times.check + times.profile;
}

}  // namespace

WorkerSession::WorkerSession(WorkerFactory factory, HelloRequest hello,
                             std::function<bool()> must_abort, Clock& clock)
    : factory_(std::move(factory)),
      hello_(hello),
      must_abort_(std::move(must_abort)),
      clock_(clock) {}

Status WorkerSession::ensure(const WorkerThreads& threads) {
  if (worker_) return Done{};
  const Nanoseconds start = clock_.now();
  worker_started_ = start;
  BENCH_ASSIGN_OR_RETURN(worker_, factory_(threads));
  Result<HelloReply> greeting = handshake(*worker_, hello_, must_abort_);
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
  auto reply = worker_->call(request, limit, must_abort_);
  const Nanoseconds elapsed = clock_.now() - start;
  if (reply) {
    std::string problem = find_untrue_times(*reply);
    if (!problem.empty()) reply = WorkerFailure{WorkerFailure::Kind::failed, std::move(problem)};
  }
  if (!reply) {
    times_.*duty(request).time += elapsed;
    finish();
    // Ctrl-C sends a signal to the whole process group, which may end the worker before this
    // process handles its own signal. Such an end is not a crash of the case.
    if (reply.error().kind == WorkerFailure::Kind::crashed && must_abort())
      return WorkerFailure{WorkerFailure::Kind::interrupted, "interrupted"};
    return std::move(reply).error();
  }
  if (are_at_least(reply->spent, times_)) times_ = reply->spent;
  return std::move(reply->reply);
}

// The samples of a round add to the worker's times, so a reply with the same times is an old one.
// Only a refusal may lack the times: the worker could not read the request.
std::string WorkerSession::find_untrue_times(const ReplyMessage& reply) const {
  const WorkerTimes& spent = reply.spent;
  const bool is_old = !are_at_least(spent, times_) ||
                      (host_time(reply.reply) > Nanoseconds(0) && spent.timed <= times_.timed);
  if (is_old && !std::holds_alternative<ErrorReply>(reply.reply))
    return "the worker's answer is one to an earlier request: its `spent` has not grown";
  const Nanoseconds lifetime = clock_.now() - worker_started_;
  if (sum_of(spent) <= lifetime + kReplyClockTolerance) return "";
  return fmt::format(
      "the worker's answer is wrong: its `spent` is {}, but the worker started {} ago",
      format_time(sum_of(spent)), format_time(lifetime));
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
  const Nanoseconds busy =
      result.timed + result.warmup + result.setup + result.check + result.profile;
  result.idle = std::max(result.wall - busy, Nanoseconds(0));
  return result;
}

namespace {

// Adds version, path and digest of a library's file.
void add_file(const ops::LibraryInfo& library, EnvironmentRecord& environment) {
  const std::string prefix = "library." + library.name;
  environment.libraries[library.name] = library.version;
  environment.details[prefix + ".path"] = library.path;
  if (auto digest = digest_file(library.path))
    environment.details[prefix + kDigestSuffix] = *std::move(digest);
}

}  // namespace

void add_library(const HelloReply& worker, EnvironmentRecord& environment) {
  if (worker.library.name.empty()) return;
  add_file(worker.library, environment);
  environment.details["library." + worker.library.name + ".detail"] = worker.library.detail;
  environment.details["arena.bytes"] = std::to_string(worker.arena.count);
  for (const ops::LibraryInfo& plugin : worker.plugins) add_file(plugin, environment);
}

void add_program(const WorkerSession& session, EnvironmentRecord& environment) {
  const std::optional<pid_t> worker = session.process_id();
  const auto files = worker ? read_process_files(SystemRoot{}, *worker) : std::nullopt;
  if (!files) return;
  environment.details[kProgramPathFact] = files->program;
  if (auto digest = digest_file(files->program))
    environment.details[kProgramDigestFact] = *std::move(digest);
}

}  // namespace bench
