// SPDX-License-Identifier: Apache-2.0
#include "harness/result/typed_details.hpp"

#include "harness/result/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using Texts = std::map<std::string, std::string>;

// A number becomes a field when its line is read; writing it again gives the same line.
TEST(TypedDetails, TheLaunchFloorIsAFieldAndItsLineStaysTheSame) {
  const std::string line = R"({"record":"case","run_id":"r1","id":"a","outcome":"ok","flags":[],)"
                           R"("details":{"engine":"12","launch_floor_ns":"2000","layout.a":"ab"}})";
  const auto record = record_from_json_line(line);
  ASSERT_TRUE(record.ok()) << record.error().message();
  const auto& read = std::get<CaseRecord>(*record);
  EXPECT_EQ(read.launch_floor, Nanoseconds(2000));
  EXPECT_THAT(read.details, ElementsAre(Pair("engine", "12"), Pair("layout.a", "ab")));
  EXPECT_EQ(to_json_line(*record), line);
}

TEST(TypedDetails, ATextThatIsNoNumberStaysATextOfItsLine) {
  for (const char* text : {"soon", "", "007", "+7", "1.5", "99999999999999999999"}) {
    CaseRecord record;
    record.run_id = "r1";
    record.id = "a";
    record.details = {{kLaunchFloorDetail, text}};
    const std::string line = to_json_line(record);
    const auto again = record_from_json_line(line);
    ASSERT_TRUE(again.ok()) << again.error().message();
    EXPECT_FALSE(std::get<CaseRecord>(*again).launch_floor) << text;
    EXPECT_EQ(to_json_line(*again), line);
    EXPECT_THAT(line, HasSubstr(text));
  }
}

// Backends state it as texts; a file has it as a field, and reads the field again.
TEST(TypedDetails, TheRegretOfATunedCaseIsAField) {
  const ops::Regret regret{"jit:avx512_core",
                           Nanoseconds(5600),
                           "brgconv:avx512_core",
                           Nanoseconds(5000),
                           {{"jit:avx512_core", Nanoseconds(5600), ""},
                            {"brgconv:avx512_core", Nanoseconds(5000), ""},
                            {"gemm:jit", std::nullopt, "not enough memory"}}};
  CaseRecord record;
  record.run_id = "r1";
  record.id = "a";
  record.details = {{"tuned", "default 5.600 us, chosen 5.000 us: 2 of 3"}};
  add_details(regret, record.details);
  extract_typed_details(record);
  EXPECT_EQ(record.regret, regret);
  EXPECT_THAT(record.details,
              ElementsAre(Pair("tuned", "default 5.600 us, chosen 5.000 us: 2 of 3")));
  const std::string line = to_json_line(record);
  EXPECT_THAT(line, HasSubstr(R"("regret":{"chosen":"jit:avx512_core","chosen_ns":5600,)"
                              R"("best":"brgconv:avx512_core","best_ns":5000,"candidates":[)"
                              R"({"name":"jit:avx512_core","time_ns":5600},)"
                              R"({"name":"brgconv:avx512_core","time_ns":5000},)"
                              R"({"name":"gemm:jit","reason":"not enough memory"}]},"details":{)"));
  const auto read = record_from_json_line(line);
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(std::get<CaseRecord>(*read), record);
  EXPECT_EQ(to_json_line(*read), line);
}

TEST(TypedDetails, PartsOfACreationAreTimesOfAtLeastZero) {
  Texts details = {{"engine", "12"},   {"setup.context_ns", "300"}, {"setup.plan_ns", "0"},
                   {"setup.odd", "5"}, {"setup.bad_ns", "-5"},      {"setup.word_ns", "x"}};
  EXPECT_THAT(take_setup(details),
              ElementsAre(Pair("context_ns", Nanoseconds(300)), Pair("plan_ns", Nanoseconds(0))));
  EXPECT_THAT(details, ElementsAre(Pair("engine", "12"), Pair("setup.bad_ns", "-5"),
                                   Pair("setup.odd", "5"), Pair("setup.word_ns", "x")));
}

}  // namespace
}  // namespace bench
