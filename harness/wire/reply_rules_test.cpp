// SPDX-License-Identifier: Apache-2.0
// What a reply may not say, whatever its fields are.
#include "harness/wire/reply_rules.hpp"

#include "harness/wire/messages.hpp"
#include "harness/wire/worker_limits.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr Nanoseconds kElapsed = 10ms;

// Returns the error of a reply, or an empty text.
std::string problem_of(const Reply& reply) {
  const auto decoded = decode_reply(encode(ReplyMessage{reply, {}}));
  return decoded ? "" : decoded.error().message();
}
std::string problem_of(const Request& request, const Reply& reply) {
  const auto decoded = decode_reply(encode(ReplyMessage{reply, {}}), request, kElapsed);
  return decoded ? "" : decoded.error().message();
}

PreparedReply a_prepared_case() {
  PreparedReply reply;
  reply.preparation = {1ns, 2ns, 3ns, 4ns};
  reply.memory = {{3}, {2}, {1}};
  reply.output = {"00ff", {-1.5, std::numeric_limits<double>::quiet_NaN()}};
  return reply;
}

PrepareRequest a_prepare_request(CheckKind check) {
  PrepareRequest request;
  request.check = check;
  return request;
}

// A record with such a number could be written, but not read again.
TEST(ReplyRules, ANegativeNumberIsRefusedAsInRecords) {
  PreparedReply prepared = a_prepared_case();
  EXPECT_EQ(problem_of(prepared), "");
  prepared.preparation.create = -1ns;
  EXPECT_THAT(problem_of(prepared), HasSubstr("`create_ns` is not an integer from 0 to "));
  prepared = a_prepared_case();
  prepared.memory.peak = Bytes{-1};
  EXPECT_THAT(problem_of(prepared), HasSubstr("`memory.peak_bytes` is not an integer from 0 to "));
  prepared = a_prepared_case();
  prepared.preparation.reorder = -1ns;
  prepared.memory.weights = Bytes{-1};
  EXPECT_THAT(problem_of(prepared), HasSubstr("`reorder_ns`"));
  EXPECT_THAT(problem_of(RoundReply{{1ns, -1ns}}), HasSubstr("`samples_ns`"));
  EXPECT_THAT(problem_of(WarmedUpReply{1, 1, true, -1ns}), HasSubstr("`sample_ns`"));
  const auto spent = decode_reply(encode(ReplyMessage{DoneReply{}, {1ns, -2ns}}));
  EXPECT_THAT(spent.error().message(), HasSubstr("`spent.warmup_ns`"));
}

TEST(ReplyRules, ValuesOfOutputsAndModelsMayBeNegative) {
  EXPECT_EQ(problem_of(a_prepared_case()), "");
  ops::Model model;
  model.formulas = {{"pad", "-n", "-2", -2}};
  EXPECT_EQ(problem_of(ModelReply{model}), "");
}

TEST(ReplyRules, AnAbsurdNumberIsRefused) {
  EXPECT_THAT(problem_of(RoundReply{{Nanoseconds::max()}}), HasSubstr("`samples_ns`"));
  const Nanoseconds longest(kMaxReplyInteger);
  EXPECT_THAT(problem_of(RoundReply{{longest, longest}}), HasSubstr("the sum of `samples_ns`"));
  EXPECT_THAT(problem_of(RoundReply{std::vector<Nanoseconds>(1000, longest)}),
              HasSubstr("the sum of `samples_ns`"));
  RoundReply round{{1ns}};
  round.device.voided = {1, {{"hot", 2}}};
  EXPECT_THAT(problem_of(round), HasSubstr("more reasons than their `count`"));
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(problem_of(WarmedUpReply{most, most, true, 1ns}), HasSubstr("`iterations`"));
  EXPECT_THAT(problem_of(WarmedUpReply{kMaxIterationsPerSample + 1, kMaxIterationsPerSample + 1,
                                       true, 1ns}),
              HasSubstr("`iterations_per_sample` is not within 1 and 1e+06"));
  EXPECT_THAT(problem_of(WarmedUpReply{1, 2, true, 1ns}),
              HasSubstr("`iterations` is less than `iterations_per_sample`"));
  EXPECT_THAT(problem_of(WatchedReply{1, {1ns}, {1ns}, {1ns}, {1ns}, {}, {}}),
              HasSubstr("its lists have different lengths"));
}

TEST(ReplyRules, OnlyFourOutcomesAreRefusals) {
  for (const Outcome outcome : {Outcome::ok, Outcome::crashed, Outcome::timed_out}) {
    EXPECT_THAT(
        problem_of(ErrorReply{outcome, "because"}),
        HasSubstr(fmt::format("a refusal cannot have the outcome `{}`", to_string(outcome))));
  }
  for (const Outcome outcome :
       {Outcome::unsupported, Outcome::skipped, Outcome::wrong_result, Outcome::failed})
    EXPECT_EQ(problem_of(ErrorReply{outcome, "because"}), "");
}

TEST(ReplyRules, WhatIsPreparedIsNeitherUnsupportedNorSkipped) {
  for (const Request& request : {Request(WarmUpRequest{}), Request(RoundRequest{1})}) {
    for (const Outcome outcome : {Outcome::unsupported, Outcome::skipped, Outcome::wrong_result}) {
      EXPECT_THAT(problem_of(request, ErrorReply{outcome, "because"}),
                  HasSubstr(fmt::format("`{}` cannot be refused with the outcome `{}`",
                                        command_name(request), to_string(outcome))));
    }
    EXPECT_EQ(problem_of(request, ErrorReply{Outcome::failed, "because"}), "");
  }
  EXPECT_EQ(problem_of(a_prepare_request(CheckKind::none), ErrorReply{Outcome::unsupported, ""}),
            "");
  EXPECT_EQ(problem_of(ReleaseRequest{}, ErrorReply{Outcome::wrong_result, ""}), "");
}

TEST(ReplyRules, AReplyOfAnotherKindDoesNotAnswerARequest) {
  EXPECT_THAT(problem_of(RoundRequest{1}, DoneReply{}),
              HasSubstr("`done` does not answer `round`"));
  EXPECT_EQ(problem_of(QuitRequest{}, DoneReply{}), "");
}

TEST(ReplyRules, TheFirstPreparationHasAnOutput) {
  PreparedReply reply = a_prepared_case();
  EXPECT_EQ(problem_of(a_prepare_request(CheckKind::reference), reply), "");
  reply.output = {};
  EXPECT_THAT(problem_of(a_prepare_request(CheckKind::reference), reply),
              HasSubstr("`output` is empty"));
  EXPECT_EQ(problem_of(a_prepare_request(CheckKind::expected), reply), "");
}

TEST(ReplyRules, NoTimeIsLongerThanTheRequest) {
  EXPECT_EQ(problem_of(WarmUpRequest{}, WarmedUpReply{1, 1, true, kElapsed}), "");
  EXPECT_THAT(problem_of(WarmUpRequest{}, WarmedUpReply{1, 1, true, 1h}),
              HasSubstr("it reports a sample of 3600"));
  EXPECT_EQ(problem_of(RoundRequest{2}, RoundReply{{kElapsed / 2, kElapsed / 2}}), "");
  EXPECT_THAT(problem_of(RoundRequest{2}, RoundReply{{kElapsed, kElapsed}}),
              HasSubstr("it reports samples of 20.00 ms, which is longer than the request (10.00"));
  EXPECT_THAT(problem_of(RoundRequest{1}, RoundReply{{1ns, 2ns}}),
              HasSubstr("it has 2 samples instead of 1"));
}

// A slowdown on purpose lengthens a time on a device's clock without waiting.
TEST(ReplyRules, ATimeOnTheClockOfADeviceMayBeTwiceAsLong) {
  RoundReply round{{2 * kElapsed, 2 * kElapsed}};
  round.device.sample_method = "stream";
  const RoundRequest of_duet{.samples = 2, .iterations_per_sample = 1};
  EXPECT_EQ(problem_of(of_duet, round), "");
  round.samples[1] = 3 * kElapsed;
  EXPECT_THAT(problem_of(of_duet, round), HasSubstr("it reports a sample of 30.00 ms"));
  EXPECT_EQ(problem_of(RoundRequest{2}, round), "");  // the clocks need not agree
  round.samples[1] = 2 * kDeviceClockTolerance;
  EXPECT_THAT(problem_of(RoundRequest{2}, round), HasSubstr("it reports a sample of 2.000 s"));
}

}  // namespace
}  // namespace bench
