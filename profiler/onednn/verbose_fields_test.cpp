// SPDX-License-Identifier: Apache-2.0
#include "profiler/onednn/verbose_fields.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace bench {
namespace {

using State = VerboseTemplate::State;

TEST(VerboseFields, TemplatesOfAllVersionsAreTheDefaultOrder) {
  for (const std::string_view text :
       {"operation,engine,primitive,implementation,prop_kind,memory_descriptors,attributes,"
        "auxiliary,problem_desc,exec_time",
        "timestamp,operation,engine,primitive,implementation,prop_kind,memory_descriptors,"
        "attributes,auxiliary,problem_desc,exec_time"}) {
    const VerboseTemplate parsed = parse_template(text);
    EXPECT_EQ(parsed.state, State::understood);
    EXPECT_TRUE(std::ranges::equal(parsed.fields, primitive_fields()));
  }
  const VerboseTemplate graph = parse_template(
      "operation,engine,partition_id,partition_kind,op_names,data_formats,logical_tensors,"
      "fpmath_mode,backend,exec_time");
  EXPECT_TRUE(std::ranges::equal(graph.fields, graph_fields()));
}

TEST(VerboseFields, OrderAndNewFieldsFollowTheTemplate) {
  const VerboseTemplate parsed = parse_template("operation,exec_time,colour,primitive,engine");
  ASSERT_EQ(parsed.state, State::understood);
  EXPECT_EQ(parsed.fields, (std::vector{VerboseField::time, VerboseField::unknown,
                                        VerboseField::primitive, VerboseField::engine}));
}

TEST(VerboseFields, ATemplateCutShortIsNoNewFormat) {
  for (const std::string_view text :
       {"", "timestamp", "timestamp,operation", "operation,engine,primitive", "Epoch 1"}) {
    EXPECT_EQ(parse_template(text).state, State::partial) << text;
  }
  EXPECT_EQ(parse_template("operation,device,kernel,duration").state, State::not_understood);
}

struct Row {
  std::string_view text;
  std::int64_t nanoseconds;
};

TEST(Milliseconds, AreExact) {
  for (const auto& [text, nanoseconds] : {Row{"20.7539", 20'753'900},
                                          {"20,7539", 20'753'900},
                                          {"0.0100098", 10'010},  // rounded from 10009.8
                                          {"0", 0},
                                          {"1e-05", 10},
                                          {"1e-06", 1},
                                          {"5e-07", 1},
                                          {"4.9e-07", 0},
                                          {"1e-30", 0},
                                          {"2.5e+06", 2'500'000'000'000},
                                          {"138.439", 138'439'000},
                                          {".5", 500'000},
                                          {"7.", 7'000'000},
                                          {"1795264483859.837891", 1'795'264'483'859'837'891},
                                          {"0e999", 0}}) {
    const auto parsed = parse_milliseconds(text);
    ASSERT_TRUE(parsed.has_value()) << text;
    EXPECT_EQ(parsed->count(), nanoseconds) << text;
  }
}

TEST(Milliseconds, RefuseWhatIsNoTime) {
  for (const std::string_view text :
       {"", ".", "-1", "+1", "nan", "inf", "1e", "1e+", "1e1.5", "1 ", " 1", "1.2.3", "0x10",
        "1e999", "1e13", "99999999999999999999", "9223372036854775807", "1e0005", "2.4e12"}) {
    EXPECT_FALSE(parse_milliseconds(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace bench
