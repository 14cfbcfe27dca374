// SPDX-License-Identifier: Apache-2.0
// Executes the worker's commands and keeps its state between them: at most one case, with a kernel
// and an arena for each of its streams.
// The kernel of the case is kept for the next variant of the same problem. Independent of pipes.
#pragma once

#include "base/env.hpp"
#include "harness/host/energy_meter.hpp"
#include "harness/host/perf_events.hpp"
#include "harness/host/placement.hpp"
#include "harness/host/process.hpp"
#include "harness/wire/messages.hpp"
#include "harness/worker/check.hpp"
#include "harness/worker/memory.hpp"
#include "harness/worker/prepared_kernel.hpp"
#include "harness/worker/probe_work.hpp"
#include "harness/worker/sampler.hpp"
#include "harness/worker/stream_team.hpp"
#include "harness/worker/warmup.hpp"
#include "harness/worker/worker_context.hpp"
#include "ops/backend/kernel.hpp"
#include "profiler/onednn/verbose_line.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// The machine and environment of a worker. Tests replace the functions.
struct ServerOptions {
  std::optional<Bytes> available = std::nullopt;  // memory that may be used; nullopt if unknown
  // Value of kSlowdownVariable (slowdown.hpp). If the value is not a valid fraction, every command
  // fails.
  std::optional<std::string> slowdown = std::nullopt;
  // Sleeps; empty: the real sleep.
  std::function<void(Nanoseconds)> pause = {};
  // Creates the canary that runs with each sample and observes the machine; empty: no canary.
  std::function<std::unique_ptr<SampleCanary>()> sample_canary = {};
  // Creates the work that a watch measures; empty: none.
  std::function<decltype(make_probe_work)> probe_work = {};
  // Opens the processor's event counters for the counters pass; empty: there are none.
  std::function<std::unique_ptr<PerfEvents>()> perf_events = {};
  // Opens the energy counters of a device; empty: replies do not contain energy.
  std::function<EnergyMeterResult(std::string_view device)> energy_meter = {};
  ProcessRequest::Addresses addresses = ProcessRequest::Addresses::fixed;  // of this process
  // The processors of each stream (kStreamsVariable); empty: cases have one stream.
  StreamProcessors streams = {};
};

class CommandServer {
 public:
  CommandServer(std::shared_ptr<WorkerContext> context, Clock& clock, ServerOptions options);
  // Uses this backend and the built-in operators.
  CommandServer(ops::Backend& backend, Clock& clock, ServerOptions options);

  ReplyMessage handle(const Request& request);

 private:
  struct BuiltKernel;

  // Executes a request of one type. Each type of the variant has a specialisation; the linker names
  // one that is missing.
  template <class Message>
  Result<typename Message::Answer, ErrorReply> answer(const Message& request);
  std::map<std::string, std::string> changed_details() const;
  Result<ProfiledReply, ErrorReply> run_pass(const ProfileRequest& request);
  Result<Done, ErrorReply> check_again();
  template <class Message>
  Reply guarded_answer(const Message& message);
  void end_measurement();

  // Calls `work` on the thread of a stream; directly if this worker has no streams.
  void on_stream(std::size_t stream, const std::function<void()>& work);
  std::size_t stream_count() const { return team_ ? team_->size() : 1; }
  std::optional<Bytes> available_per_stream() const;
  Result<Done, ErrorReply> check_stream_support(const CaseKey& key, const ops::Backend& backend);
  // Adds which stream an error is about, if there are several.
  ErrorReply at_stream(std::size_t stream, ErrorReply error) const;

  const ops::OperatorRegistry& registry() const { return context_->registry(); }
  Result<Done, ErrorReply> build(const CaseKey& key, const std::string& problem,
                                 const PrepareRequest& request);
  Result<Done, ErrorReply> build_once(const std::string& problem, CacheMode cache,
                                      ops::Backend& backend, const Workload& workload,
                                      const InputValues& values, const PrepareRequest& request);
  Result<Done, ErrorReply> check(const InputValues& values, const PrepareRequest& request);
  Result<Verification, ErrorReply> check_streams_agree(const InputValues& values,
                                                       const PrepareRequest& request);
  Status make_rotations(CacheMode cache, std::optional<Bytes> distance,
                        std::map<std::string, std::string>& details);
  Result<Arena*> provide_arena(std::size_t stream, std::optional<Bytes> distance);
  SampleCanary* sample_canary();  // null if there is none
  // Returns the meter of the prepared case's device, or the reason why there is none. Returns null
  // if replies do not contain energy.
  const EnergyMeterResult* energy_meter();

  std::shared_ptr<WorkerContext> context_;  // declared before everything created with it
  Clock& clock_;
  ServerOptions options_;
  Result<double> slowdown_;  // a fraction; 0: no slowdown
  std::optional<Bytes> last_level_cache_;
  Bytes arena_size_;
  std::unique_ptr<StreamTeam> team_;  // null without streams; declared before all that it runs
  // By stream, in the memory of the last case that needed them.
  std::vector<std::optional<Arena>> arenas_;
  std::shared_ptr<BuiltKernel> built_;  // shared, because only the source file knows its type
  std::vector<std::unique_ptr<Rotation>> rotations_;  // by stream; empty without a prepared case
  std::unique_ptr<SampleCanary> canary_;              // created on first use
  // Declared after built_, rotations_ and canary_, which it uses.
  std::unique_ptr<Sampler> sampler_;
  std::optional<WarmUpResult> warmed_up_;
  WorkerTimes spent_;
  std::map<std::string, EnergyMeterResult> meters_;  // by device, opened on first use
  VerboseDecoder decoder_;  // kept, because a library describes the format of its lines only once
};

}  // namespace bench
