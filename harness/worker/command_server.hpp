// SPDX-License-Identifier: Apache-2.0
// The worker's state between commands: one case at most, its kernel kept for the next variant of
// the same problem, one arena. Knows nothing of pipes.
#pragma once

#include "base/env.hpp"
#include "harness/host/process.hpp"
#include "harness/wire/messages.hpp"
#include "harness/worker/arena.hpp"
#include "harness/worker/canary.hpp"
#include "harness/worker/equipment.hpp"
#include "harness/worker/instance.hpp"
#include "harness/worker/sampler.hpp"
#include "harness/worker/warmup.hpp"
#include "ops/backend/kernel.hpp"
#include "profiler/onednn/verbose_line.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace bench {

// What a worker has of its machine and its environment.
struct ServerOptions {
  std::optional<Bytes> available = std::nullopt;  // memory that may be taken; absent when unknown
  // As kSlowdownVariable has it (slowdown.hpp). Where that is no share, every command is refused.
  std::optional<std::string> slowdown = std::nullopt;
  // Tests have better to do than the work.
  std::function<decltype(measure_canaries)> canaries = measure_canaries;
  // Sleeps; empty: in earnest.
  std::function<void(Nanoseconds)> pause = {};
  // Beside each sample, and to watch the machine; empty: none are taken.
  std::function<std::unique_ptr<SampleCanary>()> sample_canary = {};
  ProcessRequest::Addresses addresses = ProcessRequest::Addresses::fixed;  // of this process
};

class CommandServer {
 public:
  CommandServer(std::shared_ptr<Equipment> equipment, Clock& clock, ServerOptions options);
  // With this backend and the built-in operators.
  CommandServer(ops::Backend& backend, Clock& clock, ServerOptions options);

  ReplyMessage handle(const Request& request);

 private:
  struct Built;  // a checked kernel

  Reply hello(const HelloRequest& request);
  Reply model(const ModelRequest& request);
  Reply prepare(const PrepareRequest& request);
  Reply steps(const StepsRequest& request);
  Reply warm_up(const WarmUpRequest& request);
  std::map<std::string, std::string> later_details() const;
  Reply round(const RoundRequest& request);
  Reply profile(const ProfileRequest& request);
  Reply canary();
  Reply watch(const WatchRequest& request);
  Reply release();

  const ops::Catalogue& catalogue() const { return equipment_->catalogue(); }
  Result<Done, RefusedReply> build(const CaseKey& key, const std::string& problem,
                                   const PrepareRequest& request);
  Result<Done, RefusedReply> check(const InputValues& values, const PrepareRequest& request);
  Result<std::unique_ptr<Rotation>> make_rotation(CacheMode cache, std::optional<Bytes> distance,
                                                  std::map<std::string, std::string>& details);
  Result<Arena*> arena(std::optional<Bytes> distance);
  SampleCanary* sample_canary();  // null: there is none

  std::shared_ptr<Equipment> equipment_;  // before what is made with it
  Clock& clock_;
  ServerOptions options_;
  Result<double> slowdown_;  // the share; 0: none
  std::optional<Bytes> last_level_cache_;
  Bytes arena_size_;
  std::optional<Arena> arena_;    // of the memory that a case last wanted one in
  std::shared_ptr<Built> built_;  // shared: its type is known to the source alone
  std::unique_ptr<Rotation> rotation_;
  std::unique_ptr<SampleCanary> canary_;  // made when first asked for
  std::unique_ptr<Sampler> sampler_;      // after built_, rotation_ and canary_, which it uses
  std::optional<WarmedUp> warmed_up_;
  Spent spent_;
  VerboseDecoder decoder_;  // a library says only once how it writes its lines
};

}  // namespace bench
