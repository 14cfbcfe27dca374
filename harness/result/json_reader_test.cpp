// SPDX-License-Identifier: Apache-2.0
#include "harness/result/json_reader.hpp"

#include "harness/result/report.hpp"

#include <gtest/gtest.h>

#include <string>

namespace bench {
namespace {

std::string problem(std::string_view line) {
  const auto parsed = record_from_json_line(line);
  return parsed.ok() ? "(none)" : parsed.error().message();
}

std::string process_with(std::string_view from, std::string_view to) {
  std::string line = R"({"record":"process","run_id":"r","id":"i","process":2,"samples_ns":[5,6],)"
                     R"("iterations_per_sample":1,"stop":"precision"})";
  const auto place = line.find(from);
  EXPECT_NE(place, std::string::npos);
  return line.replace(place, from.size(), to);
}

TEST(ReadRecord, ReadsTheShortestProcess) {
  const auto parsed = record_from_json_line(process_with("r", "r"));
  ASSERT_TRUE(parsed.ok()) << parsed.error().message();
  const auto& process = std::get<ProcessRecord>(*parsed);
  EXPECT_EQ(process.process, 2);
  EXPECT_EQ(process.samples, (std::vector{Nanoseconds(5), Nanoseconds(6)}));
  EXPECT_FALSE(process.preparation.create);
}

TEST(ReadRecord, UnknownFieldsAreIgnored) {
  EXPECT_EQ(problem(process_with("\"process\":2", "\"process\":2,\"new\":{\"a\":[1]}")), "(none)");
}

TEST(ReadRecord, NamesTheField) {
  EXPECT_EQ(problem(process_with("\"id\":\"i\",", "")), "`id` is missing");
  EXPECT_EQ(problem(process_with("\"id\":\"i\"", "\"id\":7")), "`id` is not text");
  EXPECT_EQ(problem(process_with("\"process\":2", "\"process\":3000000000")),
            "`process` is not an integer from 0 to 2147483647");
  EXPECT_EQ(problem(process_with("\"process\":2", "\"process\":2.0")),
            "`process` is not an integer from 0 to 2147483647");
  EXPECT_EQ(problem(process_with("[5,6]", "5")), "`samples_ns` is not a list");
  EXPECT_EQ(problem(process_with("[5,6]", "[5,-6]")),
            "`samples_ns` is not a list with each item an integer from 0 to 9223372036854775807");
  EXPECT_EQ(problem(process_with("[5,6]", "[9223372036854775808]")),
            "`samples_ns` is not a list with each item an integer from 0 to 9223372036854775807");
  EXPECT_EQ(problem(process_with("[5,6]", "[null]")),
            "`samples_ns` is not a list with each item an integer from 0 to 9223372036854775807");
  EXPECT_EQ(problem(process_with("\"precision\"", "\"tired\"")),
            "`stop` has the unknown value `tired`, expected one of precision, max_time, budget, "
            "interrupted, voided");
  EXPECT_EQ(problem(process_with("sample\":1", "sample\":0")),
            "`iterations_per_sample` is not at least 1");
  EXPECT_EQ(problem(process_with("\"stop\"", "\"steady\":1,\"stop\"")),
            "`steady` is not true or false");
}

TEST(ReadRecord, NamesNestedFields) {
  const std::string start = R"({"record":"case","run_id":"r","id":"i","outcome":"ok","flags":[],)";
  EXPECT_EQ(problem(start + R"("time":{"median_ns":1}})"), "`time.q25_ns` is missing");
  EXPECT_EQ(problem(start + R"("time":[]})"), "`time` is not an object");
  EXPECT_EQ(problem(start + R"("work":{"flops":1}})"), "`work.bytes` is missing");
  EXPECT_EQ(
      problem(start + R"("work":{"flops":1,"bytes_read":9223372036854775807,"bytes_written":1}})"),
      "`work.bytes` is more than 2^63 - 1");
  EXPECT_EQ(problem(start + R"("rates":{"flops_per_s":-1}})"),
            "`rates.flops_per_s` is not a number of at least 0");
  EXPECT_EQ(problem(start + R"("details":{"a":1}})"), "`details` is not an object of texts");
  EXPECT_EQ(problem(start + R"("networks":[{"layers":[]}]})"), "`networks.network` is missing");
  EXPECT_EQ(problem(start + R"("networks":{}})"), "`networks` is not a list");
  EXPECT_EQ(problem(start + R"("multiplicity":0})"), "`multiplicity` is not at least 1");
  EXPECT_EQ(
      problem(start +
              R"("time":{"median_ns":1,"q25_ns":1,"q75_ns":1,"min_ns":1,"max_ns":1,"low_ns":1}})"),
      "`time.low_ns` and `time.high_ns` must occur together");
}

TEST(ReadRecord, TheSumOfBytesAlone) {
  const auto parsed = record_from_json_line(
      R"({"record":"case","run_id":"r","id":"i","outcome":"ok","flags":[],"work":{"flops":1,"bytes":8}})");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(std::get<CaseRecord>(*parsed).work->traffic(), Bytes{8});
}

TEST(ReadRecord, NoRecords) {
  for (const char* text :
       {"", "{", "nonsense", "{\"record\":\"end\"", "\xff", "NaN", "{\"record\":1e999}"})
    EXPECT_EQ(problem(text), "it is not valid JSON") << text;
  for (const char* text : {"{}", "[]", "1", "null", "\"record\"", "{\"record\":5}"})
    EXPECT_EQ(problem(text), "it has no field `record`") << text;
  EXPECT_EQ(problem("{\"record\":\"activity\"}"),
            "unknown record `activity`; expected one of run, process, case, end");
  EXPECT_EQ(problem("{\"record\":\"run\",\"run_id\":\"r\",\"schema\":\"bench.result/2\"}"),
            "schema `bench.result/2` instead of `bench.result/1`");
}

TEST(ReadRecord, DeepNestingIsRefusedAtOnce) {
  const std::string deep(1'000'000, '[');
  EXPECT_EQ(problem(deep), "it nests too deeply");
  EXPECT_EQ(problem("{\"record\":" + deep), "it nests too deeply");
  // Brackets inside a text do not count as nesting.
  EXPECT_EQ(problem(process_with("\"i\"", "\"" + std::string(1'000, '[') + "\\\"[\"")), "(none)");
}

TEST(DocumentLines, AbsentForWhatIsNoDocument) {
  EXPECT_FALSE(document_lines(""));
  EXPECT_FALSE(document_lines("{}"));
  EXPECT_FALSE(document_lines("{\"schema\":\"bench.result/1\",\"runs\":[]}"));
  EXPECT_FALSE(document_lines(
      "{\"schema\":\"bench.result/1\",\"runs\":1,\"processes\":[],\"cases\":[],\"ends\":[]}"));
  const auto lines =
      document_lines("{\"schema\":\"x\",\"runs\":[{}],\"processes\":[],\"cases\":[5],\"ends\":[]}");
  ASSERT_TRUE(lines);
  EXPECT_EQ(*lines, (std::vector<std::string>{"{}", "5"}));
}

}  // namespace
}  // namespace bench
