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
    return ReplyMessage{*answer_, spent};
  }
  Nanoseconds finish() override { return 1s; }

  WorkerTimes spent;

 private:
  Answer answer_;
};

class WorkerSessionTest : public testing::Test {
 protected:
  Result<RoundReply, RequestFailure> round_of(const Answer& answer) {
    WorkerSession session(
        [&](const WorkerThreads&) -> Result<std::unique_ptr<WorkerLink>> {
          auto link = std::make_unique<OneAnswer>(answer);
          link->spent = spent_;
          return std::unique_ptr<WorkerLink>(std::move(link));
        },
        {kProtocolVersion, Bytes{0}, std::nullopt}, interrupted_, clock_);
    EXPECT_TRUE(session.ensure({1}).ok());
    auto reply = session.ask(RoundRequest{1}, 1s);
    for (int i = 1; i < requests_; ++i) reply = session.ask(RoundRequest{1}, 1s);
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
  int requests_ = 1;
  WorkerTimes spent_{.timed = 1ns};
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

// A repeated reply was taken for the next one.
TEST_F(WorkerSessionTest, AnAnswerToAnEarlierRequestIsAFailure) {
  requests_ = 2;
  expect_unanswered(
      Reply(RoundReply{{3ns}}),
      {Cause::failure, Outcome::failed,
       "the worker's answer is one to an earlier request: its `spent` has not grown"});
  EXPECT_TRUE(ended_);
}

// The accounting of the run had negative times, so its record could not be read again.
TEST_F(WorkerSessionTest, AWorkerCannotHaveSpentMoreTimeThanItLived) {
  spent_.setup = 2s;
  expect_unanswered(Reply(RoundReply{{3ns}}),
                    {Cause::failure, Outcome::failed,
                     "the worker's answer is wrong: its `spent` is 2.000 s, but the worker started "
                     "0 ns ago"});
  EXPECT_TRUE(ended_);
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
                    {Cause::aborted, Outcome::failed, "interrupted"});
  EXPECT_TRUE(ended_);
}

TEST_F(WorkerSessionTest, AnInterruptionIsToldFromFailures) {
  expect_unanswered(WorkerFailure{WorkerFailure::Kind::interrupted, "interrupted"},
                    {Cause::aborted, Outcome::failed, "interrupted"});
  EXPECT_TRUE(ended_);
}

}  // namespace
}  // namespace bench
