// SPDX-License-Identifier: Apache-2.0
#include "harness/run/worker_session.hpp"

#include "harness/wire/messages.hpp"
#include "tests/fakes/fake_clock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

namespace bench {
namespace {

using namespace std::chrono_literals;
using Answer = Result<Reply, WorkerFailure>;
using Cause = RequestFailure::Cause;

// Answers the handshake, then gives the same answer to every request.
class OneAnswer final : public WorkerLink {
 public:
  explicit OneAnswer(Answer answer) : answer_(std::move(answer)) {}
  Result<ReplyMessage, WorkerFailure> call(const Request& request, Nanoseconds,
                                           const std::function<bool()>&) override {
    if (std::holds_alternative<HelloRequest>(request)) {
      return ReplyMessage{HelloReply{kProtocolVersion, "", "", "", {}, {}}, {}};
    }
    if (!answer_) return answer_.error();
    return ReplyMessage{*answer_, {}};
  }
  Nanoseconds finish() override { return 1s; }

 private:
  Answer answer_;
};

class WorkerSessionTest : public testing::Test {
 protected:
  Result<RoundReply, RequestFailure> round_of(const Answer& answer) {
    WorkerSession session(
        [&](std::optional<int>) -> Result<std::unique_ptr<WorkerLink>> {
          return std::unique_ptr<WorkerLink>(new OneAnswer(answer));
        },
        {kProtocolVersion, Bytes{0}, std::nullopt}, interrupted_, clock_);
    EXPECT_TRUE(session.ensure(1).ok());
    auto reply = session.ask<RoundReply>(RoundRequest{1}, 1s);
    ended_ = session.accounting().wall > 0s;
    return reply;
  }
  void expect_unanswered(const Answer& answer, const RequestFailure& expected) {
    const auto reply = round_of(answer);
    ASSERT_FALSE(reply.ok());
    EXPECT_EQ(reply.error().cause, expected.cause);
    EXPECT_EQ(reply.error().outcome, expected.outcome);
    EXPECT_EQ(reply.error().reason, expected.reason);
    EXPECT_EQ(reply.error().worker_is_gone(), ended_);
  }

  test::FakeClock clock_;
  bool ended_ = false;
  std::function<bool()> interrupted_;
};

TEST_F(WorkerSessionTest, TheWantedReplyIsHandedOver) {
  const auto reply = round_of(Reply(RoundReply{{3ns, 4ns}}));
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->samples, (std::vector<Nanoseconds>{3ns, 4ns}));
  EXPECT_FALSE(ended_);
}

TEST_F(WorkerSessionTest, ARefusalKeepsItsOutcomeAndTheWorker) {
  expect_unanswered(Reply(ErrorReply{Outcome::unsupported, "no such type"}),
                    {Cause::backend_error, Outcome::unsupported, "no such type"});
  EXPECT_FALSE(ended_);
}

TEST_F(WorkerSessionTest, UnexpectedReplyIsAFailureOfTheCase) {
  expect_unanswered(Reply(DoneReply{}), {Cause::unexpected_reply, Outcome::failed,
                                         "the worker sent an unexpected kind of answer"});
  EXPECT_FALSE(ended_);
}

TEST_F(WorkerSessionTest, AFailureEndsTheWorker) {
  expect_unanswered(WorkerFailure{WorkerFailure::Kind::crashed, "SIGSEGV"},
                    {Cause::failure, Outcome::crashed, "SIGSEGV"});
  EXPECT_TRUE(ended_);
}

// SIGTERM to the whole process group was recorded as a crash of the case.
TEST_F(WorkerSessionTest, AWorkerThatDiesOfAnInterruptionHasNotCrashed) {
  interrupted_ = [] { return true; };
  expect_unanswered(WorkerFailure{WorkerFailure::Kind::crashed, "the worker ended with SIGTERM"},
                    {Cause::interruption, Outcome::failed, "interrupted"});
  EXPECT_TRUE(ended_);
}

TEST_F(WorkerSessionTest, AnInterruptionIsToldFromFailures) {
  expect_unanswered(WorkerFailure{WorkerFailure::Kind::interrupted, "interrupted"},
                    {Cause::interruption, Outcome::failed, "interrupted"});
  EXPECT_TRUE(ended_);
}

}  // namespace
}  // namespace bench
