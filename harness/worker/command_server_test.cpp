// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/command_server.hpp"

#include "base/version.hpp"
#include "harness/worker/worker.hpp"
#include "ops/operator.hpp"
#include "tests/fakes/fake_backend.hpp"
#include "tests/fakes/fake_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <stdexcept>
#include <unistd.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using test::FakeBackend;
using test::FakeClock;
using test::FakeScript;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kGemmId = "gemm/forward/m4n4k4/f32/onednn/cpu/hot";

class CommandServerTest : public testing::Test {
 protected:
  ReplyMessage prepare(const std::string& id, CheckKind check = CheckKind::reference,
                       OutputSample expected = {}, std::optional<Bytes> distance = {}) {
    PrepareRequest request;
    request.id = id;
    request.check = check;
    request.expected = std::move(expected);
    request.reuse_distance = distance;
    return server_.handle(request);
  }
  PreparedReply prepared(const std::string& id) {
    const ReplyMessage message = prepare(id);
    if (const auto* refused = std::get_if<ErrorReply>(&message.reply)) {
      ADD_FAILURE() << refused->reason;
      return {};
    }
    return std::get<PreparedReply>(message.reply);
  }
  static ErrorReply refused(const ReplyMessage& message) {
    const auto* reply = std::get_if<ErrorReply>(&message.reply);
    return reply == nullptr ? ErrorReply{Outcome::ok, "not refused"} : *reply;
  }

  FakeClock clock_;
  FakeScript script_;
  FakeBackend backend_{[this](Nanoseconds time) { clock_.advance(time); },
                       [this](const std::string&) { return script_; }};
  CommandServer server_{backend_, clock_, {Bytes{std::int64_t{64} << 20}}};
};

TEST_F(CommandServerTest, HelloNamesProtocolLibraryAndArena) {
  const auto message = server_.handle(HelloRequest{kProtocolVersion, {0}, Bytes{1 << 20}});
  const auto& hello = std::get<HelloReply>(message.reply);
  EXPECT_EQ(hello.protocol, kProtocolVersion);
  EXPECT_EQ(hello.tool_version, tool_version());
  EXPECT_EQ(hello.library.version, "1.2.3");
  EXPECT_EQ(hello.arena.count, 2 << 20);
}

TEST_F(CommandServerTest, PrepareTakesEveryStepsTimeApart) {
  const ReplyMessage message = prepare(kGemmId);
  ASSERT_TRUE(std::holds_alternative<PreparedReply>(message.reply)) << refused(message).reason;
  const auto& reply = std::get<PreparedReply>(message.reply);
  EXPECT_EQ(reply.implementation, "fake:reference");
  EXPECT_EQ(reply.preparation.create, 5000ns);
  EXPECT_EQ(reply.preparation.create_hit, 50ns);
  EXPECT_EQ(reply.preparation.reorder, 2 * 200ns);
  EXPECT_EQ(reply.preparation.first_run, 60us);
  EXPECT_EQ(reply.memory.peak.count, 3 * 64 + 64);
  EXPECT_EQ(reply.memory.workspace.count, 64);
  EXPECT_EQ(reply.buffers.size(), 3u);
  EXPECT_THAT(reply.check, StartsWith("full, 16 elements, worst "));
  EXPECT_EQ(reply.output.values.size(), 16u);
  EXPECT_EQ(message.spent.setup, 5000ns + 50ns + 400ns + 60us);
  EXPECT_EQ(message.spent.check, 0ns);
  EXPECT_EQ(message.spent.timed, 0ns);
}

// Earlier, copying the input of a layer_norm ("ab" to "ab") counted as a conversion, and the advice
// said to keep it converted.
TEST_F(CommandServerTest, CopyingATensorIsNotAConversionOfItsLayout) {
  script_.copied = {0};
  EXPECT_EQ(std::get<PreparedReply>(prepare(kGemmId).reply).preparation.reorder, 200ns);
  script_.copied = {0, 1};
  const std::string other = "gemm/forward/m4n4k8/f32/onednn/cpu/hot";
  EXPECT_EQ(std::get<PreparedReply>(prepare(other).reply).preparation.reorder, 0ns);
}

TEST_F(CommandServerTest, AddressesThatTheSystemDrewAreAmongTheDetails) {
  EXPECT_FALSE(prepared(kGemmId).details.contains("addresses"));
  ServerOptions options;
  options.addresses = ProcessRequest::Addresses::drawn;
  CommandServer drawn(backend_, clock_, options);
  PrepareRequest request;
  request.id = kGemmId;
  const ReplyMessage message = drawn.handle(request);
  EXPECT_EQ(std::get<PreparedReply>(message.reply).details.at("addresses"), "drawn");
}

TEST_F(CommandServerTest, WarmUpAndRoundsAreCountedApart) {
  prepared(kGemmId);
  const auto warm = server_.handle(WarmUpRequest{3, 0ns});
  EXPECT_EQ(std::get<WarmedUpReply>(warm.reply).iterations, 3);
  EXPECT_EQ(warm.spent.warmup, 3 * 60us);
  const auto round = server_.handle(RoundRequest{20});
  EXPECT_EQ(std::get<RoundReply>(round.reply).samples, std::vector<Nanoseconds>(20, 60us));
  EXPECT_EQ(round.spent.timed, 20 * 60us);
  EXPECT_EQ(round.spent.warmup, 3 * 60us);
}

TEST_F(CommandServerTest, ShortIterationsAreBatchedInRounds) {
  script_.run = [](std::int64_t) { return 10us; };
  prepared(kGemmId);
  const auto warm = server_.handle(WarmUpRequest{3, 0ns});
  EXPECT_EQ(std::get<WarmedUpReply>(warm.reply).iterations_per_sample, 11);
  const auto round = server_.handle(RoundRequest{2});
  EXPECT_EQ(std::get<RoundReply>(round.reply).samples, std::vector<Nanoseconds>(2, 110us));
}

TEST_F(CommandServerTest, AWrongElementIsNamed) {
  script_.wrong_element = 6;
  const ErrorReply reply = refused(prepare(kGemmId));
  EXPECT_EQ(reply.outcome, Outcome::wrong_result);
  EXPECT_THAT(reply.reason, HasSubstr("[1,2]: got "));
  EXPECT_THAT(reply.reason, EndsWith("1 of 16 compared elements are wrong"));
}

TEST_F(CommandServerTest, AWrongResultNamesItsKernel) {
  script_.wrong_element = 6;
  script_.details = {{"engine", "engine 3"}};
  const ErrorReply reply = refused(prepare(kGemmId));
  EXPECT_EQ(reply.implementation, "fake:reference");
  EXPECT_EQ(reply.details.at("engine"), "engine 3");
}

TEST_F(CommandServerTest, AFailedRunNamesItsKernel) {
  script_.fails_at = 0;
  const ErrorReply reply = refused(prepare(kGemmId));
  EXPECT_EQ(reply.outcome, Outcome::failed);
  EXPECT_EQ(reply.implementation, "fake:reference");
}

TEST_F(CommandServerTest, WhatABackendThrowsFailsItsCaseAndNotTheWorker) {
  bool must_throw = true;
  FakeBackend backend{[](Nanoseconds) {},
                      [&](const std::string&) {
                        if (must_throw) throw std::runtime_error("no such engine");
                        return FakeScript{};
                      }};
  CommandServer server(backend, clock_, {Bytes{std::int64_t{64} << 20}});
  PrepareRequest request;
  request.id = kGemmId;
  const ErrorReply reply = refused(server.handle(request));
  EXPECT_EQ(reply.outcome, Outcome::failed);
  EXPECT_THAT(reply.reason, AllOf(StartsWith("prepare: "), HasSubstr("no such engine")));
  must_throw = false;
  EXPECT_TRUE(std::holds_alternative<PreparedReply>(server.handle(request).reply));
}

TEST_F(CommandServerTest, WhatABackendThrowsInAProfilePassFailsItsCase) {
  FakeBackend backend{
      [](Nanoseconds) {},
      [](const std::string&) -> FakeScript { throw std::runtime_error("no such engine"); }};
  CommandServer server(backend, clock_, {Bytes{std::int64_t{64} << 20}});
  ProfileRequest request;
  request.prepare.id = kGemmId;
  request.spool = testing::TempDir() + "thrown-" + std::to_string(::getpid()) + ".jsonl";
  EXPECT_THAT(refused(server.handle(request)).reason, StartsWith("profile: "));
  std::remove(request.spool.c_str());
}

// A library whose engines before number `first_right` are wrong, or fail.
class NextEngineTest : public ::testing::Test {
 protected:
  ErrorReply refuse() {
    const Reply reply = prepare();
    const auto* error = std::get_if<ErrorReply>(&reply);
    EXPECT_NE(error, nullptr);
    return error == nullptr ? ErrorReply{} : *error;
  }
  Reply prepare() {
    PrepareRequest request;
    request.id = kGemmId;
    return CommandServer(backend_, clock_, {}).handle(request).reply;
  }

  test::FakeClock clock_;
  FakeScript broken_;  // script of the engines before `first_right_`
  std::size_t first_right_ = 0;
  FakeBackend backend_{[](Nanoseconds) {},
                       [this](const std::string&) {
                         const std::size_t engine = backend_.rejected.size();
                         FakeScript script = engine < first_right_ ? broken_ : FakeScript{};
                         script.details["number"] = std::to_string(engine);
                         return script;
                       }};
};

TEST_F(NextEngineTest, IsTakenAfterAWrongResult) {
  broken_.wrong_element = 6;
  first_right_ = 2;
  backend_.further_engines = 5;
  const Reply reply = prepare();
  ASSERT_TRUE(std::holds_alternative<PreparedReply>(reply));
  EXPECT_EQ(std::get<PreparedReply>(reply).details.at("number"), "2");
  EXPECT_EQ(backend_.rejected.size(), 2u);
  EXPECT_THAT(backend_.rejected.front(), HasSubstr("[1,2]: got "));
}

TEST_F(NextEngineTest, IsTakenAfterAFailedRun) {
  broken_.fails_at = 0;
  first_right_ = 1;
  backend_.further_engines = 1;
  EXPECT_TRUE(std::holds_alternative<PreparedReply>(prepare()));
}

TEST_F(NextEngineTest, TheLastWrongResultIsReported) {
  broken_.wrong_element = 6;
  first_right_ = 9;
  backend_.further_engines = 2;
  const ErrorReply reply = refuse();
  EXPECT_EQ(reply.outcome, Outcome::wrong_result);
  EXPECT_EQ(reply.details.at("number"), "2");
}

TEST_F(NextEngineTest, IsNotTakenForAnotherError) {
  broken_.backend_error = ops::BackendError{ops::BackendError::Kind::failed, "no handle"};
  first_right_ = 1;
  backend_.further_engines = 1;
  EXPECT_EQ(refuse().outcome, Outcome::failed);
  EXPECT_TRUE(backend_.rejected.empty());
}

TEST_F(CommandServerTest, AnUnwrittenElementIsFoundByItsPoison) {
  script_.unwritten_element = 15;
  const ErrorReply reply = refused(prepare(kGemmId));
  EXPECT_EQ(reply.outcome, Outcome::wrong_result);
  EXPECT_THAT(reply.reason, HasSubstr("[3,3]: got NaN"));
}

TEST_F(CommandServerTest, AnUnwrittenIntegerIsFoundByASecondPoison) {
  script_.unwritten_element = 5;
  const ErrorReply reply = refused(prepare("pointwise/forward/relu-4x4/s8/onednn/cpu/hot"));
  EXPECT_EQ(reply.outcome, Outcome::wrong_result);
  EXPECT_THAT(reply.reason, HasSubstr("[1,1]: got another value in a second run"));
}

TEST_F(CommandServerTest, LaterProcessesAreComparedWithTheFirst) {
  const OutputSample first = prepared(kGemmId).output;
  FakeBackend other([](Nanoseconds) {}, [](const std::string&) { return FakeScript{}; });
  CommandServer same(other, clock_, {});
  PrepareRequest request;
  request.id = kGemmId;
  request.check = CheckKind::expected;
  request.expected = first;
  auto message = same.handle(request);
  ASSERT_TRUE(std::holds_alternative<PreparedReply>(message.reply));
  EXPECT_EQ(std::get<PreparedReply>(message.reply).check, "equal to the first process");

  request.expected.digest = "other";  // sums in another order are compared value by value
  message = CommandServer(other, clock_, {}).handle(request);
  EXPECT_THAT(std::get<PreparedReply>(message.reply).check,
              StartsWith("like the first process, 16"));

  request.expected.values[3] += 1;
  message = CommandServer(other, clock_, {}).handle(request);
  EXPECT_EQ(refused(message).outcome, Outcome::wrong_result);
  EXPECT_THAT(refused(message).reason, HasSubstr("first process's: "));
  EXPECT_THAT(refused(message).reason, HasSubstr("[0,3]: got "));
}

TEST_F(CommandServerTest, RefusalsKeepTheirKind) {
  script_.backend_error =
      ops::BackendError{ops::BackendError::Kind::unsupported, "no such primitive"};
  EXPECT_EQ(refused(prepare(kGemmId)).outcome, Outcome::unsupported);
  script_.backend_error->kind = ops::BackendError::Kind::skipped;
  EXPECT_EQ(refused(prepare(kGemmId)).outcome, Outcome::skipped);
  script_.backend_error->kind = ops::BackendError::Kind::failed;
  EXPECT_EQ(refused(prepare(kGemmId)).outcome, Outcome::failed);
  EXPECT_EQ(refused(prepare(kGemmId)).reason, "no such primitive");
}

TEST_F(CommandServerTest, TooLargeForTheMemoryIsSkippedBeforeAnythingIsMade) {
  const ErrorReply reply =
      refused(prepare("pointwise/forward/relu-1048576x1048576x4/f32/onednn/cpu/hot"));
  EXPECT_EQ(reply.outcome, Outcome::skipped);
  EXPECT_THAT(reply.reason,
              AllOf(StartsWith("not enough memory: needs 128.0 TiB (32.00 TiB for the tensors, "),
                    HasSubstr("64.00 TiB for the check"), HasSubstr("64.00 MiB available")));
  EXPECT_EQ(backend_.creations(), 0);
}

TEST_F(CommandServerTest, AnotherBackendIsUnsupported) {
  const ErrorReply reply = refused(prepare("gemm/forward/m4n4k4/f32/cublaslt/cpu/hot"));
  EXPECT_NE(reply.outcome, Outcome::ok);
}

TEST_F(CommandServerTest, AFailingKernelEndsTheRound) {
  script_.fails_at = 10;
  prepared(kGemmId);
  server_.handle(WarmUpRequest{3, 0ns});
  const auto message = server_.handle(RoundRequest{20});
  EXPECT_EQ(refused(message).outcome, Outcome::failed);
  EXPECT_EQ(refused(message).reason, "scripted failure");
  EXPECT_EQ(message.spent.timed, 6 * 60us);  // runs 4 to 9
}

// A plugin's kernel that did nothing after its third run was reported as 11 ns, `ok`.
TEST_F(CommandServerTest, AKernelThatStopsComputingIsAWrongResult) {
  for (const std::string& id :
       {std::string(kGemmId), std::string("gemm/forward/m16n16k16/f32/onednn/cpu/cold"),
        std::string("pointwise/forward/relu-4x4/s8/onednn/cpu/hot")}) {
    script_.computes_until = 3;
    prepared(id);
    server_.handle(WarmUpRequest{3, 0ns});
    server_.handle(RoundRequest{5});
    const auto message = server_.handle(ReleaseRequest{.check = true});
    EXPECT_EQ(refused(message).outcome, Outcome::wrong_result) << id;
    EXPECT_THAT(refused(message).reason, StartsWith("after the samples: ")) << id;
    script_.computes_until = std::nullopt;
    prepared(id);  // builds the case again instead of using the broken kernel
    EXPECT_TRUE(
        std::holds_alternative<DoneReply>(server_.handle(ReleaseRequest{.check = true}).reply))
        << id;
  }
}

TEST_F(CommandServerTest, TheCheckAfterTheSamplesCountsAsCheckAndOnlyOnRequest) {
  prepared(kGemmId);
  server_.handle(WarmUpRequest{3, 0ns});
  const Nanoseconds before = server_.handle(RoundRequest{1}).spent.check;
  EXPECT_EQ(server_.handle(ReleaseRequest{}).spent.check, before);
  prepared(kGemmId);
  const WorkerTimes checked = server_.handle(ReleaseRequest{.check = true}).spent;
  EXPECT_EQ(checked.check, before + 60us);  // one more run
  // A case without a first check has nothing to compare with.
  CommandServer unchecked(backend_, clock_, {});
  PrepareRequest request;
  request.id = kGemmId;
  request.check = CheckKind::none;
  unchecked.handle(request);
  EXPECT_EQ(unchecked.handle(ReleaseRequest{.check = true}).spent.check, 0ns);
}

TEST_F(CommandServerTest, CommandsOutOfOrderAreRefused) {
  EXPECT_EQ(refused(server_.handle(WarmUpRequest{3, 0ns})).outcome, Outcome::failed);
  prepared(kGemmId);
  EXPECT_EQ(refused(server_.handle(RoundRequest{1})).outcome, Outcome::failed);
  server_.handle(WarmUpRequest{3, 0ns});
  EXPECT_EQ(refused(server_.handle(RoundRequest{0})).outcome, Outcome::failed);
  server_.handle(ReleaseRequest{});
  EXPECT_EQ(refused(server_.handle(RoundRequest{1})).outcome, Outcome::failed);
  EXPECT_TRUE(std::holds_alternative<DoneReply>(server_.handle(QuitRequest{}).reply));
}

TEST_F(CommandServerTest, VariantsOfAProblemShareKernelAndCheck) {
  server_.handle(HelloRequest{kProtocolVersion, {0}, Bytes{1 << 20}});
  const std::string problem = "gemm/forward/m16n16k16/f32/onednn/cpu/";
  const PreparedReply hot = prepared(problem + "hot");
  const PreparedReply cold = prepared(problem + "cold");
  EXPECT_EQ(backend_.creations(), 2);  // a miss and a hit, once
  EXPECT_EQ(cold.preparation.create, hot.preparation.create);
  EXPECT_EQ(cold.check, hot.check);
  EXPECT_FALSE(hot.details.contains("cold.sets"));
  // Sets of 2 x 1 KiB to read (33 lines) and 1 KiB to write (17 lines) in regions of 2 MiB.
  EXPECT_EQ(cold.details.at("arena.bytes"), "2097152");
  EXPECT_EQ(cold.details.at("cold.sets"), std::to_string((2 << 20) / (33 * 64)));
  EXPECT_EQ(cold.details.at("cold.bytes"), std::to_string((2 << 20) / (33 * 64) * (33 + 17) * 64));
  server_.handle(WarmUpRequest{3, 0ns});
  EXPECT_EQ(std::get<RoundReply>(server_.handle(RoundRequest{5}).reply).samples.size(), 5u);
}

TEST_F(CommandServerTest, ColdWeightsRotateOverTheReuseDistance) {
  server_.handle(HelloRequest{kProtocolVersion, {0}, Bytes{1 << 20}});
  const std::string id = "conv/forward/n1c16h4w4k16r1s1/f32/onednn/cpu/cold_weights";
  const auto message = prepare(id, CheckKind::reference, {}, Bytes{1 << 18});
  ASSERT_TRUE(std::holds_alternative<PreparedReply>(message.reply)) << refused(message).reason;
  const auto& reply = std::get<PreparedReply>(message.reply);
  EXPECT_EQ(reply.details.at("cold.sets"), std::to_string((1 << 18) / (17 * 64)));
}

TEST_F(CommandServerTest, WhatTheArenaCannotHoldTwiceStaysInItsOwnBuffers) {
  server_.handle(HelloRequest{kProtocolVersion, {0}, Bytes{256}});
  const PreparedReply reply = prepared("gemm/forward/m16n16k16/f32/onednn/cpu/cold");
  EXPECT_EQ(reply.details.at("cold.sets"), "1");
  EXPECT_THAT(reply.details.at("cold.note"), HasSubstr("its own buffers"));
  EXPECT_FALSE(reply.details.contains("cold.bytes"));
}

TEST_F(CommandServerTest, LargeProblemsAreCheckedAtPositions) {
  // 2^28 < 2112 * 256 * 512 MACs; Freivalds' test sees all elements.
  const PreparedReply reply = prepared("gemm/forward/m2112n256k512/f32/onednn/cpu/hot");
  EXPECT_THAT(reply.check, StartsWith("seeded positions with borders and Freivalds' test, "));
}

TEST_F(CommandServerTest, DescribesOperatorsTypesAndTheDevice) {
  WorkerContext context{ops::BackendSet(backend_)};
  const auto document = nlohmann::json::parse(describe(context));
  EXPECT_EQ(document.at("protocol"), kProtocolVersion);
  EXPECT_EQ(document.at("operators").size(), ops::all_operators().size());
  EXPECT_EQ(document.at("operators")[0].at("name"), ops::all_operators()[0]->name);
  EXPECT_EQ(document.at("devices").at(0).at("name"), "cpu");
  EXPECT_EQ(document.at("devices").at(0).at("library").at("version"), "1.2.3");
  const auto message = server_.handle(DescribeRequest{});
  EXPECT_EQ(std::get<DescribeReply>(message.reply).document, describe(context));
}

// Each look has another canary. The operating system preempts the fourth piece of work.
class WatchedCanary final : public SampleCanary {
 public:
  int threads() const override { return 2; }
  Nanoseconds take() override { return 0ns; }
  MachineLook look() override {
    ++looks_;
    return {Nanoseconds(looks_), 10 * Nanoseconds(looks_), 0ns};
  }
  std::optional<Nanoseconds> join() const override { return 70ns; }
  std::int64_t preemptions() override { return looks_ >= 4 && ++asked_ > 1 ? 1 : 0; }

 private:
  int looks_ = 0, asked_ = 0;
};

class TimedProbe final : public ProbeWork {
 public:
  explicit TimedProbe(FakeClock& clock) : clock_(clock) {}
  void compute() override { clock_.advance(100us); }
  void stream() override { clock_.advance(200us); }

 private:
  FakeClock& clock_;
};

TEST_F(CommandServerTest, AWatchHasTheTimesOfItsWorkAndTheSlowestCanaryAround) {
  std::optional<Bytes> cache, available;
  ServerOptions options{Bytes{1000}};
  options.sample_canary = [] { return std::make_unique<WatchedCanary>(); };
  options.probe_work = [&](std::optional<Bytes> last_level, std::optional<Bytes> memory) {
    cache = last_level;
    available = memory;
    return std::make_unique<TimedProbe>(clock_);
  };
  CommandServer server(backend_, clock_, options);
  server.handle(HelloRequest{kProtocolVersion, {0}, Bytes{48 << 20}});
  const ReplyMessage message = server.handle(WatchRequest{600us});
  ASSERT_TRUE(std::holds_alternative<WatchedReply>(message.reply)) << refused(message).reason;
  const auto& reply = std::get<WatchedReply>(message.reply);
  EXPECT_EQ(reply.threads, 2);
  EXPECT_EQ(reply.canaries, (std::vector{3ns, 5ns}));
  EXPECT_EQ(reply.chains, (std::vector{30ns, 50ns}));
  EXPECT_EQ(reply.lost, (std::vector{0ns, 0ns}));
  EXPECT_EQ(reply.compute, (std::vector<Nanoseconds>{100us, 100us}));
  EXPECT_EQ(reply.memory, (std::vector<Nanoseconds>{200us, 0us}));
  EXPECT_EQ(reply.join, 70ns);
  EXPECT_EQ(message.spent.setup, 600us);
  EXPECT_EQ(cache, Bytes{48 << 20});
  EXPECT_EQ(available, Bytes{1000});
}

TEST_F(CommandServerTest, AWatchWithoutMemoryIsRefused) {
  ServerOptions options{Bytes{std::int64_t{64} << 20}};
  options.sample_canary = [] { return std::make_unique<WatchedCanary>(); };
  options.probe_work = make_probe_work;
  CommandServer server(backend_, clock_, options);
  const ErrorReply reply = refused(server.handle(WatchRequest{1ms}));
  EXPECT_EQ(reply.outcome, Outcome::skipped);
  EXPECT_EQ(reply.reason, "not enough memory to watch the machine, which takes 192.0 MiB");
}

TEST_F(CommandServerTest, ASlowdownThatIsNoneRefusesEveryCommand) {
  CommandServer server(backend_, clock_, {std::nullopt, "3x"});
  for (const Request& request : {Request(HelloRequest{kProtocolVersion, {0}, {}}),
                                 Request(RoundRequest{1}), Request(ReleaseRequest{})}) {
    const ErrorReply reply = refused(server.handle(request));
    EXPECT_EQ(reply.outcome, Outcome::failed);
    EXPECT_THAT(reply.reason, StartsWith("BENCH_SLOWDOWN: `3x` is not a fraction of the time"));
  }
}

TEST_F(CommandServerTest, ExactFactsAreDetails) {
  for (const char* kind : {"reorder", "matmul"}) script_.steps.emplace_back().step.kind = kind;
  const PreparedReply first = prepared(kGemmId);
  EXPECT_EQ(first.details.at("primitives"), "2");
  EXPECT_EQ(first.details.at("output.digest"), first.output.digest);
  // A later process also sends the digest, if one output is empty.
  CommandServer later(backend_, clock_, {});
  PrepareRequest request;
  request.id = kGemmId;
  request.check = CheckKind::expected;
  request.expected = first.output;
  const ReplyMessage second = later.handle(request);
  ASSERT_TRUE(std::holds_alternative<PreparedReply>(second.reply)) << refused(second).reason;
  EXPECT_EQ(std::get<PreparedReply>(second.reply).output.digest, "");
  EXPECT_EQ(std::get<PreparedReply>(second.reply).details.at("output.digest"), first.output.digest);
  request.check = CheckKind::none;
  CommandServer unchecked(backend_, clock_, {});
  const ReplyMessage third = unchecked.handle(request);
  ASSERT_TRUE(std::holds_alternative<PreparedReply>(third.reply)) << refused(third).reason;
  EXPECT_FALSE(std::get<PreparedReply>(third.reply).details.contains("output.digest"));
}

}  // namespace
}  // namespace bench
