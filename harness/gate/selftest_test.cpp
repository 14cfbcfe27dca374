// SPDX-License-Identifier: Apache-2.0
#include "harness/gate/selftest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

SelfTest sample() {
  SelfTest test;
  test.run_id = "r1";
  test.time = "2026-11-21T08:00:00Z";
  test.machine_class = "zen4-2c-0123abcd";
  test.cpu = "AMD EPYC";
  test.libraries = {{"onednn", "3.2.0"}};
  test.timer = TimerFacts{Nanoseconds(11), Nanoseconds(27)};
  test.harness = {{"a", Nanoseconds(1500), 0.012}, {"b", Nanoseconds(900), std::nullopt}};
  test.injected = {{"a", 0.03, 0.0298, 8}};
  for (int i = 0; i < 40; ++i) {
    const double noise = (static_cast<double>(i * 7 % 40) - 19.5) / 19.5;
    test.duets.push_back({i % 2 == 0 ? "a" : "b", 0.002 * noise, Nanoseconds(100000 + i), 2});
  }
  return test;
}

TEST(SelfTest, GivesTheProofOfItsWorstInjectedSlowdownAndItsRates) {
  SelfTest test = sample();
  test.injected.push_back({"b", 0.03, 0.001, 8});
  test.injected.push_back({"c", 0.03, 0.031, 8});
  const auto summary = summarise({test}, {.suites = 8});
  ASSERT_TRUE(summary.ok()) << summary.error().message();
  const ProofOfLife proof = make_proof(test, *summary);
  EXPECT_EQ(proof.time, test.time);
  EXPECT_EQ(proof.machine_class, test.machine_class);
  EXPECT_EQ(proof.duets, 20);
  EXPECT_EQ(proof.suites, 8);
  EXPECT_EQ(proof.red_suites, summary->rates->clean.red_suites);
  ASSERT_THAT(proof.power, SizeIs(4));
  EXPECT_EQ(proof.power[0].slowdown, 0.02);
  EXPECT_EQ(proof.power[0].cases, 8);  // two suites with four slower cases each
  EXPECT_EQ(proof.injected, (ProofOfLife::Injected{0.03, 0.001}));
  EXPECT_EQ(find_proof_problem(proof), "it read an injected +3.0 % as +0.1 %");
}

TEST(SelfTest, WithTooFewDuetsGivesAProofWithoutRates) {
  SelfTest test = sample();
  test.duets.resize(10);
  const auto summary = summarise({test}, {.suites = 8});
  ASSERT_TRUE(summary.ok()) << summary.error().message();
  const ProofOfLife proof = make_proof(test, *summary);
  EXPECT_EQ(proof.suites, 0);
  EXPECT_EQ(find_proof_problem(proof), "its 5 duets per case are too few");
}

TEST(SelfTest, ReadsWhatItWroteAlsoConcatenated) {
  SelfTest second = sample();
  second.run_id = "r2";
  const std::string text = self_test_lines(sample()) + self_test_lines(second);
  const auto tests = read_self_tests(text, "d.jsonl");
  ASSERT_TRUE(tests.ok()) << tests.error().message();
  ASSERT_THAT(*tests, SizeIs(2));
  EXPECT_EQ((*tests)[1].run_id, "r2");
  EXPECT_EQ((*tests)[0].timer->read, Nanoseconds(27));
  EXPECT_EQ((*tests)[0].harness[1].profiler, std::nullopt);
  EXPECT_THAT((*tests)[0].duets, SizeIs(40));
  EXPECT_EQ(self_test_lines((*tests)[0]) + self_test_lines((*tests)[1]), text);
}

TEST(SelfTest, DamageAndOtherSchemasAreErrorsWithTheirPlace) {
  std::string text = self_test_lines(sample());
  EXPECT_THAT(read_self_tests(text + "{\"rec", "d.jsonl").error().message(),
              HasSubstr("d.jsonl:42"));
  text.replace(text.find("bench.selftest/1"), 16, "bench.selftest/9");
  EXPECT_THAT(read_self_tests(text, "d.jsonl").error().message(),
              AllOf(HasSubstr("d.jsonl:1"), HasSubstr("bench.selftest/9")));
  EXPECT_FALSE(read_self_tests("", "d.jsonl").ok());
}

TEST(SelfTest, EachCaseAndSittingIsARecordOfItsOwn) {
  const std::vector<RecordedDuets> records = collect_duets({sample(), sample()});
  ASSERT_THAT(records, SizeIs(4));
  EXPECT_EQ(records[0].name, "a");
  EXPECT_THAT(records[0].log_ratios, SizeIs(20));
  EXPECT_DOUBLE_EQ(records[0].base_q25[0], 50000);  // per iteration
}

TEST(SelfTest, TheSummaryTellsAlarmsPowerAndCost) {
  const auto summary = summarise({sample()}, SelfTestOptions{8, 1});
  ASSERT_TRUE(summary.ok() && summary->rates);
  EXPECT_EQ(summary->rates->clean.red_suites, 0);
  ASSERT_THAT(summary->rates->power, SizeIs(4));
  EXPECT_EQ(summary->rates->power[2].result.detected, summary->rates->power[2].result.slow);
  const std::string text = format_self_test({sample()}, *summary);
  EXPECT_THAT(text, testing::StartsWith("The gate calls 0.0 % of unchanged suites of 100 cases "
                                        "slower on this machine; it finds +2 % in "));
  EXPECT_THAT(text,
              AllOf(HasSubstr("zen4-2c-0123abcd (AMD EPYC)"),
                    HasSubstr("timer: a read takes 27 ns, its smallest step is 11 ns"),
                    HasSubstr("injected: +3.0 % reads +2.98 % over 8 duets of a"),
                    HasSubstr("unchanged: 0 of 8 fail"), HasSubstr(" +5 % is found in 100.0 %")));
}

// Earlier versions also recorded what a duet would be if all its rounds counted.
TEST(SelfTest, AnOlderRecordWithTheValuesOfAllRoundsIsRead) {
  std::string text = self_test_lines(sample());
  const std::string place = "\"iterations_per_sample\":2";
  text.insert(text.find(place) + place.size(),
              R"(,"all_rounds":{"log_ratio":0.5,"base_q25_ns":200000})");
  const auto tests = read_self_tests(text, "d.jsonl");
  ASSERT_TRUE(tests.ok()) << tests.error().message();
  EXPECT_EQ(self_test_lines(tests->front()), self_test_lines(sample()));
}

// Four duets per case headlined "finds +2 % in 88 %, +3 % in 100 %".
TEST(SelfTest, TooFewDuetsGiveNoRatesAndTheFirstSentenceSaysWhatToRun) {
  SelfTest few = sample();
  few.duets.resize(8);
  const auto summary = summarise({few}, SelfTestOptions{8, 1});
  ASSERT_TRUE(summary.ok());
  EXPECT_FALSE(summary->rates);
  const std::string text = format_self_test({few}, *summary);
  EXPECT_THAT(text, testing::StartsWith("Too few duets for an answer: no case has more than 4, and "
                                        "the rates of the gate need 20. Run `bench selftest "
                                        "--duets 20` or more"));
  EXPECT_THAT(text, testing::Not(HasSubstr("is found in")));
  EXPECT_THAT(self_test_json({few}, *summary), testing::Not(HasSubstr("\"power\"")));
}

TEST(SelfTest, ACaseWithTooFewDuetsIsNotResampled) {
  SelfTest uneven = sample();
  uneven.duets.pop_back();  // one of the case b
  const auto summary = summarise({uneven}, SelfTestOptions{8, 1});
  ASSERT_TRUE(summary.ok() && summary->rates);
  EXPECT_THAT(format_self_test({uneven}, *summary),
              HasSubstr(" Of 2 cases, 1 with fewer than 20 duets does not count.\n"));
}

TEST(SelfTest, AnInjectedSlowdownThatReadsOtherwiseIsPartOfTheAnswer) {
  SelfTest wrong = sample();
  wrong.injected = {{"a", 0.03, -0.0141, 1}, {"b", 0.03, 0.0455, 8}, {"c", 0.03, 0.0445, 8}};
  const auto summary = summarise({wrong}, SelfTestOptions{8, 1});
  ASSERT_TRUE(summary.ok());
  EXPECT_THAT(
      format_self_test({wrong}, *summary),
      HasSubstr(" of slower cases. The self-test's own check failed: an injected slowdown of "
                "+3.0 % reads -1.41 % over 1 duet of a, and 1 more is wrong. Do not rely "
                "on verdicts about effects of this size.\n\n"));
  EXPECT_THAT(format_self_test({sample()}, *summarise({sample()}, SelfTestOptions{8, 1})),
              testing::Not(HasSubstr("check failed")));
}

TEST(SelfTest, NothingRecordedIsAnError) {
  SelfTest empty = sample();
  empty.duets.clear();
  EXPECT_FALSE(summarise({empty}, {}).ok());
}

}  // namespace
}  // namespace bench
