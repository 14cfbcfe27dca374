// SPDX-License-Identifier: Apache-2.0
#include "harness/config/work_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::HasSubstr;

constexpr const char* kFile = R"(version: 1
operators:
  my_norm: { flops: 8*n*c, bytes: 2*4*in_elements }
  scan: { flops: 0, bytes: size_bytes }
)";

Activity activity(std::string_view op, std::string_view parameters, std::string_view shapes) {
  Activity made;
  made.name = "kernel";
  if (!op.empty()) made.attributes.set(Attribute::op, op);
  if (!parameters.empty()) made.attributes.set(Attribute::parameters, parameters);
  if (!shapes.empty()) made.attributes.set(Attribute::in_shapes, shapes);
  return made;
}

WorkProvider work_of(WorkProvider known = {}) {
  auto read = read_work_file(kFile, "work.yaml", std::move(known));
  EXPECT_TRUE(read.ok());
  return *read;
}

TEST(WorkFileTest, GivesWorkByOperatorOrName) {
  const auto work = work_of()(activity("my_norm", "n32c64", "2x3 4"));
  ASSERT_TRUE(work.has_value());
  EXPECT_EQ(work->flops, 8 * 32 * 64);
  EXPECT_EQ(work->bytes, 2 * 4 * 10);
  Activity scan = activity("", "", "");
  scan.name = "scan";
  scan.attributes.set(Attribute::size_bytes, std::int64_t{40});
  EXPECT_EQ(work_of()(scan)->bytes, 40);
}

TEST(WorkFileTest, WhatIsUnknownStaysUnknown) {
  EXPECT_FALSE(work_of()(activity("other", "n32c64", "2x3")).has_value());
  EXPECT_FALSE(work_of()(activity("my_norm", "n32", "2x3")).has_value());
  EXPECT_FALSE(work_of()(activity("my_norm", "n32c64", "")).has_value());
  EXPECT_FALSE(work_of()(activity("my_norm", "n32c64", "2xq")).has_value());
}

TEST(WorkFileTest, ASeparatorIsNotAMinusSign) {
  EXPECT_FALSE(work_of()(activity("my_norm", "n-32c-64", "2x3")).has_value());
  EXPECT_FALSE(work_of()(activity("my_norm", "n32c64", "-2x-3")).has_value());
  EXPECT_FALSE(work_of()(activity("my_norm", "n32c64", "2x")).has_value());
}

TEST(WorkFileTest, WhatIsKnownWithoutItStays) {
  const WorkProvider known = [](const Activity&) {
    ActivityWork work;
    work.flops = 1;
    return std::optional(work);
  };
  EXPECT_EQ(work_of(known)(activity("my_norm", "n32c64", "2x3"))->flops, 1);
}

TEST(WorkFileTest, MistakesHaveAPlace) {
  const auto read = read_work_file("version: 2\noperators:\n  a: { flops: 2*, byte: 1 }\nmore: 1\n",
                                   "work.yaml", {});
  ASSERT_FALSE(read.ok());
  std::string text;
  for (const Diagnostic& diagnostic : read.error()) text += diagnostic.message() + "\n";
  EXPECT_THAT(text, HasSubstr("work.yaml:1:10"));
  EXPECT_THAT(text, HasSubstr("work.yaml:3:15: `flops`: expected a number, a name or `(` at "
                              "character 3 of `2*`"));
  EXPECT_THAT(text, HasSubstr("did you mean `bytes`?"));
  EXPECT_THAT(text, HasSubstr("lacks `bytes`"));
  EXPECT_THAT(text, HasSubstr("unknown key `more`"));
}

}  // namespace
}  // namespace bench
