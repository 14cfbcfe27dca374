// SPDX-License-Identifier: Apache-2.0
#include "harness/result/latency.hpp"
#include "harness/worker/command_server.hpp"
#include "tests/fakes/fake_backend.hpp"
#include "tests/fakes/fake_device_memory.hpp"
#include "tests/fakes/per_thread_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

namespace bench {
namespace {

using namespace std::chrono_literals;
using test::FakeBackend;
using test::FakeScript;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kTwoStreams = "gemm/forward/m4n4k4/f32/onednn/cpu/hot/st2";

// A worker with two streams. The first stream's kernel is created by the first two calls (the
// second one hits the library's cache), the second stream's kernel by the next two.
class TwoStreamsTest : public testing::Test {
 protected:
  TwoStreamsTest() {
    script_.run = [](std::int64_t) { return Nanoseconds(10ms); };
    second_ = script_;
  }

  static ServerOptions with_streams(StreamProcessors streams) {
    ServerOptions options{Bytes{std::int64_t{64} << 20}};
    options.streams = std::move(streams);
    return options;
  }
  Reply prepare(const std::string& id) {
    PrepareRequest request;
    request.id = id;
    return server_.handle(request).reply;
  }
  static ErrorReply refused(const Reply& reply) {
    const auto* error = std::get_if<ErrorReply>(&reply);
    return error == nullptr ? ErrorReply{Outcome::ok, "not refused"} : *error;
  }
  Reply warm_up() { return server_.handle(WarmUpRequest{3, 0ns}).reply; }

  test::PerThreadClock clock_;
  FakeScript script_, second_;  // scripts of both streams' kernels
  std::atomic<int> created_{0};
  FakeBackend backend_{
      [this](Nanoseconds time) { clock_.advance(time); },
      [this](const std::string&) { return created_.fetch_add(1) < 2 ? script_ : second_; }};
  CommandServer server_{backend_, clock_, with_streams({{0}, {0}})};
};

TEST_F(TwoStreamsTest, EachStreamHasAKernelAndBuffers) {
  const Reply reply = prepare(kTwoStreams);
  ASSERT_TRUE(std::holds_alternative<PreparedReply>(reply)) << refused(reply).reason;
  const auto& prepared = std::get<PreparedReply>(reply);
  EXPECT_EQ(created_.load(), 4);
  EXPECT_EQ(prepared.memory.peak.count, 2 * (3 * 64 + 64));
  EXPECT_EQ(prepared.memory.workspace.count, 2 * 64);
  EXPECT_THAT(prepared.check, EndsWith("; the same in all 2 streams"));
  EXPECT_EQ(prepared.details.at("streams.processors"), "0;0");
}

TEST_F(TwoStreamsTest, ARoundHasTimesAtTheThroughputOfBothAndLatencies) {
  prepare(kTwoStreams);
  const Reply warm = warm_up();
  EXPECT_EQ(std::get<WarmedUpReply>(warm).iterations_per_sample, 6);
  const Reply reply = server_.handle(RoundRequest{4}).reply;
  ASSERT_TRUE(std::holds_alternative<RoundReply>(reply)) << refused(reply).reason;
  const auto& round = std::get<RoundReply>(reply);
  EXPECT_EQ(round.samples, std::vector<Nanoseconds>(4, 30ms));
  ASSERT_TRUE(round.latencies.has_value());
  EXPECT_EQ(round.latencies->times, std::vector<Nanoseconds>{10ms});
  EXPECT_GE(total_count(*round.latencies), 4 * 2 * 3);
}

TEST_F(TwoStreamsTest, AWrongResultOfOneStreamIsFound) {
  second_.wrong_element = 6;
  const ErrorReply error = refused(prepare(kTwoStreams));
  EXPECT_EQ(error.outcome, Outcome::wrong_result);
  EXPECT_THAT(error.reason, StartsWith("stream 2 of 2: values differ from those of the first "
                                       "stream: "));
  EXPECT_THAT(error.reason, HasSubstr("[1,2]: got "));
}

TEST_F(TwoStreamsTest, AFailureOfOneStreamIsThatOfTheCase) {
  second_.fails_at = 4;  // in the warm-up
  prepare(kTwoStreams);
  const ErrorReply error = refused(warm_up());
  EXPECT_EQ(error.outcome, Outcome::failed);
  EXPECT_EQ(error.reason, "stream 2 of 2: scripted failure");
}

TEST_F(TwoStreamsTest, AKernelThatCannotBeCreatedNamesItsStream) {
  second_.backend_error = ops::BackendError{ops::BackendError::Kind::skipped, "no memory"};
  const ErrorReply error = refused(prepare(kTwoStreams));
  EXPECT_EQ(error.outcome, Outcome::skipped);
  EXPECT_EQ(error.reason, "stream 2 of 2: no memory");
}

TEST_F(TwoStreamsTest, EachStreamIsCheckedAfterTheSamples) {
  second_.computes_until = 4;
  prepare(kTwoStreams);
  warm_up();
  server_.handle(RoundRequest{2});
  const ErrorReply error = refused(server_.handle(ReleaseRequest{.check = true}).reply);
  EXPECT_EQ(error.outcome, Outcome::wrong_result);
  EXPECT_THAT(error.reason, StartsWith("stream 2 of 2: after the samples: "));
}

TEST_F(TwoStreamsTest, ColdCachesShareTheArena) {
  const Reply reply = prepare("gemm/forward/m4n4k4/f32/onednn/cpu/cold/st2");
  ASSERT_TRUE(std::holds_alternative<PreparedReply>(reply)) << refused(reply).reason;
  const auto& details = std::get<PreparedReply>(reply).details;
  CommandServer alone(backend_, clock_, with_streams({}));
  PrepareRequest request;
  request.id = "gemm/forward/m4n4k4/f32/onednn/cpu/cold";
  const Reply single = alone.handle(request).reply;
  ASSERT_TRUE(std::holds_alternative<PreparedReply>(single)) << refused(single).reason;
  const auto& all = std::get<PreparedReply>(single).details;
  EXPECT_EQ(2 * std::stoll(details.at("arena.bytes")), std::stoll(all.at("arena.bytes")));
}

TEST_F(TwoStreamsTest, AnotherNumberOfStreamsIsRefused) {
  EXPECT_EQ(refused(prepare("gemm/forward/m4n4k4/f32/onednn/cpu/hot")).reason,
            "the case has 1 stream, but this worker was started for 2; BENCH_STREAMS sets it");
}

TEST(StreamsOnADevice, AreUnsupportedWithTheNextStep) {
  test::PerThreadClock clock;
  test::FakeDeviceMemory memory;
  FakeBackend backend([](Nanoseconds) {}, [](const std::string&) { return FakeScript{}; },
                      {"cublaslt", "cuda", &memory});
  ServerOptions options;
  options.streams = {{0}, {0}};
  CommandServer server(backend, clock, options);
  PrepareRequest request;
  request.id = "gemm/forward/m4n4k4/f32/cublaslt/cuda/hot/st2";
  const Reply reply = server.handle(request).reply;
  const auto* error = std::get_if<ErrorReply>(&reply);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->outcome, Outcome::unsupported);
  EXPECT_EQ(error->reason,
            "backend cublaslt runs one kernel at a time, so it cannot run several streams; measure "
            "`streams` with `device: cpu` and backend onednn or native");
}

}  // namespace
}  // namespace bench
