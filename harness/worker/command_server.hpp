// SPDX-License-Identifier: Apache-2.0
// Executes the worker's commands and keeps its state between them: at most one case and one arena.
// The kernel of the case is kept for the next variant of the same problem. Independent of pipes.
#pragma once

#include "base/env.hpp"
#include "harness/host/energy_meter.hpp"
#include "harness/host/perf_events.hpp"
#include "harness/host/process.hpp"
#include "harness/wire/messages.hpp"
#include "harness/worker/memory.hpp"
#include "harness/worker/prepared_kernel.hpp"
#include "harness/worker/probe_work.hpp"
#include "harness/worker/sampler.hpp"
#include "harness/worker/warmup.hpp"
#include "harness/worker/worker_context.hpp"
#include "ops/backend/kernel.hpp"
#include "profiler/onednn/verbose_line.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

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
};

class CommandServer {
 public:
  CommandServer(std::shared_ptr<WorkerContext> context, Clock& clock, ServerOptions options);
  // Uses this backend and the built-in operators.
  CommandServer(ops::Backend& backend, Clock& clock, ServerOptions options);

  ReplyMessage handle(const Request& request);

 private:
  struct BuiltKernel;

  Reply hello(const HelloRequest& request);
  Reply model(const ModelRequest& request);
  Reply prepare(const PrepareRequest& request);
  Reply steps(const StepsRequest& request);
  Reply warm_up(const WarmUpRequest& request);
  std::map<std::string, std::string> changed_details() const;
  Reply round(const RoundRequest& request);
  Reply profile(const ProfileRequest& request);
  Reply watch(const WatchRequest& request);
  Reply release(const ReleaseRequest& request);
  Result<Done, ErrorReply> check_again();
  void end_measurement();

  const ops::OperatorRegistry& registry() const { return context_->registry(); }
  Result<Done, ErrorReply> build(const CaseKey& key, const std::string& problem,
                                 const PrepareRequest& request);
  Result<Done, ErrorReply> build_once(const std::string& problem, CacheMode cache,
                                      ops::Backend& backend, const Workload& workload,
                                      const InputValues& values, const PrepareRequest& request);
  Result<Done, ErrorReply> check(const InputValues& values, const PrepareRequest& request);
  Result<std::unique_ptr<Rotation>> make_rotation(CacheMode cache, std::optional<Bytes> distance,
                                                  std::map<std::string, std::string>& details);
  Result<Arena*> provide_arena(std::optional<Bytes> distance);
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
  std::optional<Arena> arena_;          // in the memory of the last case that needed one
  std::shared_ptr<BuiltKernel> built_;  // shared, because only the source file knows its type
  std::unique_ptr<Rotation> rotation_;
  std::unique_ptr<SampleCanary> canary_;  // created on first use
  std::unique_ptr<Sampler> sampler_;  // declared after built_, rotation_ and canary_, which it uses
  std::optional<WarmUpResult> warmed_up_;
  WorkerTimes spent_;
  std::map<std::string, EnergyMeterResult> meters_;  // by device, opened on first use
  VerboseDecoder decoder_;  // kept, because a library describes the format of its lines only once
};

}  // namespace bench
