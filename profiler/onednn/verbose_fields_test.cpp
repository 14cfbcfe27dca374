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

}  // namespace
}  // namespace bench
