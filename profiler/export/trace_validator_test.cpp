// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/trace_validator.hpp"

#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> problems(const std::string& events) {
  return check_trace("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[" + events + "]}").problems;
}

// Valid events that surround an event under test.
const std::string kSlice = R"({"ph":"X","name":"a","ts":1,"dur":9.5,"pid":1,"tid":2})";

TEST(TraceValidator, AcceptsWhatIsRight) {
  const TraceCheck check = check_trace(R"({"displayTimeUnit":"ms","otherData":{"a":[{"ph":7}]},
    "traceEvents":[
    {"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"p"}},
    {"ph":"M","name":"thread_sort_index","pid":1,"tid":2,"args":{"sort_index":-3}},
    {"ph":"X","name":"a","cat":"c","ts":1.5,"dur":10,"pid":1,"tid":2,"args":{"x":{"y":[1]}}},
    {"ph":"X","name":"b","ts":1.5,"dur":0,"pid":1,"tid":2},
    {"ph":"B","name":"d","ts":2,"pid":1,"tid":2},{"ph":"E","ts":3.250,"pid":1,"tid":2},
    {"ph":"X","name":"k","ts":20,"dur":1e1,"pid":9,"tid":7},
    {"ph":"s","name":"f","cat":"f","id":1,"ts":2.5,"pid":1,"tid":2},
    {"ph":"f","name":"f","cat":"f","id":1,"ts":20,"pid":9,"tid":7,"bp":"e"},
    {"ph":"C","name":"n","ts":1,"pid":1,"tid":2,"args":{"v":1}},
    {"ph":"C","name":"n","ts":2,"pid":1,"tid":2,"args":{"v":2.5}},
    {"ph":"i","name":"m","ts":2,"pid":1,"tid":2,"s":"g"},
    {"ph":"b","name":"m","cat":"c","id":"0x1","ts":2,"pid":1,"tid":2},
    {"ph":"e","name":"m","cat":"c","id":"0x1","ts":9,"pid":1,"tid":2},
    {"ph":"e","name":"m","cat":"c","id2":{"local":"0x1"},"ts":9,"pid":1},
    {"ph":"b","name":"m","cat":"c","id2":{"local":"0x1"},"ts":"7.5","pid":1},
    {}]})");
  EXPECT_THAT(check.problems, IsEmpty());
  EXPECT_EQ(check.total(), 16);
  EXPECT_EQ(check.events.at('X'), 3);
  EXPECT_EQ(check.flows, 1);
  EXPECT_EQ(check.tracks, 2);
  EXPECT_EQ(check.ending, TraceEnding::terminated);
}

TEST(TraceValidator, OnlyABareArrayMayEndBetweenEvents) {
  for (const std::string end : {"", ",", ",\n"}) {
    const TraceCheck check = check_trace("[" + kSlice + end);
    EXPECT_THAT(check.problems, IsEmpty()) << end;
    EXPECT_EQ(check.ending, TraceEnding::unterminated);
  }
  EXPECT_TRUE(check_trace("[" + kSlice + "]").ok());
  EXPECT_EQ(check_trace("[").ending, TraceEnding::unterminated);
  EXPECT_FALSE(check_trace("[" + kSlice.substr(0, 20)).ok());
  EXPECT_FALSE(check_trace("{\"traceEvents\":[" + kSlice).ok());
  EXPECT_FALSE(check_trace("[" + kSlice + ",}").ok());
  EXPECT_FALSE(check_trace("[" + kSlice + "] x").ok());
}

// `[{...}, tru` counted as a list of events that its program did not end.
TEST(TraceValidator, ATextThatEndsWithinAWordIsCut) {
  for (const char* end : {"", ",", ", ", "\n,\n"}) {
    EXPECT_EQ(check_trace("[" + kSlice + end).ending, TraceEnding::unterminated) << end;
    EXPECT_TRUE(check_trace("[" + kSlice + end).ok()) << end;
  }
  for (const char* end : {",t", ",tru", ",nul", ", fals", ",\"te", ",-"})
    EXPECT_FALSE(check_trace("[" + kSlice + end).ok()) << end;
}

// `[{...}, "te, ` counted as a list of events that its program did not end: the comma within the
// text was taken for the one after an event.
TEST(TraceValidator, ATextThatEndsWithinAnEventIsCut) {
  for (const char* end :
       {",\"te,", ",\"[", ",\"{}", ",{", ",{\"a\":1,", ",{\"a\":\"b,", ",[", ",t"}) {
    const TraceCheck check = check_trace("[" + kSlice + end);
    EXPECT_EQ(check.ending, TraceEnding::cut) << end;
    EXPECT_THAT(check.problems, Contains(HasSubstr("the trace ends within event 2: "))) << end;
  }
  const TraceCheck object = check_trace("{\"traceEvents\":[" + kSlice + ",");
  EXPECT_EQ(object.ending, TraceEnding::cut);
  EXPECT_THAT(object.problems, ElementsAre(HasSubstr("ends after event 1, before its list does")));
}

// Both viewers show counters of one name with two ids as two.
TEST(TraceValidator, TheIdOfACounterIsAPartOfItsName) {
  const auto counter = [](const std::string& id, const std::string& key) {
    return R"({"ph":"C","name":"a","ts":1,"pid":1,"tid":2,)" + id + R"("args":{")" + key +
           R"(":1}})";
  };
  EXPECT_THAT(problems(counter(R"("id":1,)", "v") + "," + counter(R"("id":2,)", "w") + "," +
                       counter("", "x")),
              IsEmpty());
  EXPECT_THAT(problems(counter(R"("id":1,)", "v") + "," + counter(R"("id":1,)", "w")),
              ElementsAre(HasSubstr("the keys of the counter differ")));
}

TEST(TraceValidator, RefusesOtherDocuments) {
  EXPECT_THAT(check_trace("{}").problems,
              ElementsAre("the file is not a Chrome trace: it has no `traceEvents`"));
  EXPECT_THAT(check_trace("7").problems,
              ElementsAre("neither an object nor an array",
                          "the file is not a Chrome trace: it has no `traceEvents`"));
  EXPECT_FALSE(check_trace("").ok());
  EXPECT_FALSE(check_trace("\xff").ok());
  EXPECT_THAT(check_trace(R"({"displayTimeUnit":"us","traceEvents":[]})").problems,
              ElementsAre("displayTimeUnit is `us`, expected ns or ms"));
  EXPECT_THAT(problems("7"), ElementsAre("an event that is not an object"));
  EXPECT_THAT(problems("[]"), testing::Contains("an event that is not an object"));
}

struct Rule {
  std::string events;
  std::string problem;
};

class TraceRulesTest : public testing::TestWithParam<Rule> {};

TEST_P(TraceRulesTest, IsFound) {
  EXPECT_THAT(problems(GetParam().events), ElementsAre(HasSubstr(GetParam().problem)));
}

std::string event(const std::string& fields) { return "{" + fields + R"(,"pid":1,"tid":2})"; }

INSTANTIATE_TEST_SUITE_P(
    EachRule, TraceRulesTest,
    testing::Values(
        Rule{event(R"("name":"a","ts":1)"), "event 1: no `ph`"},
        Rule{event(R"("ph":"?","name":"a","ts":1)"), "event 1: unknown phase `?`"},
        Rule{event(R"("ph":"i","ts":1,"s":"t")"), "no `name`"},
        Rule{event(R"("ph":"i","name":"a","s":"t")"), "`ts` is missing"},
        Rule{event(R"("ph":"i","name":"a","s":"t","ts":"x")"),
             "`ts` is \"x\", expected a number of microseconds"},
        Rule{event(R"("ph":"i","name":"a","ts":-1)"), "`ts` is negative: Perfetto leaves out"},
        Rule{event(R"("ph":"M","name":"process_name","ts":-1,"args":{"name":"a"})"),
             "`ts` is negative"},
        Rule{event(R"("ph":"i","name":"a","s":"t","ts":9007199254740992)"), "below 2^53"},
        Rule{event(R"("ph":"i","name":"a","ts":1,"s":"x")"), "must be g, p or t"},
        Rule{R"({"ph":"i","name":"a","ts":1,"s":"t","tid":1})", "`pid` is missing"},
        Rule{R"({"ph":"i","name":"a","ts":1,"s":"t","pid":-1,"tid":1})", "`pid` is -1"},
        Rule{R"({"ph":"i","name":"a","ts":1,"s":"t","pid":1.5,"tid":1})", "`pid` is 1.5"},
        Rule{R"({"ph":"i","name":"a","ts":1,"s":"t","pid":4294967296,"tid":1})",
             "2^32 - 1: Perfetto keeps 32 bits"},
        Rule{event(R"("ph":"X","name":"a","ts":1)"), "`dur` is missing"},
        Rule{event(R"("ph":"X","name":"a","ts":1,"dur":-1)"), "`dur` is negative"},
        Rule{kSlice + "," + event(R"("ph":"X","name":"a","ts":5,"dur":6)"),
             "pid 1 tid 2: the slice from 5000 to 11000 ns overlaps one that ends at 10500 ns"},
        Rule{kSlice + "," + event(R"("ph":"B","name":"a","ts":5)") + "," +
                 event(R"("ph":"E","ts":20)"),
             "overlaps"},
        Rule{event(R"("ph":"B","name":"a","ts":5)"), "1 B without E, 0 E without B"},
        Rule{event(R"("ph":"E","ts":5)"), "0 B without E, 1 E without B"},
        Rule{event(R"("ph":"C","name":"a","ts":1,"args":{"v":"1"})"),
             "counter `v` is not a number"},
        Rule{event(R"("ph":"C","name":"a","ts":1)"), "a counter without values"},
        Rule{event(R"("ph":"C","name":"a","ts":1,"args":{"v":1})") + "," +
                 event(R"("ph":"C","name":"a","ts":2,"args":{"w":1})"),
             "event 2: the keys of the counter differ"},
        Rule{event(R"("ph":"M","name":"thread_name","args":{"sort_index":1})"), "args.name"},
        Rule{event(R"("ph":"M","name":"process_sort_index","args":{"name":"a"})"), "sort_index"},
        Rule{event(R"("ph":"b","name":"a","cat":"c","id":1,"ts":1)"), "never ends"},
        Rule{event(R"("ph":"e","name":"a","cat":"c","id":1,"ts":1)"), "did not begin"},
        Rule{event(R"("ph":"b","name":"a","cat":"c","id":1,"ts":1)") + "," +
                 event(R"("ph":"b","name":"b","cat":"c","id":1,"ts":2)") + "," +
                 event(R"("ph":"e","name":"a","cat":"c","id":1,"ts":3)") + "," +
                 event(R"("ph":"e","name":"b","cat":"c","id":1,"ts":4)"),
             "async event 1: the end of `a` at 3000 ns would end `b`, which began last"},
        Rule{event(R"("ph":"n","name":"a","cat":"c","ts":1)"), "no `id`"},
        Rule{event(R"("ph":"s","name":"a","cat":"c","id":1,"ts":1)"), "flow 1 (`a`): 1 s and 0 f"},
        Rule{event(R"("ph":"f","name":"a","cat":"c","id":1,"ts":1,"bp":"e")"), "0 s and 1 f"},
        Rule{kSlice + "," + event(R"("ph":"s","name":"a","cat":"c","id":1,"ts":2)") + "," +
                 event(R"("ph":"f","name":"a","cat":"c","id":1,"ts":3)"),
             "needs \"bp\":\"e\""},
        Rule{event(R"("ph":"B","name":"a","ts":10)") + "," + event(R"("ph":"E","ts":30)") + "," +
                 event(R"("ph":"B","name":"b","ts":20)") + "," + event(R"("ph":"E","ts":40)"),
             "pid 1 tid 2: `a` from 10000 to 30000 ns and `b` from 20000 to 40000 ns overlap"},
        Rule{event(R"("ph":"B","name":"a","ts":10)") + "," +
                 event(R"("ph":"E","name":"a","ts":30)") + "," +
                 event(R"("ph":"B","name":"b","ts":20)") + "," +
                 event(R"("ph":"E","name":"b","ts":40)"),
             "the end of `a` at 30000 ns would end `b`"},
        Rule{kSlice + "," + event(R"("ph":"s","name":"a","cat":"c","id":1,"ts":2)") + "," +
                 event(R"("ph":"f","name":"a","cat":"c","id":1,"ts":12,"bp":"e")"),
             "flow 1 (`a`): no slice around its `f`"},
        Rule{kSlice + "," + event(R"("ph":"s","name":"a","cat":"c","id":1,"ts":4)") + "," +
                 event(R"("ph":"f","name":"a","cat":"c","id":1,"ts":3,"bp":"e")"),
             "arrives before it leaves"}));

// Earlier, the check knew only what bench itself writes.
TEST(TraceValidator, AcceptsWhatOtherProgramsWriteAndBothViewersShow) {
  EXPECT_THAT(problems(R"(
    {"ph":"M","name":"process_labels","pid":"Spans","tid":0,"args":{"labels":"x"}},
    {"ph":"X","name":"a","ts":1,"dur":5,"pid":"Spans","tid":"main"},
    {"ph":"X","name":"b","ts":3,"dur":5,"pid":"Spans","tid":"other"},
    {"ph":"i","name":"end","ts":9,"s":"g","pid":"","tid":""},
    {"ph":"i","name":"end","ts":9,"pid":1,"tid":1},
    {"ph":"O","name":"o","id":"0x1","ts":9,"pid":1,"tid":1},
    {"ph":"s","name":"f","cat":"f","id":1,"ts":1,"pid":"Spans","tid":"main"},
    {"ph":"f","name":"f","cat":"f","id":1,"ts":3,"pid":"Spans","tid":"other"})"),
              IsEmpty());
  // In the order of time, pairs of neighbours mean nothing.
  EXPECT_THAT(problems(event(R"("ph":"B","name":"a","ts":10)") + "," +
                       event(R"("ph":"B","name":"b","ts":20)") + "," +
                       event(R"("ph":"E","ts":30)") + "," + event(R"("ph":"E","ts":40)")),
              IsEmpty());
  EXPECT_THAT(
      problems(R"({"ph":"X","name":"a","ts":1,"dur":5,"pid":"p","tid":"t"},
                          {"ph":"X","name":"b","ts":3,"dur":5,"pid":"p","tid":"t"})"),
      ElementsAre(HasSubstr("pid \"p\" tid \"t\": the slice from 3000 to 8000 ns overlaps")));
}

TEST(TraceValidator, CountsProblemsBeyondTheFirst) {
  std::string events = "7";
  for (int i = 0; i < 99; ++i) events += ",7";
  const TraceCheck check = check_trace("[" + events + "]");
  EXPECT_EQ(check.problem_count, 100);
  EXPECT_EQ(check.problems.size(), kMaxProblems);
}

TEST(TraceValidator, NamesAFileThatIsNotThere) {
  const auto check = check_trace_file("/nowhere/a.json");
  ASSERT_FALSE(check.ok());
  EXPECT_EQ(check.error().message(),
            "/nowhere/a.json: cannot open the file: No such file or directory; the folder "
            "`/nowhere` does not exist");
}

}  // namespace
}  // namespace bench
