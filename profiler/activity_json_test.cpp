// SPDX-License-Identifier: Apache-2.0
#include "profiler/activity_json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace bench {
namespace {

Activity full_activity() {
  Activity activity;
  activity.kind = ActivityKind::primitive;
  activity.name = "convolution";
  activity.start = Nanoseconds(1'000'000'007);
  activity.duration = Nanoseconds(20'753'900);
  activity.track = {12, 34, 0, 7};
  activity.case_id = "conv/forward/n32c32h256k32r3p1/f32/onednn/cpu/hot";
  activity.scope = "net:a\\:b";
  activity.direction = "forward";
  activity.correlation = std::numeric_limits<std::uint64_t>::max();
  activity.attributes.set(Attribute::implementation, "brgconv:avx512_core");
  activity.attributes.set(Attribute::flops, std::int64_t{38'654'705'664});
  activity.attributes.set(Attribute::occupancy, 0.5);
  return activity;
}

TEST(ActivityJson, RecordReadsAsDocumented) {
  EXPECT_EQ(
      to_json_line(full_activity(), "r1"),
      R"({"record":"activity","run_id":"r1",)"
      R"("id":"conv/forward/n32c32h256k32r3p1/f32/onednn/cpu/hot","kind":"primitive",)"
      R"("name":"convolution","start_ns":1000000007,"duration_ns":20753900,"pid":12,"tid":34,)"
      R"("device":0,"stream":7,"scope":"net:a\\:b","direction":"forward",)"
      R"("correlation":18446744073709551615,"attributes":{"implementation":)"
      R"("brgconv:avx512_core","flops":38654705664,"occupancy":0.5}})");
}

TEST(ActivityJson, WhatIsWrittenIsReadBack) {
  ActivityLineParser parser;
  const Activity full = full_activity();
  ASSERT_EQ(parser.parse(to_json_line(full, "r1")).kind, LineKind::activity);
  EXPECT_EQ(parser.activity(), full);
  // Nothing of the previous line remains in the next one.
  Activity small;
  small.kind = ActivityKind::marker;
  small.name = "m";
  ASSERT_EQ(parser.parse(to_json_line(small, "")).kind, LineKind::activity);
  EXPECT_EQ(parser.activity(), small);
}

TEST(ActivityJson, AllKindsAndAttributesSurvive) {
  ActivityLineParser parser;
  for (const std::string_view kind : enumerator_names<ActivityKind>()) {
    Activity activity;
    activity.kind = *enumerator_from_name<ActivityKind>(kind);
    for (const AttributeInfo& row : attributes()) {
      EXPECT_EQ(attribute_from_name(row.name), row.attribute);
      if (row.type == AttributeType::text) activity.attributes.set(row.attribute, "a\"\\\n\x01");
      if (row.type == AttributeType::integer)
        activity.attributes.set(row.attribute, std::int64_t{-3});
      if (row.type == AttributeType::real) activity.attributes.set(row.attribute, 1.0 / 3);
    }
    ASSERT_EQ(parser.parse(to_json_line(activity, "")).kind, LineKind::activity);
    EXPECT_EQ(parser.activity(), activity);
  }
}

TEST(ActivityJson, NanIsOmitted) {
  Activity activity;
  activity.attributes.set(Attribute::value, std::nan(""));
  EXPECT_EQ(to_json_line(activity, "").find("value"), std::string::npos);
}

TEST(ActivityJson, BytesThatAreNoTextGetReplacementCharacters) {
  Activity activity;
  activity.name = "a\xFF";
  ActivityLineParser parser;
  ASSERT_EQ(parser.parse(to_json_line(activity, "")).kind, LineKind::activity);
  EXPECT_EQ(parser.activity().name, "a\xEF\xBF\xBD");
}

TEST(ActivityJson, DamagedLinesSayWhatIsWrong) {
  const struct {
    const char* line;
    const char* problem;
  } rows[] = {
      {R"({"record":"activity","kind":"primitive")", "column 40: "},
      {R"([1])", "not an object"},
      {R"("text")", "not an object"},
      {R"({"kind":"primitive"})", "no `record`"},
      {R"({"record":"activity","name":"x","start_ns":1})", "no `kind`"},
      {R"({"record":"activity","kind":"primitive","start_ns":1})", "no `name`"},
      {R"({"record":"activity","kind":"primitive","name":"x"})", "no `start_ns`"},
      {R"({"record":"activity","kind":"dance","name":"x","start_ns":1})", "unknown kind `dance`"},
      {R"({"record":"activity","kind":"api","name":"x","start_ns":"1"})",
       "`start_ns` has the wrong type"},
      {R"({"record":"activity","kind":"api","name":7,"start_ns":1})", "`name` has the wrong type"},
      {R"({"record":"activity","kind":"api","name":"x","start_ns":1.5})",
       "`start_ns` has the wrong type"},
      {R"({"record":"activity","kind":"api","name":"x","start_ns":1,"duration_ns":-1})",
       "`duration_ns` is negative"},
      {R"({"record":"activity","kind":"api","name":"x","start_ns":9223372036854775807})",
       "the time of the activity is out of range"},
      // The absolute value of this start is not representable.
      {R"({"record":"activity","kind":"api","name":"x","start_ns":-9223372036854775808})",
       "the time of the activity is out of range"},
      {R"({"record":"activity","kind":"api","name":{"a":1},"start_ns":1})",
       "`name` has the wrong type"},
  };
  ActivityLineParser parser;
  for (const auto& row : rows) {
    const ParsedLine& line = parser.parse(row.line);
    EXPECT_EQ(line.kind, LineKind::malformed) << row.line;
    EXPECT_EQ(line.problem.substr(0, std::string(row.problem).size()), row.problem) << row.line;
  }
}

// The parser reads plain ASCII lines in place and copies other lines.
TEST(ActivityJson, EscapesMeanTheSameInPlainAndOtherLines) {
  const std::string tail =
      R"(","name":"a\"b\\c\n\u00e9\u0000z","start_ns":1,"attributes":{"op":"\/x","flops":7}})";
  ActivityLineParser parser;
  const auto read = [&](const std::string& id) {
    const std::string line = R"({"record":"activity","kind":"operator","id":")" + id + tail;
    EXPECT_EQ(parser.parse(line).kind, LineKind::activity) << parser.parse(line).problem;
    return parser.activity();
  };
  const Activity plain = read("e");
  const Activity other = read("\xC3\xA9");
  EXPECT_EQ(plain.name, std::string("a\"b\\c\n\xC3\xA9\0z", 10));
  EXPECT_EQ(plain.name, other.name);
  EXPECT_EQ(plain.case_id, "e");
  EXPECT_EQ(other.case_id, "\xC3\xA9");
  EXPECT_EQ(plain.attributes, other.attributes);
  EXPECT_EQ(plain.attributes.text(Attribute::op), "/x");
}

// The parser first tries the field and the attribute that followed in an earlier line.
TEST(ActivityJson, FieldsAndAttributesMayComeInAnotherOrderInEachLine) {
  ActivityLineParser parser;
  constexpr const char* kFirst =
      R"({"record":"activity","kind":"operator","name":"a","start_ns":1,"attributes":{"op":"x","flops":7}})";
  constexpr const char* kSecond =
      R"({"start_ns":1,"new":[{"name":"b"}],"attributes":{"flops":7,"op":"x"},"record":"activity","name":"a","kind":"operator"})";
  for (const char* line : {kFirst, kSecond, kFirst, kSecond, kSecond}) {
    ASSERT_EQ(parser.parse(line).kind, LineKind::activity) << parser.parse(line).problem;
    EXPECT_EQ(parser.activity().name, "a");
    EXPECT_EQ(parser.activity().start, Nanoseconds(1));
    EXPECT_EQ(parser.activity().attributes.text(Attribute::op), "x");
    EXPECT_EQ(parser.activity().attributes.integer(Attribute::flops), 7);
  }
}

TEST(ActivityJson, OtherRecordsAndUnknownAttributesAreReported) {
  ActivityLineParser parser;
  const ParsedLine& run = parser.parse(R"({"record":"run","schema":"bench.result/1","x":[{}]})");
  EXPECT_EQ(run.kind, LineKind::other);
  EXPECT_EQ(run.record, "run");
  EXPECT_EQ(run.schema, "bench.result/1");
  const ParsedLine& line = parser.parse(
      R"({"record":"activity","kind":"api","name":"x","start_ns":1,"later":[1,{"a":2}],)"
      R"("attributes":{"flops":"many","tomorrow":1,"bytes":8,"dtype":null}})");
  EXPECT_EQ(line.kind, LineKind::activity);
  EXPECT_EQ(line.unknown_fields, 3);
  EXPECT_EQ(parser.activity().attributes.integer(Attribute::bytes), 8);
  EXPECT_EQ(parser.activity().attributes.size(), 1u);
}

TEST(ActivityJson, FieldsOfOtherRecordsMayHaveOtherTypes) {
  ActivityLineParser parser;
  const ParsedLine& line = parser.parse(
      R"({"record":"case","id":"conv/forward/c8/f32/onednn/cpu/hot","device":"cpu","name":3,)"
      R"("attributes":"none","kind":[1],"stream":{"a":null},"schema":1.5})");
  EXPECT_EQ(line.kind, LineKind::other);
  EXPECT_EQ(line.record, "case");
  EXPECT_EQ(line.problem, "");
}

TEST(ActivityJson, DeeplyNestedLineDoesNotOverflowTheStack) {
  ActivityLineParser parser;
  const std::string deep = R"({"record":"x","y":)" + std::string(1'000'000, '[');
  EXPECT_EQ(parser.parse(deep).kind, LineKind::malformed);
}

}  // namespace
}  // namespace bench
