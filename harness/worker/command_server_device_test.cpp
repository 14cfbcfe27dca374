// SPDX-License-Identifier: Apache-2.0
// A worker whose backend computes on a device that has its own memory and clock.
#include "harness/worker/command_server.hpp"
#include "harness/worker/memory.hpp"
#include "harness/worker/worker.hpp"
#include "tests/fakes/fake_backend.hpp"
#include "tests/fakes/fake_clock.hpp"
#include "tests/fakes/fake_device_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace bench {
namespace {

using namespace std::chrono_literals;
using test::FakeBackend;
using test::FakeClock;
using test::FakeScript;

constexpr const char* kOnDevice = "gemm/forward/m16n16k16/f32/cublaslt/cuda/";
constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;

class DeviceServerTest : public testing::Test {
 protected:
  DeviceServerTest() {
    memory_.cache_size = Bytes{kMebibyte};
    script_.sample = [this](std::int64_t, const ops::SampleRequest& request) {
      ops::DeviceSample sample;
      sample.device = request.iterations * 1500us;
      sample.host = 2us;
      sets_.insert(request.rotation.size());
      clock_.advance(request.iterations * 1600us);
      return sample;
    };
    script_.details = {{"engine", "12"}, {"setup.context_ns", "300"}};
    server_.handle(HelloRequest{kProtocolVersion, {0}, Bytes{64 * kMebibyte}});
  }

  Reply prepare(const std::string& id, std::optional<Bytes> distance = {}, std::int64_t tune = 0) {
    PrepareRequest request;
    request.id = id;
    request.reuse_distance = distance;
    request.tuning = tune;
    return server_.handle(request).reply;
  }
  PreparedReply prepared(const std::string& id, std::optional<Bytes> distance = {},
                         std::int64_t tune = 0) {
    const Reply reply = prepare(id, distance, tune);
    if (const auto* refused = std::get_if<ErrorReply>(&reply)) ADD_FAILURE() << refused->reason;
    const auto* found = std::get_if<PreparedReply>(&reply);
    return found != nullptr ? *found : PreparedReply{};
  }
  ErrorReply refused(const std::string& id) {
    const Reply reply = prepare(id);
    const auto* found = std::get_if<ErrorReply>(&reply);
    return found != nullptr ? *found : ErrorReply{Outcome::ok, "not refused"};
  }

  test::FakeDeviceMemory memory_;  // declared before the server, which uses it
  FakeClock clock_;
  FakeScript script_;
  std::set<std::size_t> sets_;  // sizes of the rotations of the samples
  FakeBackend backend_{[this](Nanoseconds time) { clock_.advance(time); },
                       [this](const std::string&) { return script_; },
                       {"cublaslt", "cuda", &memory_}};
  CommandServer server_{backend_, clock_, {Bytes{64 * kMebibyte}}};
};

TEST_F(DeviceServerTest, RoundsAreSamplesOfTheDevice) {
  const PreparedReply reply = prepared(kOnDevice + std::string("hot"));
  EXPECT_EQ(reply.details.at("engine"), "12");
  EXPECT_EQ(reply.details.at("setup.context_ns"), "300");
  const auto warm = std::get<WarmedUpReply>(server_.handle(WarmUpRequest{3, 0ns}).reply);
  EXPECT_EQ(warm.sample, 1500us);
  const ReplyMessage message = server_.handle(RoundRequest{4});
  const auto& round = std::get<RoundReply>(message.reply);
  EXPECT_EQ(round.samples, std::vector<Nanoseconds>(4, 1500us));
  EXPECT_EQ(round.device.host_launch, std::vector<Nanoseconds>(4, 2us));
  EXPECT_EQ(round.device.sample_method, "stream");
  EXPECT_EQ(message.spent.timed, 6000us);
}

TEST_F(DeviceServerTest, ColdCachesRotateOverMemoryOfTheDevice) {
  const Bytes before = memory_.used;
  const PreparedReply cold = prepared(kOnDevice + std::string("cold"));
  EXPECT_EQ(cold.details.at("arena.bytes"),
            std::to_string(2 * kMebibyte));  // twice the device's cache
  EXPECT_EQ(cold.details.at("arena.memory"), "of the device");
  const std::size_t sets = (2 << 20) / (9 * 256);  // two of 1 KiB, and an odd number of units
  EXPECT_EQ(cold.details.at("cold.sets"), std::to_string(sets));
  EXPECT_GE(memory_.used.count - before.count, 4 * kMebibyte);
  server_.handle(WarmUpRequest{3, 0ns});
  EXPECT_EQ(sets_, std::set<std::size_t>{sets});
  // A layer with a larger reuse distance enlarges the arena; one with a smaller distance leaves it.
  const std::string weights = "conv/forward/n1c16h4w4k16r1s1/f32/cudnn/cuda/cold_weights";
  EXPECT_EQ(refused(weights).outcome, Outcome::unsupported);  // backend of another device
  const std::string own = kOnDevice + std::string("cold_weights");
  EXPECT_EQ(prepared(own, Bytes{5 * kMebibyte}).details.at("arena.bytes"),
            std::to_string(5 * kMebibyte));
  EXPECT_EQ(prepared(own, Bytes{3 * kMebibyte}).details.at("arena.bytes"),
            std::to_string(5 * kMebibyte));
}

TEST_F(DeviceServerTest, WhatTheDeviceCannotHoldIsSkipped) {
  memory_.free = Bytes{3 * 1024 - 1};  // three matrices of 16 x 16 f32
  const ErrorReply error = refused(kOnDevice + std::string("hot"));
  EXPECT_EQ(error.outcome, Outcome::skipped);
  EXPECT_EQ(error.reason,
            "not enough memory on the device: the tensors need 3.000 KiB, 2.999 KiB available");
  memory_.free = Bytes{3 * 1024};
  prepared(kOnDevice + std::string("hot"));
}

TEST_F(DeviceServerTest, ADeviceThatFailsIsAFailureWithItsReason) {
  memory_.refuses = true;
  const ErrorReply error = refused(kOnDevice + std::string("hot"));
  EXPECT_EQ(error.outcome, Outcome::failed);
  EXPECT_EQ(error.reason, "the device is lost");
}

// No other engine of the library would run, and a rejected one would leave the case with a slower
// engine.
TEST_F(DeviceServerTest, AnErrorOfTheMachineRejectsNoEngine) {
  backend_.further_engines = 5;
  const std::string integers = "gemm/forward/m16n16k16/s8/cublaslt/cuda/hot";
  const auto expect_machine_error = [&](const char* reason) {
    const ErrorReply error = refused(integers);
    EXPECT_EQ(error.outcome, Outcome::failed);
    EXPECT_THAT(error.reason, testing::HasSubstr(reason));
    EXPECT_EQ(error.implementation, "");
    EXPECT_TRUE(backend_.rejected.empty());
  };
  memory_.refuses = true;
  expect_machine_error("the device is lost");
  memory_.refuses = false;
  script_.cannot_prepare = true;
  expect_machine_error("no memory for the forward pass");
  script_.cannot_prepare = false;
  memory_.fills_left = 0;  // before the first run
  expect_machine_error("no fill");
  memory_.fills_left = 1;  // before the second run, which finds integers that were not written
  expect_machine_error("no fill");
  memory_.fills_left.reset();
  prepared(integers);
}

TEST_F(DeviceServerTest, AFailureOfTheSecondRunIsTheEngines) {
  backend_.further_engines = 0;
  script_.fails_at = 1;
  const ErrorReply error = refused("gemm/forward/m16n16k16/s8/cublaslt/cuda/hot");
  EXPECT_EQ(error.outcome, Outcome::failed);
  EXPECT_EQ(error.implementation, "fake:reference");
}

TEST_F(DeviceServerTest, ChoicesOfColdCasesSayThatTheyWereMeasuredHot) {
  const auto caches = [&](const char* mode) {
    const auto details = prepared(kOnDevice + std::string(mode)).details;
    const auto found = details.find("tuned_caches");
    return found == details.end() ? std::string() : found->second;
  };
  EXPECT_EQ(caches("cold"), "");  // nothing was chosen
  for (const char* detail : {"tuned", "choice.layer1"}) {
    CommandServer server(backend_, clock_, {Bytes{64 * kMebibyte}});
    script_.details = {{detail, "default 5.42 us, kept: 1 of 8"}};
    PrepareRequest request;
    request.check = CheckKind::none;
    for (const auto& [mode, says_hot] : {std::pair("hot", false), std::pair("cold", true)}) {
      request.id = kOnDevice + std::string(mode);
      const Reply reply = server.handle(request).reply;
      const auto& details = std::get<PreparedReply>(reply).details;
      EXPECT_EQ(details.contains("tuned_caches"), says_hot) << mode;
    }
  }
}

// The server does not use a kernel again that was chosen with other caches.
TEST_F(DeviceServerTest, ABackendKnowsTheCachesOfTheCaseBeforeItMakesTheKernel) {
  const auto caches_of = [&](const char* mode, std::optional<Bytes> distance = {}) {
    prepared(kOnDevice + std::string(mode), distance, 8);
    return backend_.tuned_caches;
  };
  script_.details = {{"tuned", "default 5.42 us, kept: 1 of 8"}};
  EXPECT_EQ(caches_of("hot"), ops::TunedCaches());
  const ops::TunedCaches cold = caches_of("cold");
  EXPECT_EQ(cold.state, ops::CacheState::cold);
  EXPECT_EQ(cold.rotation, device_arena_size(memory_, Bytes{0}));
  EXPECT_EQ(caches_of("cold_weights", Bytes{3 * kMebibyte}),
            (ops::TunedCaches{ops::CacheState::cold_weights, Bytes{3 * kMebibyte}}));
  for (const bool is_chosen : {false, true}) {
    CommandServer server(backend_, clock_, {Bytes{64 * kMebibyte}});
    script_.details = {{is_chosen ? "tuned" : "engine", "7"}};
    const std::int64_t before = backend_.creations();
    PrepareRequest request;
    request.check = CheckKind::none;
    for (const char* mode : {"hot", "cold", "cold"}) {
      request.id = kOnDevice + std::string(mode);
      server.handle(request);
    }
    EXPECT_EQ(backend_.creations() - before, is_chosen ? 4 : 2);  // each is created twice
  }
  // The backend's own statement remains.
  script_.details["tuned_caches"] = "cold: executions rotate over 2.000 MiB";
  EXPECT_EQ(prepared(kOnDevice + std::string("cold"), {}, 9).details.at("tuned_caches"),
            "cold: executions rotate over 2.000 MiB");
}

TEST_F(DeviceServerTest, TuningIsToldBeforeTheKernelIsMadeAndIsAFact) {
  EXPECT_EQ(prepared(kOnDevice + std::string("hot"), {}, 8).details.at("tune"), "8");
  EXPECT_EQ(backend_.tunings, (std::vector<std::int64_t>{8}));
  const std::int64_t made = backend_.creations();
  // Not the same kernel as without tuning.
  EXPECT_FALSE(prepared(kOnDevice + std::string("hot")).details.contains("tune"));
  EXPECT_EQ(backend_.tunings, (std::vector<std::int64_t>{8, 0}));
  EXPECT_EQ(backend_.creations(), made + 2);
}

}  // namespace
}  // namespace bench
