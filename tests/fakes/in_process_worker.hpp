// SPDX-License-Identifier: Apache-2.0
// A worker without a process: the same command server and messages, on the test's clock.
#pragma once

#include "harness/run/worker_link.hpp"
#include "harness/worker/command_server.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace bench::test {

// Called before each command. If it returns a failure, this happens instead of the command.
using FakeFault = std::function<std::optional<WorkerFailure>(const Request&)>;
// Returns the line that arrives in place of the worker's reply `line` to the request.
using FakeTampering = std::function<std::string(const Request&, std::string line)>;
// Opens energy counters; empty: energy is not mentioned.
using FakeMeters = decltype(ServerOptions::energy_meter);

inline ServerOptions server_options(std::function<void(Nanoseconds)> pause, FakeMeters meters) {
  ServerOptions options{Bytes{std::int64_t{64} << 20}, std::nullopt, std::move(pause)};
  options.energy_meter = std::move(meters);
  return options;
}

class InProcessWorker final : public WorkerLink {
 public:
  InProcessWorker(std::unique_ptr<ops::Backend> backend, Clock& clock, FakeFault fault,
                  std::function<void(Nanoseconds)> pause = {}, FakeMeters meters = {})
      : backend_(std::move(backend)),
        server_(*backend_, clock, server_options(std::move(pause), std::move(meters))),
        clock_(clock),
        started_(clock.now()),
        fault_(std::move(fault)) {}

  Result<ReplyMessage, WorkerFailure> call(const Request& request, Nanoseconds limit,
                                           const std::function<bool()>& interrupted) override {
    if (fault_) {
      if (auto failure = fault_(request)) return *failure;
    }
    const auto failed = [](const Error& error) {
      return WorkerFailure{WorkerFailure::Kind::failed, error.message()};
    };
    Result<Request> sent = decode_request(encode(request));
    if (!sent) return failed(sent.error());
    const Nanoseconds start = clock_.now();
    std::string line = encode(server_.handle(*sent));
    if (clock_.now() - start > limit) {
      return WorkerFailure{WorkerFailure::Kind::timed_out, "no answer within the limit"};
    }
    if (tamper_) line = tamper_(request, std::move(line));
    Result<ReplyMessage> reply = decode_reply(line, request, clock_.now() - start);
    if (!reply) return failed(reply.error());
    // Behaves like a process that is killed while it works.
    if (interrupted && interrupted()) {
      return WorkerFailure{WorkerFailure::Kind::interrupted, "interrupted"};
    }
    return *reply;
  }

  Nanoseconds finish() override { return clock_.now() - started_; }

  // Changes each reply before it is read.
  void set_tampering(FakeTampering tamper) { tamper_ = std::move(tamper); }

 private:
  std::unique_ptr<ops::Backend> backend_;
  CommandServer server_;
  Clock& clock_;
  Nanoseconds started_;
  FakeFault fault_;
  FakeTampering tamper_;
};

}  // namespace bench::test
