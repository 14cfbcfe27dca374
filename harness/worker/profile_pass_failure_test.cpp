// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/profile_pass_fixture.hpp"

namespace bench {
namespace {

TEST_F(ProfilePassTest, AFailureLeavesTheLastActivityUnfinished) {
  script_.fails_at = 3;
  script_.fails_at_step = 0;
  ProfileRequest profile_request = request();
  profile_request.announce = true;
  const Reply reply = handle(profile_request);
  ASSERT_TRUE(std::holds_alternative<ErrorReply>(reply));
  EXPECT_EQ(std::get<ErrorReply>(reply).reason, "scripted failure");
  std::vector<Activity> operations = spooled(ActivityKind::operation);
  std::int64_t finished = 0;
  for (const Activity& operation : operations) finished += operation.duration.has_value() ? 1 : 0;
  EXPECT_EQ(finished, 3);  // the first run and two iterations
  EXPECT_EQ(operations.back().attributes.integer(Attribute::unfinished), 1);
  EXPECT_EQ(operations.back().attributes.integer(Attribute::iteration), 2);
}

TEST_F(ProfilePassTest, EachStepIsOnDiskBeforeItBegins) {
  std::vector<std::size_t> announced;
  script_.before_run = [&](std::int64_t) {
    std::size_t count = 0;
    for (const Activity& activity : spooled(ActivityKind::primitive)) {
      count += activity.attributes.integer(Attribute::unfinished) == 1 ? 1 : 0;
    }
    announced.push_back(count);
  };
  ProfileRequest profile_request = request();
  profile_request.announce = true;
  profile_request.switches["iterations"] = "0-1";
  profiled(profile_request);
  EXPECT_THAT(announced, ElementsAre(1, 2, 3));  // the first run, two iterations
}

TEST_F(ProfilePassTest, WithAnnouncementsAWrongResultIsRefusedAfterItsTrace) {
  script_.wrong_element = 6;
  ProfileRequest profile_request = request();
  profile_request.announce = true;
  profile_request.prepare.check = CheckKind::reference;
  const Reply reply = handle(profile_request);
  ASSERT_TRUE(std::holds_alternative<ErrorReply>(reply));
  EXPECT_EQ(std::get<ErrorReply>(reply).outcome, Outcome::wrong_result);
  EXPECT_FALSE(named(spooled(ActivityKind::api), "fake_create").empty());
  EXPECT_FALSE(spooled(ActivityKind::operation).empty());
}

// The lines of the first engine were recorded a second time with those of the next one.
TEST_F(ProfilePassTest, CreationsOfARejectedEngineAreRecordedOnce) {
  int lines = 0;
  FakeBackend backend{[this](Nanoseconds time) { clock_.advance(time); },
                      [&](const std::string&) {
                        if (backend.fakes().output != ops::LibraryOutput::none) {
                          std::printf(
                              "onednn_verbose,create:cache_miss,cpu,matmul,engine_%zu:%d,undef,"
                              "src_f32::blocked:ab:f0,,,4x4:4x4:4x4,0.02\n",
                              backend.rejected.size(), lines++);
                        }
                        FakeScript script = script_;
                        if (backend.rejected.empty()) script.wrong_element = 6;
                        return script;
                      }};
  backend.fakes().prints = true;
  backend.further_engines = 1;
  CommandServer server(backend, clock_, {Bytes{std::int64_t{64} << 20}});
  ProfileRequest profile_request = request();
  profile_request.prepare.check = CheckKind::reference;
  const Reply reply = server.handle(profile_request).reply;
  ASSERT_TRUE(std::holds_alternative<ProfiledReply>(reply));
  ASSERT_EQ(backend.rejected.size(), 1u);
  std::vector<std::string> created;
  for (const Activity& activity : spooled(ActivityKind::primitive)) {
    if (activity.attributes.text(Attribute::phase).starts_with("create"))
      created.emplace_back(activity.attributes.text(Attribute::implementation));
  }
  // Each engine is created a second time, from the library's cache.
  EXPECT_THAT(created, ElementsAre("engine_0:0", "engine_0:1", "engine_1:2", "engine_1:3"));
}

TEST_F(ProfilePassTest, RefusalsAndBadRequestsAreAnswered) {
  script_.backend_error =
      ops::BackendError{ops::BackendError::Kind::unsupported, "no such primitive"};
  Reply reply = handle(request());
  ASSERT_TRUE(std::holds_alternative<ErrorReply>(reply));
  EXPECT_EQ(std::get<ErrorReply>(reply).outcome, Outcome::unsupported);
  ProfileRequest bad = request();
  bad.switches["iterations"] = "9-5";
  EXPECT_TRUE(std::holds_alternative<ErrorReply>(handle(bad)));
  bad = request();
  bad.switches["no_such"] = "1";
  EXPECT_TRUE(std::holds_alternative<ErrorReply>(handle(bad)));
  bad = request();
  bad.spool = "/nonexistent/folder/spool";
  EXPECT_TRUE(std::holds_alternative<ErrorReply>(handle(bad)));
}

TEST_F(ProfilePassTest, AfterwardsTheWorkerTimesAsBefore) {
  backend_.fakes().prints = true;
  profiled(request());
  EXPECT_EQ(backend_.fakes().collectors.api, nullptr);
  EXPECT_EQ(backend_.fakes().collectors.memory, nullptr);
  EXPECT_EQ(backend_.fakes().output, ops::LibraryOutput::none);
  PrepareRequest prepare;
  prepare.id = kGemm;
  ASSERT_TRUE(std::holds_alternative<PreparedReply>(server_.handle(prepare).reply));
  server_.handle(WarmUpRequest{3, 0ns});
  const auto round = server_.handle(RoundRequest{2, "case"});
  EXPECT_EQ(std::get<RoundReply>(round.reply).samples, std::vector<Nanoseconds>(2, 60us));
}

TEST_F(ProfilePassTest, ProfileTimeIsAccountedSeparately) {
  const Nanoseconds before = clock_.now();
  const ReplyMessage message = server_.handle(request());
  EXPECT_EQ(message.spent.profile, clock_.now() - before);
  EXPECT_EQ(message.spent.timed, 0ns);
}

}  // namespace
}  // namespace bench
